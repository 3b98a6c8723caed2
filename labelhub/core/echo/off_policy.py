"""Off-policy evaluation: the reward that a policy would have earned, from the log of another one.

Each logged decision is weighted by the ratio of its probabilities under both policies: inverse
propensity scores (Horvitz and Thompson 1952), self-normalised (Hajek 1971; Swaminathan and Joachims
2015), and doubly robust with a model of the reward (Dudik et al. 2011). If the
logging policy seldom did what the candidate would do, the effective sample size is small; below
``LEAST_EFFECTIVE`` no number is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.experiments.clusters import (
    FEW_UNITS,
    UNKNOWN,
    Clusters,
    figure,
    quantile,
    spread_of,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure, undefined

#: The least effective sample size for an estimate (design note on Echo).
LEAST_EFFECTIVE = 100
#: Overlap is thin if the weights leave less than this share of the decisions,
THIN = 0.1
#: or one of them carries more than this share of all weight,
HEAVY = 0.05
#: or the mean weight is so many standard errors from 1, its expectation.
FAR = 3.0

IPS = "inverse propensity scores"
SNIPS = "self-normalised inverse propensity scores"
DR = "doubly robust"
SCORE = "{name}, score interval with the dispersion between authors (Student's t)"
ALONE = "one author only: the variance between authors is unknown"
NO_SPREAD = "all rewards are equal: their variance is unknown"
#: A standard error below this share of the value is rounding.
SAME = 1e-9
#: Standard errors above 0 from which the variance of a sum of mixed signs grows with the sum.
TIED = 2.0
WALD = "{name}, Student's t interval with the variance between authors"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One logged decision.

    Args:
        propensity: probability of the decision under the logging policy, above 0, at most 1.
        candidate: probability of the same under the candidate, 0 to 1.
        reward: of the decision (a click is 1).
        author: of the message; the cluster of the decision. "" if unknown.
        predicted: the reward model's prediction for the decision; None without a model.
        expected: its mean prediction over the candidate's decisions; None without a model.
    """

    propensity: float
    candidate: float
    reward: float
    author: str = ""
    predicted: float | None = None
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class PolicyEvaluation:
    """The candidate's reward per decision, by three estimates.

    Args:
        n: number of decisions.
        authors: number of authors; each decision of an unknown author counts as one.
        effective_sample_size: the equivalent number of decisions of equal weight (Kish 1965).
        max_weight: the largest weight; 1 if both policies do the same.
        mean_weight: about 1 if propensities are right and the candidate does nothing unlogged.
        warning: a reason not to rely on the figures; "" without one.
    """

    n: int
    authors: int
    effective_sample_size: float
    max_weight: float
    mean_weight: float
    ips: Figure
    snips: Figure
    doubly_robust: Figure
    warning: str


class _Log(NamedTuple):
    """Decisions as columns, each of shape (n,); ``author`` numbers the authors from 0."""

    weight: Floats
    reward: Floats
    author: Ints
    predicted: Floats
    expected: Floats


def evaluate(decisions: Sequence[LoggedDecision]) -> PolicyEvaluation:
    """The candidate's value with 95 % intervals, clustered by author.

    All three figures are null, with the reason, if the effective sample size is too small; the
    doubly robust one also if a decision has no predictions.

    Raises:
        InvalidInput: a probability or reward is out of range; the message names the row, from 1.
    """
    log = _columns(decisions)
    total = float(log.weight.sum())
    effective = total**2 / float((log.weight**2).sum()) if total else 0.0
    ips, snips, robust = _estimates(log, effective)
    return PolicyEvaluation(
        n=len(decisions),
        authors=int(log.author.max(initial=-1)) + 1,
        effective_sample_size=effective,
        max_weight=float(log.weight.max(initial=0.0)),
        mean_weight=total / max(len(decisions), 1),
        ips=ips,
        snips=snips,
        doubly_robust=robust,
        warning=_warning(log, effective),
    )


def _estimates(log: _Log, effective: float) -> tuple[Figure, Figure, Figure]:
    if effective < LEAST_EFFECTIVE:
        why = f"the effective sample size is {floor(effective)}; {LEAST_EFFECTIVE} are needed"
        nothing = undefined(why)
        return nothing, nothing, nothing
    ones = np.ones_like(log.weight)
    earned = log.weight * log.reward
    ips = _figure(log, earned, ones, IPS)
    snips = _figure(log, earned, log.weight, SNIPS)
    unknown = int(np.isnan(log.predicted + log.expected).sum())
    if unknown:
        return ips, snips, undefined(f"{unknown} messages come without the model's predictions")
    corrected = log.expected + log.weight * (log.reward - log.predicted)
    return ips, snips, _figure(log, corrected, ones, DR)


