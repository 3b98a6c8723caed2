"""Which items a reviewer may be handed, whether they may work; lists of items and labels."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    FilteredRelation,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.prepared import PreparedQuery, prepared
from apps.labels.blindness import (
    ONLY_AUDITED,
    debate_hidden_from,
    handed_blind,
    hidden_from,
    is_audit,
    opinions_hidden_from,
    withholds,
)
from apps.labels.models import Assignment, ItemState, Kind, Label
from apps.projects.models import Guideline, Item, LabelSchema, Project
from apps.projects.selectors import reviewer_kind, role_in
from apps.reviews.models import Decision, Purpose, ReviewerStatus, ReviewSettings, Slot
from labelhub.core.errors import Forbidden, NotFound


def review_settings(project: Project) -> ReviewSettings:
    """The project's review settings; an unsaved row with the defaults if there is none."""
    return _settings_rows.first(project.pk) or ReviewSettings(project=project)


@prepared
def _settings_rows(project: int) -> QuerySet[ReviewSettings]:
    return ReviewSettings.objects.filter(project=project)


@dataclass(frozen=True, slots=True)
class ReviewSetup:
    """What the answers of a project are checked against: its newest labels, its settings and the
    version of its newest guideline, if it has one."""

    schema: LabelSchema
    settings: ReviewSettings
    guideline_version: int | None


def read_setup(project: Project) -> ReviewSetup:
    """The setup of ``project`` as it is now. One query; ``schema.project`` holds the current plan.

    Raises:
        NotFound: the project has no label schema.
    """
    schema = _newest_setup.first(project.pk)
    if schema is None:
        raise NotFound("The project %(project)s has no label schema.", project=project)
    settings = getattr(schema.project, "review_settings", None) or ReviewSettings(project=project)
    return ReviewSetup(schema, settings, getattr(schema, "guideline_version", None))


@prepared
def _newest_setup(project: int) -> QuerySet[LabelSchema]:
    guidelines = Guideline.objects.filter(project=OuterRef("project")).order_by("-version")
    schemas = LabelSchema.objects.filter(project=project).order_by("-version")
    schemas = schemas.select_related("project__review_settings")
    return schemas.annotate(guideline_version=guidelines.values("version")[:1])[:1]


def reviewer_status_of(project: Project, user: User) -> ReviewerStatus | None:
    """The status of ``user`` in ``project``, if they have one. One query."""
    return _reviewer_statuses.first(project.pk, user.pk)


@prepared
def _reviewer_statuses(project: int, user: int) -> QuerySet[ReviewerStatus]:
    return ReviewerStatus.objects.filter(project=project, user=user)


def must_qualify(project: Project, user: User, reviewer_status: ReviewerStatus | None) -> bool:
    """Whether ``user`` has to answer qualification items before real work."""
    if not project.qualify_items or role_in(user, project) != Role.REVIEWER:
        return False
    return reviewer_status is None or reviewer_status.status == ReviewerStatus.Status.QUALIFYING


def unseen_gold_questions(project: int, user: int) -> QuerySet[ItemState]:
    """Gold questions that ``user`` has never been shown."""
    labels = Label.objects.filter(item=OuterRef("item"), annotator__user=user)
    left = Decision.objects.filter(item=OuterRef("item"), reviewer=user)
    held = Slot.objects.filter(item=OuterRef("item"), holder=user)
    known = ItemState.objects.filter(project=project, is_gold_question=True)
    return known.filter(~Exists(labels), ~Exists(left), ~Exists(held))


@prepared
def next_gold_question(project: int, user: int, after: int) -> QuerySet[ItemState, tuple[int]]:
    """The first gold question after the item ``after`` that ``user`` was never shown."""
    unseen = unseen_gold_questions(project, user).filter(item__gt=after)
    return unseen.order_by("item").values_list("item")[:1]


@prepared
def last_gold_question(project: int) -> QuerySet[ItemState, tuple[int]]:
    known = ItemState.objects.filter(project=project, is_gold_question=True)
    return known.order_by("-item").values_list("item")[:1]


def arm_of(project: Project, user_id: int, state: ItemState) -> Decision.Arm | None:
    """Whether ``user_id`` sees the item's suggestion; None if there is nothing to draw.

    The draw is a hash of person and item: always the same for both, and different people of one
    item fall into different arms. Items that wait for an expert's decision are not drawn.
    """
    drawn = project.blind_share and state.suggestion_id is not None and not is_audit(state)
    if not drawn or state.stage == ItemState.Stage.CONFLICT or state.disputed:
        return None
    # A number from 0 to 1, spread evenly over people and items.
    digest = blake2b(f"arm {user_id} {state.item_id}".encode(), digest_size=8).digest()
    withheld = int.from_bytes(digest) / 2**64 < project.blind_share
    return Decision.Arm.WITHHELD if withheld else Decision.Arm.SHOWN


def is_blind_for(user_id: int, project: Project, state: ItemState) -> bool:
    """Whether ``user_id`` answers the item without its suggestion."""
    return is_audit(state) or arm_of(project, user_id, state) == Decision.Arm.WITHHELD


