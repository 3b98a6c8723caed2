"""The people's work on a project, the waiting items by reason, and one reviewer's desk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from math import ceil, sqrt
from operator import itemgetter
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.charts import Axis, Bar, Chart, Name, number_tick
from apps.common.figures import count_words, day_words
from apps.debates.naming import reason_words
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Assignment, ItemState, Label
from apps.labels.selectors import at_stage
from apps.projects.models import Membership, Project
from apps.reviews.comments.selectors import readable_comments
from apps.reviews.models import Decision, Draft, Mention, ReviewerStatus, Slot

#: Days that are drawn, and those of them whose pace the forecast goes by.
DRAWN, RECENT = 28, 7
#: Of the normal distribution, for 95 %.
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the queue will be empty if people go on as they do: days from now, with an interval.

    ``low`` and ``high`` come from how much the recent days differ (95 %, normal); ``high`` is None
    where they differ so much that no end can be told.
    """

    wanted: int
    a_day: float
    days: int
    low: int
    high: int | None


def labels_by_day(project: Project, user: User | None = None) -> dict[date, int]:
    """The last four weeks, day by day, today last: current answers of all or of ``user``."""
    today = timezone.localdate()
    first = today - timedelta(days=DRAWN - 1)
    rows = Decision.objects.filter(
        project=project,
        undone_at__isnull=True,
        label__rejected=False,
        label__superseded_by__isnull=True,
        created_at__gte=timezone.make_aware(datetime.combine(first, time.min)),
    )
    if user is not None:
        rows = rows.filter(reviewer=user)
    counted = rows.order_by().annotate(day=TruncDate("created_at")).values_list("day")
    found = dict(counted.annotate(n=Count("pk")))
    days = [first + timedelta(days=number) for number in range(DRAWN)]
    return {day: found.get(day, 0) for day in days}


def days_chart(days: Mapping[date, int]) -> Chart | None:
    """Labels a day as bars, today last; None without labels."""
    most = max(days.values())
    if not most:
        return None
    named = [f"{date_format(day, 'D')} {day_words(day)}" for day in days]
    rows: list[dict[str, str | int | float | None]] = [
        {gettext_noop("day"): name, gettext_noop("labels"): labels}
        for name, labels in zip(named, days.values(), strict=True)
    ]
    return Chart(
        key="days",
        title=gettext("Labels a day"),
        description=gettext("Labels a day over the last %(days)s days; the last is today.")
        % {"days": len(days)},
        rows=rows[::-1],
        x=Axis(names=[Name(day_words(day)) for day in days], step=0),
        y=Axis(high=most, ticks=[0, most], words=number_tick),
        marks=[
            Bar(x=number, top=labels, words=f"{name}: {count_words(labels)}")
            for number, (name, labels) in enumerate(zip(named, days.values(), strict=True))
        ],
        height=64,
    )


def forecast(project: Project, days: Mapping[date, int]) -> Forecast | None:
    """From the pace of the last seven days; None where nobody labelled in them, or nothing waits.

    Today is left out where somebody worked on one of them: it is not over.
    """
    queued = ItemState.objects.filter(at_stage("waiting"), project=project).order_by()
    left: dict[str, Any] = queued.aggregate(left=Sum(F("required_labels") - F("labels_by_people")))
    wanted: int = left["left"] or 0
    *recent, today = list(days.values())[-RECENT - 1 :]
    if not any(recent):
        recent = [today]
    pace = sum(recent) / len(recent)
    if not wanted or not pace:
        return None
    spread = sqrt(sum((n - pace) ** 2 for n in recent) / max(1, len(recent) - 1) / len(recent))
    slow, quick = pace - _Z * spread, pace + _Z * spread
    return Forecast(
        wanted=wanted,
        a_day=pace,
        days=ceil(wanted / pace),
        low=ceil(wanted / quick),
        high=ceil(wanted / slow) if slow > 0 else None,
    )


#: Changes and messages shown on a desk.
NEWEST = 5


