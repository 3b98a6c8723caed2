"""Rates whose events come in clusters: clicks of one author are alike, so authors are what counts.

A rate is events per exposure over all units (clicks per impression), a ratio of two sums. How
sure it is, is told by how much the units' own sums stray from it, never by the number of clicks.
"""

from dataclasses import dataclass
from math import exp, inf, isfinite, isinf, nan, sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure
from labelhub.core.texts import gettext_noop
from labelhub.core.wilson import wilson_bounds

CONFIDENCE = 0.95

Bounds = tuple[float, float]
UNKNOWN: Bounds = (nan, nan)
#: From as many units as this on, as the sizes weigh them, intervals covered as they say in trials.
FEW_UNITS = 20
ALONE = gettext_noop("one author only: the variance between them is unknown")
FEW = gettext_noop(
    "rests on fewer than 20 effective authors: the interval may miss more often than 1 in 20 times"
)
#: A dispersion below is rounding.
NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class ClusteredRate:
    """Events per exposure, with its dispersion.

    Args:
        value: all events / all exposure.
        exposure: all of it, above 0.
        effective_units: the equivalent number of units of equal size (Kish 1965).
        dispersion: variance between units over that of independent events (value / exposure);
            infinite if one unit has all the exposure.
        freedom: degrees of freedom of that variance.
    """

    value: float
    exposure: float
    effective_units: float
    dispersion: float
    freedom: float

    @property
    def events(self) -> float:
        """The number of events."""
        return self.value * self.exposure

    @property
    def alone(self) -> bool:
        """Whether one unit has all the exposure, so that the variance between units is unknown."""
        return isinf(self.dispersion)


def rate_of(events: ArrayLike, exposure: ArrayLike) -> ClusteredRate | None:
    """The rate over all units; None without exposure.

    The variance is that of a ratio of sums with each unit's residual over one minus its share of
    the exposure, close to the jackknife over units (Bell and McCaffrey 2002; MacKinnon and White
    1985). Its degrees of freedom are the smaller of Kish's (1965) effective number of units less
    one and of that of the residuals (Satterthwaite 1946), which is small if few units click.

    Args:
        events, exposure: sums by unit (an author), each of shape (units,).

    Raises:
        InvalidInput: they differ in length, are not one row, negative or not finite.
    """
    k, n = (np.asarray(sums, np.float64) for sums in (events, exposure))
    if k.ndim != 1 or k.shape != n.shape:
        raise InvalidInput("Events and exposure come as one row each, as long as the other.")
    if not all(np.isfinite(row).all() and (row >= 0).all() for row in (k, n)):
        raise InvalidInput("Events and exposure are finite and not negative.")
    total = float(n.sum())
    if total == 0:
        return None
    value = float(k.sum()) / total
    alike = float((n**2).sum()) / total
    effective = total / alike
    if (n > 0).sum() < 2:
        return ClusteredRate(value, total, effective, inf, 1.0)
    squares = ((k - value * n) / (1 - n / total)) ** 2
    spread, freedom = float(squares.sum()), effective - 1
    if spread > 0:
        # As shares, so that squares of tiny ones do not vanish.
        freedom = min(freedom, 2 / float(((squares / spread) ** 2).sum()))
    # Independent events have a dispersion of at least 1 - value; less is chance.
    dispersion = max(spread / total / value, 1 - value) if value > 0 else 0.0
    # With equal outcomes the correlation within units is unknown: assume a full one.
    dispersion = dispersion if dispersion > NOTHING else alike
    return ClusteredRate(value, total, effective, dispersion, max(1.0, freedom))


def figure(
    value: float,
    bounds: Bounds,
    *rates: ClusteredRate,
    n: int,
    method: str,
    doubt: str = "",
) -> Figure:
    """A known number; an end of its interval that could not be computed is null, never NaN.

    Args:
        rates: that it rests on; too few of their units are a doubt before ``doubt``.
    """
    low, high = (end if isfinite(end) else None for end in bounds)
    found: Figure = {"value": value, "low": low, "high": high, "n": n, "method": method}
    if any(rate.alone for rate in rates):
        doubt = ALONE
    elif any(rate.effective_units < FEW_UNITS for rate in rates):
        doubt = FEW
    if doubt:
        found["doubt"] = doubt
    return found


def quantile(freedom: float) -> float:
    """The standard errors to either side of a 95 % interval (Student 1908)."""
    return float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2))


def mean_bounds(rate: ClusteredRate) -> Bounds:
    """95 % score interval of a rate of events, which may exceed 1.

    All rates that the observed one does not reject, if the variance is the rate times the observed
    dispersion (the argument of Wilson 1927, for overdispersed counts).
    """
    if rate.alone:
        return UNKNOWN
    shift = quantile(rate.freedom) ** 2 * rate.dispersion / rate.exposure / 2
    half = sqrt(shift * (2 * rate.value + shift))
    return max(0.0, rate.value + shift - half), rate.value + shift + half


def share_bounds(rate: ClusteredRate) -> Bounds:
    """95 % interval of a share (Wilson 1927), with the effective n of the clusters."""
    if rate.alone:
        return UNKNOWN
    free = 1 - rate.value if 0 < rate.value < 1 else 1.0
    effective = max(1.0, rate.exposure * free / rate.dispersion)
    return wilson_bounds(rate.value, effective, quantile(rate.freedom))


def ratio_bounds(rate: ClusteredRate, control: ClusteredRate) -> Bounds:
    """95 % interval of ``rate`` / ``control``; above 0 events in the control.

    The delta method on the log scale with Student's t (degrees of freedom by Satterthwaite 1946).
    Without events in the arm there is no logarithm: then from 0 to the score bound of the arm's
    share of all events (Wilson 1927, with effective numbers).
    """
    if rate.alone or control.alone:
        return UNKNOWN
    if rate.value == 0:
        # The largest ratio that no event in the arm does not reject.
        exposure, other = rate.exposure / rate.dispersion, control.exposure / control.dispersion
        _, high = wilson_bounds(0.0, control.value * other, quantile(joint_freedom(rate, control)))
        return 0.0, high / (1 - high) * other / exposure
    half = quantile(joint_freedom(rate, control)) * sqrt(sum(_relative(rate, control)))
    value = rate.value / control.value
    return value * exp(-half), value * exp(half)


def difference_bounds(rate: ClusteredRate, control: ClusteredRate) -> Bounds:
    """95 % interval of ``rate`` - ``control`` from both arms' own (Zou and Donner 2008)."""
    (low, high), (other_low, other_high) = mean_bounds(rate), mean_bounds(control)
    value = rate.value - control.value
    down = sqrt((rate.value - low) ** 2 + (other_high - control.value) ** 2)
    up = sqrt((high - rate.value) ** 2 + (control.value - other_low) ** 2)
    return value - down, value + up


def joint_freedom(rate: ClusteredRate, control: ClusteredRate) -> float:
    """Degrees of freedom of the variance of a log ratio (Satterthwaite 1946)."""
    own, other = _relative(rate, control)
    # As shares of the total, so that squares of tiny variances do not vanish.
    share = own / (own + other)
    return 1 / (share**2 / rate.freedom + (1 - share) ** 2 / control.freedom)


def _relative(rate: ClusteredRate, control: ClusteredRate) -> tuple[float, float]:
    """The variances of both logarithms; an arm without events counts as half an event."""
    return (
        rate.dispersion / max(rate.events, 0.5),
        control.dispersion / max(control.events, 0.5),
    )
