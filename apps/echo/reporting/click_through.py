"""Click-through of a site's offers, or of the arms of an experiment (paper 004, section 4).

In an experiment who was assigned counts, whether or not anything was shown to them and whether or
not the site believes them (intention to treat): an arm may have made them doubtful. Of a site's
offers without arms those are left out whom the site does not believe: the paper bans "flagrant
users" from its analysis (appendix A.1). A look holds what had happened by the end of its day (a
click counts from when it came), so that a look once taken is not taken back by what comes later.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, tzinfo
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Case, Count, Max, Q, QuerySet, When
from django.utils import timezone
from numpy.typing import NDArray

from apps.authors.models import Author
from apps.authors.querysets import counting_authors
from apps.echo.models import Decision, Echo, Experiment, OfferEvent
from apps.echo.offer_words import arm_words
from apps.echo.services.experiments import design_of, key_of
from labelhub.core.echo.experiments.assignment import (
    Design,
    arm_of_author,
    arm_of_window,
    window_of,
)
from labelhub.core.echo.experiments.click_through import (
    ArmFigures,
    ArmPart,
    ClickComparison,
    Day,
    Totals,
    Unit,
    Verticals,
    arm_figures,
    by_day,
    by_exposure,
    by_vertical,
    by_weekday,
    compare,
    in_words,
    totals,
)
from labelhub.core.echo.experiments.clusters import ClusteredRate, clusters, rate_of
from labelhub.core.echo.experiments.impressions import (
    Click,
    Counted,
    Impression,
    ShownContent,
    count,
)
from labelhub.core.echo.experiments.looks import Look, Plan, look_at

#: What the one arm is called where there is no experiment.
ALL = "offers"
#: Rows that are read from the database at once.
AT_ONCE = 2_000


class Moment(NamedTuple):
    """When something happened to a unit."""

    unit: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Records:
    """All that is counted.

    Args:
        arms: their names, the control last where there is one.
        units: each author or window that was assigned, with its arm and its eligible messages.
        counted: impressions and clicks, as appendix A.1 counts them.
        eligible: each message that could have had an offer.
        clicks: each click, when it came.
        displays: offers that were shown; those that impressions merged are among them.
        doubted: authors whom the site does not believe; counted in an experiment, else left out.
        undecided: eligible messages for which no decision was reached in time.
    """

    arms: tuple[str, ...]
    units: tuple[Unit, ...]
    counted: Counted
    eligible: tuple[Moment, ...]
    clicks: tuple[Moment, ...]
    displays: int
    doubted: int
    undecided: int


class _Row(NamedTuple):
    pk: int
    author: int
    arm: str
    unit: str
    message_at: datetime
    shown_at: datetime | None
    vertical: str
    policy: str
    counts: bool


_FIELDS = (
    "pk", "author_id", "arm", "unit", "message_at", "shown_at", "vertical", "policy", "counts",
)  # fmt: skip
#: Arm and unit of a row; None for one that is in none.
_Placing = Callable[[_Row], tuple[str, str] | None]


def records_of_site(echo: Echo, since: datetime | None = None) -> Records:
    """Everything that was decided at a site, as one arm of authors."""
    rows = echo.decisions.all()
    if since is not None:
        rows = rows.filter(message_at__gte=since)

    def place(row: _Row) -> tuple[str, str] | None:
        return (ALL, str(row.author)) if row.counts else None

    return _read(rows, (ALL,), place, {})


def records_of_experiment(experiment: Experiment) -> Records:
    """What was assigned to an experiment's arms, and what became of it.

    Messages that were not decided about in time are counted in the arm they belong to: an arm that
    is too slow is not to look the better for it.
    """
    found, key = design_of(experiment), key_of(experiment)
    uids: dict[int, str] = {}
    if not found.windows:
        authors = Author.objects.filter(pk__in=_undecided(experiment).values("author"))
        uids = {pk: uid.hex for pk, uid in authors.values_list("pk", "uid")}

    def place(row: _Row) -> tuple[str, str] | None:
        if row.policy:
            return row.arm, row.unit
        if found.windows:
            window = window_of(found, row.message_at)
            return None if window is None else (arm_of_window(found, key, window).name, str(window))
        return arm_of_author(found, key, uids[row.author]).name, uids[row.author]

    names = [arm.name for arm in found.arms if arm.name != found.control]
    rows = Decision.objects.filter(experiment=experiment) | _undecided(experiment)
    return _read(rows, (*names, found.control), place, _passed_windows(experiment, found, key))


def experiment_mark(experiment: Experiment) -> tuple[int | None, ...]:
    """Differs once anything differs that an experiment's report counts; three queries."""
    rows = Decision.objects.filter(experiment=experiment) | _undecided(experiment)
    decisions = rows.aggregate(
        n=Count("pk"),
        last=Max("pk"),
        shown=Count("shown_at"),
        decided=Count("pk", filter=~Q(policy="")),
    )
    clicks = _clicks_on(rows).count()
    believed = Author.objects.filter(counting_authors(), site=experiment.echo_id).count()
    return (*decisions.values(), clicks, believed)


