"""One page of a search's items, with all that a row of the list shows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Count,
    ExpressionWrapper,
    F,
    Q,
    QuerySet,
    Value,
    When,
)

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.naming import reason_words
from apps.labels.blindness import (
    STAND_AS_NEW,
    answer_hidden_from,
    debate_hidden_from,
    hides_anything,
    withholds,
)
from apps.labels.models import Assignment, ItemState, Kind, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import role_in
from apps.reviews.models import Comment
from apps.reviews.search.matching import matching_items, terms
from apps.reviews.search.query import Query
from labelhub.core.debate.routing import AUDIT
from labelhub.core.schema import Value as LabelValue
from labelhub.core.schema import value_key

PAGE_SIZE = 25
#: Items that are counted and can be paged through.
MOST_COUNTED = 10_000
#: Orders of the list, each with the item's id to make it definite.
SORTS = {
    "id": ("external_id", "pk"),
    "-id": ("-external_id", "-pk"),
    "stage": ("state__stage", "pk"),
    "-stage": ("-state__stage", "-pk"),
    "priority": ("state__priority", "pk"),
    "-priority": ("-state__priority", "pk"),
    "people": ("state__labels_by_people", "pk"),
    "-people": ("-state__labels_by_people", "pk"),
    "-pk": ("-pk",),
}
#: The same for readers from whom something may be hidden.
_OF_REVIEWERS = {
    "stage": ("shown_stage", "pk"),
    "-stage": ("-shown_stage", "-pk"),
    "priority": ("pk",),
    "-priority": ("pk",),
}
_BY_STAGE = ("stage", "-stage")
_SHOWN_STAGE = Case(
    When(
        hidden=True,
        debate_hidden=False,
        state__stage__in=STAND_AS_NEW,
        state__suggestion__isnull=False,
        then=Value(str(ItemState.Stage.SUGGESTED)),
    ),
    When(hidden=True, state__stage__in=STAND_AS_NEW, then=Value(str(ItemState.Stage.NEW))),
    default=F("state__stage"),
    output_field=CharField(),
)


class BoundedPaginator(Paginator[Any]):
    """Counts and pages as far as :data:`MOST_COUNTED`, so that no page counts a million items."""

    @cached_property
    def _found(self) -> int:
        items: Any = self.object_list
        return int(items.order_by()[: MOST_COUNTED + 1].count())

    @cached_property
    def count(self) -> int:
        """How many there are, at most :data:`MOST_COUNTED`."""
        return min(self._found, MOST_COUNTED)

    @property
    def capped(self) -> bool:
        """Whether there are more than are counted."""
        return self._found > MOST_COUNTED


@dataclass(frozen=True, slots=True)
class Tally:
    """How many annotators of one kind gave an item a value; None: cannot tell."""

    kind: str
    value: LabelValue | None
    count: int


@dataclass(frozen=True, slots=True)
class Row:
    """One item as the reader may see it. ``debate_hidden``: they answer it without suggestion;
    ``gold_hidden``: it may be a gold question for them."""

    item: Item
    debate_hidden: bool = False
    gold_hidden: bool = False
    tallies: Sequence[Tally] = ()
    open_comments: int = 0
    comments: int = 0
    assigned: Sequence[str] = ()
    marks: dict[str, list[str]] = field(default_factory=dict)

    @property
    def suggestion(self) -> Label | None:
        """The suggestion, unless it is hidden from the reader."""
        return None if self.debate_hidden else self.item.state.suggestion

    @property
    def stage(self) -> str:
        """The stage in words; blind items are shown as new."""
        stage = self.item.state.stage
        if (self.debate_hidden or self.gold_hidden) and stage in STAND_AS_NEW:
            stage = ItemState.Stage.SUGGESTED if self.suggestion else ItemState.Stage.NEW
        return str(ItemState.Stage(stage).label)

    @property
    def reasons(self) -> list[str]:
        """Why it waits, in words; an audit is no doubt."""
        if self.debate_hidden or not (self.item.state.queued or self.gold_hidden):
            return []
        return [reason_words(code) for code in self.item.state.reasons if code != AUDIT]

    @property
    def snippet(self) -> str:
        """Some 220 characters of the text, around the first word of the search."""
        text = self.item.text
        folded = text.casefold()
        places = [
            position
            for word in self.marks.get("", [])
            if (position := folded.find(word.casefold())) >= 0
        ]
        start = max(0, min(places, default=0) - 60)
        # At the beginning of a word, in languages that part them.
        blank = text.find(" ", start, start + 30) if start else -1
        start = blank + 1 if blank >= 0 else start
        cut = text[start : start + 220]
        return f"{'…' if start else ''}{cut}{'…' if len(text) > start + 220 else ''}"


def search_items(
    project: Project, query: Query, reader: User, sort: str = ""
) -> QuerySet[Item, int]:
    """The ids of the items that the search finds, in order; waiting ones in the queue's order."""
    items = matching_items(project, query, reader)
    order = SORTS.get(sort, ("pk",))
    reviews = role_in(reader, project) == Role.REVIEWER
    if sort in _OF_REVIEWERS and reviews and (sort not in _BY_STAGE or hides_anything(project)):
        # The order must not reveal what the rows hide.
        hidden = ExpressionWrapper(debate_hidden_from(reader.pk), BooleanField())
        items = items.annotate(debate_hidden=hidden).annotate(shown_stage=_SHOWN_STAGE)
        order = _OF_REVIEWERS[sort]
    if not sort and query.stage in ("waiting", "doubtful", "rest"):
        # Gold questions come last in the queue, which would give them away.
        order = ("pk",) if reviews and withholds(project) else SORTS["-priority"]
    return items.order_by(*order).values_list("pk", flat=True)


