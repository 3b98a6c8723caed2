"""The numbers of a promise: labels needed, bounds to test, the sample's size, audits.

A promise is "with this confidence, at most this share of the accepted items is wrong". Certainty is
one minus the ``uncertainty`` of the debate: the one signal that every protocol gives for every
debate, in [0, 1]. Lead, margin and entropy are missing where votes or probabilities are, and a
missing signal lets an item pass.
"""

import math
from collections.abc import Sequence

import numpy as np

from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.agreement.risk_control import (
    Choice,
    choose_threshold,
    labels_needed,
    log_evidence,
    quantile_thresholds,
)
from labelhub.core.errors import InvalidInput

SIGNAL = "uncertainty"
USUAL_TARGET, USUAL_CONFIDENCE, USUAL_COVERAGE = 0.05, CONFIDENCE, 0.5
LEAST_TARGET, MOST_TARGET = 1e-6, 0.5
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.999
LEAST_COVERAGE = 0.05

#: Bounds that are tested; more would only make the table longer.
STEPS = 20
#: Stray errors that the first test may have and still pass, where the sample is large enough.
TOLERATED = 2
#: Protocols round uncertainties to four decimals: bounds lie half-way between.
GRID = 10_000
#: A larger audit would undo much of the automation; a smaller one would notice nothing for long.
LEAST_AUDIT, MOST_AUDIT = 0.03, 0.1


def check_promise(target: float, confidence: float, coverage: float = USUAL_COVERAGE) -> None:
    """Refuse numbers that no promise can have.

    Raises:
        InvalidInput: naming the field, in plain words.
    """
    _check_range("target", target, LEAST_TARGET, MOST_TARGET, "0.05 for 5 %")
    _check_range("confidence", confidence, LEAST_CONFIDENCE, MOST_CONFIDENCE, "0.95 for 95 %")
    _check_range("coverage", coverage, LEAST_COVERAGE, 1.0, "0.5 for half of the items")


def may_allow_more(target: float) -> bool:
    """Whether a promise of more errors than these can be made at all."""
    return target < MOST_TARGET


def sample_size(target: float, confidence: float, coverage: float) -> int:
    """How many items to draw, so that a bound that accepts ``coverage`` of them can be tested and
    :data:`TOLERATED` stray errors do not end everything."""
    return math.ceil(labels_needed(target, confidence, TOLERATED) / coverage)


def start_errors(target: float, confidence: float, coverage: float, size: int) -> int:
    """How many errors the first test of a sample of ``size`` can afford; fixed with the drawing."""
    accepted = size * coverage
    return max(
        (n for n in range(TOLERATED + 1) if labels_needed(target, confidence, n) <= accepted),
        default=0,
    )


def bounds_to_test(uncertainties: Sequence[float]) -> list[float]:
    """Bounds of the uncertainty, strict to loose, by the quantiles of all items: each accepts about
    a twentieth more. Below 1 a debate is certain of something; 1 itself is never accepted."""
    quantiles = -quantile_thresholds([-uncertainty for uncertainty in uncertainties], STEPS)
    # The small step back: 0.2855 * 10_000 is a little more than 2855.
    steps = {math.ceil(float(quantile) * GRID - 1e-6) for quantile in quantiles}
    return sorted({min(1.0, round((step + 0.5) / GRID, 5)) for step in steps})


def certainty_of(bound: float) -> float:
    """The least certainty that is accepted below ``bound``."""
    return round(max(0.0, 1 - (bound - 0.5 / GRID)), 4)


def decide(
    uncertainties: Sequence[float],
    wrong: Sequence[bool],
    bounds: Sequence[float],
    promise: tuple[float, float, int],
) -> Choice:
    """The loosest bound that keeps the promise, by fixed-sequence testing from strict to loose.

    The i-th step of the path is about the i-th bound: an item is accepted below it.

    Args:
        uncertainties: of the sample's items.
        wrong: whether each debate was wrong.
        bounds: from :func:`bounds_to_test`, fixed before anything is known of errors.
        promise: target, confidence, and the errors that the first test may have.
    """
    target, confidence, errors = promise
    scores = -np.asarray(uncertainties, dtype=np.float64)
    thresholds = [math.nextafter(-bound, math.inf) for bound in bounds]
    return choose_threshold(scores, wrong, target, thresholds, confidence, start_errors=errors)


def audits_to_notice(target: float, confidence: float) -> int:
    """Audits after which twice the promised error is noticed, on average."""
    rate, limit = min(1.0, 2 * target), -math.log1p(-confidence)

    def noticed(n: int) -> bool:
        return float(log_evidence(rate * n, n, target)) >= limit

    low, high = 0, 1
    while not noticed(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if noticed(middle) else (middle, high)
    return high


def audit_share(target: float, confidence: float, accepted: int, now: float) -> float:
    """The share to audit: enough to notice a doubled error within as many items as are accepted
    now, within limits, and never less than ``now``."""
    wanted = audits_to_notice(target, confidence) / max(accepted, 1)
    return round(max(now, min(MOST_AUDIT, max(LEAST_AUDIT, wanted))), 4)


def _check_range(name: str, given: float, low: float, high: float, example: str) -> None:
    if not low <= given <= high:
        raise InvalidInput.at(
            name,
            "must be from %(low)s to %(high)s, such as %(example)s.",
            low=low,
            high=high,
            example=example,
        )
