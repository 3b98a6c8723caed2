"""The panel of a search: what there is to choose from; ``read_query`` reads what was chosen."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.roles import ROLES_WITH, Right
from apps.debates.naming import REASON_WORDS, reason_words
from apps.labels.models import Annotator, Gold, Kind
from apps.projects.models import Membership, Project
from apps.projects.selectors import current_schema
from apps.reviews.search.query import (
    LONGEST,
    SEARCH_FIELDS,
    SearchField,
    read_day,
    read_share,
)
from labelhub.core.schema import Schema

MOST_NAMED = 200
#: The words for no condition.
EMPTY = {"stage": _("Any stage"), "not_by": "—", "differ": "—", "skipped_by": "—"}
WORDS = {"type": "search", "autocomplete": "off", "placeholder": _("Words or id")}
Choices = Sequence[tuple[Any, StrOrPromise]]


class SearchForm(forms.Form):
    """All fields of a search, in groups; shown, not validated."""

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = "search-%s"
        self.schema = current_schema(project).parsed
        offered = _choices_of(project, self.schema)
        for name, column in SEARCH_FIELDS.items():
            if column.title:
                choices = column.choices or offered.get(name)
                self.fields[name] = (
                    _enter(column) if choices is None else self._choose(name, column, choices)
                )
        self.fields["q"].widget.attrs.update(WORDS)

    def _choose(self, name: str, column: SearchField, choices: Choices) -> forms.ChoiceField:
        """A value from the address stays, even if it is not among the choices."""
        held = (choice for choice in choices if choice[0] != Gold.Basis.WITHDRAWN)
        listed = [("", EMPTY.get(name, _("Any"))), *held]
        now = str(self.initial.get(name, "") or "")
        if now and now not in {str(value) for value, _ in listed}:
            listed.append((now, now))
        return forms.ChoiceField(label=column.title, choices=listed, required=False)

    @property
    def groups(self) -> Iterable[tuple[str, list[forms.BoundField]]]:
        """The fields besides words and stage, under their headings."""
        shown = [name for name in self.fields if SEARCH_FIELDS[name].group]
        for title, names in groupby(shown, lambda name: str(SEARCH_FIELDS[name].group)):
            yield title, [self[name] for name in names]


def _enter(column: SearchField) -> forms.Field:
    if column.read is read_share:
        number = forms.NumberInput(attrs={"min": 0, "max": 1, "step": 0.01})
        return forms.FloatField(label=column.title, required=False, widget=number)
    if column.read is read_day:
        day = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
        return forms.DateField(label=column.title, required=False, widget=day)
    return forms.CharField(label=column.title, required=False, max_length=LONGEST)


def _choices_of(project: Project, schema: Schema) -> dict[str, Choices]:
    """The choices that depend on the project; none of a label where labels are free text."""
    # Not the authors: there may be as many as items.
    found = Annotator.objects.filter(project=project).exclude(kind=Kind.AUTHOR)
    rows = found.order_by("kind", "name").only("pk", "name", "kind")[:MOST_NAMED]
    annotators = [(row.pk, f"{row.name} ({Kind(row.kind).label})") for row in rows]
    people = people_of(project)
    none = [("[]", gettext("None of these"))] if schema.task.several else []
    labels = [*((label.name, label.name) for label in schema.labels), *none]
    named = dict.fromkeys(("label", "suggested", "gold"), labels) if schema.names else {}
    imports = [(row.pk, f"{row.file_name} ({row.pk})") for row in project.imports.all()[:50]]
    return {
        **named,
        "reason": [(code, reason_words(code)) for code in REASON_WORDS],
        "annotator": annotators,
        "not_by": annotators,
        "assigned": [(0, gettext("Nobody")), *people],
        "skipped_by": [(0, gettext("Anybody")), *people],
        "comment_by": people,
        "batch": imports,
    }


def people_of(project: Project) -> list[tuple[int, str]]:
    members = Membership.objects.filter(project=project, role__in=ROLES_WITH[Right.REVIEW])
    names = members.order_by("user__username").values_list("user_id", "user__username")
    return list(names[:MOST_NAMED])
