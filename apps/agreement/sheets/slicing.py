"""Which part of a project's ledger a report is about."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils.timezone import make_aware

from apps.debates.models import Run
from apps.labels.models import Annotator, Kind
from apps.projects.models import Item, Project
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import Schema

MOST_TAG = 200


@dataclass(frozen=True, slots=True)
class Slice:
    """Everything by default.

    ``kind``, ``annotator``: only what these said. ``run``: of machines only this run's labels.
    ``label``: every answer becomes this label or not. ``since``, ``until``: days, both included.
    ``tag``: only items that carry it: ``urgent``, or ``key=value`` of an item's meta data.
    """

    kind: str = ""
    annotator: int | None = None
    run: int | None = None
    replicate: int = 1
    label: str = ""
    since: date | None = None
    until: date | None = None
    tag: str = ""

    @property
    def given(self) -> Mapping[str, str]:
        """What is not left at its default, as it stands in an address."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        defaults = Slice()
        return {name: str(one) for name, one in values.items() if one != getattr(defaults, name)}

    @property
    def query(self) -> str:
        """The same as the query of an address."""
        return urlencode(self.given)


def check_slice(project: Project, schema: Schema, asked: Slice) -> None:
    """Refuse what the project does not have.

    Raises:
        InvalidInput: a kind, label, tag or span of days that cannot be.
        NotFound: no such annotator or run in this project.
    """
    if asked.kind and asked.kind not in Kind.values:
        raise InvalidInput(f"kind: '{asked.kind[:40]}' is not one of {', '.join(Kind.values)}.")
    if asked.since and asked.until and asked.since > asked.until:
        raise InvalidInput("since: lies after until.")
    key, _, _ = asked.tag.partition("=")
    if len(asked.tag) > MOST_TAG or "\0" in asked.tag or _is_number(key):
        raise InvalidInput(f"tag: at most {MOST_TAG} characters of text; a key is no number.")
    if asked.replicate != 1 and asked.run is None:
        raise InvalidInput("replicate: say of which run.")
    if asked.label:
        _check_label(schema, asked.label)
    if asked.annotator is not None and not _has(Annotator, project, asked.annotator):
        raise NotFound(f"annotator: this project has no annotator {asked.annotator}.")
    if asked.run is not None and not _has(Run, project, asked.run):
        raise NotFound(f"run: this project has no run {asked.run}.")


def items_with(project: Project, tag: str) -> Q:
    """Rows about items of the project that carry ``tag``."""
    if not tag:
        return Q()
    key, equals, value = tag.partition("=")
    if equals:
        return Q(item__in=_items(project, key, exact=value))
    one = Q(item__in=_items(project, "tag", exact=tag))
    return one | Q(item__in=_items(project, "tags", listed=tag))


def moments(asked: Slice, field: str = "created_at") -> Q:
    """The days of the slice as a filter."""
    found = Q()
    if asked.since:
        found &= Q(**{f"{field}__gte": make_aware(datetime.combine(asked.since, time.min))})
    if asked.until:
        found &= Q(**{f"{field}__lte": make_aware(datetime.combine(asked.until, time.max))})
    return found


def _items(
    project: Project, key: str, *, exact: str | None = None, listed: str | None = None
) -> Any:
    # A cast, as lookups would take the text for JSON again.
    told = Cast(KeyTextTransform(key, "meta"), TextField())
    rows = Item.objects.filter(project=project).annotate(told=told)
    if exact is not None:
        return rows.filter(told=exact).values("pk")
    # One database keeps letters beyond ASCII as they are, the other as \u escapes.
    plain, escaped = json.dumps(listed, ensure_ascii=False), json.dumps(listed)
    return rows.filter(Q(told__contains=plain) | Q(told__contains=escaped)).values("pk")


def _is_number(key: str) -> bool:
    """Whether a database would take the key for a place in a list."""
    try:
        int(key)
    except ValueError:
        return False
    return True


def _check_label(schema: Schema, label: str) -> None:
    if not schema.task.labelled:
        raise InvalidInput("label: answers of this project have no labels in common.")
    if schema.label(label) is None:
        raise InvalidInput(f"label: the schema has no '{label[:80]}'.")


def _has(model: Any, project: Project, key: int) -> bool:
    return bool(model.objects.filter(project=project, pk=key).exists())