def _undecided(experiment: Experiment) -> QuerySet[Decision]:
    """Decisions that nobody reached while the experiment ran: they know of no arm."""
    rows = Decision.objects.filter(echo=experiment.echo_id, experiment=None, policy="")
    if experiment.started_at is None:
        return rows.none()
    rows = rows.filter(message_at__gte=experiment.started_at)
    return rows.filter(message_at__lt=experiment.ended_at) if experiment.ended_at else rows


def _passed_windows(experiment: Experiment, found: Design, key: bytes) -> Mapping[str, str]:
    """Windows that have begun and their arms: one in which nobody wrote was assigned as well."""
    start, until = experiment.started_at, experiment.ended_at or timezone.now()
    if start is None:
        return {}
    begun = [i for i, w in enumerate(found.windows) if w.start < until and w.end > start]
    return {str(i): arm_of_window(found, key, i).name for i in begun}


def _read(
    rows: QuerySet[Decision], arms: tuple[str, ...], place: _Placing, known: Mapping[str, str]
) -> Records:
    units = dict(known)
    unit_of: dict[int, str] = {}
    shown: list[ShownContent] = []
    eligible: list[Moment] = []
    doubted: set[int] = set()
    undecided = 0
    counts = Case(When(counting_authors("author"), then=True), default=False)
    values = rows.annotate(counts=counts).order_by("pk").values_list(*_FIELDS)
    for row in map(_Row._make, values.iterator(chunk_size=AT_ONCE)):
        if not row.counts:
            doubted.add(row.author)
        placed = place(row)
        if placed is None:
            continue
        arm, unit = placed
        units[unit] = arm
        eligible.append(Moment(unit, row.message_at))
        undecided += not row.policy
        if row.shown_at is not None:
            unit_of[row.pk] = unit
            content = str(row.pk)
            shown.append(
                ShownContent(content, content, str(row.author), unit, row.vertical, row.message_at)
            )
    clicks = list(_clicks(rows, unit_of))
    messages = Counter(moment.unit for moment in eligible)
    return Records(
        arms=arms,
        units=tuple(Unit(unit, arm, messages[unit]) for unit, arm in sorted(units.items())),
        counted=count([*shown, *(click for click, _ in clicks)]),
        eligible=tuple(eligible),
        clicks=tuple(moment for _, moment in clicks),
        displays=len(shown),
        doubted=len(doubted),
        undecided=undecided,
    )


def _clicks(rows: QuerySet[Decision], unit_of: Mapping[int, str]) -> Iterator[tuple[Click, Moment]]:
    values = _clicks_on(rows).order_by("pk").values_list("pk", "decision_id", "at")
    for pk, decision, clicked_at in values.iterator(chunk_size=AT_ONCE):
        if decision in unit_of:
            yield Click(str(pk), str(decision)), Moment(unit_of[decision], clicked_at)


def _clicks_on(rows: QuerySet[Decision]) -> QuerySet[OfferEvent]:
    return OfferEvent.objects.filter(
        kind=OfferEvent.Kind.CLICKED, decision__in=rows.order_by().values("pk")
    )


Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DayLook:
    """What all data up to the end of a day show."""

    day: date
    look: Look


def daily_looks(records: Records, zone: tzinfo) -> Mapping[str, Sequence[DayLook]]:
    """For each arm but the control, which comes last, a look per day on which anything happened.

    The 5 % of false alarms are shared among the arms; clicks are per eligible message.
    """
    *arms, control = records.arms
    if not arms:
        return {}
    plan = Plan(comparisons=len(arms))
    found: dict[str, list[DayLook]] = {arm: [] for arm in arms}
    for day, rates in _rates_by_day(records, zone):
        for arm, looks in found.items():
            before = looks[-1].look if looks else None
            looks.append(DayLook(day, look_at(plan, rates[arm], rates[control], before)))
    return found


def _rates_by_day(
    records: Records, zone: tzinfo
) -> Iterable[tuple[date, Mapping[str, ClusteredRate | None]]]:
    """Clicks per eligible message of each arm, from the start to the end of each day."""
    places = {unit.unit: place for place, unit in enumerate(records.units)}
    within = {
        arm: np.array([unit.arm == arm for unit in records.units], bool) for arm in records.arms
    }
    eligible, clicks = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    messages_of = _by_day(records.eligible, places, zone)
    clicks_of = _by_day(records.clicks, places, zone)
    for day in sorted({*messages_of, *clicks_of}):
        eligible += _counts(messages_of[day], len(places))
        clicks += _counts(clicks_of[day], len(places))
        yield (
            day,
            {arm: rate_of(clusters(clicks[own], eligible[own])) for arm, own in within.items()},
        )


