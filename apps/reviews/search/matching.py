"""Turn a search into a queryset; nothing else does."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    BooleanField,
    Exists,
    ExpressionWrapper,
    F,
    Func,
    Max,
    OuterRef,
    Q,
    QuerySet,
    TextField,
)
from django.db.models.functions import Cast
from django.db.models.lookups import Lookup
from django.db.models.sql.compiler import SQLCompiler

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.blindness import (
    STAND_AS_NEW,
    debate_hidden_from,
    hidden_from,
    opinions_hidden_from,
    unanswered_by,
    withholds,
)
from apps.labels.models import PEOPLE, Assignment, ItemState, Label
from apps.labels.selectors import at_stage
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema, role_in
from apps.reviews.models import Comment, Decision
from apps.reviews.queue.selectors import review_settings
from apps.reviews.search.query import ANYBODY, Query
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema

_TERMS = re.compile(r'"([^"]+)"|(\S+)')
MOST_TERMS = 12
#: The empty set in a form.
NONE_PRESENT = "[]"
#: Fields that reveal a debate's result: to a blind reviewer even a hit or a miss would.
TELLING_OF_DEBATES = ("suggested", "reason", "uncertainty_min", "uncertainty_max")
#: Fields that reveal labels or decisions.
TELLING = (
    "label", "kind", "annotator", "not_by", "gold", "basis", "action", "differ",
    "learned_min", "learned_max", "labelled_from", "labelled_to", "decided_from", "decided_to",
    "comments", "comment", "comment_by",
)  # fmt: skip


class Spoken(Func):
    """The texts of a conversation that is stored as JSON, a line each."""

    output_field = TextField()
    template = (
        "(SELECT group_concat(json_extract(value, '$.text'), char(10)) FROM"
        " json_each(%(expressions)s))"
    )

    def as_postgresql(self, compiler: object, connection: object, **context: object) -> object:
        template = (
            "(SELECT string_agg(turn ->> 'text', chr(10)) FROM"
            " jsonb_array_elements(%(expressions)s) AS turn)"
        )
        return self.as_sql(compiler, connection, template=template, **context)  # type: ignore[arg-type]


def terms(words: str) -> list[str]:
    """The terms of a search: each word, and each phrase between quotation marks."""
    found = [phrase.strip() or word for phrase, word in _TERMS.findall(words)]
    return [term for term in found if term][:MOST_TERMS]


def contains_terms(words: str) -> Iterator[Q]:
    """Items in which every term occurs: in the text, the id or the context."""
    for term in terms(words) or [words]:
        plain = Q(text__icontains=term) | Q(external_id__icontains=term)
        yield plain | (~Q(context=[]) & Q(spoken_before__icontains=term))


@models.JSONField.register_lookup
class Names(Lookup[Any]):
    """``value__names="Food"``: the field holds a list that contains the name."""

    lookup_name = "names"
    prepare_rhs = False

    def get_db_prep_lookup(self, value: Any, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        return "%s", [value]

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, list[Any]]:
        """SQLite looks at each; PostgreSQL's ``?`` asks the list as a whole."""
        field, of_field = self.process_lhs(compiler, connection)
        name, of_name = self.process_rhs(compiler, connection)
        params = [*of_field, *of_name]
        if connection.vendor == "postgresql":
            return f"jsonb_exists({field}, {name})", params
        return f"EXISTS (SELECT 1 FROM json_each({field}) WHERE value = {name})", params  # noqa: S608 - parts of Django's own


def value_is(field: str, name: str, raw: str, schema: Schema) -> Q:
    """Where the JSON field ``field`` holds ``raw``: that value, or a set with that name.

    Raises:
        InvalidInput: the schema does not offer it; the fault is that of the search field ``name``.
    """
    if schema.task.several:
        if raw == NONE_PRESENT:
            return Q(**{field: []})
        known = schema.label(raw)
        if known is None:
            menu = ", ".join(schema.names[:12]) + (" …" if len(schema.names) > 12 else "")
            raise InvalidInput.at(
                name, "'%(raw)s' is none of the labels: %(menu)s.", raw=raw, menu=menu
            )
        return Q(**{f"{field}__names": known.name})
    if not schema.task.labelled:
        return Q(**{field: raw})
    try:
        return Q(**{field: schema.normalise(raw)})
    except InvalidInput as error:
        raise InvalidInput.at(name, error.message) from None


