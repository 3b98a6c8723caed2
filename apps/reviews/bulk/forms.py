"""What a bulk action asks for besides the items."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.projects.models import Project
from apps.projects.selectors import current_schema
from apps.reviews.models import BulkJob
from apps.reviews.queue.forms import read_value
from apps.reviews.search.forms import people_of
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType, Schema

Action = BulkJob.Action
KINDS: list[tuple[str, StrOrPromise]] = [
    ("", _("Everybody")),
    ("crowd", _("The crowd")),
    ("expert", _("Experts")),
]
PROMOTED: list[tuple[str, StrOrPromise]] = [
    ("true", _("Put them first")),
    ("false", _("Back among the others")),
]
SHARE: list[tuple[str, StrOrPromise]] = [
    ("false", _("Each item to all of them")),
    ("true", _("Each item to one of them, in turn")),
]


class OptionsForm(forms.Form):
    """The fields that one action needs, none for most; shown, and read by the service."""

    def __init__(self, project: Project, action: str, data: QueryDict | None = None) -> None:
        self._given: QueryDict = QueryDict() if data is None else data
        self.action = action
        self._task: LabelType | None = None
        # A search has fields of the same names.
        super().__init__(data, prefix="with")
        if action == Action.LABEL:
            schema = current_schema(project).parsed
            self._task = schema.task
            self.fields["value"] = _value_field(schema)
            if schema.task.several:
                self.fields["none"] = forms.BooleanField(
                    label=gettext("None of these"),
                    required=False,
                    help_text=gettext("No label applies."),
                )
        elif action == Action.ASSIGN:
            self.fields["users"] = forms.MultipleChoiceField(
                label=gettext("People"),
                choices=people_of(project),
                widget=forms.CheckboxSelectMultiple,
            )
            self.fields["share"] = _radios(gettext("How"), SHARE)
        elif action == Action.AUDIENCE:
            self.fields["kind"] = _radios(gettext("Who may be offered them"), KINDS)
        elif action == Action.PROMOTE:
            self.fields["promoted"] = _radios(gettext("What"), PROMOTED)
        elif action == Action.RETURN:
            self.fields["reason"] = forms.CharField(
                label=gettext("Why"),
                max_length=500,
                help_text=gettext("Their reviewers will read it."),
                widget=forms.Textarea(attrs={"rows": 3}),
            )

    def options(self) -> dict[str, Any]:
        """As the service takes them.

        Raises:
            InvalidInput: labels together with "None of these".
        """
        given: dict[str, Any] = {
            name: self._given.get(self.add_prefix(name), "") for name in self.fields
        }
        if "users" in given:
            given["users"] = self._given.getlist(self.add_prefix("users"))
        if self._task is not None and self._task.several:
            del given["none"]
            given["value"] = read_value(self._given, self._task, self.add_prefix(""))
        return given

    @property
    def posted(self) -> list[tuple[str, str]]:
        """What was chosen, as hidden fields send it again."""
        names = [self.add_prefix(name) for name in self.fields]
        return [(name, value) for name in names for value in self._given.getlist(name)]

    def take(self, error: InvalidInput) -> bool:
        """Show a refusal at its field; False where it is about none of these."""
        faults = [fault for fault in error.data.get("errors", []) if fault["field"] in self.fields]
        for fault in faults:
            # Beside the form's own words for the same, one is enough.
            self.errors.pop(fault["field"], None)
            self.add_error(fault["field"], fault["message"])
        return bool(faults)


def _value_field(schema: Schema) -> forms.Field:
    if not schema.names:
        return forms.CharField(label=gettext("Label"), max_length=1000)
    names = [(name, name) for name in schema.names]
    if schema.task.several:
        return forms.MultipleChoiceField(
            label=gettext("Labels"),
            choices=names,
            required=False,
            widget=forms.CheckboxSelectMultiple,
        )
    return forms.ChoiceField(label=gettext("Label"), choices=names, widget=forms.RadioSelect)


def _radios(label: str, choices: list[tuple[str, StrOrPromise]]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=choices,
        initial=choices[0][0],
        required=False,
        widget=forms.RadioSelect,
    )
