"""What a site's pages count, from message to answer: a few GROUP BY queries for any traffic."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import Case, Count, Q, QuerySet, Sum, Value, When

from apps.authors.models import Answer, Event, Feature, Message, Question, Site
from apps.authors.stages import NOT_WORTH_ASKING
from apps.projects.models import Project
from labelhub.core.interview.features import OPTIONS
from labelhub.core.interview.funnel import Funnel, PositionCheck, position_check

#: Days that may be looked at → days of one bar.
WINDOWS: Mapping[int, int] = {7: 1, 28: 1, 91: 7}
#: Who answers has seen the question, whether or not the widget could say so.
_SEEN = Q(shown_at__isnull=False) | Q(status__in=("answered", "nofit"))
_QUESTION_COUNTS = {
    "n": Count("pk"),
    "shown": Count("pk", filter=_SEEN),
    "early": Count("pk", filter=Q(early__gt=0)),
}


@dataclass(frozen=True, slots=True)
class TrafficBar:
    """What was counted from ``start`` on, for the length of one bar."""

    start: datetime
    funnel: Funnel


@dataclass(frozen=True, slots=True)
class Traffic:
    """A site's funnel of a window, the window before it, and bar by bar (oldest first).

    ``questions``: put about the messages of the window; ``waiting``: messages that the models have
    not finished with; ``cost_nanousd``: what asking the models cost.
    """

    now: Funnel
    before: Funnel
    bars: tuple[TrafficBar, ...]
    questions: int
    waiting: int
    cost_nanousd: int


@dataclass(frozen=True, slots=True)
class Answers:
    """What came in: labels that count, excluded ones, and how long answering took."""

    labels: int
    excluded: int
    median_ms: int | None
    n: int


@dataclass(slots=True)
class _Counts:
    """One bar or window while it is being added up."""

    messages: Counter[tuple[str, str]] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    shown: int = 0
    early: int = 0
    optouts: int = 0
    cost: int = 0

    def add_messages(self, row: Mapping[str, Any]) -> None:
        self.messages[row["status"], row["dropped_at"]] += row["n"]
        self.cost += row["cost"] or 0

    def add_questions(self, row: Mapping[str, Any]) -> None:
        self.questions[row["status"]] += row["n"]
        self.shown += row["shown"]
        self.early += row["early"]

    def funnel(self) -> Funnel:
        dropped: Counter[str] = Counter()
        for (status, stage), count in self.messages.items():
            if status == Message.Status.DROPPED:
                dropped[stage] += count
        surveys = self.messages[Message.Status.ASKED, ""]
        lost = sum(count for stage, count in dropped.items() if stage not in NOT_WORTH_ASKING)
        return Funnel(
            messages=self.messages.total(),
            dropped=dropped,
            taskable=surveys + lost,
            surveys=surveys,
            shown=self.shown,
            answered=self.questions[Question.Status.ANSWERED],
            nofit=self.questions[Question.Status.NOFIT],
            skipped=self.questions[Question.Status.SKIPPED],
            closed=self.questions[Question.Status.CLOSED],
            expired=self.questions[Question.Status.EXPIRED],
            early=self.early,
            optouts=self.optouts,
        )


def start_of(days: int, now: datetime) -> datetime:
    """The midnight at which a window of so many days, today included, began."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days - 1)


def site_traffic(site: Site, days: int, now: datetime) -> Traffic:
    """The funnel of a site, in three queries. ``days`` is one of :data:`WINDOWS`."""
    step, start = WINDOWS[days], start_of(days, now)
    starts = [start + timedelta(days=day) for day in range(0, days, step)]
    edges = [*reversed(starts), start - timedelta(days=days)]
    counts = {number: _Counts() for number in range(len(edges))}
    messages, questions, left = _rows_since(edges[-1], site=site)
    _add_up(
        counts,
        "bar",
        messages.annotate(bar=_bar("received_at", edges)),
        questions.annotate(bar=_bar("created_at", edges)),
        left.annotate(bar=_bar("at", edges)),
    )
    *latest, before = counts.values()
    drawn = [TrafficBar(start, bar.funnel()) for start, bar in zip(edges, latest, strict=False)]
    whole = _sum(latest)
    return Traffic(
        now=whole.funnel(),
        before=before.funnel(),
        bars=tuple(reversed(drawn)),
        questions=whole.questions.total(),
        waiting=whole.messages[Message.Status.RECEIVED, ""],
        cost_nanousd=whole.cost,
    )


