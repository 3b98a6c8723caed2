"""The numbers of a promise: labels needed, bounds to test, the sample's size, audits.

A promise is "with this confidence, at most this share of the accepted items is wrong". Certainty is
one minus the ``uncertainty`` of the debate: the one signal that every protocol gives for every
debate, in [0, 1]. Lead, margin and entropy are missing where votes or probabilities are, and a
missing signal lets an item pass.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.agreement.risk_control import (
    Choice,
    choose_threshold,
    labels_needed,
    log_drift_evidence,
    quantile_thresholds,
)
from labelhub.core.errors import InvalidInput

SIGNAL = "uncertainty"
USUAL_TARGET, USUAL_CONFIDENCE, USUAL_COVERAGE = 0.05, CONFIDENCE, 0.5
LEAST_TARGET, MOST_TARGET = 1e-6, 0.5
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.999
LEAST_COVERAGE = 0.05
#: With two blind labels of each item a slip of one reviewer decides nothing.
MOST_LABELS = 2
#: A careful reviewer's share of slips, to show what they do to a promise.
USUAL_SLIPS = 0.03

#: Bounds that are tested; more would only make the table longer.
STEPS = 20
#: Stray errors that the first test may have and still pass, where the sample is large enough.
TOLERATED = 2
#: Protocols round uncertainties to four decimals: bounds lie half-way between.
GRID = 10_000
#: A larger audit would undo much of the automation; a smaller one would notice nothing for long.
LEAST_AUDIT, MOST_AUDIT = 0.03, 0.1
#: Before anything is audited a rise of the error is expected after so many good audits.
LATER = 1000


class Terms(NamedTuple):
    """A promise and its sample as asked for.

    ``target``: highest share of wrong items among the accepted, up to 0.5; ``confidence``: 0.5 to
    0.999; ``coverage``: share of the items that you hope to accept: the lower, the larger the
    sample; ``labels_per_item``: blind labels of each item of the sample, 1 or 2.
    """

    target: float = USUAL_TARGET
    confidence: float = USUAL_CONFIDENCE
    coverage: float = USUAL_COVERAGE
    labels_per_item: int = 1


def check_terms(terms: Terms) -> None:
    """Refuse numbers that no promise can have.

    Raises:
        InvalidInput: naming the field, in plain words.
    """
    target, confidence, coverage, labels = terms
    _check_range("target", target, LEAST_TARGET, MOST_TARGET, "0.05 for 5 %")
    _check_range("confidence", confidence, LEAST_CONFIDENCE, MOST_CONFIDENCE, "0.95 for 95 %")
    _check_range("coverage", coverage, LEAST_COVERAGE, 1.0, "0.5 for half of the items")
    _check_range("labels_per_item", labels, 1, MOST_LABELS, "2 for two blind labels of each item")


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


@lru_cache(maxsize=256)
def audits_to_notice(target: float, confidence: float, good: int = LATER) -> int:
    """Audits after which twice the promised error is noticed if it comes after ``good`` ones, of
    which half as many as promised were wrong.

    By the rule of ``audit_bound`` on the stream as expected; of simulated streams at least half are
    noticed by then.
    """
    limit, step, steps = -math.log1p(-confidence), math.ceil(0.02 / target), 128
    while True:
        seen = step * np.arange(1, steps + 1)
        errors = target / 2 * np.minimum(seen, good)
        errors += min(1.0, 2 * target) * np.maximum(seen - good, 0)
        noticed = (log_drift_evidence(errors, seen, target) >= limit) & (seen > good)
        if noticed.any():
            return int(seen[np.argmax(noticed)]) - good
        steps *= 2


def slips_counted(slips: float, labels_per_item: int) -> float:
    """The share of right answers that a sample counts as wrong because people err in ``slips`` of
    the items; about so much is added to the error of the debate.

    One label is taken for the truth. Two must agree on the same mistake, or differ and have an
    expert err as often: at most s² + 2 s (1 - s) s, where all mistakes are the same one.
    """
    if labels_per_item == 1:
        return slips
    return slips**2 + 2 * slips * (1 - slips) * slips


def misses_among(confidence: float) -> tuple[int, int]:
    """How many of how many projects, at most, accept with a higher error: (5, 100) at 95 %."""
    missed = round(1 - confidence, 9)
    projects = 100 if round(100 * missed, 6).is_integer() else 1000
    return math.ceil(round(projects * missed, 6)), projects


def audit_share(target: float, confidence: float, accepted: int, now: float) -> float:
    """The share to audit: enough to notice an error doubled from the start within as many items as
    are accepted now, within limits, and never less than ``now``."""
    wanted = audits_to_notice(target, confidence, 0) / max(accepted, 1)
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