def read_grid(
    project: Project, query: Query, reader: User, *, sort: str = "", page: Any = 1
) -> "Page[Row]":
    """One page of the list, in ten queries however long it is."""
    found = BoundedPaginator(search_items(project, query, reader, sort), PAGE_SIZE).get_page(page)
    found.object_list = _rows(project, list(found), reader, query)
    return found


def _rows(project: Project, ids: Sequence[int], reader: User, query: Query) -> list[Row]:
    items: QuerySet[Any] = Item.objects.filter(pk__in=ids).annotate(
        debate_hidden=ExpressionWrapper(debate_hidden_from(reader.pk), BooleanField()),
        answer_hidden=ExpressionWrapper(answer_hidden_from(reader.pk), BooleanField()),
    )
    by_id = {item.pk: item for item in items.select_related("state__suggestion", "state__gold")}
    tallies = _read_tallies(ids, mine=reader if role_in(reader, project) == Role.REVIEWER else None)
    counted = Comment.objects.filter(item__in=ids).order_by().values("item_id")
    comment_counts = counted.annotate(
        n=Count("pk"), left=Count("pk", filter=Q(resolved_at__isnull=True))
    )
    remarks = {row["item_id"]: (row["n"], row["left"]) for row in comment_counts}
    assigned: dict[int, list[str]] = {}
    given = Assignment.objects.filter(item__in=ids, open=True).order_by("user__username")
    for item_id, name in given.values_list("item_id", "user__username"):
        assigned.setdefault(item_id, []).append(name)
    marks = {"": terms(query.q)} if query.q else {}
    rows = []
    for pk in ids:
        if pk not in by_id:
            continue  # deleted since
        item, (comments, unresolved) = by_id[pk], remarks.get(pk, (0, 0))
        rows.append(
            Row(
                item=item,
                debate_hidden=item.debate_hidden,
                gold_hidden=item.answer_hidden,
                tallies=tallies.get(pk, ()),
                comments=comments,
                open_comments=unresolved,
                assigned=assigned.get(pk, ()),
                marks=marks,
            )
        )
    return rows


def _read_tallies(ids: Iterable[int], *, mine: User | None) -> dict[int, list[Tally]]:
    """Counts of current labels by item, in the order of kinds, then the more frequent first.
    ``mine``: only items that this reviewer has answered, as others' labels would influence them."""
    labels = Label.objects.current().filter(item__in=ids).order_by()
    counted: dict[int, Counter[tuple[str, str]]] = {}
    values: dict[str, Any] = {}
    answered = set()
    for item, kind, value, user in labels.values_list(
        "item_id", "annotator__kind", "value", "annotator__user_id"
    ):
        key = "" if value is None else value_key(value)
        values[key] = value
        counted.setdefault(item, Counter())[kind, key] += 1
        if mine is not None and user == mine.pk:
            answered.add(item)
    order = Kind.values
    return {
        item: [
            Tally(kind, values[key], count)
            for (kind, key), count in sorted(
                counts.items(),
                key=lambda counted: (order.index(counted[0][0]), -counted[1], counted[0][1]),
            )
        ]
        for item, counts in counted.items()
        if mine is None or item in answered
    }
