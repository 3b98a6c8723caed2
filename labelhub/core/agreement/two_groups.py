"""Two independent groups: the difference of two shares, and whether two groups differ at all.

For what is not measured on the same items: answers with and without a suggestion, a person's work
now and before. What is measured on the same items is compared in ``significance``.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, ndtr
from scipy.stats import rankdata

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, Interval, wilson
from labelhub.core.agreement.ratings import Floats
from labelhub.core.errors import InvalidInput

NEWCOMBE = "difference of two shares, Newcombe's hybrid score interval"
MEDIAN = "median, interval from the order of the values"
#: Tables whose chance is this close to the table's own count as no more likely.
AS_LIKELY = 1 + 1e-7
#: In fewer values no interval of 95 % for a median can be told.
FEWEST_FOR_MEDIAN = 6
NO_MEDIAN = f"fewer than {FEWEST_FOR_MEDIAN} measured times"


def newcombe(part: int, whole: int, other_part: int, other_whole: int) -> Interval:
    """Interval of ``part / whole - other_part / other_whole`` (Newcombe 1998, method 10).

    From both Wilson intervals; -1 to 1 where a group is empty. Raises ``InvalidInput`` for
    impossible counts.
    """
    one, other = wilson(part, whole), wilson(other_part, other_whole)
    if not (whole and other_whole):
        return Interval(-1.0, 1.0)
    p, q = part / whole, other_part / other_whole
    low = p - q - sqrt((p - one.low) ** 2 + (other.high - q) ** 2)
    high = p - q + sqrt((one.high - p) ** 2 + (q - other.low) ** 2)
    return Interval(max(low, -1.0), min(high, 1.0))


def fisher(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """Two-sided p-value of Fisher's exact test (1935) that both shares are the same.

    The chance, all margins given, of a table that is no more likely than this one. 1 where a group
    is empty. Raises ``InvalidInput`` for impossible counts.
    """
    for some, all_of_them in ((part, whole), (other_part, other_whole)):
        if not 0 <= some <= all_of_them:
            raise InvalidInput(f"Not a count and its whole: {some} of {all_of_them}.")
    both, n = part + other_part, whole + other_whole
    possible = np.arange(max(0, both - other_whole), min(whole, both) + 1)
    logs = (
        _log_choose(whole, possible)
        + _log_choose(other_whole, both - possible)
        - _log_choose(n, np.array([both]))
    )
    chances = np.exp(logs)
    own = chances[part - possible[0]]
    return float(min(1.0, chances[chances <= own * AS_LIKELY].sum()))


def mann_whitney(one: ArrayLike, other: ArrayLike) -> float | None:
    """Two-sided p-value that neither group tends to larger values (Mann and Whitney 1947).

    By the normal approximation, corrected for ties and continuity; None where a group is empty or
    all values are the same.
    """
    first = np.asarray(one, dtype=np.float64)
    values = np.concatenate([first, np.asarray(other, dtype=np.float64)])
    n, m = len(first), len(values) - len(first)
    if n == 0 or m == 0:
        return None
    ranks = rankdata(values)
    ties = np.unique(values, return_counts=True)[1].astype(np.float64)
    total = float(n + m)
    spread = n * m / 12 * (total + 1 - float((ties**3 - ties).sum()) / (total * (total - 1)))
    if spread <= 0:
        return None
    away = abs(float(ranks[:n].sum()) - n * (n + 1) / 2 - n * m / 2)
    return float(min(1.0, 2 * ndtr(-max(0.0, away - 0.5) / sqrt(spread))))


def median(values: ArrayLike, *, reason: str = NO_MEDIAN) -> Figure:
    """The median with an interval that makes no assumption about how the values are spread.

    Its ends are values themselves; the chance that the true median lies beyond them is exactly
    binomial with one half (Conover 1999, section 3.2). Undefined for ``reason`` below
    ``FEWEST_FOR_MEDIAN`` values.
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n < FEWEST_FOR_MEDIAN:
        return undefined(reason)
    lower = _outside(n)
    return figure(
        float(np.median(ordered)),
        low=float(ordered[lower]),
        high=float(ordered[n - 1 - lower]),
        n=n,
        method=MEDIAN,
    )


def _outside(n: int) -> int:
    """How many values at either end lie outside the interval of a median of ``n``: the largest
    number of heads of which so many or fewer come with a chance of at most 2.5 %."""
    chances = np.cumsum(np.exp(_log_choose(n, np.arange(n // 2 + 1)) - n * np.log(2)))
    return int(np.searchsorted(chances, (1 - CONFIDENCE) / 2, side="right")) - 1


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)