def _figure(log: _Log, events: Floats, exposure: Floats, name: str) -> Figure:
    """A ratio of sums, clustered by author."""
    found = Clusters(
        np.bincount(log.author, events).astype(np.float64),
        np.bincount(log.author, exposure).astype(np.float64),
    )
    value, n = float(events.sum() / exposure.sum()), len(events)
    units = found.exposure > 0
    if units.sum() < 2:
        return figure(value, UNKNOWN, n=n, method=WALD.format(name=name), doubt=ALONE)
    spread, freedom = spread_of(found)
    error = sqrt(spread) / float(exposure.sum())
    if error <= SAME * abs(value):
        return figure(value, UNKNOWN, n=n, method=WALD.format(name=name), doubt=NO_SPREAD)
    # Kish's (1965) effective number.
    authors = float(found.exposure.sum()) ** 2 / float((found.exposure**2).sum())
    doubt = f"fewer than {FEW_UNITS} effective authors" if authors < FEW_UNITS else ""
    half = quantile(freedom) * error
    bounds, method = (value - half, value + half), WALD
    if (log.reward >= 0).all() and ((events >= 0).all() or value > TIED * error):
        # The variance of rare, non-negative rewards grows with their rate, so the interval reaches
        # further up than down. It does not depend on the unit of rewards.
        shift = half * half / value / 2
        reach = sqrt(shift * (2 * value + shift))
        bounds, method = (max(0.0, value + shift - reach), value + shift + reach), SCORE
    return figure(value, bounds, n=n, method=method.format(name=name), doubt=doubt)


def _warning(log: _Log, effective: float) -> str:
    n, total = len(log.weight), float(log.weight.sum())
    if n == 0 or total == 0:
        return "The log holds nothing that this way of choosing would do."
    found = []
    if effective < max(THIN * n, LEAST_EFFECTIVE):
        found.append(
            f"Overlap is thin: {n} messages have an effective sample size of {floor(effective)}."
        )
    if log.weight.max() > HEAVY * total:
        heaviest = f"{100 * log.weight.max() / total:.0f} % of all weight"
        found.append(f"Overlap is thin: one message carries {heaviest}.")
    by_author = np.bincount(log.author, log.weight - total / n)
    error = sqrt(float((by_author**2).sum())) / n
    if abs(total / n - 1) > max(FAR * error, 1e-9):
        found.append(
            f"The mean weight is {total / n:.2f}, not 1: propensities are wrong, or the policy "
            "would do what was never done."
        )
    return " ".join(found)


def _columns(decisions: Sequence[LoggedDecision]) -> _Log:
    propensity = np.array([row.propensity for row in decisions], dtype=np.float64)
    candidate = np.array([row.candidate for row in decisions], dtype=np.float64)
    reward = np.array([row.reward for row in decisions], dtype=np.float64)
    _check("propensity", (propensity > 0) & (propensity <= 1), "lies above 0 and up to 1")
    _check("candidate", (candidate >= 0) & (candidate <= 1), "lies between 0 and 1")
    _check("reward", np.isfinite(reward), "is a finite number")
    numbers: dict[str, int] = {}
    author = [
        numbers.setdefault(f"a{row.author}" if row.author else f"row {i}", len(numbers))
        for i, row in enumerate(decisions)
    ]
    return _Log(
        candidate / propensity,
        reward,
        np.array(author, dtype=np.int64),
        _predictions("predicted", [row.predicted for row in decisions]),
        _predictions("expected", [row.expected for row in decisions]),
    )


def _predictions(field: str, given: Sequence[float | None]) -> Floats:
    """The predictions as an array, (n,), with NaN for missing ones."""
    known = np.array([True if value is None else bool(np.isfinite(value)) for value in given])
    _check(field, known, "is a finite number or missing")
    return np.array([np.nan if value is None else value for value in given], dtype=np.float64)


def _check(field: str, right: NDArray[np.bool_], words: str) -> None:
    wrong = np.flatnonzero(~right.astype(np.bool_))
    if wrong.size:
        raise InvalidInput.at(field, f"Row {wrong[0] + 1}: a {field} {words}.")
