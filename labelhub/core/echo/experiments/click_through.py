"""Click-through by arm, and an arm against the control (paper 004, section 4 and appendix A.1).

Every click counts, so clicks per impression is a mean of counts and may exceed 1; the share of
clicked impressions is given next to it. Arms are compared as *assigned* (intention to treat): all
clicks of a unit count for its arm, and units without an impression stay in the arm.

In the breakdowns of one arm (day, weekday, vertical, time since first exposure) a click belongs to
the impression on which it was made, whenever it came.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.experiments.clusters import (
    FEW_UNITS,
    Bounds,
    ClusteredRate,
    clusters,
    difference_bounds,
    figure,
    mean_bounds,
    rate_of,
    ratio_bounds,
    share_bounds,
)
from labelhub.core.echo.experiments.impressions import Impression
from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure, undefined
from labelhub.core.texts import gettext_noop

MEAN = "clicks over {per}, score interval with the dispersion between units (Student's t)"
SHARE = "share, Wilson with the effective n that clusters of units leave (Student's t)"
RATIO = "ratio of two rates, delta method on the log scale, clustered by unit (Student's t)"
NO_CLICKS = "ratio of two rates, score bound of no clicks, clustered by unit"
DIFFERENCE = "difference of two rates, from both score intervals (Zou and Donner 2008)"
CHANGE = "100 x (ratio - 1); {ratio}"
ALONE = gettext_noop("one author or turn only: the variance between them is unknown")
FEW = gettext_noop(
    "rests on fewer than 20 effective authors (or turns): the interval may miss more often than 1 "
    "in 20 times"
)
FEW_CLICKS = 10
RARE = gettext_noop("fewer than 10 clicks: the interval is wider than it need be")

Per = Literal["impressions", "eligible", "units"]
_EMPTY: Mapping[Per, str] = {
    "impressions": gettext_noop("nothing was shown"),
    "eligible": gettext_noop("no message could have had an offer"),
    "units": gettext_noop("nobody was assigned"),
}
_EMPTY_ARM: Mapping[Per, str] = {
    "impressions": gettext_noop("nothing was shown in this arm"),
    "eligible": gettext_noop("no message could have had an offer in this arm"),
    "units": gettext_noop("nobody was assigned in this arm"),
}
_EMPTY_CONTROL: Mapping[Per, str] = {
    "impressions": gettext_noop("nothing was shown in the control"),
    "eligible": gettext_noop("no message could have had an offer in the control"),
    "units": gettext_noop("nobody was assigned in the control"),
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of assignment: an author, or a window of time.

    Args:
        unit: its id, as in :class:`Impression`.
        arm: the arm it was assigned to.
        eligible: number of its messages after which an offer was possible.
    """

    unit: str
    arm: str
    eligible: int


@dataclass(frozen=True, slots=True)
class Totals:
    """What became of the units of an arm; each array has shape (units,).

    ``clicks`` counts every one, ``clicked`` the impressions with one or more.
    """

    eligible: NDArray[np.int64]
    impressions: NDArray[np.int64]
    clicks: NDArray[np.int64]
    clicked: NDArray[np.int64]

    @property
    def units(self) -> NDArray[np.int64]:
        """One for each unit."""
        return np.ones_like(self.eligible)


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """An arm in numbers; ``click_through`` is clicks per impression and may exceed 1."""

    units: int
    eligible: int
    impressions: int
    clicks: int
    clicked: int
    click_through: Figure
    clicked_share: Figure
    shown_share: Figure
    clicks_per_eligible: Figure
    clicks_per_unit: Figure


@dataclass(frozen=True, slots=True)
class ClickComparison:
    """An arm against the control.

    ``ratio``: 5.4 is "5.4 times". ``percent_change``: +440 is "440 % more", the same thing.
    ``difference``: of the two rates, in clicks per ``per``.
    """

    per: Per
    ratio: Figure
    percent_change: Figure
    difference: Figure


