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

from dataclasses import dataclass
from math import exp, inf, log, sqrt

from scipy import special

from labelhub.core.echo.experiments.clusters import CONFIDENCE, ClusteredRate, figure, joint_freedom
from labelhub.core.figures import Figure, undefined
from labelhub.core.texts import gettext_noop
from labelhub.core.wilson import wilson_bounds

METHOD = "ratio of two rates, always-valid score interval (normal mixture), clustered by unit"
TOO_EARLY = "fewer than {least} independent clicks yet"


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of looks, fixed before the start.

    Args:
        comparisons: number of arms compared with the control, which share the 5 %.
        tightest_at: effective clicks in both arms together at which the interval is narrowest; it
            is valid at any number.
        least: effective clicks before the first look; fewer are not approximately normal.
    """

    comparisons: int = 1
    tightest_at: float = 100
    least: float = 20

    @property
    def alpha(self) -> float:
        """The probability of a false alarm in one comparison."""
        return (1 - CONFIDENCE) / self.comparisons


@dataclass(frozen=True, slots=True)
class Look:
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


@dataclass(frozen=True, slots=True)
class _Seen:
    """Effective numbers of clicks and exposures."""

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
        """The arm's share of the clicks without a difference."""
        return self.exposure / (self.exposure + self.other_exposure)

    @property
    def information(self) -> float:
        """One over the variance of the log ratio, without a difference."""
        return self.n * self.expected * (1 - self.expected)


def look_at(
    plan: Plan, rate: ClusteredRate | None, base: ClusteredRate | None, before: Look | None = None
) -> Look:
    """A look at all data so far.

    Args:
        plan: the same at every look.
        rate, base: of the arm and of the control, from the start until now; None for an arm without
            exposure.
        before: the look before this one; None for the first.
    """
    least_p = before.p if before else 1.0
    seen = None if rate is None or base is None else _seen(rate, base)
    if rate is None or base is None or seen is None or seen.n < plan.least:
        reason = undefined(TOO_EARLY.format(least=f"{plan.least:g}"))
        return Look(reason, least_p, least_p <= plan.alpha, seen.n if seen else 0.0)
    p = min(least_p, _p(seen, _mixture(plan)))
    n = round(rate.exposure + base.exposure)
    ratio = undefined(gettext_noop("no clicks in the control"))
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
    """The mixture's information that makes the boundary lowest at the planned number of clicks.

    Howard et al. (2021), proposition 3, by Lambert's W; with both arms alike, each click is a
    quarter of information.
    """
    lowest = -float(special.lambertw(-(plan.alpha**2) / exp(1), k=-1).real) - 1
    return plan.tightest_at / 4 / lowest


def _p(seen: _Seen, mixture: float) -> float:
    """One over the mixture's likelihood ratio against no difference (Johari et al. 2017)."""
    share, expected = seen.clicks / seen.n, seen.expected
    t = abs(share - expected) / sqrt(expected * (1 - expected) / seen.n)
    # The normal value of the same tail probability, because the variances are estimates.
    z = -float(special.ndtri(special.stdtr(seen.freedom, -t)))
    grown = seen.information + mixture
    exponent = log(grown / mixture) / 2 - z * z * seen.information / grown / 2
    return exp(min(0.0, exponent))
