"""Accepting labels unchecked under a promise: at most a target error rate, at a confidence.

A threshold on the confidence score is chosen by exact bounds on a random sample that was labelled
(the calibration items), and a stream of audited items shows when the promise no longer holds.
Calibration items must be a random sample and stay out of the tuning of prompts. The same labels
sharpen means over many predictions (prediction-powered inference).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, student_t
from labelhub.core.agreement.ratings import Bools, Floats, Ints
from labelhub.core.errors import InvalidInput

TOO_FEW_LABELS = "too_few_labels"
ERRORS_ABOVE_TARGET = "errors_above_target"
#: Logarithm of the largest odds: a little more is infinite, and JSON has no such number.
MOST_EVIDENCE = 700.0
LOG_2 = float(np.log(2))
#: Odds ratios of a rise of the error rate that an audit looks for.
RISES = (1.5, 2.0, 4.0, 10.0)
#: By the prior, a rise comes as likely within so many audits as later.
HALF_LIFE = 1000
#: The latest audits, whose error rate is shown by itself, and the fewest that have an interval.
RECENT, FEWEST = 100, 10


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of accepting all items with at least ``threshold``, on calibration items.

    ``coverage`` is the share of them accepted, ``error`` the share of those wrong (None of none),
    ``bound`` its upper bound. ``tested`` is False before the start and after the first failure.
    """

    threshold: float
    accepted: int
    errors: int
    coverage: float
    error: float | None
    bound: float
    tested: bool
    passed: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """The lowest threshold that keeps the promise, a step of ``path``, or None for ``reason``:
    ``too_few_labels``: no step could start; ``errors_above_target``: the first one failed."""

    chosen: Step | None
    path: tuple[Step, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Audit:
    """The error rate of a stream so far.

    ``low`` and ``high`` hold together, at all times at once, if the rate has not changed.
    ``recent`` is the rate of the last ``RECENT`` items; its Wilson interval holds for a single
    look. ``broken_at`` is the number of items after which the rate was first reliably above the
    target, for the whole stream or since some item; None while it is not; it stays once set.
    ``evidence`` is the odds against the promise at the end of the stream.
    """

    n: int
    errors: int
    low: float
    high: float
    recent: Figure
    evidence: float
    broken_at: int | None


def upper_bound(successes: int, n: int, confidence: float = CONFIDENCE) -> float:
    """Exact one-sided upper bound of a share (Clopper and Pearson 1934); 1 where ``n`` is 0."""
    _check_counts(successes, n)
    return float(_upper_bounds(np.array(successes), np.array(n), _check_rate(confidence)))


def labels_needed(target: float, confidence: float = CONFIDENCE, errors: int = 0) -> int:
    """Fewest labels of which ``errors`` wrong ones still bound the error rate by ``target``.

    The least n at which ``upper_bound(errors, n)`` is at most ``target``.
    """
    _check_rate(target)
    _check_counts(errors, errors)
    low, high = errors, errors + 1
    while upper_bound(errors, high, confidence) > target:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = upper_bound(errors, middle, confidence) <= target
        low, high = (low, middle) if enough else (middle, high)
    return high


def quantile_thresholds(scores: ArrayLike, steps: int = 20) -> Floats:
    """A sequence of thresholds, strict to loose, each to accept about 1 / ``steps`` more items.

    ``scores``: of all items of the project, labelled or not, so that the sequence is fixed before
    anything is known of the errors. The last threshold accepts all. NaN are left out.
    """
    known = np.asarray(scores, dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size == 0 or steps < 1:
        raise InvalidInput("Thresholds need scores, and at least one step.")
    shares = 1 - np.arange(1, steps + 1) / steps
    return np.unique(np.quantile(known, shares, method="inverted_cdf"))[::-1]


def choose_threshold(
    scores: ArrayLike,
    wrong: ArrayLike,
    target: float,
    thresholds: Sequence[float] | Floats,
    confidence: float = CONFIDENCE,
    *,
    start_errors: int = 0,
) -> Choice:
    """The lowest threshold whose error rate is at most ``target``, by fixed-sequence testing.

    Thresholds are tested from strict to loose, each by its Clopper-Pearson upper bound at the full
    ``confidence``; the first that fails ends the sequence, so no correction is needed (Angelopoulos
    et al. 2021, "Learn then Test"; Jung et al. 2024, "Trust or Escalate"). Then at most
    1 - ``confidence`` of projects accept with an error rate above ``target``.

    A strict threshold that accepts few calibration items cannot pass even without an error and
    would end everything: the sequence starts where as many are accepted as zero errors need, by
    scores alone; a start that looks at errors would break the promise. ``start_errors``, also fixed
    beforehand, starts where so many errors would still pass.

    Args:
        scores: confidence of each calibration item, shape (items,); NaN is never accepted.
        wrong: whether its label was wrong, shape (items,).
        thresholds: fixed beforehand, in any order: a grid, or ``quantile_thresholds`` of all items.
            An item is accepted when its score is at least the threshold.
    """
    _check_rate(target)
    order = np.unique(np.asarray(thresholds, dtype=np.float64))[::-1]
    sure, outcomes = np.asarray(scores, dtype=np.float64), _check_outcomes(wrong)
    if sure.shape != outcomes.shape:
        raise InvalidInput("Every item needs one score and one outcome.")
    accepted, errors = _accepted(np.where(np.isnan(sure), -np.inf, sure), outcomes, order)
    bounds = _upper_bounds(errors, accepted, _check_rate(confidence))
    started = accepted >= labels_needed(target, confidence, start_errors)
    alive = np.logical_and.accumulate(~started | (bounds <= target))
    passed = started & alive
    tested = started & np.concatenate([[True], alive[:-1]])
    items, path = sure.size, []
    columns = (order, accepted, errors, bounds, tested, passed)
    for threshold, n, wrong_ones, *verdict in zip(*(c.tolist() for c in columns), strict=True):
        coverage, error = n / items if items else 0.0, wrong_ones / n if n else None
        path.append(Step(threshold, n, wrong_ones, coverage, error, *verdict))
    chosen = next((step for step in reversed(path) if step.passed), None)
    failure = ERRORS_ABOVE_TARGET if started.any() else TOO_FEW_LABELS
    return Choice(chosen, tuple(path), "" if chosen else failure)


def audit_bound(wrong: ArrayLike, target: float, confidence: float = CONFIDENCE) -> Audit:
    """Whether the error rate of a stream of audited items is, or has come, above ``target``.

    One may look after every item, and stop at will: a stream whose rate never passes ``target``,
    however it varies below, ever raises an alarm with a chance of at most 1 - ``confidence``
    (``log_drift_evidence``; Ville 1939). ``low`` and ``high`` are a confidence sequence from a
    mixture of likelihood ratios over all rates above (below) the one in question, by a
    beta(1/2, 1/2) prior (Robbins 1970; Howard et al. 2021). Once ``low`` reaches ``target`` there
    is an alarm; after a rise it comes long before.

    Args:
        wrong: shape (items,), in the order of audit, whether each was wrong; the items must be
            drawn at random from the accepted ones.
    """
    _check_rate(target)
    stream = _check_outcomes(wrong)
    limit = -np.log1p(-_check_rate(confidence))
    seen, errors = np.arange(1, stream.size + 1), np.cumsum(stream)
    evidence = log_drift_evidence(errors, seen, target)
    alarms = np.flatnonzero(evidence >= limit)
    n, k = stream.size, int(stream.sum())
    last = stream[-RECENT:]
    recent = share(int(last.sum()), last.size, reason="no_items")
    if 0 < n < FEWEST:
        recent |= {"low": None, "high": None}
    return Audit(
        n=n,
        errors=k,
        low=_sequential_lower_bound(k, n, limit + LOG_2),
        high=1 - _sequential_lower_bound(n - k, n, limit + LOG_2),
        recent=recent,
        evidence=float(np.exp(min(evidence[-1], MOST_EVIDENCE))) if n else 1.0,
        broken_at=int(seen[alarms[0]]) if alarms.size else None,
    )


def log_drift_evidence(errors: ArrayLike, n: ArrayLike, rate: float) -> Floats:
    """Logarithm of the odds, at each look, that the error rate is or has come above ``rate``.

    Half of it is ``log_evidence`` of the stream from its first item on. The other half is a mixture
    over the item at which the rate rose and over the odds ratio of the rise (``RISES``), by the
    recursion of Shiryaev and Roberts. The weights of the starting points sum to 1: a rise comes
    after the first n items with a prior of ``HALF_LIFE`` / (``HALF_LIFE`` + n), so that a late one
    costs only the logarithm of its time. So it is an e-process, of expectation at most 1 wherever
    one stops, as long as no item had a rate above ``rate``, and the chance of *ever* a false alarm
    is bounded; with equal weights only the mean time between false alarms would be (Shin, Ramdas
    and Rinaldo 2022, "E-detectors").

    Takes time proportional to the looks.

    Args:
        errors: number of wrong items at each look, shape (looks,); fractions for a stream as
            expected.
        n: number of items at each look, rising, shape (looks,): 1, 2, ... for every item. A rise is
            sought from one look to the next.
    """
    k, m = (np.concatenate([[0.0], np.asarray(count, dtype=np.float64)]) for count in (errors, n))
    later = HALF_LIFE / (HALF_LIFE + m)
    odds = np.array(RISES)[:, np.newaxis]
    ratio = k * np.log(odds) - m * np.log1p(rate * (odds - 1))
    starts = np.log((later[:-1] - later[1:]) / len(RISES)) - ratio[:, :-1]
    risen = ratio[:, 1:] + np.logaddexp.accumulate(starts, axis=1)
    drift = np.logaddexp(scipy.special.logsumexp(risen, axis=0), np.log(later[1:]))
    return np.asarray(np.logaddexp(log_evidence(k[1:], m[1:], rate), drift) - LOG_2)


def log_evidence(errors: ArrayLike, n: ArrayLike, rate: float) -> Floats:
    """Logarithm of the odds, for ``errors`` of ``n``, that the error rate is above ``rate``.

    Likelihood under the prior cut off below ``rate``, over that at ``rate``: a test martingale, at
    lower rates a supermartingale. Broadcasts over ``errors`` and ``n``.
    """
    k, m = np.asarray(errors, dtype=np.float64), np.asarray(n, dtype=np.float64)
    a, b = k + 0.5, m - k + 0.5
    with np.errstate(divide="ignore"):
        above = np.log(scipy.special.betaincc(a, b, rate)) - np.log(
            scipy.special.betaincc(0.5, 0.5, rate)
        )
    mixture = scipy.special.betaln(a, b) - scipy.special.betaln(0.5, 0.5) + above
    return np.asarray(mixture - scipy.special.xlogy(k, rate) - scipy.special.xlog1py(m - k, -rate))


def _upper_bounds(errors: Ints, n: Ints, confidence: float) -> Floats:
    """One-sided Clopper-Pearson upper bounds; 1 where all are wrong, or where there are none."""
    rest = np.maximum(n - errors, 1)
    return np.where(errors >= n, 1.0, scipy.special.betaincinv(errors + 1, rest, confidence))


def _accepted(sure: Floats, wrong: Bools, thresholds: Floats) -> tuple[Ints, Ints]:
    """How many items each threshold accepts, and how many of them are wrong."""
    order = np.argsort(sure)
    below = np.searchsorted(sure[order], thresholds, side="left")
    errors_below = np.concatenate([[0], np.cumsum(wrong[order])])
    return sure.size - below, errors_below[-1] - errors_below[below]


def _sequential_lower_bound(errors: int, n: int, limit: float) -> float:
    """The rate below which every rate has evidence above ``limit`` against it, by bisection."""
    if errors == 0:
        return 0.0
    # At the observed rate no other explains the stream better, so there is no evidence.
    low, high = 0.0, errors / n
    for _ in range(60):
        middle = (low + high) / 2
        against = float(log_evidence(errors, n, middle)) >= limit
        low, high = (middle, high) if against else (low, middle)
    return low


def _check_outcomes(wrong: ArrayLike) -> Bools:
    given = np.asarray(wrong)
    if given.ndim != 1 or not np.isin(given, (0, 1)).all():
        raise InvalidInput("An outcome is wrong or not, 1 or 0, in one row.")
    return given.astype(bool)


def _check_counts(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise InvalidInput(f"Not a count and its whole: {successes} of {n}.")


def _check_rate(share: float) -> float:
    if not 0 < share < 1:
        raise InvalidInput(f"A target error rate or a confidence lies between 0 and 1: {share}.")
    return share


POWERED = "prediction-powered, Student's t"
LABELS = "labels only, Student's t"
#: With fewer labels the mean is too far from normal for its interval.
FEW = 50
FEW_WORDS = f"interval_unreliable: fewer than {FEW} labels"


def ppi_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled: ArrayLike,
) -> Figure:
    """Prediction-powered mean, the labelled items being a simple random sample of all.

    mean(labels) - tuning x (mean(predictions) - mean(unlabelled)) with the tuning of least
    variance, kept within [0, 1] (PPI++, Angelopoulos, Duchi and Zrnic 2023). Undefined
    (``too_few_labels``) below two labels. The interval is Student's with n - 1 degrees of freedom,
    and in doubt below fifty labels; where all labels are 0 or 1 nothing lies outside 0 to 1.

    Args:
        labels: shape (n,), numbers, 0 and 1 for a share.
        predictions: shape (n,), of the same items.
        unlabelled: shape (N,), predictions of the items without a label; without any the labels
            alone decide.
    """
    truth, predicted = _check_finite(labels), _check_finite(predictions)
    if truth.shape != predicted.shape:
        raise InvalidInput("Every labelled item needs one label and one prediction.")
    rest = _check_finite(unlabelled)
    n = truth.size
    if n < 2:
        return undefined(TOO_FEW_LABELS) | {"n": n}
    if rest.size == 0:
        return _mean_figure(truth.mean(), float(np.var(truth, ddof=1)) / n, truth, LABELS)
    trust = _power_tuning(truth, predicted, rest)
    mean = truth.mean() - trust * (predicted.mean() - rest.mean())
    of_labels = float(np.var(truth - trust * predicted, ddof=1)) / n
    of_rest = trust**2 * float(np.var(rest)) / rest.size
    return _mean_figure(mean, of_labels + of_rest, truth, POWERED)


def _power_tuning(truth: Floats, predicted: Floats, rest: Floats) -> float:
    """Covariance with the labels over the variance of all predictions, less for a small rest.

    Within [0, 1]; 0 where the predictions do not vary.
    """
    covariance = float(np.mean((truth - truth.mean()) * (predicted - predicted.mean())))
    spread = float(np.var(np.concatenate([predicted, rest]))) * (1 + predicted.size / rest.size)
    return min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0


def _mean_figure(mean: float, variance: float, truth: Floats, method: str) -> Figure:
    """A mean with its interval; null ends where nothing varied. ``truth``: all labels."""
    n = truth.size
    half = student_t(n - 1) * sqrt(variance) or float("nan")
    low, value, high = float(mean) - half, float(mean), float(mean) + half
    if np.isin(truth, (0, 1)).all():
        low, value, high = (float(np.clip(number, 0, 1)) for number in (low, value, high))
    result = figure(value, low=low, high=high, n=n, method=method)
    if n < FEW:
        result["doubt"] = FEW_WORDS
    return result


def _check_finite(given: ArrayLike) -> Floats:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidInput("Labels and predictions are finite numbers in one row.")
    return values