@dataclass(frozen=True, slots=True)
class WaitingItems:
    words: str
    items: int


@dataclass(frozen=True, slots=True)
class WorkerRow:
    member: Membership
    labels: int
    this_week: int
    skipped: int
    rejected: int
    holds: int
    last: datetime | None
    standing: ReviewerStatus | None


@dataclass(frozen=True, slots=True)
class WorkReport:
    chart: Chart | None
    forecast: Forecast | None
    waiting: Sequence[WaitingItems]
    workers: Sequence[WorkerRow]


def work_report(project: Project) -> WorkReport:
    """For managers; eight queries, however many people there are."""
    days = labels_by_day(project)
    return WorkReport(
        days_chart(days), forecast(project, days), waiting_by_reason(project), _workers(project)
    )


def waiting_by_reason(project: Project) -> list[WaitingItems]:
    """The items that wait for people, by the first reason of each, the largest part first.

    Audited items count as never debated: nobody may learn which items are audited.
    """
    queued = ItemState.objects.filter(at_stage("waiting"), project=project).order_by()
    rows = queued.values_list("stage", "disputed", "reasons").annotate(n=Count("pk"))
    counts: dict[str, int] = {}
    for stage, disputed, reasons, n in rows:
        words = _waiting_reason(str(stage), list(reasons), disputed=disputed)
        counts[words] = counts.get(words, 0) + n
    return sorted((WaitingItems(*row) for row in counts.items()), key=lambda group: -group.items)


def _waiting_reason(stage: str, reasons: Sequence[str], *, disputed: bool) -> str:
    if disputed:
        return gettext("a confident model contradicts the reviewers")
    if stage == ItemState.Stage.CONFLICT:
        return gettext("reviewers disagree")
    if stage == ItemState.Stage.IN_REVIEW:
        return gettext("needs one more label")
    if reasons and list(reasons) != ONLY_AUDITED:
        return reason_words(str(reasons[0]))
    if stage == ItemState.Stage.SUGGESTED and not reasons:
        return gettext("pre-annotated, not uncertain")
    return gettext("not labelled")


def _workers(project: Project) -> list[WorkerRow]:
    week = timezone.now() - timedelta(days=7)
    decided = Decision.objects.filter(project=project, undone_at__isnull=True).order_by()
    labelled, skipped = Q(label__rejected=False), Q(action=Decision.Action.SKIP)
    rows = decided.values("reviewer").annotate(
        labels=Count("item", filter=labelled, distinct=True),
        this_week=Count("item", filter=labelled & Q(created_at__gte=week), distinct=True),
        skipped=Count("pk", filter=skipped),
        rejected=Count("item", filter=Q(label__rejected=True), distinct=True),
        last=Max("created_at"),
    )
    counts = {row.pop("reviewer"): row for row in rows}
    live = Slot.objects.live(timezone.now()).filter(project=project).order_by()
    holds = dict(live.values_list("holder").annotate(n=Count("pk")))
    standings = {
        status.user_id: status for status in ReviewerStatus.objects.filter(project=project)
    }
    nothing = {"labels": 0, "this_week": 0, "skipped": 0, "rejected": 0, "last": None}
    members = Membership.objects.filter(project=project).exclude(role=Role.VIEWER)
    workers = [
        WorkerRow(
            member=member,
            **counts.get(member.user_id, nothing),
            holds=holds.get(member.user_id, 0),
            standing=standings.get(member.user_id),
        )
        for member in members.select_related("user")
    ]
    return sorted(workers, key=lambda worker: (-worker.this_week, -worker.labels))


@dataclass(frozen=True, slots=True)
class Desk:
    """A reviewer's own work in one project."""

    chart: Chart | None
    labels: int
    today: int
    given: int
    postponed: int
    rejected: int
    drafts: Sequence[Draft]
    mentions: Sequence[Mention]
    returned: Sequence[Label]
    changes: Sequence[dict[str, Any]]
    paused: ReviewerStatus | None


