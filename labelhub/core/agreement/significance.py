"""Whether a difference is more than chance: McNemar's exact test, and Holm's correction.

Two sources on the same items are compared by the items on which just one of them is right
(McNemar 1947). The exact test is used throughout: with few such items the chi-square form says too
much. Several comparisons at once are corrected by Holm (1979).
"""

from collections.abc import Sequence
from math import exp, lgamma, log

EXACT = "exact McNemar test, two-sided"
LEVEL = 0.05


def mcnemar(only_one: int, only_other: int) -> float:
    """Two-sided exact p-value of ``only_one`` against ``only_other`` discordant items.

    The chance, were either side as likely, of a split at least as uneven: binomial with one half.
    1 where there is no discordant item.
    """
    n, fewer = only_one + only_other, min(only_one, only_other)
    if n == 0:
        return 1.0
    return min(1.0, 2 * sum(_half_binomial(k, n) for k in range(fewer + 1)))


def mcnemar_mid_p(only_one: int, only_other: int) -> float:
    """The mid-p variant (Fagerland et al. 2013): less strict, its level may be passed a little.

    Only to be set beside the exact value; nothing here decides by it.
    """
    n = only_one + only_other
    if n == 0:
        return 1.0
    return max(0.0, mcnemar(only_one, only_other) - _half_binomial(min(only_one, only_other), n))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given; each at most 1, none below its own."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for place, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def _half_binomial(k: int, n: int) -> float:
    """Chance of ``k`` heads among ``n`` tosses of a fair coin; in logarithms, for large n."""
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2))
