"""The items that wait for an expert: conflicts of people, and decisions that a model disputes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Substr
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Right, Role
from apps.common.addresses import parse_row_id
from apps.common.values import value_words
from apps.labels.models import PEOPLE, ItemState, Label
from apps.labels.querysets import ItemStateQuerySet
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema, get_project, reviewer_kind, role_in
from apps.reviews.models import Comment, Decision, Slot
from labelhub.core import schema as core
from labelhub.core.errors import Forbidden
from labelhub.core.phrases import Phrase, join_sentences
from labelhub.core.schema import Schema, value_key

#: Waiting items that are read, the most urgent first; nobody decides more in a day.
MOST = 5000
#: Pairs of labels, and reviewers, that are offered as filters.
NAMED = 12
#: Longer pairs of labels are no filter.
LONGEST = 120
UNSURE = gettext_noop("unsure")
BETWEEN_LABELS = " / "
AGES = {"day": timedelta(days=1), "week": timedelta(weeks=1)}
BETWEEN_PEOPLE, WITH_A_MACHINE = "people", "machine"
#: Characters of a text in a row.
BEGINNING = 280


class Voice(NamedTuple):
    """One annotator's label of one item, as short as a list needs it."""

    item_id: int
    value: Any
    annotator_id: int
    name: str
    kind: str
    said_at: datetime
    user_id: int | None

    @property
    def words(self) -> str:
        return gettext(UNSURE) if self.value is None else value_words(self.value)


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """The filter of a list. ``against``: conflicting labels, as in :attr:`Case.against`; ``by``:
    the id of an annotator; ``age``: one of :data:`AGES`; ``between``: people or a model."""

    against: str = ""
    by: int | None = None
    age: str = ""
    between: str = ""

    def __bool__(self) -> bool:
        return self != CaseFilter()

    @property
    def query(self) -> str:
        """The filter as a query string with its question mark; empty without one."""
        given = {name: value for name, value in asdict(self).items() if value}
        return f"?{urlencode(given)}" if given else ""

    def fits(self, case: "Case") -> bool:
        return (
            (not self.against or case.against == self.against)
            and (not self.by or any(voice.annotator_id == self.by for voice in case.voices))
            and (self.age not in AGES or case.since <= timezone.now() - AGES[self.age])
            and (not self.between or case.disputed == (self.between == WITH_A_MACHINE))
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One item that waits for an expert, with its labels and the contested ones (``against``)."""

    item_id: int
    disputed: bool
    voices: tuple[Voice, ...]
    against: str

    @property
    def since(self) -> datetime:
        """The time of the last label."""
        return max((voice.said_at for voice in self.voices), default=timezone.now())

    def has_label_of(self, user: User) -> bool:
        return any(voice.user_id == user.pk for voice in self.voices)

    @property
    def sides(self) -> list[tuple[str, list[Voice]]]:
        """The labels by value, the most frequent first."""
        sides: dict[str, list[Voice]] = defaultdict(list)
        for voice in self.voices:
            sides[voice.words].append(voice)
        return sorted(sides.items(), key=lambda side: (-len(side[1]), side[0]))


@dataclass(frozen=True, slots=True)
class Docket:
    """The waiting cases that pass the filter. Counts cover all waiting items; at most :data:`MOST`
    of them are ``listed``."""

    cases: Sequence[Case]
    listed: int
    conflicts: int
    disputes: int
    against: Sequence[tuple[str, int]]
    people: Sequence[tuple[Voice, int]]

    @property
    def waiting(self) -> int:
        return self.conflicts + self.disputes


def project_to_adjudicate(user: User | AnonymousUser, slug: str) -> Project:
    """The project ``slug``, provided that ``user`` is an expert there who may review.

    Raises:
        NotFound: there is no such project, or the user is no member of it.
        Forbidden: the user may not review there, or is no expert.
    """
    project = get_project(user, slug, Right.REVIEW)
    check_expert(user, project)
    return project


def check_expert(user: User | AnonymousUser, project: Project) -> None:
    """Pass if ``user``, who may review, is an expert.

    Raises:
        Forbidden: they are not.
    """
    if may_adjudicate(user, project):
        return
    manager = role_in(user, project) == Role.MANAGER
    raise Forbidden(
        join_sentences(
            Phrase(
                "Only experts decide conflicts in %(project)s, and you review it as a crowd "
                "worker.",
                project=project,
            ),
            Phrase("You can change that under People.")
            if manager
            else Phrase("A manager can change that."),
        )
    )


def may_adjudicate(user: User | AnonymousUser, project: Project) -> bool:
    """Whether ``user``, who may review, is an expert."""
    return user.is_authenticated and reviewer_kind(user, project) == ReviewerKind.EXPERT


def waiting_states(project: Project) -> ItemStateQuerySet:
    """The states of all items that wait for an expert's decision, the urgent first."""
    waiting = Q(stage=ItemState.Stage.CONFLICT) | Q(disputed=True)
    states = ItemState.objects.awaiting_review()
    return states.filter(waiting, project=project, audience=ItemState.Audience.EXPERT)


def read_docket(project: Project, wanted: CaseFilter | None = None) -> Docket:
    """The waiting cases that ``wanted`` admits. Three queries, or four if there are very many."""
    schema = current_schema(project).parsed
    rows = list(waiting_states(project).values_list("item_id", "disputed")[:MOST])
    voices = _read_voices(project)
    cases = []
    for item_id, disputed in rows:
        # A model's label is shown in a dispute only: audits must not show it.
        sides = tuple(
            voice for voice in voices.get(item_id, ()) if disputed or voice.kind in PEOPLE
        )
        cases.append(Case(item_id, disputed, sides, _contested_labels(schema, sides)))
    chosen = [case for case in cases if wanted.fits(case)] if wanted else cases
    by = Counter(
        voice.annotator_id for case in cases for voice in case.voices if voice.kind in PEOPLE
    )
    named = {voice.annotator_id: voice for case in cases for voice in case.voices}
    disputes = sum(case.disputed for case in cases)
    conflicts = len(cases) - disputes
    if len(cases) >= MOST:
        kinds = waiting_states(project).order_by().values_list("disputed")
        counts = dict(kinds.annotate(n=Count("pk")))
        conflicts, disputes = counts.get(False, 0), counts.get(True, 0)
    return Docket(
        cases=chosen,
        listed=len(cases),
        conflicts=conflicts,
        disputes=disputes,
        against=Counter(case.against for case in cases if case.against).most_common(NAMED),
        people=[(named[annotator], count) for annotator, count in by.most_common(NAMED)],
    )


def next_case(
    project: Project, user: User, *, wanted: CaseFilter | None = None, after: int = 0
) -> int | None:
    """The next waiting item for ``user``, after the item ``after``, then from the beginning; no
    item that they skipped or that somebody else holds. Items that they have labelled come last."""
    skips = Decision.objects.skips().filter(reviewer=user, undone_at__isnull=True)
    live = Slot.objects.live(timezone.now()).exclude(holder=user)
    states = waiting_states(project).filter(
        ~Exists(skips.filter(item=OuterRef("item_id"))),
        ~Exists(live.filter(item=OuterRef("item_id"))),
    )
    mine = Label.objects.current().filter(item=OuterRef("item_id"), annotator__user=user)
    rows = list(states.exclude(item=after).values_list(Exists(mine), "item_id")[:MOST])
    if wanted:
        among = {case.item_id for case in read_docket(project, wanted).cases}
        rows = [row for row in rows if row[1] in among]
    _, item_id = min(rows, key=lambda row: (row[0], row[1] < after), default=(False, None))
    return item_id


def undone_decision(user: User, item_id: int, key: str) -> Decision | None:
    """A decision of ``user`` on the item that they have undone; ``key`` is its id as text."""
    undone = Decision.objects.filter(
        pk=parse_row_id(key) or 0, item=item_id, reviewer=user, undone_at__isnull=False
    )
    return undone.select_related("label__schema", "label__item").first()


def _read_voices(project: Project) -> Mapping[int, Sequence[Voice]]:
    waiting = waiting_states(project).values("item_id")[:MOST]
    rows = Label.objects.current().filter(item__in=waiting).order_by("pk").values_list(
        "item_id", "value", "annotator_id", "annotator__name", "annotator__kind", "created_at",
        "annotator__user_id",
    )  # fmt: skip
    found: dict[int, list[Voice]] = defaultdict(list)
    for row in rows:
        voice = Voice(*row)
        found[voice.item_id].append(voice)
    return found


def _contested_labels(schema: Schema, voices: Sequence[Voice]) -> str:
    """The contested labels: the different values, or for sets the labels that not all chose."""
    if schema.task.written:
        return ""
    if schema.task.several:
        sets = [set(voice.value) for voice in voices if isinstance(voice.value, list)]
        contested = set.union(*sets) - set.intersection(*sets) if sets else set()
        return ", ".join(name for name in schema.names if name in contested)
    values = {
        value_key(voice.value): UNSURE if voice.value is None else core.value_words(voice.value)
        for voice in voices
    }
    together = BETWEEN_LABELS.join(sorted(values.values()))
    return together if len(together) <= LONGEST else ""


def against_words(against: str) -> str:
    """:attr:`Case.against`, which is English in addresses, as a page says it."""
    labels = against.split(BETWEEN_LABELS)
    return BETWEEN_LABELS.join(gettext(UNSURE) if name == UNSURE else name for name in labels)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A row of the list: the case with the beginning of its text, its holder and its comments;
    ``own``: the reader has labelled it."""

    case: Case
    external_id: str
    text: str
    holder: Slot | None
    skipped: bool
    comments: int
    own: bool


def case_rows(user: User, cases: Sequence[Case]) -> list[CaseRow]:
    """The rows of a page of cases. Four queries."""
    ids = [case.item_id for case in cases]
    items = Item.objects.filter(pk__in=ids).annotate(beginning=Substr("text", 1, BEGINNING))
    texts = {pk: rest for pk, *rest in items.values_list("pk", "external_id", "beginning")}
    live = Slot.objects.live(timezone.now()).filter(item__in=ids).select_related("holder")
    held = {slot.item_id: slot for slot in live}
    skips = Decision.objects.skips().filter(reviewer=user, undone_at__isnull=True, item__in=ids)
    skipped = set(skips.values_list("item_id", flat=True))
    comments = dict(
        Comment.objects.filter(item__in=ids, resolved_at__isnull=True)
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
        .values_list("item", "n")
    )
    return [
        CaseRow(
            case=case,
            external_id=texts[case.item_id][0],
            text=texts[case.item_id][1],
            holder=held.get(case.item_id),
            skipped=case.item_id in skipped,
            comments=comments.get(case.item_id, 0),
            own=case.has_label_of(user),
        )
        for case in cases
        if case.item_id in texts
    ]
