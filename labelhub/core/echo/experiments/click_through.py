"""Impressions, click-through by arm, and an arm against the control (paper 004, section 4 and
appendix A.1).

Every click counts, so clicks per impression is a mean of counts and may exceed 1; the share of
clicked impressions is given next to it. Arms are compared as *assigned* (intention to treat): all
clicks of a unit count for its arm, and units without an impression stay in the arm.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.experiments.clusters import (
    ALONE,
    FEW,
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
from labelhub.core.figures import Figure, undefined
from labelhub.core.texts import gettext_noop

#: Seconds between two messages of one author that are too short to read the first offer: the
#: shortest reading time of a question in the paper (section 2.2). The paper merges impressions that
#: came "too quickly" without a number.
MERGE_WITHIN = 5.0
MEAN = "clicks over {per}, score interval with the dispersion between units (Student's t)"
SHARE = "share, Wilson with the effective n that clusters of units leave (Student's t)"
RATIO = "ratio of two rates, delta method on the log scale, clustered by unit (Student's t)"
NO_CLICKS = "ratio of two rates, score bound of no clicks, clustered by unit"
DIFFERENCE = "difference of two rates, from both score intervals (Zou and Donner 2008)"
FEW_CLICKS = 10
RARE = gettext_noop("fewer than 10 clicks: the interval is wider than it need be")

Per = Literal["impressions", "eligible"]
_EMPTY: Mapping[Per, str] = {
    "impressions": gettext_noop("nothing was shown"),
    "eligible": gettext_noop("no message could have had an offer"),
}
_EMPTY_ARM: Mapping[Per, str] = {
    "impressions": gettext_noop("nothing was shown in this arm"),
    "eligible": gettext_noop("no message could have had an offer in this arm"),
}
_EMPTY_CONTROL: Mapping[Per, str] = {
    "impressions": gettext_noop("nothing was shown in the control"),
    "eligible": gettext_noop("no message could have had an offer in the control"),
}
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Impression:
    """An offer on an author's screen; a reload is no new one.

    Args:
        unit: what was assigned to an arm: the author.
        vertical: of the recommended item.
        at: when the author's message was sent, with its time zone.
        clicks: number of clicks on it.
    """

    unit: str
    vertical: str
    at: datetime
    clicks: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """The units of an arm; each array has shape (units,).

    ``clicks`` counts every one, ``clicked`` the impressions with one or more.
    """

    eligible: NDArray[np.int64]
    impressions: NDArray[np.int64]
    clicks: NDArray[np.int64]
    clicked: NDArray[np.int64]


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
    clicks_per_eligible: Figure


@dataclass(frozen=True, slots=True)
class ClickComparison:
    """An arm against the control: the ratio of the two rates in clicks per ``per``, and their
    difference."""

    per: Per
    ratio: Figure
    difference: Figure


@dataclass(frozen=True, slots=True)
class ArmPart:
    """Some of an arm's impressions."""

    impressions: int
    clicks: int
    click_through: Figure


def merge_rapid(shown: Iterable[Impression]) -> list[Impression]:
    """Impressions in order of time, rapid ones merged with the first of them.

    A unit's impressions whose messages follow one another within less than ``MERGE_WITHIN`` seconds
    are one, however many follow: a row of quick messages is one.
    """
    found: list[Impression] = []
    latest: dict[str, tuple[int, float]] = {}
    # By seconds: Python compares times of one zone by local clocks, which go back once a year.
    for display in sorted(shown, key=lambda shown: (shown.at.timestamp(), shown.vertical)):
        place, before = latest.get(display.unit, (0, -np.inf))
        now = display.at.timestamp()
        if now - before < MERGE_WITHIN:
            found[place] = replace(found[place], clicks=found[place].clicks + display.clicks)
        else:
            place = len(found)
            found.append(display)
        latest[display.unit] = place, now
    return found