def _by_day(
    moments: Iterable[Moment], places: Mapping[str, int], zone: tzinfo
) -> defaultdict[date, list[int]]:
    found: defaultdict[date, list[int]] = defaultdict(list)
    for moment in moments:
        found[moment.time.astimezone(zone).date()].append(places[moment.unit])
    return found


def _counts(places: Sequence[int], size: int) -> Ints:
    return np.bincount(np.array(places, np.int64), minlength=size)


#: Of an arm with the policy of the control.
SAME_POLICY = (
    "Both arms do the same: a difference is chance, and one that is proven says that assignment or "
    "counting is wrong."
)


@dataclass(frozen=True, slots=True)
class ArmReport:
    """An arm in numbers and in parts; without an experiment there is one, of all offers.

    ``share``: of the authors or windows, as designed. ``exposure``: by whole days since an
    author's first impression.
    """

    name: str
    policy: str
    share: float
    control: bool
    figures: ArmFigures
    days: Sequence[Day]
    weekdays: Sequence[ArmPart]
    verticals: Verticals
    exposure: Mapping[int, ArmPart]

    @property
    def words(self) -> str:
        """What it is called."""
        return arm_words(self.name)


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """An arm against the control.

    Args:
        assigned: clicks per eligible message: what was assigned is compared, so this one decides.
        shown: clicks per impression; an arm that shows less may look better by it.
        words: the ratio of ``assigned`` by both its names; "" where there is none.
        note: what has to be known to read it; "" where nothing.
        looks: day by day, corrected for looking often.
    """

    arm: str
    control: str
    assigned: ClickComparison
    shown: ClickComparison
    words: str
    note: str
    looks: Sequence[DayLook]


@dataclass(frozen=True, slots=True)
class OfferReport:
    """What the log says. ``displays`` were merged into impressions; see :class:`.Records`."""

    made_at: datetime
    assigned_by: str
    arms: Sequence[ArmReport]
    comparisons: Sequence[ArmComparison]
    displays: int
    doubted: int
    undecided: int
    unmatched: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form: moments and days as ISO 8601."""
        report: dict[str, Any] = _plain(asdict(self))
        return report


def make_report(
    echo: Echo, experiment: Experiment | None = None, since: datetime | None = None
) -> OfferReport:
    """The report of an experiment, or of a site's offers, about messages since then where given.

    Takes a constant number of queries.
    """
    zone = timezone.get_default_timezone()
    records = records_of_experiment(experiment) if experiment else records_of_site(echo, since)
    sums = totals(records.units, records.counted.impressions, records.arms)
    designed = dict.fromkeys(records.arms, ("", 1.0))
    if experiment is not None:
        designed = {arm.name: (arm.policy, arm.share) for arm in design_of(experiment).arms}
    arm_of = {unit.unit: unit.arm for unit in records.units}
    shown: dict[str, list[Impression]] = {name: [] for name in records.arms}
    for impression in records.counted.impressions:
        shown[arm_of[impression.unit]].append(impression)
    control = records.arms[-1] if experiment else ""
    arms = [
        ArmReport(
            name=name,
            policy=designed[name][0],
            share=designed[name][1],
            control=name == control,
            figures=arm_figures(sums[name]),
            days=by_day(shown[name], zone),
            weekdays=by_weekday(shown[name], zone),
            verticals=by_vertical(shown[name]),
            exposure=by_exposure(shown[name]),
        )
        for name in records.arms
    ]
    policies = {name: policy for name, (policy, _) in designed.items()}
    windows = experiment is not None and bool(design_of(experiment).windows)
    return OfferReport(
        made_at=timezone.now(),
        assigned_by="window" if windows else "author",
        arms=arms,
        comparisons=_comparisons(records, sums, policies, zone) if experiment else [],
        displays=records.displays,
        doubted=records.doubted,
        undecided=records.undecided,
        unmatched=records.counted.unmatched,
    )


def _comparisons(
    records: Records, sums: Mapping[str, Totals], policies: Mapping[str, str], zone: tzinfo
) -> list[ArmComparison]:
    *arms, control = records.arms
    looks = daily_looks(records, zone)
    found = []
    for arm in arms:
        assigned = compare(sums[arm], sums[control], "eligible")
        ratio = assigned.ratio["value"]
        found.append(
            ArmComparison(
                arm=arm,
                control=control,
                assigned=assigned,
                shown=compare(sums[arm], sums[control], "impressions"),
                words="" if ratio is None else in_words(ratio),
                note=SAME_POLICY if policies[arm] == policies[control] else "",
                looks=looks[arm],
            )
        )
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, date) else value
