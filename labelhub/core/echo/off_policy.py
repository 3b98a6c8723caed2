"""Off-policy evaluation: the reward that a policy would have earned, from the log of another one.

Each logged decision is weighted by the ratio of its probabilities under both policies: inverse
propensity scores (IPS; Horvitz and Thompson 1952), and self-normalised (SNIPS; Hajek 1971;
Swaminathan and Joachims 2015). A weight is at most the root of the number of decisions (Ionides
2008), so that no single decision carries an estimate; the bias of this vanishes as the log grows.
If the logging policy seldom did what the candidate would do, the effective sample size is small;
below ``LEAST_EFFECTIVE`` no number is given.

Propensities may be exact, or counted in random draws of the logging policy (Monte Carlo). Then the
decision itself must be one of the counted draws: (1 + other draws like it) / (1 + other draws).
Draws are exchangeable, so the decision is a random one of the counted draws, and its share of them
is its exact probability given the draws: the estimate stays unbiased, but for what the candidate
does and no draw did. A count of other draws alone is biased upwards, and may be zero.
"""

from enum import StrEnum
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.echo.experiments.clusters import figure, mean_bounds, rate_of
from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure, undefined
from labelhub.core.texts import gettext_noop

#: The least effective sample size for an estimate (design note on Echo).
LEAST_EFFECTIVE = 100
TOO_FEW = gettext_noop("too few effective messages")
#: Overlap is thin if the weights leave less than this share of the decisions,
THIN = 0.1
#: or one of them carries more than this share of all weight.
HEAVY = 0.05
#: The mean weight is not 1 if it is so many standard errors from it.
FAR = 3.0
IPS = "inverse propensity scores, score interval with the dispersion between authors (Student's t)"
SNIPS = f"self-normalised {IPS}"

Floats = NDArray[np.float64]


class Warn(StrEnum):
    """Why not to rely on an evaluation."""

    NO_OVERLAP = "no_overlap"
    THIN_OVERLAP = "thin_overlap"
    MEAN_WEIGHT = "mean_weight"


def evaluate(
    propensity: ArrayLike, candidate: ArrayLike, reward: ArrayLike, author: ArrayLike
) -> dict[str, Any]:
    """The candidate's value with 95 % intervals, clustered by author; a row per decision.

    Args:
        propensity: probability of the decision under the logging policy, above 0, at most 1.
        candidate: probability of the same under the candidate, 0 to 1.
        reward: of the decision (a click is 1), not negative.
        author: of the message; the cluster of the decision.

    Returns:
        n: number of decisions. authors: number of authors. effective_sample_size: the equivalent
        number of decisions of equal weight (Kish 1965). max_weight: the largest weight; 1 if both
        policies do the same. mean_weight: about 1 if propensities are right and the candidate does
        nothing unlogged. capped: number of decisions whose weight was cut to the root of ``n``.
        ips, snips: the reward per decision, by two estimates; null, with the reason, if the
        effective sample size is too small. warning: a :class:`Warn`; "" without one.

    Raises:
        InvalidInput: a probability or reward is out of range; the message names the row, from 1.
    """
    done, would, earned = (
        np.asarray(column, np.float64) for column in (propensity, candidate, reward)
    )
    for field, right, words in (
        ("propensity", (done > 0) & (done <= 1), "lies above 0 and up to 1"),
        ("candidate", (would >= 0) & (would <= 1), "lies between 0 and 1"),
        ("reward", np.isfinite(earned) & (earned >= 0), "is a finite number, not below 0"),
    ):
        if not right.all():
            row = right.argmin() + 1
            raise InvalidInput.at(field, f"Row {row}: a {field} {words}.")
    names, owner = np.unique(np.asarray(author), return_inverse=True)
    weight, n, most = would / done, len(done), sqrt(len(done))
    total = float(weight.sum())
    effective = total**2 / float((weight**2).sum()) if total else 0.0
    ips = snips = undefined(TOO_FEW)
    if effective >= LEAST_EFFECTIVE:
        bounded = np.minimum(weight, most)
        ips = _rate(owner, bounded * earned, np.ones(n), IPS)
        snips = _rate(owner, bounded * earned, bounded, SNIPS)
    return {
        "n": n,
        "authors": len(names),
        "effective_sample_size": effective,
        "max_weight": float(weight.max(initial=0.0)),
        "mean_weight": total / max(n, 1),
        "capped": int((weight > most).sum()),
        "ips": ips,
        "snips": snips,
        "warning": _warning(weight, owner, effective),
    }


def _rate(owner: NDArray[np.intp], events: Floats, exposure: Floats, method: str) -> Figure:
    """A ratio of sums, clustered by author."""
    rate = rate_of(np.bincount(owner, events), np.bincount(owner, exposure))
    if rate is None:
        return undefined(TOO_FEW)
    return figure(rate.value, mean_bounds(rate), rate, n=len(events), method=method)


def _warning(weight: Floats, owner: NDArray[np.intp], effective: float) -> str:
    n, total = len(weight), float(weight.sum())
    if not total:
        return Warn.NO_OVERLAP
    if effective < max(THIN * n, LEAST_EFFECTIVE) or weight.max() > HEAVY * total:
        return Warn.THIN_OVERLAP
    by_author = np.bincount(owner, weight - total / n)
    error = sqrt(float((by_author**2).sum())) / n
    return Warn.MEAN_WEIGHT if abs(total / n - 1) > max(FAR * error, 1e-9) else ""