def totals(
    units: Iterable[Unit], impressions: Iterable[Impression], arms: Sequence[str]
) -> dict[str, Totals]:
    """The totals of each of ``arms``, also of those without units.

    Raises:
        InvalidInput: a unit comes twice, its arm is none of ``arms``, its number of messages is
            negative, or an impression is of no unit.
    """
    known: dict[str, Unit] = {}
    for unit in units:
        if unit.unit in known or unit.arm not in arms or unit.eligible < 0:
            raise InvalidInput.at("units", f"The unit “{unit.unit}” comes twice or is not usable.")
        known[unit.unit] = unit
    sums = {name: np.zeros(3, dtype=np.int64) for name in known}
    for impression in impressions:
        if impression.unit not in sums:
            raise InvalidInput.at("impressions", f"No unit is called “{impression.unit}”.")
        sums[impression.unit] += (1, impression.clicks, impression.clicks > 0)
    found = {}
    for arm in arms:
        own = [unit for unit in known.values() if unit.arm == arm]
        table = np.array([sums[unit.unit] for unit in own], dtype=np.int64).reshape(-1, 3)
        eligible = np.array([unit.eligible for unit in own], dtype=np.int64)
        found[arm] = Totals(eligible, table[:, 0], table[:, 1], table[:, 2])
    return found


def totals_of_impressions(impressions: Iterable[Impression]) -> Totals:
    """Totals of the units that were shown something, for rates per impression alone."""
    shown = list(impressions)
    units = [Unit(name, "", 0) for name in sorted({impression.unit for impression in shown})]
    return totals(units, shown, [""])[""]


def arm_figures(found: Totals) -> ArmFigures:
    """An arm in numbers, each with its interval or the reason why there is none."""
    return ArmFigures(
        units=len(found.eligible),
        eligible=int(found.eligible.sum()),
        impressions=int(found.impressions.sum()),
        clicks=int(found.clicks.sum()),
        clicked=int(found.clicked.sum()),
        click_through=clicks_per(found, "impressions"),
        clicked_share=clicked_share(found),
        shown_share=_share(found.impressions, found.eligible, _EMPTY["eligible"]),
        clicks_per_eligible=clicks_per(found, "eligible"),
        clicks_per_unit=clicks_per(found, "units"),
    )


def clicks_per(found: Totals, per: Per) -> Figure:
    """Clicks per impression, eligible message or unit; may exceed 1."""
    rate = rate_per(found, per)
    if rate is None:
        return undefined(_EMPTY[per])
    method = MEAN.format(per=per)
    return _figure(rate.value, mean_bounds(rate), [rate], method)


def rate_per(found: Totals, per: Per) -> ClusteredRate | None:
    """Clicks per impression, eligible message or unit; None where there is nothing to divide by."""
    exposure = {
        "impressions": found.impressions,
        "eligible": found.eligible,
        "units": found.units,
    }[per]
    return rate_of(clusters(found.clicks, exposure))


def clicked_share(found: Totals) -> Figure:
    """The share of impressions that were clicked, once or more."""
    return _share(found.clicked, found.impressions, _EMPTY["impressions"])


def compare(arm: Totals, control: Totals, per: Per) -> ClickComparison:
    """Ratio and difference of the clicks per impression, eligible message or assigned unit.

    Only the latter two compare what was assigned: an arm may show less and so look better per
    impression. A ratio needs clicks in the control.
    """
    rate, base = rate_per(arm, per), rate_per(control, per)
    if rate is None or base is None:
        nothing = undefined((_EMPTY_ARM if rate is None else _EMPTY_CONTROL)[per])
        return ClickComparison(per, nothing, nothing, nothing)
    value, both = rate.value - base.value, [rate, base]
    difference = _figure(value, difference_bounds(rate, base), both, DIFFERENCE)
    if base.value == 0:
        nothing = undefined(gettext_noop("no clicks in the control"))
        return ClickComparison(per, nothing, nothing, difference)
    method = RATIO if rate.value > 0 else NO_CLICKS
    bounds = ratio_bounds(rate, base)
    ratio = _figure(rate.value / base.value, bounds, both, method)
    change = _figure(
        percent_change(rate.value / base.value),
        (percent_change(bounds[0]), percent_change(bounds[1])),
        both,
        CHANGE.format(ratio=method),
    )
    return ClickComparison(per, ratio, change, difference)


def percent_change(ratio: float) -> float:
    """What a ratio is as a change in per cent: 5.4 times is +440, and 1 is 0."""
    return 100 * (ratio - 1)


def in_words(ratio: float) -> str:
    """A ratio by both its names, so that none is taken for the other: "5.37 times (+437 %)"."""
    return f"{ratio:.2f} times ({percent_change(ratio):+.0f} %)"


