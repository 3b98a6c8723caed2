"""The form of a schema change: what happens to each label, as a list of operations."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.forms.formsets import formset_factory
from django.utils.translation import gettext_lazy as _

from labelhub.core.schema import LabelDef, Schema, fold
from labelhub.core.schema.definition import number
from labelhub.core.schema.operations import (
    Add,
    Ask,
    InvalidChange,
    Merge,
    Operation,
    Rename,
    Reorder,
    Retire,
    Split,
)

FATES = {
    "": _("Keep it"),
    "rename": _("Rename it"),
    "merge": _("Merge it into another"),
    "split": _("Split it"),
    "retire": _("Retire it"),
}


class FateForm(forms.Form):
    """One label; only the fields of the chosen fate are read."""

    name = forms.CharField(widget=forms.HiddenInput, strip=False)
    fate = forms.ChoiceField(choices=list(FATES.items()), required=False, label=_("What to do"))
    to = forms.CharField(required=False, max_length=100, label=_("New name"))
    point = forms.FloatField(required=False, label=_("New number"), help_text=_("Empty: as it is."))
    into = forms.CharField(
        required=False, max_length=100, label=_("Merge into"),
        help_text=_("A label of this list, or a new name. Several may go into the same one."),
    )  # fmt: skip
    parts = forms.CharField(
        required=False, label=_("Into which labels"), widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One name per line; on a scale with its number, as in: fair = 2."),
    )  # fmt: skip
    default = forms.CharField(
        required=False, max_length=100, label=_("What was labelled so far becomes"),
        help_text=_("One of them; empty: people are asked again."),
    )  # fmt: skip
    replacement = forms.CharField(
        required=False, max_length=100, label=_("What was labelled so becomes"),
        help_text=_("Another label. Empty: a set of labels loses it; otherwise people are asked."),
    )  # fmt: skip
    silent = forms.BooleanField(
        required=False, label=_("Take these labels back without asking anybody again")
    )

    @property
    def title(self) -> str:
        return str(self["name"].value())

    @property
    def for_fates(self) -> list[tuple[str, forms.BoundField]]:
        """Each field with the fate that it belongs to."""
        fates = {"to": "rename", "point": "rename", "into": "merge", "parts": "split",
                 "default": "split", "replacement": "retire", "silent": "retire"}  # fmt: skip
        return [(fate, self[name]) for name, fate in fates.items() if name in self.fields]

    def operation(self) -> Operation:
        """The label's rename, split or retirement.

        Raises:
            InvalidChange: a name is missing.
        """
        row = self.cleaned_data
        match row["fate"]:
            case "rename":
                return Rename(row["name"], row["to"].strip() or row["name"], row.get("point"))
            case "split":
                parts = tuple(_read_labels(_required_text(row, "parts")))
                return Split(row["name"], parts, row["default"].strip())
        return Retire(row["name"], row["replacement"].strip(), ask=not row["silent"])


FateRows = formset_factory(FateForm, extra=0, max_num=200, absolute_max=200)


class WholeForm(forms.Form):
    more = forms.CharField(
        required=False, label=_("New labels"), widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One name per line; on a scale with its number, as in: great = 6."),
    )  # fmt: skip
    order = forms.CharField(
        required=False, label=_("New order"), widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("All labels after the change, one per line. Empty: as they are."),
    )  # fmt: skip
    question = forms.CharField(
        required=False, label=_("Question"), help_text=_("Asked above each text.")
    )
    reason = forms.CharField(
        required=False, max_length=2000, label=_("Why"), help_text=_("Kept with the change."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )  # fmt: skip


class ChangeForm:
    def __init__(self, schema: Schema, data: Mapping[str, Any] | None = None) -> None:
        self.schema = schema
        self.rows = FateRows(
            data, initial=[{"name": name} for name in schema.names], prefix="label"
        )
        self.whole = WholeForm(data, initial={"question": schema.question}, prefix="schema")
        if not schema.task.ordered:
            for row in self.rows:
                del row.fields["point"]

    def is_valid(self) -> bool:
        """Whether the fields are well formed; the plan checks whether they fit each other."""
        rows, whole = self.rows.is_valid(), self.whole.is_valid()
        return rows and whole

    def operations(self) -> list[Operation]:
        """The operations; empty if nothing changes.

        Raises:
            InvalidChange: a name is missing.
        """
        fated = [row.cleaned_data for row in self.rows if row.cleaned_data.get("fate")]
        found: list[Operation] = [
            row.operation()
            for row in self.rows
            if row.cleaned_data.get("fate", "") not in ("", "merge")
        ]
        found += self._merges(fated)
        cleaned = self.whole.cleaned_data
        found += [Add(label) for label in _read_labels(cleaned["more"])]
        if cleaned["question"].strip() != self.schema.question:
            found.append(Ask(cleaned["question"].strip()))
        if cleaned["order"].strip():
            found.append(Reorder(tuple(_read_lines(cleaned["order"]))))
        return found

    def _merges(self, fated: list[dict[str, Any]]) -> Iterator[Operation]:
        """One merge per target; a target that stays is part of it."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in fated:
            if row["fate"] == "merge":
                groups.setdefault(fold(_required_text(row, "into")), []).append(row)
        touched = {fold(row["name"]) for row in fated}
        for rows in groups.values():
            into, names = rows[0]["into"].strip(), [row["name"] for row in rows]
            target = self.schema.label(into)
            if target is not None and fold(target.name) not in touched:
                names.append(target.name)
            yield Merge(tuple(names), into) if len(names) > 1 else Rename(names[0], into)


def _required_text(row: Mapping[str, Any], name: str) -> str:
    given = str(row[name]).strip()
    if not given:
        raise InvalidChange(
            "Say what becomes of “%(row)s”: a field is empty.", row=str(row["name"])
        )
    return given


def _read_lines(text: str) -> list[str]:
    return [name for line in text.splitlines() if (name := line.strip())]


def _read_labels(text: str) -> Iterator[LabelDef]:
    for line in _read_lines(text):
        name, _, definition = line.rpartition("=")
        point = number(definition.strip()) if name.strip() else None
        yield LabelDef(line) if point is None else LabelDef(name.strip(), point=point)
