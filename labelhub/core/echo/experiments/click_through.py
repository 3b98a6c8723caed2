"""Impressions, click-through by arm, and an arm against the control (paper 004, section 4 and
appendix A.1).

Every click counts, so clicks per impression is a mean of counts and may exceed 1; the share of
clicked impressions is given next to it. Arms are compared as *assigned* (intention to treat): all
clicks of a unit count for its arm, and units without an impression stay in the arm.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.experiments.clusters import (
    Bounds,
    ClusteredRate,
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
#: Why there is no rate: of all offers, of an arm, of the control.
_EMPTY: Mapping[Per, tuple[str, str, str]] = {
    "impressions": (
        gettext_noop("nothing was shown"),
        gettext_noop("nothing was shown in this arm"),
        gettext_noop("nothing was shown in the control"),
    ),
    "eligible": (
        gettext_noop("no message could have had an offer"),
        gettext_noop("no message could have had an offer in this arm"),
        gettext_noop("no message could have had an offer in the control"),
    ),
}
Key = TypeVar("Key", bound=Hashable)
#: By name, the counts of an arm's units.
Totals = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Occasion:
    """A message after which an offer was possible.

    Args:
        unit: what was assigned to an arm: the author.
        at: when it was sent, with its time zone.
        vertical: of the item that the author saw (an impression; a reload is no new one); None
            without one.
        clicks: the times of the clicks on it.
    """

    unit: str
    at: datetime
    vertical: str | None = None
    clicks: tuple[datetime, ...] = ()


def impressions_of(messages: Iterable[Occasion]) -> list[Occasion]:
    """The messages with an impression, in order of time, rapid ones merged with the first of them.

    A unit's impressions whose messages follow one another within less than ``MERGE_WITHIN`` seconds
    are one, however many follow: a row of quick messages is one.
    """
    found: list[Occasion] = []
    latest: dict[str, tuple[int, float]] = {}
    shown = (message for message in messages if message.vertical is not None)
    # By seconds: Python compares times of one zone by local clocks, which go back once a year.
    for display in sorted(shown, key=lambda shown: (shown.at.timestamp(), shown.vertical or "")):
        place, before = latest.get(display.unit, (0, -np.inf))
        now = display.at.timestamp()
        if now - before < MERGE_WITHIN:
            found[place] = replace(found[place], clicks=found[place].clicks + display.clicks)
        else:
            place = len(found)
            found.append(display)
        latest[display.unit] = place, now
    return found


def totals(messages: Iterable[Occasion], impressions: Iterable[Occasion]) -> Totals:
    """Counts by unit, each of shape (units,), in the order of the units' first messages.

    Returns:
        ``eligible`` messages, ``impressions``, ``clicks`` (every one), and ``clicked`` impressions
        (with one or more).
    """
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for message in messages:
        counts[message.unit][0] += 1
    for shown in impressions:
        own = counts[shown.unit]
        own[1] += 1
        own[2] += len(shown.clicks)
        own[3] += bool(shown.clicks)
    columns = np.array(list(counts.values()), np.int64).reshape(-1, 4).T
    return dict(zip(("eligible", "impressions", "clicks", "clicked"), columns, strict=True))


def arm_figures(found: Totals) -> dict[str, Any]:
    """An arm in numbers: its units, the sums of its totals, and three figures: ``click_through``
    (clicks per impression), ``clicked_share`` and ``clicks_per_eligible``."""
    clicked = rate_of(found["clicked"], found["impressions"])
    return {
        "units": len(found["eligible"]),
        **{name: int(counts.sum()) for name, counts in found.items()},
        "click_through": clicks_per(found, "impressions"),
        "clicked_share": undefined(_EMPTY["impressions"][0])
        if clicked is None
        else _figure(clicked.value, share_bounds(clicked), clicked, method=SHARE),
        "clicks_per_eligible": clicks_per(found, "eligible"),
    }


def clicks_per(found: Totals, per: Per) -> Figure:
    """Clicks per impression or eligible message; may exceed 1."""
    rate = rate_of(found["clicks"], found[per])
    if rate is None:
        return undefined(_EMPTY[per][0])
    return _figure(rate.value, mean_bounds(rate), rate, method=MEAN.format(per=per))


def compare(arm: Totals, control: Totals, per: Per) -> dict[str, Any]:
    """``ratio`` and ``difference``, both figures, of the clicks per impression or eligible message.

    Only the latter compares what was assigned: an arm may show less and so look better per
    impression. A ratio needs clicks in the control.
    """
    rate, base = (rate_of(found["clicks"], found[per]) for found in (arm, control))
    if rate is None or base is None:
        nothing = undefined(_EMPTY[per][1 if rate is None else 2])
        return {"per": per, "ratio": nothing, "difference": nothing}
    ratio = undefined(gettext_noop("no clicks in the control"))
    if base.value > 0:
        value, method = rate.value / base.value, RATIO if rate.value > 0 else NO_CLICKS
        ratio = _figure(value, ratio_bounds(rate, base), rate, base, method=method)
    value, bounds = rate.value - base.value, difference_bounds(rate, base)
    difference = _figure(value, bounds, rate, base, method=DIFFERENCE)
    return {"per": per, "ratio": ratio, "difference": difference}


def percent_change(ratio: float) -> float:
    """What a ratio is as a change in per cent: 5.4 times is +440, and 1 is 0."""
    return 100 * (ratio - 1)


def parts_by(
    impressions: Iterable[Occasion], key: Callable[[Occasion], Key]
) -> dict[Key, dict[str, Any]]:
    """``impressions``, ``clicks`` and ``click_through`` (a figure) of the impressions with the same
    ``key``, the most frequent key first.

    A click belongs to the impression on which it was made, whenever it came.
    """
    groups: defaultdict[Key, list[Occasion]] = defaultdict(list)
    for impression in impressions:
        groups[key(impression)].append(impression)
    found = {}
    for name, shown in sorted(groups.items(), key=lambda group: -len(group[1])):
        sums = totals((), shown)
        found[name] = {
            "impressions": len(shown),
            "clicks": int(sums["clicks"].sum()),
            "click_through": clicks_per(sums, "impressions"),
        }
    return found


def _figure(value: float, bounds: Bounds, *rates: ClusteredRate, method: str) -> Figure:
    doubt = RARE if any(rate.events < FEW_CLICKS for rate in rates) else ""
    n = round(sum(rate.exposure for rate in rates))
    return figure(value, bounds, *rates, n=n, method=method, doubt=doubt)