def _share(part: NDArray[np.int64], whole: NDArray[np.int64], reason: str) -> Figure:
    rate = rate_of(clusters(part, whole))
    if rate is None:
        return undefined(reason)
    if rate.value > 1:
        return undefined("more were counted than there can be; reports are missing")
    return _figure(rate.value, share_bounds(rate), [rate], SHARE)


def _figure(value: float, bounds: Bounds, rates: Sequence[ClusteredRate], method: str) -> Figure:
    doubt = _doubt(rates)
    n = round(sum(rate.exposure for rate in rates))
    return figure(value, bounds, n=n, method=method, doubt=doubt)


def _doubt(rates: Sequence[ClusteredRate]) -> str:
    if any(rate.alone for rate in rates):
        return ALONE
    if any(rate.effective_units < FEW_UNITS for rate in rates):
        return FEW
    return RARE if any(rate.events < FEW_CLICKS for rate in rates) else ""


#: The least with which the paper names a vertical (section 4.2, figure 5).
LEAST_IMPRESSIONS = 180
SECONDS_OF_DAY = 86_400

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ArmPart:
    """Some of an arm's impressions."""

    impressions: int
    clicks: int
    click_through: Figure


@dataclass(frozen=True, slots=True)
class Day:
    """One day in the given time zone, and all days up to its end."""

    day: date
    alone: ArmPart
    cumulated: ArmPart


@dataclass(frozen=True, slots=True)
class Verticals:
    """By vertical, most impressions first; ``too_few`` are those below the minimum, unrated."""

    told: tuple[tuple[str, ArmPart], ...]
    too_few: tuple[tuple[str, int], ...]
    least: int


def by_day(impressions: Iterable[Impression], zone: tzinfo) -> list[Day]:
    """Each day on which something was shown, in order, alone and with all before it."""
    every = sorted(impressions, key=_sent)
    days = _group(every, lambda impression: impression.at.astimezone(zone).date())
    found, seen = [], 0
    for day, shown in sorted(days.items()):
        seen += len(shown)
        found.append(Day(day, _part(shown), _part(every[:seen])))
    return found


def by_weekday(impressions: Iterable[Impression], zone: tzinfo) -> list[ArmPart]:
    """Monday to Sunday in ``zone``: seven parts, also those in which nothing was shown."""
    days = _group(impressions, lambda impression: impression.at.astimezone(zone).weekday())
    return [_part(days.get(weekday, [])) for weekday in range(7)]


def by_vertical(impressions: Iterable[Impression]) -> Verticals:
    """Verticals with :data:`LEAST_IMPRESSIONS`; the others by name and number alone."""
    least = LEAST_IMPRESSIONS
    groups = _group(impressions, lambda impression: impression.vertical)
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return Verticals(
        told=tuple((name, _part(shown)) for name, shown in ordered if len(shown) >= least),
        too_few=tuple((name, len(shown)) for name, shown in ordered if len(shown) < least),
        least=least,
    )


def by_exposure(impressions: Iterable[Impression]) -> dict[int, ArmPart]:
    """By whole days (of 24 hours) since the author's first impression: does the new wear off?

    Who came late cannot have been there long: later days are of fewer and other authors, so that a
    fall is not proven to be habit alone.
    """
    every = sorted(impressions, key=_sent)
    first: dict[str, float] = {}
    for impression in every:
        first.setdefault(impression.author, _sent(impression))

    def days(impression: Impression) -> int:
        return int((_sent(impression) - first[impression.author]) // SECONDS_OF_DAY)

    return {since: _part(shown) for since, shown in sorted(_group(every, days).items())}


def _sent(impression: Impression) -> float:
    return impression.at.timestamp()


def _group(
    impressions: Iterable[Impression], key: Callable[[Impression], Key]
) -> dict[Key, list[Impression]]:
    groups: defaultdict[Key, list[Impression]] = defaultdict(list)
    for impression in impressions:
        groups[key(impression)].append(impression)
    return groups


def _part(shown: Sequence[Impression]) -> ArmPart:
    found = totals_of_impressions(shown)
    clicks = int(found.clicks.sum())
    return ArmPart(len(shown), clicks, clicks_per(found, "impressions"))
