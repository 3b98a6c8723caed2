"""Click-through of a site's offers, or of the arms of an experiment (paper 004, section 4).

In an experiment all assigned authors count, also those who saw no offer and those whom the site
does not believe (intention to treat), as an arm may have caused that. The report of all offers
leaves out authors whom the site does not believe: the paper bans "flagrant users" from its analysis
(appendix A.1). A look covers the events up to the end of its day (a click counts at its own time),
so that later events do not change earlier looks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, tzinfo
from typing import Any

import numpy as np
from django.db.models import Case, Count, F, Max, Q, QuerySet, When
from django.utils import timezone

from apps.authors.models import Author
from apps.authors.querysets import counting_authors
from apps.echo.models import Decision, Echo, Experiment, OfferEvent
from apps.echo.offer_words import arm_words
from apps.echo.services.experiments import arm_of, design_of, takes_turns
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.echo.experiments.click_through import (
    ArmFigures,
    ArmPart,
    ClickComparison,
    Impression,
    arm_figures,
    compare,
    merge_rapid,
    parts_by,
    totals,
)
from labelhub.core.echo.experiments.clusters import clusters, rate_of
from labelhub.core.echo.experiments.looks import Look, Plan, look_at

#: Name of the single arm if there is no experiment.
ALL = "offers"
#: Rows per read from the database.
AT_ONCE = 2_000
#: An event of a unit, by day.
_Days = defaultdict[date, Counter[str]]


@dataclass(frozen=True, slots=True)
class ArmReport:
    """The figures of an arm and their breakdowns; without an experiment, of all offers.

    ``share``: designed share of the authors. ``weekdays``: Monday is 0.
    """

    name: str
    policy: str
    share: float
    control: bool
    figures: ArmFigures
    days: Mapping[date, ArmPart]
    weekdays: Mapping[int, ArmPart]
    verticals: Mapping[str, ArmPart]

    @property
    def words(self) -> str:
        """Its name on pages."""
        return arm_words(self.name)


@dataclass(frozen=True, slots=True)
class DayLook:
    """The look at all data up to the end of a day."""

    day: date
    look: Look


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """The comparison of an arm with the control.

    Args:
        assigned: clicks per eligible message, by assignment; this comparison decides.
        shown: clicks per impression; an arm that shows fewer offers may look better here.
        looks: looks by day, corrected for repetition.
    """

    arm: str
    control: str
    assigned: ClickComparison
    shown: ClickComparison
    looks: Sequence[DayLook]

    @property
    def last_look(self) -> Look | None:
        """The newest look; None without messages."""
        return self.looks[-1].look if self.looks else None


@dataclass(frozen=True, slots=True)
class OfferReport:
    """A report on offers.

    Args:
        displays: shown offers, before impressions merge some of them.
        doubted: authors whom the site does not believe; counted in an experiment, else left out.
        undecided: eligible messages without a decision in time.
    """

    made_at: datetime
    assigned_by: str
    arms: Sequence[ArmReport]
    comparisons: Sequence[ArmComparison]
    displays: int
    doubted: int
    undecided: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; times and days are ISO 8601."""
        report: dict[str, Any] = _plain(asdict(self))
        return report


@dataclass(slots=True)
class _ArmLog:
    """What was read of one arm."""

    eligible: Counter[str] = field(default_factory=Counter)
    shown: list[Impression] = field(default_factory=list)
    messages: _Days = field(default_factory=lambda: defaultdict(Counter))
    clicks: _Days = field(default_factory=lambda: defaultdict(Counter))


@dataclass(slots=True)
class _Log:
    arms: dict[str, _ArmLog]
    doubted: set[int] = field(default_factory=set)
    undecided: int = 0


def make_report(
    echo: Echo, experiment: Experiment | None = None, since: datetime | None = None
) -> OfferReport:
    """The report of an experiment, or of a site's offers ``since`` then; constant queries.

    Messages without a decision in time count in their arm, so that a slow arm does not look better.
    """
    zone, control = timezone.get_default_timezone(), ""
    arms: Sequence[Arm] = [Arm(ALL, 1.0, "")]
    if experiment is None:
        rows = Decision.objects.filter(echo=echo.pk)
        rows = rows.filter(message_at__gte=since) if since else rows
    else:
        found, rows = design_of(experiment), _rows_of(experiment)
        control = found.control
        arms = sorted(found.arms, key=lambda arm: arm.name == control)  # the control last
    log = _read(rows, experiment, [arm.name for arm in arms], zone)
    merged = {name: merge_rapid(own.shown) for name, own in log.arms.items()}
    sums = {name: totals(own.eligible, merged[name]) for name, own in log.arms.items()}
    return OfferReport(
        made_at=timezone.now(),
        assigned_by="window" if experiment and takes_turns(experiment) else "author",
        arms=[
            ArmReport(
                name=arm.name,
                policy=arm.policy,
                share=arm.share,
                control=arm.name == control,
                figures=arm_figures(sums[arm.name]),
                **_parts(merged[arm.name], zone),
            )
            for arm in arms
        ],
        comparisons=[
            ArmComparison(
                arm=arm.name,
                control=control,
                assigned=compare(sums[arm.name], sums[control], "eligible"),
                shown=compare(sums[arm.name], sums[control], "impressions"),
                looks=list(_looks(Plan(len(arms) - 1), log.arms[arm.name], log.arms[control])),
            )
            for arm in arms
            if control and arm.name != control
        ],
        displays=sum(len(own.shown) for own in log.arms.values()),
        doubted=len(log.doubted),
        undecided=log.undecided,
    )


