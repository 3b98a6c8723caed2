"""The label schema as a form: one row per label, and a field for many names.

It works without JavaScript; ``static/js/schema_editor.js`` adds, removes and moves rows.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from django import forms
from django.forms.formsets import BaseFormSet, formset_factory
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from labelhub.core.schema import (
    COLORS,
    MAX_LABELS,
    TASKS,
    LabelDef,
    Schema,
    SchemaError,
    fold,
    parse_schema,
)

EMPTY_ROWS = 2
DETAILS = ("include", "exclude", "examples_for", "examples_against")


COLOR_WORDS = {
    "blue": _("Blue"),
    "orange": _("Orange"),
    "green": _("Green"),
    "pink": _("Pink"),
    "teal": _("Teal"),
    "purple": _("Purple"),
    "yellow": _("Yellow"),
    "red": _("Red"),
}


def _lines(label: StrOrPromise, hint: StrOrPromise) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 2})
    return forms.CharField(label=label, required=False, help_text=hint, widget=widget)


class LabelForm(forms.Form):
    """One label. An untouched row of the formset is no label and needs no name."""

    #: JSON: value of the file that it stands for → number of rows.
    source = forms.CharField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(
        label=_("Name"), max_length=100, error_messages={"required": _("Give the label a name.")}
    )
    point = forms.FloatField(required=False, label=_("Scale point"))
    color = forms.ChoiceField(
        required=False,
        label=_("Colour"),
        choices=[("", _("Automatic")), *((color, COLOR_WORDS[color]) for color in COLORS)],
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        help_text=_("What the label means, in one sentence."),
    )
    include = _lines(_("Include"), _("What counts, also when it is not obvious."))
    exclude = _lines(_("Exclude"), _("What does not count, though one might think so."))
    examples_for = _lines(_("Examples for"), _("Texts that carry the label, one per line."))
    examples_against = _lines(_("Examples against"), _("Texts that do not, one per line."))

    @property
    def has_details(self) -> bool:
        """Whether a field beyond name and description has a value."""
        return any(self[name].value() for name in DETAILS)

    @property
    def details_fail(self) -> bool:
        """Whether a field beyond name and description has an error."""
        return any(self[name].errors for name in DETAILS)

    @property
    def file_values(self) -> dict[str, int]:
        """The values of the file that it stands for, with the number of rows."""
        with suppress(ValueError, AttributeError, RecursionError):
            found = json.loads(self["source"].value() or "{}")
            return {name: rows for name, rows in found.items() if isinstance(rows, int)}
        return {}

    @property
    def rows_by_value(self) -> list[tuple[str, int]]:
        """The same for templates, where a value may be named like a method."""
        return list(self.file_values.items())

    @property
    def file_rows(self) -> int:
        return sum(self.file_values.values())

    def to_json(self) -> dict[str, Any]:
        """The label as ``parse_schema`` reads it."""
        data = self.cleaned_data
        return {
            "name": data["name"],
            "point": data["point"],
            "color": data["color"],
            "description": data["description"],
            "include": data["include"],
            "exclude": data["exclude"],
            "examples_for": data["examples_for"].splitlines(),
            "examples_against": data["examples_against"].splitlines(),
        }


class _Rows(BaseFormSet):  # type: ignore[type-arg]  # generic only in the stubs
    ordering_widget = forms.HiddenInput


LabelRows = formset_factory(
    LabelForm, formset=_Rows, extra=EMPTY_ROWS, can_order=True, can_delete=True, max_num=MAX_LABELS
)


class WholeForm(forms.Form):
    """The question of a schema, and more labels by name."""

    question = forms.CharField(
        label=_("Question"),
        required=False,
        help_text=_("Shown above each text. May be empty if the labels explain themselves."),
    )
    more_names = forms.CharField(
        required=False,
        label=_("Add many labels by name"),
        help_text=_("One name per line; details can follow later."),
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class SchemaForm:
    """The rows and :class:`WholeForm` together; :meth:`is_valid` sets ``schema``."""

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        shown: Schema | None = None,
        proposed: Sequence[dict[str, Any]] = (),
    ) -> None:
        """``proposed``: initial values of rows, if no schema is shown."""
        # A formset ignores rows that equal their initial values, so posted rows have none.
        labels = [_as_row(label) for label in shown.labels] if shown else list(proposed)
        labels = labels if data is None else []
        whole = {"question": shown.question} if shown else None
        self.rows = LabelRows(data, initial=labels, prefix="label")
        if proposed:
            self.rows.extra = 0
        self.whole = WholeForm(data, initial=whole, prefix="schema")
        self.shown, self._proposed = shown, proposed
        self.schema: Schema | None = None
        #: For the page's script: types for which nobody enters labels, and those with points.
        self.unlabelled = " ".join(name for name, task in TASKS.items() if not task.takes_labels)
        self.ordered = " ".join(name for name, task in TASKS.items() if task.ordered)

    def is_valid(self, task: str) -> bool:
        """Whether the forms make a schema of ``task``; errors are put on the forms."""
        rows_valid, whole_valid = self.rows.is_valid(), self.whole.is_valid()
        if not (rows_valid and whole_valid):
            return False
        try:
            self.schema = parse_schema(self._to_json(task))
        except SchemaError as error:
            self.whole.add_error(None, error.message)
        return self.schema is not None

    def proposed_schema(self, task: str) -> Schema | None:
        """The schema of the proposed rows; None if they make none."""
        rows = [{"name": row["name"], "point": row["point"]} for row in self._proposed]
        try:
            return parse_schema({"task": task, "labels": rows})
        except SchemaError:
            return None

    def label_map(self) -> dict[str, str]:
        """Value of the file → name of the label, where they differ; "" for a removed row."""
        found: dict[str, str] = {}
        for row in self.rows.forms:
            data = row.cleaned_data
            name = "" if data.get("DELETE") else data.get("name", "")
            found |= {value: name for value in row.file_values if value != name}
        return found

    def merges(self) -> bool:
        """Whether a label stands for several values of a file."""
        return any(len(set(map(fold, row.file_values))) > 1 for row in self.rows.forms)

    def _to_json(self, task: str) -> dict[str, Any]:
        kept = [row for row in self.rows.ordered_forms if row.cleaned_data.get("name")]
        if any(row.file_values for row in kept):  # two rows of one name are one label
            first: dict[str, Any] = {}
            for row in kept:
                first.setdefault(fold(row.cleaned_data["name"]), row)
            kept = list(first.values())
        labels: list[Any] = [row.to_json() for row in kept]
        more = self.whole.cleaned_data["more_names"].splitlines()
        labels += [{"name": name} for name in more if name.strip()]
        known = TASKS.get(task)
        if known is None or not known.ordered:
            labels = [{**label, "point": None} for label in labels]
        return {"task": task, "question": self.whole.cleaned_data["question"], "labels": labels}


def _as_row(label: LabelDef) -> dict[str, Any]:
    """The initial values of a row; an example takes one line, however it was written."""
    return {
        "name": label.name,
        "point": None if label.point is None else f"{label.point:g}",
        "color": label.color,
        "description": label.description,
        "include": label.include,
        "exclude": label.exclude,
        "examples_for": "\n".join(" ".join(text.split()) for text in label.examples_for),
        "examples_against": "\n".join(" ".join(text.split()) for text in label.examples_against),
    }