class Look(NamedTuple):
    """How far to look: so many ``items`` of the queue, or of what is ``offered`` to the user."""

    items: int
    offered: bool = False


#: Places found per look.
BREADTH = 8
#: Assigned items that are looked at, the oldest first.
NAMED = 512
#: The last serves a person who is far ahead of the others. Items that others hold may come first,
#: but nobody holds more than a few.
LOOKS = (Look(32), Look(512), Look(8192, offered=True))


class Place(NamedTuple):
    """A slot that may be claimed: ``slot_id`` is None where it has to be made first."""

    item_id: int
    number: int
    slot_id: int | None
    priority: float = 0.0


def offered_to(project: Project, user: User) -> QuerySet[ItemState]:
    """Queued items that ``user`` may label, the urgent first, held or not.

    Without items that they have labelled, skipped, postponed or rejected, and without items that
    are kept for others by name or kind; conflicts are kept for experts.
    """
    given = Assignment.objects.filter(item=OuterRef("item_id"), user=user.pk, open=True)
    mine = Q(audience__in=["", reviewer_kind(user, project)]) | Q(Exists(given))
    states = ItemState.objects.awaiting_review().filter(mine, project=project)
    return _unanswered_states(states, user.pk)


def open_items(project: Project, user: User, now: datetime) -> int:
    """How many items ``user`` could be handed at once."""
    offered = offered_to(project, user).order_by()
    given = Assignment.objects.filter(project=project, user=user, open=True).values("item")
    by_name, others = offered.filter(item__in=given), offered.exclude(item__in=given)
    return (
        open_places(others, user.pk, now).count()
        + open_places(by_name, user.pk, now, given=True).count()
    )


def _unanswered_states(states: QuerySet[ItemState], user_id: int) -> QuerySet[ItemState]:
    labels = Label.objects.standing().filter(item=OuterRef("item_id"), annotator__user=user_id)
    left = Decision.objects.filter(
        item=OuterRef("item_id"),
        reviewer=user_id,
        action__in=[Decision.Action.SKIP, Decision.Action.POSTPONE],
        undone_at__isnull=True,
    )
    return states.filter(~Exists(labels), ~Exists(left))


def open_places(
    states: QuerySet[ItemState], user_id: int, now: datetime, *, given: bool = False
) -> QuerySet[ItemState, Any]:
    """Places that ``user_id`` may lease at ``now``: rows of :class:`Place`.

    Nobody holds an item twice, because its labels must come from several people. Slot numbers are
    given in order and never exceed ``required_labels``, so labelled and live slots together cannot
    either, however claims interleave. Labels without a slot (imported, or given after the lease had
    lapsed) count as well. Reserved slots are for the assignees (``given``).
    """
    waiting = Q(slot__label__isnull=True, slot__number__isnull=False)
    free = waiting & (Q(slot__lease_until__isnull=True) | Q(slot__lease_until__lte=now))
    live = waiting & Q(slot__lease_until__gt=now)
    held = Q(slot__label__isnull=True, slot__lease_until__gt=now, slot__holder=user_id)
    taken = F("labels_by_people") if given else F("labels_by_people") + F("reserved_slots")
    return (
        states.annotate(slot=FilteredRelation("item__slots"))
        .values("item_id", "priority", "required_labels", "labels_by_people", "reserved_slots")
        .annotate(
            slot_id=Min("slot__pk", filter=free),
            number=Coalesce(Min("slot__number", filter=free), Max("slot__number") + 1, Value(1)),
            live=Count("slot__pk", filter=live),
            own=Count("slot__pk", filter=held),
        )
        .filter(own=0, number__lte=F("required_labels"), live__lt=F("required_labels") - taken)
        .values_list("item_id", "number", "slot_id", "priority")
    )


def next_places(project: Project, user: User, now: datetime) -> list[Place]:
    """The first few open places for ``user``: assigned items, then the queue in its order.

    The hot path. It looks at the head of the queue, and further only if nothing there is for them.
    Items for everybody and items for the user's kind are two queues of the index, merged here.
    """
    named = _first_assignment.first(project.pk, user.pk)  # most people have no assignment
    if named and (rows := _places_given(project.pk, user.pk, now)):
        return [Place(*row) for row in rows]
    kind = reviewer_kind(user, project)
    for look in LOOKS:
        if rows := _places_within(look)(project.pk, user.pk, now, kind):
            return [Place(*row) for row in rows]
    return []


@prepared
def _first_assignment(project: int, user: int) -> QuerySet[Assignment, tuple[int]]:
    given = Assignment.objects.filter(project=project, user=user, open=True)
    return given.order_by().values_list("pk")[:1]


@prepared
def _places_given(project: int, user: int, now: datetime) -> QuerySet[ItemState, tuple[Any, ...]]:
    given = Assignment.objects.filter(project=project, user=user, open=True).order_by("item")
    states = ItemState.objects.filter(pk__in=given[:NAMED].values("item"), queued=True)
    return open_places(_unanswered_states(states, user), user, now, given=True).order_by(
        "-priority", "item_id"
    )[:BREADTH]