def experiment_mark(experiment: Experiment) -> tuple[int | None, ...]:
    """Changes with anything that the experiment's report counts; three queries."""
    rows = _rows_of(experiment)
    decisions = rows.aggregate(
        n=Count("pk"),
        last=Max("pk"),
        shown=Count("shown_at"),
        decided=Count("pk", filter=~Q(policy="")),
    )
    clicks = OfferEvent.objects.filter(kind=OfferEvent.Kind.CLICKED, decision__in=rows).count()
    believed = Author.objects.filter(counting_authors(), site=experiment.echo_id).count()
    return (*decisions.values(), clicks, believed)


def _read(
    rows: QuerySet[Decision], experiment: Experiment | None, arms: Sequence[str], zone: tzinfo
) -> _Log:
    log, clicks = _Log({name: _ArmLog() for name in arms}), _clicks_on(rows)
    counts = Case(When(counting_authors("author"), then=True), default=False)
    read = rows.annotate(counts=counts, author_uid=F("author__uid")).order_by("pk")
    for row in read.values_list(
        "pk", "author_id", "author_uid", "counts", "policy", "arm", "unit", "message_at",
        "shown_at", "vertical", named=True,
    ).iterator(chunk_size=AT_ONCE):  # fmt: skip
        if not row.counts:
            log.doubted.add(row.author_id)
        if experiment is None:
            if not row.counts:
                continue
            arm, unit = ALL, row.author_uid.hex
        elif row.policy:
            arm, unit = row.arm, row.unit
        else:
            arm, unit = arm_of(experiment, row.author_uid.hex).name, row.author_uid.hex
        own = log.arms[arm]
        log.undecided += not row.policy
        own.eligible[unit] += 1
        own.messages[row.message_at.astimezone(zone).date()][unit] += 1
        if row.shown_at is not None:
            times = clicks.get(row.pk, ())
            own.shown.append(Impression(unit, row.vertical, row.message_at, len(times)))
            for time in times:
                own.clicks[time.astimezone(zone).date()][unit] += 1
    return log


def _parts(shown: Sequence[Impression], zone: tzinfo) -> dict[str, Any]:
    """Click-through by day, weekday and vertical."""
    days = parts_by(shown, lambda impression: impression.at.astimezone(zone).date())
    weekdays = parts_by(shown, lambda impression: impression.at.astimezone(zone).weekday())
    return {
        "days": dict(sorted(days.items())),
        "weekdays": dict(sorted(weekdays.items())),
        "verticals": parts_by(shown, lambda impression: impression.vertical),
    }


def _rows_of(experiment: Experiment) -> QuerySet[Decision]:
    """The messages of an experiment, and those of its time that were not decided in time: they have
    no arm stored."""
    rows = Decision.objects.filter(experiment=experiment)
    if experiment.started_at is None or takes_turns(experiment):
        return rows
    late = Q(echo=experiment.echo_id, experiment=None, policy="")
    late &= Q(message_at__gte=experiment.started_at)
    if experiment.ended_at:
        late &= Q(message_at__lt=experiment.ended_at)
    return rows | Decision.objects.filter(late)


def _clicks_on(rows: QuerySet[Decision]) -> Mapping[int, list[datetime]]:
    """The times of the clicks on each offer."""
    found: defaultdict[int, list[datetime]] = defaultdict(list)
    clicks = OfferEvent.objects.filter(
        kind=OfferEvent.Kind.CLICKED, decision__in=rows.order_by().values("pk")
    )
    for decision, time in clicks.order_by("pk").values_list("decision_id", "at"):
        found[decision].append(time)
    return found


def _looks(plan: Plan, arm: _ArmLog, control: _ArmLog) -> Iterator[DayLook]:
    """A look per day with events, at clicks per eligible message from the start to its end."""
    look: Look | None = None
    places = [{unit: place for place, unit in enumerate(log.eligible)} for log in (arm, control)]
    sums = [np.zeros((2, len(units)), np.int64) for units in places]
    for day in sorted({*arm.messages, *arm.clicks, *control.messages, *control.clicks}):
        for log, units, found in zip((arm, control), places, sums, strict=True):
            for row, days in enumerate((log.clicks, log.messages)):
                for unit, number in days.get(day, Counter[str]()).items():
                    found[row, units[unit]] += number
        rate, base = (rate_of(clusters(clicks, seen)) for clicks, seen in sums)
        look = look_at(plan, rate, base, look)
        yield DayLook(day, look)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key.isoformat() if isinstance(key, date) else str(key): _plain(part)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.isoformat() if isinstance(value, date) else value