def desk_of(project: Project, user: User) -> Desk:
    days = labels_by_day(project, user)
    standing = Decision.objects.standing(project, user).order_by()
    postponed = standing.filter(action=Decision.Action.POSTPONE, item__state__queued=True)
    open_still = Q(item__state__queued=True) | Q(item__state__is_gold_question=True)
    drafts = Draft.objects.filter(open_still, project=project, user=user).select_related("item")
    readable = readable_comments(project, user).order_by().values("pk")
    mentions = Mention.objects.filter(user=user, seen_at__isnull=True, comment__in=readable)
    # Labels that somebody took back, with the reason given.
    returned = Label.objects.filter(
        annotator__project=project,
        annotator__user=user,
        action=Label.Action.WITHDRAWN,
        provenance__has_key="reason",
    ).exclude(provenance__reason="")
    return Desk(
        chart=days_chart(days),
        labels=standing.filter(label__rejected=False).values("item").distinct().count(),
        rejected=standing.only_rejecting().filter(item__state__queued=True).count(),
        today=next(reversed(days.values())),
        given=Assignment.objects.filter(
            project=project, user=user, open=True, item__state__queued=True
        ).count(),
        postponed=postponed.count(),
        drafts=list(drafts.order_by("-updated_at")[:NEWEST]),
        mentions=list(
            mentions.select_related("comment__author", "comment__item").order_by("-pk")[:NEWEST]
        ),
        returned=list(
            returned.select_related("item", "supersedes__schema").order_by("-pk")[:NEWEST]
        ),
        changes=_newest_changes(project),
        paused=ReviewerStatus.objects.filter(
            project=project, user=user, status=ReviewerStatus.Status.PAUSED
        ).first(),
    )


def _newest_changes(project: Project) -> list[dict[str, Any]]:
    """``kind``, ``version`` and ``changed_at`` of new labels and guidelines."""
    versions: dict[str, QuerySet[Any]] = {
        "schema": project.schemas.all(),
        "guideline": project.guidelines.all(),
    }
    found = [
        {"kind": kind, **row}
        for kind, rows in versions.items()
        for row in rows.order_by("-version").values("version", changed_at=F("created_at"))[:NEWEST]
    ]
    return sorted(found, key=itemgetter("changed_at"), reverse=True)[:NEWEST]


ON_A_PAGE = 20
_WITHOUT_LABEL = {Decision.Action.SKIP, Decision.Action.POSTPONE}


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One past decision of a reviewer. ``stands``: it can be undone."""

    decision: Decision
    words: str
    stands: bool


@dataclass(frozen=True, slots=True)
class PastAnswers:
    """A page of them; ``older``: the parameter for the next page, None on the last."""

    answers: Sequence[PastAnswer]
    older: int | None


def past_answers(project: Project, user: User, *, before: int | None = None) -> PastAnswers:
    """The decisions of ``user`` that were not undone, by 20; those older than ``before``.

    One query, by an index, however much was answered.
    """
    decisions = Decision.objects.standing(project, user)
    if before is not None:
        decisions = decisions.filter(pk__lt=before)
    rows = decisions.select_related("item", "label__schema", "label__superseded_by")
    rows = rows[: ON_A_PAGE + 1]
    answers = [_past_answer(decision) for decision in rows]
    more = len(answers) > ON_A_PAGE
    shown = answers[:ON_A_PAGE]
    return PastAnswers(shown, shown[-1].decision.pk if more else None)


def _past_answer(decision: Decision) -> PastAnswer:
    label = decision.label
    if label is None:
        words = decision.get_action_display()
        return PastAnswer(decision, words, stands=decision.action in _WITHOUT_LABEL)
    words = gettext("unsure") if label.abstained else label.value_words
    if label.rejected:
        words = gettext("rejected the suggestion, gave no label")
    stands = not label.withdrawn and not hasattr(label, "superseded_by")
    return PastAnswer(decision, words, stands)
