"""Tests of differences between sources on the same items, or between two groups.

Right or wrong is compared by McNemar's test (1947), on the items on which just one is right. The
exact form decides: with few such items the chi-square form is too liberal. Several sources at once
are compared by Cochran's Q. Both take items for independent: where items belong together, whole
clusters are permuted instead. P-values of several tests are adjusted for their number.

SciPy carries what it has. Our own are Holm, Cochran's Q and Newcombe's interval, which it has not,
and the permutation tests: ``stats.permutation_test`` draws, or counts up to a million ways, where
``sign_flip`` has the exact distribution of whole sums.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple, TypeVar, cast

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import CONFIDENCE, SEED, Interval, wilson
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.errors import InvalidInput
from labelhub.core.texts import gettext_noop

EXACT = "exact McNemar test, two-sided"
LEVEL = 0.05
#: Less variance is rounding.
NIL = 1e-9


class ChiSquare(NamedTuple):
    """A statistic, its degrees of freedom and the chance of one as large; None where undefined."""

    statistic: float | None
    df: int
    p: float | None


def chi_square(statistic: float | None, df: int) -> ChiSquare:
    """With the upper tail's p-value; undefined for no or infinite statistic and for df 0."""
    if statistic is None or df == 0 or not np.isfinite(statistic):
        return ChiSquare(None, df, None)
    return ChiSquare(float(statistic), df, float(scipy.special.chdtrc(df, statistic)))


def mcnemar(only_one: int, only_other: int) -> float:
    """Two-sided exact p-value of ``only_one`` against ``only_other`` discordant items.

    The chance, were either side as likely, of a split at least as uneven: binomial with one half.
    1 where there is no discordant item.
    """
    if only_one < 0 or only_other < 0:
        raise InvalidInput("Counts of items are never negative.")
    n = only_one + only_other
    return float(scipy.stats.binomtest(only_one, n).pvalue) if n else 1.0


def mcnemar_mid_p(only_one: int, only_other: int) -> float:
    """The mid-p variant (Fagerland et al. 2013): less strict, slightly above its level at times.

    Counts the split itself half; an even split is its own mirror. 1 where there is no discordant
    item. Only to be set beside the exact value; nothing here decides by it.
    """
    exact, n = mcnemar(only_one, only_other), only_one + only_other
    if n == 0:
        return 1.0
    own = float(scipy.stats.binom.pmf(only_one, n, 0.5))
    return exact - (own / 2 if only_one == only_other else own)


P = TypeVar("P", float, float | None)


def holm(p_values: Sequence[P]) -> list[P]:
    """Step-down adjustment of Holm (1979): the i-th smallest of m is multiplied by m - i + 1.

    In the order given; each at most 1, none below its own and none below that of a smaller one.
    None and NaN stay as they are and do not count as tests. Raises InvalidInput outside 0 to 1.
    """
    return _adjust(
        p_values, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1, dtype=np.float64))
    )


def benjamini_yekutieli(p_values: Sequence[P]) -> list[P]:
    """False discovery rate under any dependence (2001, theorem 1.3).

    None, NaN and errors as for ``holm``, which SciPy has not.
    """
    return _adjust(p_values, lambda p: scipy.stats.false_discovery_control(p, method="by"))


def _adjust(p_values: Sequence[P], adjust: Callable[[Floats], Floats]) -> list[P]:
    """``adjust`` takes the defined p-values in ascending order."""
    given = np.array(p_values, dtype=np.float64)  # None becomes NaN
    defined = np.flatnonzero(~np.isnan(given))
    known = given[defined]
    if ((known < 0) | (known > 1)).any():
        raise InvalidInput("A p-value lies between 0 and 1.")
    order = defined[np.argsort(known, kind="stable")]
    adjusted = dict(zip(order.tolist(), np.minimum(adjust(given[order]), 1).tolist(), strict=True))
    # Undefined values stay as they are.
    return [cast("P", adjusted.get(position, p)) for position, p in enumerate(p_values)]


def cochran_q(credit: Floats) -> ChiSquare:
    """Cochran's Q (1950) of credit, shape (items, sources), 0 to 1: tied answers share their item.

    The squares of the sources' sums over what exchanging the credit within items makes them vary.
    Undefined where the sources never differ.
    """
    apart, df = credit - credit.mean(axis=1, keepdims=True), credit.shape[1] - 1
    varied = float((apart**2).sum()) / df
    squares = float((apart.sum(axis=0) ** 2).sum())
    return chi_square(squares / varied if varied > NIL else None, df)


