"""Is one source right more often than another, where items belong together in clusters.

McNemar's test and Cochran's Q take items for independent. Here a whole cluster is what may turn out
one way or the other: if the sources are alike, their answers to all of its items could as well be
exchanged. With one item a cluster these are the exact McNemar test and Cochran's Q by permutation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.significance import chi_square, mcnemar
from labelhub.core.errors import InvalidInput

Ints = NDArray[np.int64]

#: With what was seen there are 20,000 and 10,000: a p-value is never 0 (Phipson and Smyth 2010).
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


def summed(values: ArrayLike, clusters: ArrayLike) -> Ints:
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
    other whose sum is at least as far from 0 as what was seen (Good 2005, section 3.2). All of
    them are counted; with too many clusters for that a share of them is drawn. Leads of 1 alone
    give ``mcnemar``; without any lead p is 1.
    """
    sums = _whole(leads, dimensions=1)
    sizes = np.abs(sums[sums != 0])
    seen, most = abs(int(sums.sum())), int(sizes.sum())
    if sizes.max(initial=1) == 1:
        return Permuted(mcnemar(int((sums > 0).sum()), int((sums < 0).sum())), EXACTLY)
    # The sum of the leads that are made positive lies as far below the middle.
    below = (most - seen) // 2
    if len(sizes) * max(below + 1, LEAST_STEPS) <= MOST_STEPS:
        return Permuted(min(1.0, 2 * _at_most(below, sizes)), EXACTLY)
    return Permuted(_drawn(sizes, seen), DRAWN.format(draws=FLIPS))


def column_shuffle(right: ArrayLike) -> Permuted:
    """p-value of several sources being right equally often: Cochran's Q by permutation.

    ``right``: shape (clusters, sources): on how many items of the cluster each is right. In each
    draw the columns of every cluster change places at random; Q then grows with the squares of the
    sources' sums, as all else stays. Of many clusters by the chi-square distribution of the squares
    over what the exchanges make them vary, which is Q itself where clusters are single items. Two
    sources are compared by ``sign_flip``.
    """
    table = _whole(right, dimensions=2)
    if table.shape[1] < 2:
        raise InvalidInput("A comparison takes two sources or more.")
    if table.shape[1] == 2:
        return sign_flip(table[:, 0] - table[:, 1])
    telling = table[np.ptp(table, axis=1) > 0]
    if not len(telling):
        return Permuted(1.0, EXACTLY)
    if len(telling) > MOST_SHUFFLED:
        return Permuted(_of_many(telling), LARGE_SAMPLE)
    return Permuted(_shuffled(telling), DRAWN.format(draws=SHUFFLES))


def _at_most(below: int, sizes: Ints) -> float:
    """Chance that the sizes that a fair coin picks sum to at most ``below``."""
    chances = np.zeros(below + 1)
    chances[0] = 1.0
    for size in sizes.tolist():
        chances /= 2
        if size <= below:
            chances[size:] += chances[: below + 1 - size].copy()
    return float(chances.sum())


def _drawn(sizes: Ints, seen: int) -> float:
    """Leads of one size are drawn together: how many of them are positive."""
    generator = np.random.default_rng(SEED)
    sums = np.full(FLIPS, -int(sizes.sum()))
    for size, often in zip(*np.unique(sizes, return_counts=True), strict=True):
        sums += 2 * int(size) * generator.binomial(int(often), 0.5, size=FLIPS)
    return (1 + int((np.abs(sums) >= seen).sum())) / (1 + FLIPS)


def _shuffled(table: Ints) -> float:
    generator = np.random.default_rng(SEED)
    seen = int((table.sum(axis=0) ** 2).sum())
    as_large, step = 0, BLOCK // table.size + 1
    for at in range(0, SHUFFLES, step):
        draws = np.broadcast_to(table, (min(step, SHUFFLES - at), *table.shape))
        sums = generator.permuted(draws, axis=2).sum(axis=1)
        as_large += int(((sums**2).sum(axis=1) >= seen).sum())
    return (1 + as_large) / (1 + SHUFFLES)


def _of_many(table: Ints) -> float:
    sources = table.shape[1]
    apart = table - table.mean(axis=1, keepdims=True)
    varied = float((apart**2).sum()) / (sources - 1)
    found = chi_square(float((apart.sum(axis=0) ** 2).sum()) / varied, sources - 1).p
    return 1.0 if found is None else found


def _whole(given: ArrayLike, *, dimensions: int) -> Ints:
    numbers = np.asarray(given)
    whole = numbers.astype(np.int64)
    if numbers.ndim != dimensions or (whole != numbers).any():
        raise InvalidInput("A permutation of right answers takes whole numbers by cluster.")
    return whole
