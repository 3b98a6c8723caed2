"""The form in which people say which part of the labels they want to see."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.db.models import Count
from django.http import QueryDict

from apps.agreement.naming import annotator_called, annotator_meant, annotator_words, named
from apps.agreement.sheets.slicing import MOST_TAG, Slice, check_slice
from apps.agreement.sources import evaluated_runs
from apps.common.forms import show_refusal
from apps.labels.models import Annotator, Kind
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import InvalidInput, LabelhubError

MOST_RUNS = 30
MOST_ANNOTATORS = 40
#: Numbers of rows fit a column of any database.
MOST_NUMBER = 2_147_483_647


def _day(label: str) -> forms.DateField:
    """A day as browsers send it; REST and the command write days the same way."""
    return forms.DateField(
        required=False,
        label=label,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": "Not a day such as 2026-11-01."},
    )


class SliceForm(forms.Form):
    """All labels where everything is left empty; only after ``is_valid()`` there is a ``slice``."""

    kind = forms.CharField(required=False, widget=forms.Select)
    annotator = forms.CharField(
        required=False,
        max_length=250,
        widget=forms.TextInput(attrs={"list": "slice-annotators", "autocomplete": "off"}),
    )
    run = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_NUMBER, widget=forms.Select
    )
    replicate = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_NUMBER, widget=forms.HiddenInput
    )
    label = forms.CharField(required=False, widget=forms.Select, label="Label, or not")
    since = _day("From")
    until = _day("To")
    tag = forms.CharField(
        required=False,
        label="Tag, or key=value",
        widget=forms.TextInput({"maxlength": MOST_TAG, "autocomplete": "off"}),
    )

    def __init__(self, project: Project, given: QueryDict) -> None:
        self._given = given.copy()
        super().__init__(self._given, auto_id="slice-%s")
        self._project = project
        self.slice = Slice()

    def clean_annotator(self) -> int | None:
        """A number, ``ann, Crowd #12`` as it is suggested, or a name that only one has."""
        said: str = self.cleaned_data["annotator"]
        try:
            return annotator_meant(self._project, said) if said else None
        except InvalidInput as error:
            show_refusal(self, error)
            return None

    def clean(self) -> dict[str, Any]:
        """The slice as a whole, with what the project does not have beside the field."""
        cleaned = super().clean() or {}
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("since", "Lies after “To”.")
        if self.errors:
            return cleaned
        self.slice = Slice(**{name: value for name, value in cleaned.items() if value})
        try:
            check_slice(self._project, current_schema(self._project).parsed, self.slice)
        except LabelhubError as error:
            show_refusal(self, error)
        return cleaned

    def offer(self) -> None:
        """Fill in what can be chosen; what was chosen is kept. Three queries, or four."""
        schema = current_schema(self._project).parsed
        kinds = Annotator.objects.filter(project=self._project).values_list("kind", flat=True)
        present = set(kinds.order_by().distinct())
        self._choose("kind", "all", [one for one in Kind.choices if one[0] in present])
        runs = evaluated_runs(self._project)[:MOST_RUNS]
        dated = [(str(run.pk), f"{run}, {run.created_at:%Y-%m-%d}") for run in runs]
        self._choose("run", "the latest of each machine", dated)
        self._choose("label", "all labels", [(name, name) for name in schema.names])
        if self.slice.annotator is not None:
            self._given["annotator"] = annotator_called(self._project, self.slice.annotator)

    def busiest(self) -> list[str]:
        """The annotators with most labels, as they are suggested; authors are not named.

        A query over all labels: of many take those that a report is about.
        """
        known = named(self._project).annotate(labelled=Count("labels"))
        known = known.order_by("-labelled", "pk")
        return [annotator_words(one) for one in known[:MOST_ANNOTATORS]]

    def _choose(self, name: str, nothing: str, offered: list[tuple[str, str]]) -> None:
        """Nothing, what is offered, and what an address means beyond it."""
        given = self._given.get(name, "")
        beyond = [] if given in ("", *dict(offered)) else [(given, given[:80])]
        if not offered and not beyond:
            del self.fields[name]
            return
        self.fields[name].widget.choices = [("", nothing), *offered, *beyond]


def read_slice(project: Project, given: QueryDict) -> Slice:
    """The slice that an address means.

    Raises:
        InvalidInput: it means nothing in this project; in the words of the form.
    """
    form = SliceForm(project, given)
    if form.is_valid():
        return form.slice
    faults = {form[name].label: words for name, words in form.errors.items() if name in form.fields}
    said = [f"{label}: {' '.join(map(str, words))}" for label, words in faults.items()]
    raise InvalidInput(" ".join([*said, *map(str, form.non_field_errors())]))


def compared(report: Mapping[str, Any]) -> list[str]:
    """The annotators whom a report compares, those with most labels, as they are suggested."""
    found: dict[int, str] = {}
    for pair in report["between"]:
        if pair["level"] == "annotator":
            for side in "ab":
                kind = Kind(pair[f"{side}_kind"]).label
                found[pair[f"{side}_id"]] = f"{pair[side]}, {kind} #{pair[f'{side}_id']}"
    return list(found.values())