#: With the observed one there are 20,000 and 10,000: a p-value is never 0 (Phipson and Smyth 2010).
FLIPS = 19_999
SHUFFLES = 9_999
#: Clusters times the length of the distribution: some tenths of a second. However short it is, a
#: cluster takes as long as so many steps.
MOST_STEPS = 30_000_000
LEAST_STEPS = 1_000
#: Of more clusters the sums are as good as normal.
MOST_SHUFFLED = 300
#: Draws that are held at once.
BLOCK = 1 << 21

FLIPPED = "sign-flip permutation test over whole {unit}, two-sided, "
SHUFFLED = "permutation of the kinds' answers over whole {unit}, "
EXACTLY = "exact"
DRAWN = f"{{draws}} draws, seed {SEED}"
LARGE_SAMPLE = "chi-square of many"


class Permuted(NamedTuple):
    """The p-value, and in words how the permutations were taken."""

    p: float
    how: str


def sum_by_cluster(values: ArrayLike, clusters: ArrayLike) -> Ints:
    """Whole numbers by item, shape (items,) or (items, columns), summed by cluster.

    ``clusters``: a number of each item, shape (items,), in any order and with gaps.
    """
    table, groups = np.asarray(values, dtype=np.int64), np.asarray(clusters)
    if groups.shape != table.shape[:1]:
        raise InvalidInput("Every item needs the number of its cluster.")
    _, numbers = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(numbers.max(initial=-1)) + 1, *table.shape[1:]), dtype=np.int64)
    np.add.at(sums, numbers, table)
    return sums


def sign_flip(leads: ArrayLike) -> Permuted:
    """Two-sided p-value of two sources being right equally often.

    ``leads``: shape (clusters,), whole numbers: on how many items of the cluster more the one
    source is right than the other. The share of all ways to give each lead the one sign or the
    other whose sum is at least as far from 0 as the observed one (Good 2005, section 3.2). All of
    them are counted; with too many clusters for that a share of them is drawn. Leads of 1 alone
    give ``mcnemar``; without any lead p is 1.
    """
    sums = _check_whole(leads, dimensions=1)
    sizes = np.abs(sums[sums != 0])
    seen, most = abs(int(sums.sum())), int(sizes.sum())
    if sizes.max(initial=1) == 1:
        return Permuted(mcnemar(int((sums > 0).sum()), int((sums < 0).sum())), EXACTLY)
    # The sum of the leads that are made positive lies as far below the middle.
    below = (most - seen) // 2
    if len(sizes) * max(below + 1, LEAST_STEPS) <= MOST_STEPS:
        return Permuted(min(1.0, 2 * _chance_of_at_most(below, sizes)), EXACTLY)
    return Permuted(_draw_sign_flips(sizes, seen), DRAWN.format(draws=FLIPS))


def column_shuffle(right: ArrayLike) -> Permuted:
    """p-value of several sources being right equally often: Cochran's Q by permutation.

    ``right``: shape (clusters, sources): on how many items of the cluster each is right. In each
    draw the columns of every cluster change places at random; Q then grows with the squares of the
    sources' sums, as all else stays. Of many clusters by the chi-square distribution of the squares
    over what the exchanges make them vary, which is Q itself where clusters are single items. Two
    sources are compared by ``sign_flip``.
    """
    table = _check_whole(right, dimensions=2)
    if table.shape[1] < 2:
        raise InvalidInput("A comparison takes two sources or more.")
    if table.shape[1] == 2:
        return sign_flip(table[:, 0] - table[:, 1])
    telling = table[np.ptp(table, axis=1) > 0]
    if not len(telling):
        return Permuted(1.0, EXACTLY)
    if len(telling) > MOST_SHUFFLED:
        p = cochran_q(telling.astype(np.float64)).p
        return Permuted(1.0 if p is None else p, LARGE_SAMPLE)
    return Permuted(_draw_shuffles(telling), DRAWN.format(draws=SHUFFLES))