def funnels_of(project: Project, start: datetime) -> dict[int, Funnel]:
    """The funnel of each of a project's sites since ``start``, by the site's id."""
    found = {pk: _Counts() for pk in project.sites.values_list("pk", flat=True)}
    _add_up(found, "site", *_rows_since(start, site__in=found))
    return {pk: counts.funnel() for pk, counts in found.items()}


def funnels_by_feature(site: Site, start: datetime) -> dict[int, tuple[int, Funnel]]:
    """Feature id → questions asked about it since ``start``, and their funnel."""
    found: dict[int, _Counts] = {}
    questions = Question.objects.filter(site=site, created_at__gte=start)
    for row in questions.values("feature", "status").annotate(**_QUESTION_COUNTS).order_by():
        found.setdefault(row["feature"], _Counts()).add_questions(row)
    return {pk: (counts.questions.total(), counts.funnel()) for pk, counts in found.items()}


def answers_since(site: Site, start: datetime) -> Answers:
    """Labels that came of a site's questions since ``start``, and the median time they took."""
    standing = Answer.objects.standing().filter(question__site=site, received_at__gte=start)
    counted = standing.aggregate(
        n=Count("pk"),
        labels=Count("pk", filter=Q(excluded_at__isnull=True, outcome=Answer.Outcome.ANSWER)),
        excluded=Count("pk", filter=Q(excluded_at__isnull=False)),
    )
    times = standing.order_by("server_ms").values_list("server_ms", flat=True)
    n = counted["n"]
    middle = list(times[(n - 1) // 2 : n // 2 + 1]) if n else []
    seconds = round(median(middle)) if middle else None
    return Answers(counted["labels"], counted["excluded"], seconds, n)


def position_check_of(site: Site, features: Iterable[Feature], start: datetime) -> PositionCheck:
    """Whether the options that were chosen stood at any place alike; scales are not shuffled."""
    shuffled = [
        feature.pk
        for feature in features
        if feature.parsed.option_count == OPTIONS and not feature.parsed.ordinal
    ]
    chosen = Answer.objects.standing().filter(
        question__site=site,
        question__feature__in=shuffled,
        received_at__gte=start,
        position__lt=OPTIONS,
    )
    counts = [0] * OPTIONS
    for row in chosen.values("position").annotate(n=Count("pk")).order_by():
        counts[row["position"]] = row["n"]
    return position_check(counts)


def _rows_since(
    start: datetime, **sites: Any
) -> tuple[QuerySet[Message], QuerySet[Question], QuerySet[Event]]:
    """What authors wrote, the questions to them, and those who opted out."""
    return (
        Message.objects.by_authors().filter(received_at__gte=start, **sites),
        Question.objects.filter(created_at__gte=start, **sites),
        Event.objects.filter(kind=Event.Kind.OPTED_OUT, at__gte=start, **sites),
    )


def _add_up(
    counts: Mapping[int, _Counts],
    by: str,
    messages: QuerySet[Message],
    questions: QuerySet[Question],
    left: QuerySet[Event],
) -> None:
    """Count each of the rows where its column ``by`` says; three queries."""
    written: Any = messages.values(by, "status", "dropped_at").order_by()
    for row in written.annotate(n=Count("pk"), cost=Sum("cost_nanousd")):
        counts[row[by]].add_messages(row)
    for row in questions.values(by, "status").annotate(**_QUESTION_COUNTS).order_by():
        counts[row[by]].add_questions(row)
    for row in left.values(by).annotate(n=Count("pk")).order_by():
        counts[row[by]].optouts += row["n"]


def _bar(moment: str, edges: Sequence[datetime]) -> Case:
    """The number of the newest edge that ``moment`` is not before: plain comparisons, which every
    database makes by itself, where cutting a moment to its day is slow on SQLite."""
    cases = (
        When(**{f"{moment}__gte": edge}, then=Value(index)) for index, edge in enumerate(edges)
    )
    return Case(*cases, default=Value(len(edges) - 1))


def _sum(parts: Sequence[_Counts]) -> _Counts:
    whole = _Counts()
    for part in parts:
        whole.messages.update(part.messages)
        whole.questions.update(part.questions)
        whole.shown += part.shown
        whole.early += part.early
        whole.optouts += part.optouts
        whole.cost += part.cost
    return whole
