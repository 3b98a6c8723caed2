"""Plan and preview bulk actions; the job checks the same conditions again on locked items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Case, CharField, Count, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import User
from apps.accounts.roles import ROLES_WITH, ReviewerKind, Right
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Assignment, ItemState, Label
from apps.projects.models import Item, Membership, Project
from apps.projects.selectors import current_schema, reviewer_kind
from apps.reviews.models import BulkJob, Slot
from apps.reviews.search.matching import matching_items
from apps.reviews.search.query import Query
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import unstorable

Action = BulkJob.Action
EXAMPLES = 10
#: Why an item is passed over; the first reason that holds counts.
PASSED = {
    "gone": gettext_noop("have changed since the preview, or no longer match the search"),
    "audited": gettext_noop("are audited blind; a bulk label would spoil the audit"),
    "decided": gettext_noop("are decided"),
    "unclear": gettext_noop("are settled as unsure by an expert"),
    "mine": gettext_noop("you have already labelled or rejected"),
    "silent": gettext_noop("have no suggestion to accept"),
    "foreign": gettext_noop("do not offer this label"),
    "others": gettext_noop("are reserved for other people"),
    "enough": gettext_noop("have all the labels they need"),
    "held": gettext_noop("are locked by somebody now"),
    "same": gettext_noop("are already in this state"),
    "idle": gettext_noop("are not in the queue"),
    "spoken": gettext_noop("all chosen people have labelled or rejected"),
    "unsaid": gettext_noop("have no label by people"),
}
_UNCLEAR = Q(state__stage=ItemState.Stage.UNCLEAR)
KINDS = ("", "crowd", "expert")
MOST_PEOPLE = 50
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class BulkPlan:
    """One action on the items of a search, as they were at ``asked_at``."""

    project: Project
    actor: User
    action: str
    query: Query
    options: Mapping[str, Any]
    upto: int
    asked_at: datetime

    def items(self) -> QuerySet[Item]:
        """The items that the search finds now, without newer ones."""
        return matching_items(self.project, self.query).filter(pk__lte=self.upto)

    def among(self, item_ids: Sequence[int]) -> QuerySet[Item]:
        """Those of the items that the search still finds. A new label changes the time of a state,
        so only comments and skips are checked again."""
        query = self.query
        again = Query(
            comments=query.comments,
            comment=query.comment,
            comment_by=query.comment_by,
            skipped_by=query.skipped_by,
        )
        return matching_items(self.project, again).filter(pk__in=item_ids)


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of a plan. ``passed`` counts by reason (:data:`PASSED`)."""

    total: int
    changing: int
    passed: dict[str, int] = field(default_factory=dict)
    examples: Sequence[Item] = ()

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """The counts with their reasons in words, the largest first."""
        return reasons_in_words(self.passed)


def reasons_in_words(passed: Mapping[str, int]) -> list[tuple[int, str]]:
    """Counts of passed over items with the reasons in words, the largest first."""
    found = [(count, gettext(PASSED[reason])) for reason, count in passed.items() if count]
    return sorted(found, key=lambda counted: -counted[0])


def preview(plan: BulkPlan) -> Preview:
    """The effect of the plan now: counts, and a few of the items that will change."""
    outcomes = with_outcomes(plan, plan.items())
    counted = outcomes.order_by().values_list("outcome").annotate(n=Count("pk"))
    counts: dict[str, int] = dict(counted)
    changing = outcomes.filter(outcome="").order_by("pk")
    shown = changing.select_related("state__suggestion", "state__gold")[:EXAMPLES]
    passed = {reason: counts[reason] for reason in PASSED if counts.get(reason)}
    return Preview(sum(counts.values()), counts.get("", 0), passed, list(shown))


def with_outcomes(plan: BulkPlan, items: QuerySet[Item]) -> QuerySet[Any]:
    """The items, each with its ``outcome``: the reason why it is passed over, else empty."""
    reasons = [When(condition, then=Value(reason)) for reason, condition in _reasons(plan).items()]
    outcome = Case(*reasons, default=Value(""), output_field=CharField())
    return items.annotate(outcome=outcome)


def _reasons(plan: BulkPlan) -> dict[str, Q]:
    found = {"gone": Q(state__updated_at__gt=plan.asked_at)}
    if plan.action in (Action.ACCEPT, Action.LABEL):
        return found | _label_reasons(plan)
    idle = Q(state__queued=False)
    settled = {"decided": Q(state__stage=ItemState.Stage.DECIDED), "unclear": _UNCLEAR}
    if plan.action == Action.ASSIGN:
        return found | {**settled, **_assignment_reasons(plan)}
    if plan.action == Action.AUDIENCE:
        same = Q(state__assigned_kind=plan.options["kind"])
        return found | {**settled, "same": same}
    if plan.action == Action.PROMOTE:
        same = Q(state__promoted=plan.options["promoted"])
        # An item that waits for nobody can still be put back.
        return found | {"same": same} | ({"idle": idle} if plan.options["promoted"] else {})
    labels = Label.objects.standing().by_people().filter(item=OuterRef("pk"))
    here = labels.exclude(action=Label.Action.IMPORTED)
    return found | {"unsaid": ~Q(Exists(here))}