def _chance_of_at_most(below: int, sizes: Ints) -> float:
    """Chance that the sizes that a fair coin picks sum to at most ``below``."""
    chances = np.zeros(below + 1)
    chances[0] = 1.0
    for size in sizes.tolist():
        chances /= 2
        if size <= below:
            chances[size:] += chances[: below + 1 - size].copy()
    return float(chances.sum())


def _draw_sign_flips(sizes: Ints, seen: int) -> float:
    """Leads of one size are drawn together: how many of them are positive."""
    generator = np.random.default_rng(SEED)
    sums = np.full(FLIPS, -int(sizes.sum()))
    for size, often in zip(*np.unique(sizes, return_counts=True), strict=True):
        sums += 2 * int(size) * generator.binomial(int(often), 0.5, size=FLIPS)
    return (1 + int((np.abs(sums) >= seen).sum())) / (1 + FLIPS)


def _draw_shuffles(table: Ints) -> float:
    generator = np.random.default_rng(SEED)
    seen = int((table.sum(axis=0) ** 2).sum())
    as_large, step = 0, BLOCK // table.size + 1
    for start in range(0, SHUFFLES, step):
        draws = np.broadcast_to(table, (min(step, SHUFFLES - start), *table.shape))
        sums = generator.permuted(draws, axis=2).sum(axis=1)
        as_large += int(((sums**2).sum(axis=1) >= seen).sum())
    return (1 + as_large) / (1 + SHUFFLES)


def _check_whole(given: ArrayLike, *, dimensions: int) -> Ints:
    numbers = np.asarray(given)
    whole = numbers.astype(np.int64)
    if numbers.ndim != dimensions or (whole != numbers).any():
        raise InvalidInput("A permutation of right answers takes whole numbers by cluster.")
    return whole


NEWCOMBE = gettext_noop("difference of two shares, Newcombe's hybrid score interval")
MEDIAN = "median, interval from the order of the values"
#: Fewer values give no interval of 95 % for a median.
FEWEST_FOR_MEDIAN = 6
NO_MEDIAN = gettext_noop("fewer than 6 measured times")


def newcombe(part: int, whole: int, other_part: int, other_whole: int) -> Interval:
    """Interval of ``part / whole - other_part / other_whole`` (Newcombe 1998, method 10).

    From both Wilson intervals; -1 to 1 where a group is empty. Raises ``InvalidInput`` for
    impossible counts.
    """
    first, second = wilson(part, whole), wilson(other_part, other_whole)
    if not (whole and other_whole):
        return Interval(-1.0, 1.0)
    p, q = part / whole, other_part / other_whole
    low = p - q - sqrt((p - first.low) ** 2 + (second.high - q) ** 2)
    high = p - q + sqrt((first.high - p) ** 2 + (q - second.low) ** 2)
    return Interval(max(low, -1.0), min(high, 1.0))


def fisher_exact(part: int, whole: int, other_part: int, other_whole: int) -> float:
    """Two-sided p-value of Fisher's exact test (1935) that both shares are the same.

    The chance, all margins given, of a table that is no more likely than this one. 1 where a group
    is empty. Raises ``InvalidInput`` for impossible counts.
    """
    for some, all_of_them in ((part, whole), (other_part, other_whole)):
        if not 0 <= some <= all_of_them:
            raise InvalidInput(f"Not a count and its whole: {some} of {all_of_them}.")
    table = [[part, whole - part], [other_part, other_whole - other_part]]
    return float(scipy.stats.fisher_exact(table).pvalue)


def mann_whitney(first_group: ArrayLike, second_group: ArrayLike) -> float | None:
    """Two-sided p-value that neither group tends to larger values (Mann and Whitney 1947).

    By the normal approximation, corrected for ties and continuity; None where a group is empty or
    all values are the same.
    """
    first, second = (np.asarray(group, dtype=np.float64) for group in (first_group, second_group))
    if not (len(first) and len(second)) or np.ptp(np.concatenate([first, second])) == 0:
        return None
    return float(scipy.stats.mannwhitneyu(first, second, method="asymptotic").pvalue)


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
    # So few heads, or fewer, come with a chance of at most 2.5 %.
    lower = int(scipy.stats.binom.ppf((1 - CONFIDENCE) / 2, n, 0.5)) - 1
    return figure(
        float(np.median(ordered)),
        low=float(ordered[lower]),
        high=float(ordered[n - 1 - lower]),
        n=n,
        method=MEDIAN,
    )