def matching_items(
    project: Project,
    query: Query,
    reader: User | None = None,
    *,
    items: QuerySet[Any] | None = None,
) -> QuerySet[Item]:
    """The project's items that ``query`` finds, in no order; or those of ``items``, in their order.

    Items that ``reader`` labels blind are found by no label and count as new; without a reader
    (work in the background) nothing is hidden.

    Raises:
        InvalidInput: a value that the project's labels do not offer, by the field's name.
    """
    if items is None:
        items = Item.objects.filter(project=project, state__project=project).order_by()
    blind = reader is not None and role_in(reader, project) == Role.REVIEWER
    if blind and reader is not None:
        items = _as_reviewer(items, project, query, reader)
    if query.q:
        items = items.alias(spoken_before=Spoken("context"))
    for condition in _conditions(project, query, blind=blind):
        items = items.filter(condition)
    return items


def _as_reviewer(
    items: QuerySet[Any], project: Project, query: Query, reader: User
) -> QuerySet[Any]:
    """Without items whose presence or absence would reveal something to ``reader``."""
    debates = query.stage in ("doubtful", "rest") or _asks(query, TELLING_OF_DEBATES)
    items = items.annotate(
        hidden=ExpressionWrapper(hidden_from(reader.pk), BooleanField()),
        debate_hidden=ExpressionWrapper(debate_hidden_from(reader.pk), BooleanField()),
    )
    if debates:
        items = items.filter(debate_hidden=False)
    if _asks(query, TELLING):
        items = items.filter(hidden=False)
        if not review_settings(project).show_opinions:
            answered = Q(state__labels_by_people__gt=0)
            items = items.exclude(answered & opinions_hidden_from(reader.pk))
    if query.comments or query.comment or query.comment_by is not None:
        # Comments of others are readable after the answer.
        items = items.exclude(unanswered_by(reader.pk))
    return items


def _asks(query: Query, names: Iterable[str]) -> bool:
    return any(getattr(query, name) not in ("", None) for name in names)


def _conditions(project: Project, query: Query, *, blind: bool) -> Iterator[Q]:
    if query.items:
        yield Q(pk__in=query.items)
    if query.q:
        yield from contains_terms(query.q)
    if query.stage:
        yield _shown_at(project, query.stage) if blind else at_stage(query.stage, "state__")
    if query.batch is not None:
        yield Q(batch=query.batch)
    yield from _between("created_at", query.created_from, query.created_to)
    schema = current_schema(project).parsed
    yield from _by_values(query, schema)
    yield from _by_labels(query, schema)
    yield from _by_signals(query)
    yield from _by_people(project, query)


def _shown_at(project: Project, stage: str) -> Q:
    """Items that a reviewer sees at that stage: withheld ones as new, suggested or waiting."""
    # Gold questions, which wait for nobody, wait like other items.
    asked = Q(state__queued=True)
    if withholds(project):
        asked |= Q(state__is_gold_question=True)
    shown = at_stage(stage, "state__", withheld=asked & Q(hidden=True))
    if stage not in (*STAND_AS_NEW, ItemState.Stage.NEW):
        return shown
    withheld = Q(state__stage__in=STAND_AS_NEW, hidden=True)
    with_suggestion = Q(debate_hidden=False, state__suggestion__isnull=False)
    if stage == ItemState.Stage.NEW:
        return shown | (withheld & ~with_suggestion)
    others = shown & Q(hidden=False)
    return others | (withheld & with_suggestion) if stage == ItemState.Stage.SUGGESTED else others


def _by_values(query: Query, schema: Schema) -> Iterator[Q]:
    if query.suggested:
        proposed = value_is("state__suggestion__value", "suggested", query.suggested, schema)
        yield proposed & Q(state__suggestion__abstained=False)
    if query.gold:
        yield value_is("state__gold__value", "gold", query.gold, schema)
    if query.basis:
        yield Q(state__gold__basis=query.basis)
    yield from _between("state__gold__created_at", query.decided_from, query.decided_to)
    if query.differ:
        yield _DIFFERING[query.differ]()


