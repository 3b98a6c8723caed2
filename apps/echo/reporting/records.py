"""What the log of decisions and of what became of offers amounts to, read once for all figures.

In an experiment who was assigned counts, whether or not anything was shown to them and whether or
not the site believes them (intention to treat): an arm may have made them doubtful. Of a site's
offers without arms those are left out whom the site does not believe: the paper bans "flagrant
users" from its analysis (appendix A.1).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, Count, Max, Q, QuerySet, When
from django.utils import timezone

from apps.authors.models import Author
from apps.authors.querysets import counting_authors
from apps.echo.models import Decision, Echo, Experiment, OfferEvent
from apps.echo.services.experiments import design_of, key_of
from labelhub.core.echo.experiments.assignment import (
    Design,
    arm_of_author,
    arm_of_window,
    window_of,
)
from labelhub.core.echo.experiments.click_through import Unit
from labelhub.core.echo.experiments.impressions import Click, Counted, ShownContent, count

#: What the one arm is called where there is no experiment.
ALL = "offers"
#: Rows that are read from the database at once.
AT_ONCE = 2_000


class Moment(NamedTuple):
    """When something happened to a unit."""

    unit: str
    at: datetime


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
    uids = {} if found.windows else _undecided_authors(experiment)

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


def _undecided_authors(experiment: Experiment) -> Mapping[int, str]:
    authors = Author.objects.filter(pk__in=_undecided(experiment).values("author"))
    return {pk: uid.hex for pk, uid in authors.values_list("pk", "uid")}


def _passed_windows(experiment: Experiment, found: Design, key: bytes) -> Mapping[str, str]:
    """Windows that have begun and their arms: one in which nobody wrote was assigned as well."""
    start, until = experiment.started_at, experiment.ended_at or timezone.now()
    if start is None:
        return {}
    begun = [i for i, w in enumerate(found.windows) if w.start < until and w.end > start]
    return {str(i): arm_of_window(found, key, i).name for i in begun}


def _rows(rows: QuerySet[Decision]) -> Iterator[_Row]:
    counts = Case(When(counting_authors("author"), then=True), default=False)
    values = rows.annotate(counts=counts).order_by("pk").values_list(*_FIELDS)
    return (_Row(*row) for row in values.iterator(chunk_size=AT_ONCE))


def _read(
    rows: QuerySet[Decision], arms: tuple[str, ...], place: _Placing, known: Mapping[str, str]
) -> Records:
    units = dict(known)
    unit_of: dict[int, str] = {}
    shown: list[ShownContent] = []
    eligible: list[Moment] = []
    doubted: set[int] = set()
    undecided = 0
    for row in _rows(rows):
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
            shown.append(_shown(row, unit))
    clicks = list(_clicks(rows, unit_of))
    return Records(
        arms=arms,
        units=_units(units, eligible),
        counted=count([*shown, *(click for click, _ in clicks)]),
        eligible=tuple(eligible),
        clicks=tuple(moment for _, moment in clicks),
        displays=len(shown),
        doubted=len(doubted),
        undecided=undecided,
    )


def _shown(row: _Row, unit: str) -> ShownContent:
    """Each decision's offer is content of its own; a reload shows the same again."""
    content = str(row.pk)
    return ShownContent(content, content, str(row.author), unit, row.vertical, row.message_at)


def _clicks(rows: QuerySet[Decision], unit_of: Mapping[int, str]) -> Iterator[tuple[Click, Moment]]:
    values = _clicks_on(rows).order_by("pk").values_list("pk", "decision_id", "at")
    for pk, decision, at in values.iterator(chunk_size=AT_ONCE):
        if decision in unit_of:
            yield Click(str(pk), str(decision)), Moment(unit_of[decision], at)


def _clicks_on(rows: QuerySet[Decision]) -> QuerySet[OfferEvent]:
    return OfferEvent.objects.filter(
        kind=OfferEvent.Kind.CLICKED, decision__in=rows.order_by().values("pk")
    )


def _units(arms: Mapping[str, str], eligible: list[Moment]) -> tuple[Unit, ...]:
    counts = dict.fromkeys(arms, 0)
    for moment in eligible:
        counts[moment.unit] += 1
    return tuple(Unit(unit, arm, counts[unit]) for unit, arm in sorted(arms.items()))
