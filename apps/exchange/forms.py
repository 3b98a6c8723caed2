"""Forms of imports (the file, its columns, and its values that are no labels) and of exports."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.forms.boundfield import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.common.figures import count_words
from apps.exchange.archive.export import ARCHIVE
from apps.exchange.exporters import FORMATS, export_filters
from apps.exchange.file_head import FileHead
from apps.exchange.readers import accepted
from apps.exchange.selectors import export_counts
from apps.projects.models import Project
from apps.reviews.models import SavedFilter
from labelhub.core.schema import Schema
from labelhub.core.schema.definition import number

NONE = ""
WORDS = {
    "text": (_("Text"), _("The text to label.")),
    "gold": (_("Label"), _("Decided labels (gold), where there are any.")),
    "answer": (_("Answer"), _("The question in this file that is the project's.")),
    "id": (
        _("Id"),
        _("Identifies an item when a file is imported again; made from the text if absent."),
    ),
    "context": (_("Context"), _("What was said before the text, such as a conversation.")),
    "question": (_("Question"), _("The question of this item.")),
}
#: Those that are shown at once; the others are behind "Details".
MAIN_COLUMNS = ("text", "gold", "answer")
#: Values of a file that get a choice of their own.
MAX_CHOICES = 50


class UploadForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        widget=forms.ClearableFileInput(attrs={"accept": accepted()}),
        error_messages={"empty": _("The file is empty.")},
        max_length=500,
    )


class ColumnsForm(forms.Form):
    strict = forms.BooleanField(
        label=_("Import nothing if any row has a fault"),
        required=False,
        help_text=_("Otherwise the good rows are imported and the others are listed."),
    )

    def __init__(self, head: FileHead, *args: Any, **kwargs: Any) -> None:
        """``head`` has the columns of the file and those that it was read with."""
        super().__init__(*args, **kwargs)
        for name, (label, help_text) in WORDS.items():
            offered = head.questions if name == "answer" else head.choices
            if name == "answer" and not offered:
                continue
            required = name in ("text", "answer")
            none = (NONE, gettext("Choose a column") if required else gettext("None"))
            self.fields[name] = forms.ChoiceField(
                label=label,
                help_text=help_text,
                required=required,
                choices=[none, *((column, column) for column in offered)],
                initial=head.chosen.get(name, NONE),
            )
        self.order_fields([*WORDS, "strict"])

    def columns(self) -> dict[str, str]:
        """The valid choice; a field without a column is left out of the import."""
        return {name: self.cleaned_data[name] for name in WORDS if name in self.fields}

    def sent_columns(self) -> dict[str, str] | None:
        """The choice as it was sent, to read the file with; None if nothing was sent."""
        if not self.is_bound:
            return None
        return {name: self[name].value() or NONE for name in WORDS if name in self.fields}

    def main_fields(self) -> list[BoundField]:
        """The columns that are shown at once."""
        return [self[name] for name in MAIN_COLUMNS if name in self.fields]

    def other_fields(self) -> list[BoundField]:
        """The columns behind "Details"."""
        return [self[name] for name in WORDS if name not in MAIN_COLUMNS]


class UnknownLabelsForm(forms.Form):
    """What to do with each value of a file that is no label of the project."""

    ADD, LEAVE_OUT, SAME = "add", "ignore", "as:"

    def __init__(
        self,
        unknown: Sequence[tuple[str, int]],
        schema: Schema,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """``unknown``: (value, count). Sent choices are for the values that were on the page, even
        if the labels were changed meanwhile."""
        super().__init__(data, prefix="unknown")
        self._unknown = list(unknown[:MAX_CHOICES])
        if self.is_bound:
            counts = dict(unknown)
            sent = [self.data.get(f"unknown-v{place}") for place in range(MAX_CHOICES)]
            self._unknown = [(value, counts.get(value, 0)) for value in sent if value]
        self.left = max(0, len(unknown) - len(self._unknown))
        same = [(f"{self.SAME}{name}", name) for name in schema.names]
        add = [(self.ADD, gettext("Add as a new label"))]
        out = (self.LEAVE_OUT, gettext("Leave out"))
        for place, (value, _count) in enumerate(self._unknown):
            addable = not schema.task.ordered or number(value) is not None
            self.fields[f"v{place}"] = forms.CharField(widget=forms.HiddenInput, initial=value)
            self.fields[f"do{place}"] = forms.ChoiceField(
                label=value, choices=[*(add if addable else ()), out, (gettext("Same as"), same)]
            )
        self.fields["others"] = forms.BooleanField(
            required=False,
            label=gettext("Leave out any other value that is no label"),
            help_text=gettext("Otherwise its rows are refused and counted in the result."),
        )

    def rows(self) -> Iterator[tuple[str, int, BoundField, BoundField]]:
        for place, (value, count) in enumerate(self._unknown):
            yield value, count, self[f"v{place}"], self[f"do{place}"]

    def choices(self) -> tuple[list[str], dict[str, str]]:
        """The values to add as labels, and ``label_map`` of the import."""
        new, label_map = [], {}
        for place in range(len(self._unknown)):
            value, choice = self.cleaned_data[f"v{place}"], self.cleaned_data[f"do{place}"]
            if choice == self.ADD:
                new.append(value)
            else:
                label_map[value] = (
                    choice.removeprefix(self.SAME) if choice != self.LEAVE_OUT else ""
                )
        return new, label_map


#: The choice that leaves nothing out.
EVERYTHING = "all"


def chosen_part(data: Mapping[str, Any]) -> str:
    """The part of an export that was chosen; empty for everything."""
    only = str(data.get("only", ""))
    return "" if only == EVERYTHING else only


class ExportForm(forms.Form):
    only = forms.ChoiceField(label=_("Contents"), widget=forms.RadioSelect, initial=EVERYTHING)
    filter = forms.ChoiceField(label=_("Items"), required=False)
    format = forms.ChoiceField(
        label=_("Format"),
        help_text=_("CSV is for spreadsheets and pandas. The archive moves a whole project."),
    )
    keep = forms.BooleanField(
        label=_("Save it on the server"),
        required=False,
        help_text=_("With a manifest: schema versions, prompts, models, checksum."),
    )

    def __init__(self, project: Project, *args: Any, manages: bool, **kwargs: Any) -> None:
        """``manages``: with the choice to save the file on the server."""
        super().__init__(*args, **kwargs)
        numbers = {name: count_words(count) for name, count in export_counts(project).items()}
        self.fields["only"].choices = [  # type: ignore[attr-defined]
            (EVERYTHING, gettext("Items with all labels (%(items)s)") % numbers),
            ("gold", gettext("Gold only (%(gold)s)") % numbers),
        ]
        filters = SavedFilter.objects.filter(project=project).values_list("pk", "name")
        if filters:
            self.fields["filter"].choices = [("", gettext("All items")), *filters]  # type: ignore[attr-defined]
        else:
            del self.fields["filter"]
        # An archive also has what authors wrote.
        formats = [*FORMATS.values(), *([ARCHIVE] if manages else [])]
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            (group, [(known.name, known.title) for known in found])
            for group, found in groupby(formats, attrgetter("group"))
        ]
        if not manages:
            del self.fields["keep"]

    def clean(self) -> dict[str, Any]:
        """An archive is written by a worker, so it is always saved."""
        if self.cleaned_data.get("format") == ARCHIVE.name:
            self.cleaned_data["keep"] = True
        return self.cleaned_data

    def filters(self, project: Project) -> dict[str, Any]:
        filter_id = self.cleaned_data.get("filter")
        return export_filters(
            project,
            only=chosen_part(self.cleaned_data),
            filter_id=int(filter_id) if filter_id else None,
        )