def _label_reasons(plan: BulkPlan) -> dict[str, Q]:
    """As in the queue: only items that the actor could be handed."""
    live = Slot.objects.live(timezone.now()).filter(project=plan.project)
    found = {
        "audited": Q(state__reasons=ONLY_AUDITED),
        "mine": _labelled_by(plan.actor.pk),
        "decided": Q(state__stage=ItemState.Stage.DECIDED, state__disputed=False),
        "unclear": _UNCLEAR,
    }
    if plan.action == Action.ACCEPT:
        found["silent"] = Q(state__suggestion__isnull=True) | Q(state__suggestion__abstained=True)
    elif current_schema(plan.project).task.item_options:
        found["foreign"] = ~Q(options=[]) & ~Q(options__names=plan.options["value"])
    kind = reviewer_kind(plan.actor, plan.project)
    other = ReviewerKind.CROWD if kind == ReviewerKind.EXPERT else ReviewerKind.EXPERT
    named = Q(state__audience=ItemState.Audience.NAMED) & ~_given_to(plan.actor.pk)
    return found | {
        "others": (named | Q(state__audience=other)),
        "enough": Q(state__queued=False, state__labels_by_people__gt=0),
        "held": Q(pk__in=live.values("item")),
    }


def _labelled_by(user: int) -> Q:
    labels = Label.objects.standing().filter(item=OuterRef("pk"), annotator__user=user)
    return Q(Exists(labels))


def _given_to(user: int) -> Q:
    return Q(Exists(Assignment.objects.filter(item=OuterRef("pk"), user=user, open=True)))


def _assignment_reasons(plan: BulkPlan) -> dict[str, Q]:
    """Items that all the chosen people have labelled or have already; if they share the items, one
    person who has it is enough."""
    spoken, given = Q(), Q()
    for user in plan.options["users"]:
        spoken &= _labelled_by(user)
        has = _given_to(user)
        given = given | has if plan.options["share"] else given & has
    return {"spoken": spoken, "same": given}


def jobs_of(project: Project) -> QuerySet[BulkJob]:
    """The project's bulk jobs, newest first."""
    return BulkJob.objects.filter(project=project).select_related("actor", "project")


def get_job(project: Project, job_id: int) -> BulkJob:
    """One of them.

    Raises:
        NotFound: there is none.
    """
    job = jobs_of(project).filter(pk=job_id).first()
    if job is None:
        raise NotFound(
            "There is no bulk job %(job_id)s in the project '%(slug)s'.",
            job_id=str(job_id),
            slug=project.slug,
        )
    return job


def read_options(project: Project, action: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``action``, checked, ready to be stored.

    Fields: ``value`` (label), ``users`` (ids or user names) and ``share`` (assign: each item to one
    of them in turn, else to all), ``kind`` (audience: crowd, expert or empty), ``promoted``
    (promote), ``reason`` (return).

    Raises:
        InvalidInput: an unknown action, or an option that cannot be used, by its name.
    """
    if action not in BulkJob.Action.values:
        raise InvalidInput.at(
            "action", "Must be one of %(values)s.", values=", ".join(BulkJob.Action.values)
        )
    match action:
        case Action.LABEL:
            return {"value": _value_option(project, data.get("value"))}
        case Action.ASSIGN:
            return _people_option(project, data)
        case Action.AUDIENCE:
            kind = data.get("kind", "")
            if kind not in KINDS:
                raise InvalidInput.at("kind", "Must be crowd, expert or empty (for everybody).")
            return {"kind": kind}
        case Action.PROMOTE:
            return {"promoted": _flag(data, "promoted", default=True)}
        case Action.RETURN:
            return {"reason": _reason_option(data.get("reason", ""))}
    return {}


def _reason_option(raw: Any) -> str:
    reason = raw.strip() if isinstance(raw, str) else ""
    if not reason or unstorable(reason) or len(reason) > LONGEST_REASON:
        raise InvalidInput.at(
            "reason",
            "Give a reason of at most %(longest_reason)s characters.",
            longest_reason=LONGEST_REASON,
        )
    return reason


def _value_option(project: Project, raw: Any) -> Any:
    schema = current_schema(project).parsed
    if raw in (None, ""):
        raise InvalidInput.at("value", "Choose a label.")
    if schema.task.item_options:
        if not isinstance(raw, str) or not raw.strip() or unstorable(raw):
            raise InvalidInput.at("value", "Must be one of the items' options, as text.")
        return raw.strip()
    try:
        return schema.normalise(raw)
    except InvalidInput as error:
        raise InvalidInput.at("value", error.message) from None


def _people_option(project: Project, data: Mapping[str, Any]) -> dict[str, Any]:
    raw = data.get("users") or []
    if not isinstance(raw, list | tuple) or not raw:
        raise InvalidInput.at("users", "Choose at least one person.")
    members = Membership.objects.filter(project=project, role__in=ROLES_WITH[Right.REVIEW])
    known: dict[str, int] = {}
    for pk, name in members.values_list("user_id", "user__username"):
        known |= {str(pk): pk, name: pk}
    strange = [str(person) for person in raw if str(person) not in known]
    if strange:
        raise InvalidInput.at(
            "users", "'%(strange)s' does not review in this project.", strange=strange[0][:80]
        )
    users = sorted({known[str(person)] for person in raw})
    if len(users) > MOST_PEOPLE:
        raise InvalidInput.at(
            "users", "At most %(most_people)s people at once.", most_people=MOST_PEOPLE
        )
    return {"users": users, "share": _flag(data, "share", default=False)}


def _flag(data: Mapping[str, Any], name: str, *, default: bool) -> bool:
    raw = data.get(name, default)
    if raw in (True, "true", "on", "1", "yes"):
        return True
    if raw in (False, "false", "", "0", "no"):
        return False
    raise InvalidInput.at(name, "Must be true or false.")
