"""Click-through of a site's offers, or of the arms of an experiment (paper 004, section 4).

In an experiment all assigned authors count, also those who saw no offer and those whom the site
does not believe (intention to treat), as an arm may have caused that. The report of all offers
leaves out authors whom the site does not believe: the paper bans "flagrant users" from its analysis
(appendix A.1). A look covers the events up to the end of its day (a click counts at its own time),
so that later events do not change earlier looks.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, tzinfo
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Case, Count, Max, Q, QuerySet, When
from django.utils import timezone
from django.utils.translation import gettext_noop
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

#: Name of the single arm if there is no experiment.
ALL = "offers"
#: Rows per read from the database.
AT_ONCE = 2_000


class Moment(NamedTuple):
    """The time of an event of a unit."""

    unit: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Records:
    """The counted records.

    Args:
        arms: their names; the control, if any, is last.
        units: each assigned author or window, with its arm and number of eligible messages.
        counted: impressions and clicks, as appendix A.1 counts them.
        eligible: each message that could have had an offer.
        clicks: each click with its time.
        displays: shown offers, before impressions merge some of them.
        doubted: authors whom the site does not believe; counted in an experiment, else left out.
        undecided: eligible messages without a decision in time.
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
#: Returns the arm and unit of a row; None for a row in no arm.
_Placing = Callable[[_Row], tuple[str, str] | None]


def records_of_site(echo: Echo, since: datetime | None = None) -> Records:
    """All decisions of a site, as one arm of authors."""
    rows = echo.decisions.all()
    if since is not None:
        rows = rows.filter(message_at__gte=since)

    def place(row: _Row) -> tuple[str, str] | None:
        return (ALL, str(row.author)) if row.counts else None

    return _read(rows, (ALL,), place, {})


def records_of_experiment(experiment: Experiment) -> Records:
    """The assigned messages of an experiment, with impressions and clicks.

    Messages without a decision in time count in their arm, so that a slow arm does not look
    better.
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
    """Changes with anything that the experiment's report counts; three queries."""
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
    """Late decisions of the time when the experiment ran; they have no arm stored."""
    rows = Decision.objects.filter(echo=experiment.echo_id, experiment=None, policy="")
    if experiment.started_at is None:
        return rows.none()
    rows = rows.filter(message_at__gte=experiment.started_at)
    return rows.filter(message_at__lt=experiment.ended_at) if experiment.ended_at else rows


def _passed_windows(experiment: Experiment, found: Design, key: bytes) -> Mapping[str, str]:
    """Windows that have begun, with their arms; windows without messages were assigned too."""
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
    """The look at all data up to the end of a day."""

    day: date
    look: Look


def daily_looks(records: Records, zone: tzinfo) -> Mapping[str, Sequence[DayLook]]:
    """For each arm except the control: a look per day with events.

    The arms share the 5 % of false alarms; the rates are clicks per eligible message.
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


#: Note on an arm with the policy of the control.
SAME_POLICY = gettext_noop(
    "Both arms have the same policy: a significant difference means that assignment or counting "
    "is wrong."
)


@dataclass(frozen=True, slots=True)
class ArmReport:
    """The figures of an arm and their breakdowns; without an experiment, of all offers.

    ``share``: designed share of the authors or windows. ``exposure``: by whole days since an
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
        """Its name on pages."""
        return arm_words(self.name)


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """The comparison of an arm with the control.

    Args:
        assigned: clicks per eligible message, by assignment; this comparison decides.
        shown: clicks per impression; an arm that shows fewer offers may look better here.
        words: the ratio of ``assigned`` in both notations; "" if there is none.
        note: a note for readers; may be "".
        looks: looks by day, corrected for repetition.
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
    """A report on offers. For the counts see :class:`.Records`."""

    made_at: datetime
    assigned_by: str
    arms: Sequence[ArmReport]
    comparisons: Sequence[ArmComparison]
    displays: int
    doubted: int
    undecided: int
    unmatched: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; times and days are ISO 8601."""
        report: dict[str, Any] = _plain(asdict(self))
        return report


def make_report(
    echo: Echo, experiment: Experiment | None = None, since: datetime | None = None
) -> OfferReport:
    """The report of an experiment, or of a site's offers ``since`` then; constant queries."""
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
