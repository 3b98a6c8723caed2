"""Small checks of printed numbers, each usable alone: does this follow from those?

A printed number may be text ("7.52%", ".6030") or a number. Text keeps the digits it was printed
with, so give text where noughts at the end matter. Each check allows one unit of the last digit,
for papers truncate as well as round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite

from labelhub.core.agreement.audit.confusion import COUNTS, WEIGHTS, Four, metric
from labelhub.core.agreement.audit.printed import Number, Printed, printed, unit
from labelhub.core.errors import InvalidInput

RATIO_AS_INCREASE = "ratio_read_as_increase"
MOST_CALLS = 100


@dataclass(frozen=True, slots=True)
class Check:
    """``follows`` is None where it cannot be said; ``expected`` is in the unit of what is printed.

    ``reason`` names a known mistake where the printed number looks like one.
    """

    follows: bool | None
    expected: float | None
    reason: str = ""


def grim(share: Number, n: int, *, runs: int = 1) -> Check:
    """Whether a share of ``n`` whole items can be printed so (Brown and Heathers 2017).

    ``share``: a fraction or, with a per cent sign or above 1, a percentage. ``runs``: over how many
    runs it was averaged. ``expected`` is the nearest possible share; ``follows`` is None where the
    digits are too few to tell (every share is possible).
    """
    number, grains = printed(share), _positive(n) * _positive(runs)
    scale = _scale(number)
    tolerance = number.tolerance / scale
    nearest = round(number.value / scale * grains) / grains
    if 2 * tolerance * grains >= 1:
        return Check(None, round(nearest * scale, 6))
    follows = abs(nearest - number.value / scale) <= tolerance and 0 <= nearest <= 1
    return Check(follows, round(nearest * scale, 6))


def possible_d_rates(calls: int, categories: int | None = None) -> list[float]:
    """All values (votes of the first - votes of the second label) / calls can take, ascending.

    ``calls``: 1 to 100. With ``categories`` the labels beyond the second must share what is left.
    4/5 is not among those of five calls: the one vote left would be the second's.
    """
    if not 1 <= calls <= MOST_CALLS or (categories is not None and categories < 1):
        raise InvalidInput(f"Calls are 1 to {MOST_CALLS}, categories at least 1.")
    others = calls if categories is None else categories - 2
    gaps = {
        first - second
        for first in range(1, calls + 1)
        for second in range(min(first, calls - first) + 1)
        if 0 <= calls - first - second <= second * max(others, 0)
    }
    return [gap / calls for gap in sorted(gaps)]


def follows_from_counts(
    counts: Mapping[str, float], metrics: Mapping[str, Number]
) -> dict[str, Check]:
    """Each metric against the counts TP, FP, FN and TN (any may be left out).

    ``metrics``: accuracy, precision, recall, specificity, f1, as fractions or percentages.
    ``follows`` is None where the metric is undefined or its counts are not all there.
    """
    values = [float(counts.get(name, float("nan"))) for name in COUNTS]
    if any(value < 0 for value in values) or not set(metrics) <= set(WEIGHTS):
        raise InvalidInput(f"Counts are not negative; metrics are {', '.join(WEIGHTS)}.")
    four: Four = (values[0], values[1], values[2], values[3])
    return {name: _against(printed(said), metric(name, four)) for name, said in metrics.items()}


def f1_follows(precision: Number, recall: Number, f1: Number) -> Check:
    """F1 as the harmonic mean of the printed precision and recall, each give or take a unit."""
    p, r, f = printed(precision), printed(recall), printed(f1)
    low = _harmonic(p.value - p.tolerance, r.value - r.tolerance) - f.tolerance
    high = _harmonic(p.value + p.tolerance, r.value + r.tolerance) + f.tolerance
    return Check(low <= f.value <= high, round(_harmonic(p.value, r.value), 6))


def rate_follows(part: Number, whole: Number, rate: Number) -> Check:
    """Whether ``part`` of ``whole`` is the printed rate: 789 of 10,378 is 7.60 %, not 7.52 %."""
    below = printed(whole).value
    return _against(printed(rate), printed(part).value / below if below > 0 else None)


def increase_follows(before: Number, after: Number, increase: Number) -> Check:
    """Whether the printed increase in per cent is that from ``before`` to ``after``.

    A rise to 5.37 times is one by 437 %: who prints 537 % has read the ratio as the increase, and
    ``reason`` says so.
    """
    old, new, said = printed(before), printed(after), printed(increase)
    if old.value <= old.tolerance or new.value < 0:
        return Check(None, None)
    low, high = _ratio_range(old, new)
    expected = round(100 * (new.value / old.value - 1), 4)
    ratio = 100 * low - said.tolerance <= said.value <= 100 * high + said.tolerance
    by = said.value + 100
    if 100 * low - said.tolerance <= by <= 100 * high + said.tolerance:
        return Check(follows=True, expected=expected)
    return Check(follows=False, expected=expected, reason=RATIO_AS_INCREASE if ratio else "")


def mixture_follows(parts: Sequence[tuple[Number, Number]], overall: Number) -> Check:
    """Whether accuracies of groups, weighted by size, give the overall accuracy.

    ``parts``: (weight, accuracy) of every group; weights are sizes or shares and need not sum to 1.
    All accuracies in the unit of ``overall``.
    """
    pairs = [(printed(weight), printed(accuracy)) for weight, accuracy in parts]
    total = sum(weight.value for weight, _ in pairs)
    if not pairs or total <= 0 or any(weight.value < 0 for weight, _ in pairs):
        raise InvalidInput("A mixture needs weights that are not negative and not all 0.")
    said = printed(overall)
    mixed = sum(weight.value * each.value for weight, each in pairs) / total
    slack = said.tolerance + sum(weight.value * each.tolerance for weight, each in pairs) / total
    # Of shares that sum to 1, one moves down as the other moves up; whole sizes are exact.
    off = max((weight.tolerance for weight, _ in pairs if weight.digits), default=0.0) / total
    spread = max(each.value for _, each in pairs) - min(each.value for _, each in pairs)
    return Check(abs(mixed - said.value) <= slack + off * spread + 1e-9, round(mixed, 6))


def mean_follows(runs: Sequence[Number], mean: Number) -> Check:
    """Whether the mean of the printed runs, each give or take a unit, is the printed mean."""
    numbers, said = [printed(each) for each in runs], printed(mean)
    if not numbers:
        return Check(None, None)
    found = sum(number.value for number in numbers) / len(numbers)
    # The digits of runs without their noughts are those of the longest; half a unit is lost.
    digits = max(number.digits for number in numbers)
    slack = said.tolerance + (0.0 if digits == 0 else unit(digits) / 2)
    return Check(abs(found - said.value) <= slack + 1e-9, round(found, 6))


def difference_follows(one: Number, other: Number, difference: Number) -> Check:
    """Whether ``one`` minus ``other`` is the printed difference."""
    a, b, said = printed(one), printed(other), printed(difference)
    # Each is off by half a unit when rounded; whole numbers and equal digits leave less doubt.
    slack = (
        unit(a.digits) * bool(a.digits) + unit(b.digits) * bool(b.digits) + 0.1 * unit(said.digits)
    ) / 2
    slack += unit(said.digits) / 2 * bool(said.digits)
    return Check(abs(a.value - b.value - said.value) <= slack + 1e-9, round(a.value - b.value, 6))


def _against(said: Printed, found: float | None) -> Check:
    """A printed share against a fraction; without a sign and up to 1 it may be in either unit."""
    if found is None or not isfinite(found):
        return Check(None, None)
    scales = [100.0] if said.percent or said.value > 1 + said.tolerance else [1.0, 100.0]
    for scale in scales:
        if abs(found * scale - said.value) <= said.tolerance + 1e-9:
            return Check(follows=True, expected=round(found * scale, 6))
    return Check(follows=False, expected=round(found * scales[0], 6))


def _scale(number: Printed) -> float:
    return 100.0 if number.percent or number.value > 1 else 1.0


def _ratio_range(old: Printed, new: Printed) -> tuple[float, float]:
    """What the ratio may have been; counts printed in whole numbers are exact."""
    below = old.tolerance * bool(old.digits)
    above = new.tolerance * bool(new.digits)
    return (new.value - above) / (old.value + below), (new.value + above) / (old.value - below)


def _harmonic(p: float, r: float) -> float:
    return 2 * p * r / (p + r) if p > 0 and r > 0 else 0.0


def _positive(number: int) -> int:
    if isinstance(number, bool) or not 1 <= number <= 10**9 or ceil(number) != floor(number):
        raise InvalidInput("A number of items or runs is a whole number from 1.")
    return int(number)