def _by_labels(query: Query, schema: Schema) -> Iterator[Q]:
    """Items with one label that fits all these fields, and without a label of ``not_by``."""
    asked: list[Q] = list(_between("created_at", query.labelled_from, query.labelled_to))
    if query.label:
        asked.append(value_is("value", "label", query.label, schema))
    if query.kind:
        asked.append(Q(annotator__kind=query.kind))
    if query.action:
        asked.append(Q(action=query.action, annotator__kind__in=PEOPLE))
    current = Label.objects.current()
    labels = Label.objects.standing() if query.action == Label.Action.REJECTED else current
    if query.annotator is not None:
        # One annotator's labels are few and indexed; other conditions are checked item by item.
        own = labels.filter(*asked, annotator=query.annotator)
        yield Q(pk__in=own.values("item"))
    elif asked:
        yield Q(Exists(labels.filter(*asked, item=OuterRef("pk"))))
    if query.not_by is not None:
        yield ~Q(pk__in=current.filter(annotator=query.not_by).values("item"))


def _by_signals(query: Query) -> Iterator[Q]:
    if query.reason:
        yield Q(state__reasons__names=query.reason)
    bounds: dict[str, Any] = {
        "state__signals__uncertainty__gte": query.uncertainty_min,
        "state__signals__uncertainty__lte": query.uncertainty_max,
        "state__model_uncertainty__gte": query.learned_min,
        "state__model_uncertainty__lte": query.learned_max,
    }
    for name, bound in bounds.items():
        if bound is not None:
            yield Q(**{name: bound})


def _by_people(project: Project, query: Query) -> Iterator[Q]:
    if query.assigned is not None:
        given = Assignment.objects.filter(project=project, open=True, user=query.assigned)
        yield Q(pk__in=given.values("item")) if query.assigned else Q(state__assignees=[])
    if query.comments or query.comment or query.comment_by is not None:
        remarks = Comment.objects.filter(project=project).order_by()
        if query.comments in ("open", "resolved"):
            remarks = remarks.filter(resolved_at__isnull=query.comments == "open")
        if query.comment:
            remarks = remarks.filter(text__icontains=query.comment)
        yield Q(
            pk__in=(
                remarks if query.comment_by is None else remarks.filter(author=query.comment_by)
            ).values("item")
        )
    if query.skipped_by is not None:
        skips = Decision.objects.skips().filter(project=project, undone_at__isnull=True)
        if query.skipped_by != ANYBODY:
            skips = skips.filter(reviewer=query.skipped_by)
        yield Q(pk__in=skips.order_by().values("item"))


def _between(field: str, first: date | None, last: date | None) -> Iterator[Q]:
    """From the beginning of the first day to the end of the last (UTC, as everywhere)."""
    if first is not None:
        yield Q(**{f"{field}__gte": _midnight(first)})
    if last is not None and last < date.max:
        yield Q(**{f"{field}__lt": _midnight(last + timedelta(days=1))})


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def _by_people_now() -> QuerySet[Any]:
    labels = Label.objects.current().by_people().filter(value__isnull=False)
    worded: QuerySet[Any] = labels.annotate(words=Cast("value", TextField()))
    return worded


def _people_differ() -> Q:
    other = _by_people_now().filter(item=OuterRef("item")).exclude(words=OuterRef("words"))
    labels = _by_people_now().filter(Exists(other), item=OuterRef("pk"))
    return Q(Exists(labels), state__labels_by_people__gte=2)


def _person_differs() -> Q:
    proposed: QuerySet[Any] = Label.objects.filter(
        pk=OuterRef(OuterRef("state__suggestion")), value__isnull=False
    )
    same = proposed.annotate(words=Cast("value", TextField())).filter(words=OuterRef("words"))
    return Q(
        Exists(_by_people_now().filter(~Exists(same), item=OuterRef("pk"))),
        state__suggestion__value__isnull=False,
    )


def _suggestion_is_not_gold() -> Q:
    equal = Q(state__gold__value=F("state__suggestion__value"))
    known = Q(state__gold__value__isnull=False, state__suggestion__value__isnull=False)
    return known & ~equal


_DIFFERING = {
    "people": _people_differ,
    "suggestion": _person_differs,
    "gold": _suggestion_is_not_gold,
}


def newest_item(project: Project) -> int:
    """The id of the project's newest item; 0 without any."""
    return Item.objects.filter(project=project).aggregate(newest=Max("pk"))["newest"] or 0
