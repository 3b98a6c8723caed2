"""Interim looks at an arm against the control: frequent looks raise no false alarms.

A 95 % interval is valid at one look fixed in advance; daily looks that stop at the first interval
without 1 have many more false alarms. Here all looks together have at most 5 % false alarms in
experiments without a difference, for any number of looks and any stopping rule: a mixture
sequential test (Robbins 1970; Johari et al. 2017; Howard et al. 2021), in the asymptotic form for
estimated variances (Waudby-Smith et al. 2021), clustered by unit.

Authors return, so that later looks have more data of the same clusters. The boundary needs an
estimate whose covariance between two looks is its variance at the later one, like a mean of authors
with random effects; so its clock is the information (one over the variance), not the number of
clicks.
"""

from collections.abc import Sequence
from itertools import groupby
from math import exp, inf, log, sqrt
from operator import itemgetter
from typing import Any, TypedDict

import numpy as np
import scipy

from labelhub.core.echo.experiments.click_through import Occasion
from labelhub.core.echo.experiments.clusters import (
    CONFIDENCE,
    ClusteredRate,
    figure,
    joint_freedom,
    rate_of,
)
from labelhub.core.figures import Figure, undefined
from labelhub.core.texts import gettext_noop
from labelhub.core.wilson import wilson_bounds

METHOD = "ratio of two rates, always-valid score interval (normal mixture), clustered by unit"
TOO_EARLY = "fewer than {least} independent clicks yet"


class Look(TypedDict):
    """The result of one look.

    Args:
        ratio: of the arm's rate over the control's, with its always-valid interval at this look.
        p: always-valid: the smallest of all looks so far; 1 with too little data.
        may_stop: whether a difference is significant, at this look or an earlier one.
        clicks: effective number of clicks so far, in both arms.
    """

    ratio: Figure
    p: float
    may_stop: bool
    clicks: float


def look_at(
    rate: ClusteredRate | None,
    base: ClusteredRate | None,
    before: Look | None = None,
    *,
    comparisons: int = 1,
    tightest_at: float = 100,
    least: float = 20,
) -> Look:
    """A look at all data so far.

    The plan of looks is fixed before the start and the same at every look.

    Args:
        rate, base: of the arm and of the control, from the start until now; None for an arm without
            exposure.
        before: the look before this one; None for the first.
        comparisons: number of arms compared with the control, which share the 5 %.
        tightest_at: effective clicks in both arms together at which the interval is narrowest; it
            is valid at any number.
        least: effective clicks before the first look; fewer are not approximately normal.
    """
    alpha, p, n = (1 - CONFIDENCE) / comparisons, before["p"] if before else 1.0, 0.0
    ratio = undefined(TOO_EARLY.format(least=f"{least:g}"))
    if rate is not None and base is not None and not rate.alone and not base.alone:
        n = rate.events / rate.dispersion + base.events / base.dispersion
        if n >= least:
            bounds, new_p = _always_valid(rate, base, alpha, _mixture(alpha, tightest_at))
            p = min(p, new_p)
            ratio = undefined(gettext_noop("no clicks in the control"))
            if base.value > 0:
                shown = round(rate.exposure + base.exposure)
                ratio = figure(rate.value / base.value, bounds, n=shown, method=METHOD)
    return {"ratio": ratio, "p": p, "may_stop": p <= alpha, "clicks": n}


def daily_looks(
    arm: Sequence[Occasion], control: Sequence[Occasion], comparisons: int
) -> list[dict[str, Any]]:
    """A look per day with events, at clicks per eligible message from the start to its end.

    A click counts on its own day, so that later events do not change earlier looks.
    """
    # Row 0 of an arm's sums has the clicks of its units, row 1 their messages.
    events, sums = [], []
    for side, messages in enumerate((arm, control)):
        places: dict[str, int] = {}
        for message in messages:
            place = places.setdefault(message.unit, len(places))
            events.append((message.at.date(), side, 1, place))
            events += [(time.date(), side, 0, place) for time in message.clicks]
        sums.append(np.zeros((2, len(places)), np.int64))
    look: Look | None = None
    looks = []
    for day, new in groupby(sorted(events), key=itemgetter(0)):
        for _, side, row, place in new:
            sums[side][row, place] += 1
        rate, base = (rate_of(clicks, eligible) for clicks, eligible in sums)
        look = look_at(rate, base, look, comparisons=comparisons)
        looks.append({"day": day, "look": look})
    return looks


def _mixture(alpha: float, tightest_at: float) -> float:
    """The mixture's information that makes the boundary lowest at the planned number of clicks.

    Howard et al. (2021), proposition 3, by Lambert's W; with both arms alike, each click is a
    quarter of information.
    """
    lowest = -float(scipy.special.lambertw(-(alpha**2) / exp(1), k=-1).real) - 1
    return tightest_at / 4 / lowest


def _always_valid(
    rate: ClusteredRate, base: ClusteredRate, alpha: float, mixture: float
) -> tuple[tuple[float, float], float]:
    """The interval of the ratio at this look, and p: one over the mixture's likelihood ratio
    against no difference (Johari et al. 2017)."""
    clicks, exposure = rate.events / rate.dispersion, rate.exposure / rate.dispersion
    other_clicks, other_exposure = base.events / base.dispersion, base.exposure / base.dispersion
    n = clicks + other_clicks
    # The arm's share of the clicks, and what it is without a difference.
    share, expected = clicks / n, exposure / (exposure + other_exposure)
    # One over the variance of the log ratio, without a difference.
    information = n * expected * (1 - expected)
    grown, freedom = information + mixture, joint_freedom(rate, base)
    t = abs(share - expected) / sqrt(expected * (1 - expected) / n)
    # The normal value of the same tail probability, because the variances are estimates.
    z = -float(scipy.special.ndtri(scipy.special.stdtr(freedom, -t)))
    exponent = log(grown / mixture) / 2 - z * z * information / grown / 2
    boundary = sqrt(grown / information * log(grown / (mixture * alpha**2)))
    t = -float(scipy.special.stdtrit(freedom, scipy.special.ndtr(-boundary)))
    low, high = wilson_bounds(share, n, t)
    odds = other_exposure / exposure
    bounds = low / (1 - low) * odds, high / (1 - high) * odds if high < 1 else inf
    return bounds, exp(min(0.0, exponent))