def totals(eligible: Mapping[str, int], impressions: Sequence[Impression]) -> Totals:
    """The totals of the units of an arm.

    Args:
        eligible: unit → number of its messages after which an offer was possible.
        impressions: of these units.
    """
    places = {unit: place for place, unit in enumerate(eligible)}
    owner = np.array([places[shown.unit] for shown in impressions], np.int64)
    clicks = np.array([shown.clicks for shown in impressions], np.int64)

    def sums(weights: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(owner, weights, len(places)).astype(np.int64)

    return Totals(
        np.array(list(eligible.values()), np.int64),
        sums(np.ones_like(clicks)),
        sums(clicks),
        sums(np.minimum(clicks, 1)),
    )


def arm_figures(found: Totals) -> ArmFigures:
    """An arm in numbers, each with its interval or the reason why there is none."""
    shares = rate_of(clusters(found.clicked, found.impressions))
    return ArmFigures(
        units=len(found.eligible),
        eligible=int(found.eligible.sum()),
        impressions=int(found.impressions.sum()),
        clicks=int(found.clicks.sum()),
        clicked=int(found.clicked.sum()),
        click_through=clicks_per(found, "impressions"),
        clicked_share=undefined(_EMPTY["impressions"])
        if shares is None
        else _figure(shares.value, share_bounds(shares), [shares], SHARE),
        clicks_per_eligible=clicks_per(found, "eligible"),
    )


def clicks_per(found: Totals, per: Per) -> Figure:
    """Clicks per impression or eligible message; may exceed 1."""
    rate = _rate_per(found, per)
    if rate is None:
        return undefined(_EMPTY[per])
    return _figure(rate.value, mean_bounds(rate), [rate], MEAN.format(per=per))


def compare(arm: Totals, control: Totals, per: Per) -> ClickComparison:
    """Ratio and difference of the clicks per impression or eligible message.

    Only the latter compares what was assigned: an arm may show less and so look better per
    impression. A ratio needs clicks in the control.
    """
    rate, base = _rate_per(arm, per), _rate_per(control, per)
    if rate is None or base is None:
        nothing = undefined((_EMPTY_ARM if rate is None else _EMPTY_CONTROL)[per])
        return ClickComparison(per, nothing, nothing)
    value, both = rate.value - base.value, [rate, base]
    difference = _figure(value, difference_bounds(rate, base), both, DIFFERENCE)
    if base.value == 0:
        return ClickComparison(per, undefined(gettext_noop("no clicks in the control")), difference)
    method = RATIO if rate.value > 0 else NO_CLICKS
    ratio = _figure(rate.value / base.value, ratio_bounds(rate, base), both, method)
    return ClickComparison(per, ratio, difference)


def percent_change(ratio: float) -> float:
    """What a ratio is as a change in per cent: 5.4 times is +440, and 1 is 0."""
    return 100 * (ratio - 1)


def parts_by(
    impressions: Iterable[Impression], key: Callable[[Impression], Key]
) -> dict[Key, ArmPart]:
    """Click-through of the impressions with the same ``key``, the most frequent key first.

    A click belongs to the impression on which it was made, whenever it came.
    """
    groups: defaultdict[Key, list[Impression]] = defaultdict(list)
    for impression in impressions:
        groups[key(impression)].append(impression)
    found = {}
    for name, shown in sorted(groups.items(), key=lambda group: -len(group[1])):
        sums = totals(dict.fromkeys((impression.unit for impression in shown), 0), shown)
        found[name] = ArmPart(len(shown), int(sums.clicks.sum()), clicks_per(sums, "impressions"))
    return found


def _rate_per(found: Totals, per: Per) -> ClusteredRate | None:
    """None where there is nothing to divide by."""
    return rate_of(clusters(found.clicks, getattr(found, per)))


def _figure(value: float, bounds: Bounds, rates: Sequence[ClusteredRate], method: str) -> Figure:
    doubt = ""
    if any(rate.alone for rate in rates):
        doubt = ALONE
    elif any(rate.effective_units < FEW_UNITS for rate in rates):
        doubt = FEW
    elif any(rate.events < FEW_CLICKS for rate in rates):
        doubt = RARE
    n = round(sum(rate.exposure for rate in rates))
    return figure(value, bounds, n=n, method=method, doubt=doubt)
