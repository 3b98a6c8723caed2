"""The audit log as operators and managers look it up."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils.timezone import make_aware
from django.utils.translation import gettext_lazy as _
from django_filters import CharFilter, ChoiceFilter, DateFilter
from django_stubs_ext import StrOrPromise

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.audit import Action, address_of
from apps.common.field_words import FIELD_WORDS
from apps.common.lists import Column, SearchFilter
from apps.common.models import AuditEntry, AuditPerson
from apps.projects.models import Project
from labelhub.core.errors import Forbidden

_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
_LABELS = dict(Action.choices)
_VALUES: dict[Any, StrOrPromise] = {
    None: "–",
    True: _("Yes"),
    False: _("No"),
    **dict(Role.choices),
    **dict(ReviewerKind.choices),
}


def entries_of(project: Project) -> QuerySet[AuditEntry]:
    """What was done in the project, newest first."""
    return _entries().filter(project_id=project.pk)


def all_entries(user: User) -> QuerySet[AuditEntry]:
    """Everything, newest first.

    Raises:
        Forbidden: ``user`` is no operator.
    """
    if not user.is_superuser:
        raise Forbidden("Only operators of this installation may see the whole audit log.")
    return _entries()


def _entries() -> QuerySet[AuditEntry]:
    return AuditEntry.objects.select_related("actor", "subject_person")


class AuditFilter(SearchFilter):
    """Who did what, to what, and when (days of UTC)."""

    who = CharFilter(method="by_person", label=_("Who"), max_length=200)
    action = ChoiceFilter(choices=Action.choices, label=_("Action"), empty_label=_("Any"))
    subject = CharFilter(method="about", label=_("To what or whom"), max_length=200)
    since = DateFilter(method="from_day", label=_("Since"), widget=_DAY)
    until = DateFilter(method="to_day", label=_("Until"), widget=_DAY)

    class Meta:
        model = AuditEntry
        fields: list[str] = []

    def by_person(self, rows: QuerySet[AuditEntry], _name: str, value: str) -> Any:
        return rows.filter(actor__in=_named(value))

    def about(self, rows: QuerySet[AuditEntry], _name: str, value: str) -> Any:
        thing = Q(subject_name__icontains=value) | Q(project=value)
        return rows.filter(thing | Q(subject_person__in=_named(value)))

    def from_day(self, rows: QuerySet[AuditEntry], _name: str, value: date) -> Any:
        return rows.filter(at__gte=_start(value))

    def to_day(self, rows: QuerySet[AuditEntry], _name: str, value: date) -> Any:
        return rows.filter(at__lt=_start(value + timedelta(days=1)))


def _named(part: str) -> QuerySet[AuditPerson]:
    return AuditPerson.objects.filter(name__icontains=part)


def _start(day: date) -> datetime:
    return make_aware(datetime.combine(day, time()))


def action_label(entry: AuditEntry) -> str:
    """The action in words."""
    return str(_LABELS.get(entry.action, entry.action))


def change_words(entry: AuditEntry) -> list[str]:
    """``field: old → new`` for each change; without values where they are not recorded."""
    return [
        _field_label(field)
        if old is None and new is None
        else f"{_field_label(field)}: {_shown(old)} → {_shown(new)}"
        for field, (old, new) in entry.changes.items()
    ]


def _field_label(field: str) -> str:
    return str(FIELD_WORDS.get(field) or field.replace("_", " ").capitalize())


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    # A number is no truth value, although 1 == True.
    known = isinstance(value, bool | str | None) and value in _VALUES
    return str(_VALUES[value] if known else value)


COLUMNS = (
    Column(_("When"), cell=lambda entry: entry.at.isoformat()),
    Column(_("Who"), cell=lambda entry: entry.who),
    Column(_("Action"), cell=action_label),
    Column(_("To what or whom"), cell=lambda entry: entry.subject),
    Column(_("Project"), cell=lambda entry: entry.project),
    Column(_("Changes"), cell=lambda entry: "; ".join(change_words(entry))),
)
#: Of files for operators; managers do not see where others work from.
OPERATOR_COLUMNS = (
    *COLUMNS,
    Column(_("Via"), cell=lambda entry: entry.via),
    Column(_("Address"), cell=address_of),
    Column(_("Request"), cell=lambda entry: entry.request_id or ""),
    Column(_("Number"), cell=lambda entry: entry.number),
    Column(_("Hash"), cell=lambda entry: entry.hash),
)