@cache
def _places_within(look: Look) -> PreparedQuery[[int, int, datetime, str], tuple[Any, ...]]:
    def places(
        project: int, user: int, now: datetime, kind: str
    ) -> QuerySet[ItemState, tuple[Any, ...]]:
        def head(audience: str) -> QuerySet[ItemState, Any]:
            queued = ItemState.objects.awaiting_review().filter(project=project, audience=audience)
            states = _unanswered_states(queued, user) if look.offered else queued
            # By primary key alone: given a choice PostgreSQL works out every queued item before it
            # sorts, as it cannot know that nearly all of them pass the conditions. Within another
            # query, as SQLite takes no limit in the parts of a union.
            first = states[: look.items].values("pk")
            return ItemState.objects.filter(pk__in=first).order_by().values("pk")

        heads = head("").union(head(kind), all=True)
        near = ItemState.objects.filter(pk__in=heads).order_by("-priority", "item_id")
        return open_places(_unanswered_states(near, user), user, now)[:BREADTH]

    return prepared(places)


@prepared
def held_slots(now: datetime, project: int, holder: int) -> QuerySet[Slot]:
    """The holder's live slots in the project's queue, longest held first, without adjudications."""
    live = Slot.objects.live(now).filter(project=project, holder=holder)
    live = live.exclude(purpose=Purpose.SETTLE)
    return live.order_by("lease_until", "pk")


def live_leases(project: Project) -> QuerySet[Slot]:
    """The project's live slots with holder and item, those that lapse first at the top."""
    live = Slot.objects.live(timezone.now()).filter(project=project)
    return live.select_related("holder", "item").order_by("lease_until", "pk")


def items_of(project: Project, user: User) -> QuerySet[Item]:
    """The project's items in the order of their import, with state, suggestion and gold.

    ``hidden`` marks items whose labels by machines ``user`` must not see yet, ``debate_hidden``
    items that the review screen shows them without a suggestion.
    """
    return _with_state(Item.objects.filter(project=project), user).order_by("pk")


def visible_items(user: User | AnonymousUser) -> QuerySet[Item]:
    """The items of all projects that ``user`` may see, in the same way."""
    return _with_state(Item.objects.visible_to(user), user)


def _with_state(items: QuerySet[Item], user: User | AnonymousUser) -> QuerySet[Item]:
    reader = user.pk or 0
    items = items.annotate(
        hidden=ExpressionWrapper(hidden_from(reader), BooleanField()),
        debate_hidden=ExpressionWrapper(debate_hidden_from(reader), BooleanField()),
    )
    return items.select_related("state__suggestion__annotator", "state__gold__decided_by")


def labels_of(project: Project, user: User) -> QuerySet[Label]:
    """The labels in the project's ledger that ``user`` may read, oldest first.

    A reviewer reads nothing that the review screen withholds: labels of models on items that they
    answer blind, and labels of others on items that they have not answered. A manager does not read
    the labels of models on items that they hold to answer blind.
    """
    by_models = Q(annotator__kind__in=(Kind.LLM, Kind.MODEL))
    reviews = role_in(user, project) == Role.REVIEWER
    hidden = hidden_from if reviews else handed_blind
    labels = all_labels(project).exclude(by_models & hidden(user.pk, item="item_id"))
    if reviews:
        by_others = ~by_models & ~Q(annotator__user=user.pk)
        shows_opinions = review_settings(project).show_opinions
        opinions = hidden_from if shows_opinions else opinions_hidden_from
        labels = labels.exclude(by_others & opinions(user.pk, item="item_id"))
    return labels


def all_labels(project: Project) -> QuerySet[Label]:
    """The labels in the project's ledger, oldest first; for those who may have a file of them."""
    return (
        Label.objects.filter(item__project=project)
        .select_related(
            "item", "annotator", "schema", "superseded_by", "supersedes", "shown", "proposed_from"
        )
        .order_by("pk")
    )


def check_download(user: User | AnonymousUser, project: Project) -> None:
    """Refuse (Forbidden) a reviewer who must not see the contents of a file yet."""
    if reason := download_refusal(user, project):
        raise Forbidden(reason)


def download_refusal(user: User | AnonymousUser, project: Project) -> str:
    """The reason why ``user`` may not have a file; empty if they may. A file would show a reviewer
    hidden suggestions, gold questions, and others' labels of items that they may still get."""
    if role_in(user, project) != Role.REVIEWER:
        return ""
    states = ItemState.objects.filter(project=project)
    labelled = states.filter(
        opinions_hidden_from(user.pk or 0, item="item_id"), labels_by_people__gt=0
    )
    if not review_settings(project).show_opinions and labelled.exists():
        return gettext(
            "A file would show others' labels of items that you may still get; label those items "
            "first, or ask a manager for the file."
        )
    audited = ItemState.objects.filter(project=project, queued=True, reasons=ONLY_AUDITED)
    if withholds(project) or audited.exists():
        return gettext(
            "This project hides suggestions or gold questions from its reviewers, and a file would "
            "show them; ask a manager for the file."
        )
    return ""
