"""An arm against the control while the experiment runs: looking often raises no false alarms.

A 95 % interval is right at one look fixed before; who looks daily and stops at the first that
excludes 1 is misled far more often. Here all looks together are wrong in at most 5 % of the
experiments without a difference, however many there are and whenever one stops: a mixture
sequential test (Robbins 1970; Johari et al. 2017; Howard et al. 2021), in the asymptotic form for
estimated variances (Waudby-Smith et al. 2021), clustered by unit.

Authors come back, so that each look holds more of the same clusters. What the boundary needs is
that the estimate's covariance between looks is its variance at the later one, as for a mean of
authors with effects of their own; its clock is therefore the information (one over the variance),
not the number of clicks.
"""

from dataclasses import dataclass
from math import exp, inf, log, sqrt

from scipy import special

from labelhub.core.echo.experiments.clusters import (
    CONFIDENCE,
    ClusteredFigure,
    ClusteredRate,
    figure,
    joint_freedom,
    undefined,
)
from labelhub.core.wilson import wilson_bounds

METHOD = "ratio of two rates, always-valid score interval (normal mixture), clustered by unit"
TOO_EARLY = "fewer than {least} independent clicks yet"


@dataclass(frozen=True, slots=True)
class Plan:
    """How looks are taken; fixed before the start.

    Args:
        comparisons: how many arms are compared with the control; the 5 % are shared among them.
        tightest_at: effective clicks in both arms together at which the interval is to be as
            narrow as it can be; at any other number it holds all the same.
        least: effective clicks before the first look; with fewer nothing is normal.
    """

    comparisons: int = 1
    tightest_at: float = 100
    least: float = 20

    @property
    def alpha(self) -> float:
        """Chance of a false alarm of one comparison."""
        return (1 - CONFIDENCE) / self.comparisons


@dataclass(frozen=True, slots=True)
class Look:
    """What one look shows.

    Args:
        ratio: of the arm's rate over the control's, with its always-valid interval at this look.
        p: always-valid: the smallest of all looks so far; 1 where there was too little to tell.
        may_stop: whether a difference is proven, at this look or an earlier one.
        clicks: effective number of clicks so far, in both arms.
    """

    ratio: ClusteredFigure
    p: float
    may_stop: bool
    clicks: float


@dataclass(frozen=True, slots=True)
class _Seen:
    """Effective numbers: as many separate clicks and exposures would tell as much."""

    clicks: float
    other_clicks: float
    exposure: float
    other_exposure: float
    freedom: float

    @property
    def n(self) -> float:
        return self.clicks + self.other_clicks

    @property
    def expected(self) -> float:
        """The share of the clicks that falls to the arm if there is no difference."""
        return self.exposure / (self.exposure + self.other_exposure)

    @property
    def information(self) -> float:
        """One over the variance of the log ratio, if there is no difference."""
        return self.n * self.expected * (1 - self.expected)


def look_at(
    plan: Plan, rate: ClusteredRate | None, base: ClusteredRate | None, before: Look | None = None
) -> Look:
    """What all data so far show.

    Args:
        plan: the same at every look.
        rate, base: of the arm and of the control, from the start until now; None for an arm in
            which there was nothing to count.
        before: the look before this one; None for the first.
    """
    least_p = before.p if before else 1.0
    seen = None if rate is None or base is None else _seen(rate, base)
    if rate is None or base is None or seen is None or seen.n < plan.least:
        reason = undefined(TOO_EARLY.format(least=f"{plan.least:g}"))
        return Look(reason, least_p, least_p <= plan.alpha, seen.n if seen else 0.0)
    p = min(least_p, _p(seen, _mixture(plan)))
    n = round(rate.exposure + base.exposure)
    ratio = undefined("no clicks in the control")
    if base.value > 0:
        mixture = _mixture(plan)
        grown = seen.information + mixture
        z = sqrt(grown / seen.information * log(grown / (mixture * plan.alpha**2)))
        t = -float(special.stdtrit(seen.freedom, special.ndtr(-z)))
        low, high = wilson_bounds(seen.clicks / seen.n, seen.n, t)
        odds = seen.other_exposure / seen.exposure
        bounds = low / (1 - low) * odds, (high / (1 - high) * odds if high < 1 else inf)
        ratio = figure(rate.value / base.value, bounds, n=n, method=METHOD)
    return Look(ratio, p, p <= plan.alpha, seen.n)


def _seen(rate: ClusteredRate, base: ClusteredRate) -> _Seen | None:
    if rate.alone or base.alone:
        return None
    return _Seen(
        rate.events / rate.dispersion,
        base.events / base.dispersion,
        rate.exposure / rate.dispersion,
        base.exposure / base.dispersion,
        joint_freedom(rate, base),
    )


def _mixture(plan: Plan) -> float:
    """The mixture's information for which the boundary is lowest where it was planned.

    Howard et al. (2021), proposition 3, by Lambert's W; with both arms alike, each click is a
    quarter of information.
    """
    lowest = -float(special.lambertw(-(plan.alpha**2) / exp(1), k=-1).real) - 1
    return plan.tightest_at / 4 / lowest


def _p(seen: _Seen, mixture: float) -> float:
    """One over the mixture's likelihood ratio against no difference (Johari et al. 2017)."""
    share, expected = seen.clicks / seen.n, seen.expected
    t = abs(share - expected) / sqrt(expected * (1 - expected) / seen.n)
    # As far out as a normal value of the same chance: the variances are estimates.
    z = -float(special.ndtri(special.stdtr(seen.freedom, -t)))
    grown = seen.information + mixture
    exponent = log(grown / mixture) / 2 - z * z * seen.information / grown / 2
    return exp(min(0.0, exponent))
