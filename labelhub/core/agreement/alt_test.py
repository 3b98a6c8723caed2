"""The alternative annotator test: whether an LLM can take the place of human annotators.

Calderon, Reichart and Dror 2025. Each human is left out in turn; the LLM and that human are both
compared with the humans that remain. The LLM may be worse by ``epsilon``, the price of a human. It
passes when it beats at least half of the humans. With the author's own label as the truth, the LLM
and each human are compared with the author instead (their single expert variant).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.agreement.estimation import limit_interval
from labelhub.core.agreement.figures import Figure, Record, figure, percentile_ends, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP, draw_weights
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings, divide
from labelhub.core.agreement.significance import benjamini_yekutieli
from labelhub.core.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class MeanLeads:
    """The mean lead of every rater, all of shape (raters,); ``of`` selects some.

    ``n`` comparisons, the ``total`` of their differences, the ``error`` of the mean difference by
    ``units`` (comparisons, or where ``clustered`` clusters of them); ``alike``: all differences
    are the same.
    """

    n: Floats
    total: Floats
    error: Floats
    units: Floats
    alike: Bools
    clustered: bool

    def of(self, raters: Bools) -> "MeanLeads":
        """The leads of some raters."""
        return MeanLeads(
            self.n[raters],
            self.total[raters],
            self.error[raters],
            self.units[raters],
            self.alike[raters],
            self.clustered,
        )

    def p_values(self, bound: float) -> Floats:
        """P-values of one-sided t-tests that the mean difference lies below ``bound``.

        Where all differences are the same there is no test, but the verdict is plain: 0 below the
        bound, 1 above it. NaN at the bound, for one unit, and where clusters do not vary though
        their items do.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (self.total / self.n - bound) / self.error
        usable = (self.units > 1) & ((self.error > 0) | self.alike)
        return np.where(usable, scipy.special.stdtr(np.maximum(self.units - 1, 1), t), np.nan)


def mean_leads(
    raters: Ints, differences: Ints, n_raters: int, clusters: Ints | None = None
) -> MeanLeads:
    """Sum up comparisons by rater; ``raters``, ``differences``, ``clusters``: shape (n,).

    With ``clusters`` the error is linearised, G / (G - 1) x sum over G clusters of (their total -
    mean x their size)^2 / n^2 under the root; of clusters of one that is the usual one.
    """
    n, total, squares = (
        np.bincount(raters, weights, n_raters).astype(np.float64)
        for weights in (None, differences, differences**2)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (n * squares - total**2) / (n * (n - 1))
        error, units = np.sqrt(variance / n), n
        # Sums of whole numbers: without variation this is exactly 0.
        alike = n * squares == total**2
        if clusters is not None:
            units, apart = _cluster_influence(raters, differences, clusters, (n, total))
            error = np.sqrt(units / (units - 1) * apart) / n**2
    return MeanLeads(n, total, error, units, alike, clusters is not None)


def _cluster_influence(
    raters: Ints, differences: Ints, clusters: Ints, whole: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """How many clusters each rater has, and the sum of their squared influence, times n^2."""
    n, total = whole
    width = int(clusters.max(initial=0)) + 1
    keys, cells = np.unique(raters * width + clusters, return_inverse=True)
    sizes = np.bincount(cells, minlength=len(keys))
    sums = np.bincount(cells, differences, len(keys))
    owners = keys // width
    # In whole numbers, so that clusters that do not vary give exactly 0.
    influence = n[owners] * sums - total[owners] * sizes
    units = np.bincount(owners, minlength=len(n)).astype(np.float64)
    return units, np.bincount(owners, influence**2, len(n)).astype(np.float64)


TIE = 1e-9  # sums of the same similarities in another order differ by less


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """Whether LLM and human were at least as close to the truth; all of shape (comparisons,).

    ``raters[k]`` was compared on ``items[k]``; a tie counts for both.
    """

    items: Ints
    raters: Ints
    llm_wins: Bools
    human_wins: Bools
    n_items: int
    n_raters: int


def contest_with_humans(
    humans: Ratings,
    llm: ArrayLike,
    *,
    similarity: ArrayLike | None = None,
) -> Contest:
    """Leave one human out: compare them and the LLM with the others of each item.

    Args:
        humans: one rating an item by each rater (``keep_latest``).
        llm: the LLM's category of each item, shape (items,); -1 where there is none.
        similarity: shape (categories, categories), in [0, 1]: how near a category (row) is to that
            of another human (column); by default 1 for the same category, else 0.

    Returns:
        One comparison for every human rating of an item that two humans or more and the LLM
        rated: the mean similarity with the others.
    """
    codes, near = _check_codes(llm, humans), _check_similarity(similarity, humans.n_categories)
    raters_of_item = np.bincount(humans.items, minlength=humans.n_items)
    ratings = humans.where(((raters_of_item >= 2) & (codes >= 0))[humans.items])
    # Sums replace means, as both have the same others: all humans without the rater.
    sums = ratings.counts().astype(np.float64)
    if near is not None:
        sums = sums @ near.T
    own, model = ratings.codes, codes[ratings.items]
    of_human = sums[ratings.items, own] - _similarities(near, own, own)
    return _contest(ratings, sums[ratings.items, model] - _similarities(near, model, own), of_human)


def contest_with_author(
    humans: Ratings,
    llm: ArrayLike,
    author: ArrayLike,
    *,
    similarity: ArrayLike | None = None,
) -> Contest:
    """Compare LLM and each human with the author's own label (the variant with a single expert).

    ``author`` and ``llm`` have shape (items,), -1 where there is none; items that lack either are
    left out. The author must not be among ``humans``. ``humans`` and
    ``similarity`` as in ``contest_with_humans``, with the author's category in the column.
    """
    codes, truth = _check_codes(llm, humans), _check_codes(author, humans)
    near = _check_similarity(similarity, humans.n_categories)
    ratings = humans.where(((codes >= 0) & (truth >= 0))[humans.items])
    true, model = truth[ratings.items], codes[ratings.items]
    return _contest(
        ratings, _similarities(near, model, true), _similarities(near, ratings.codes, true)
    )


def _contest(ratings: Ratings, of_llm: Floats, of_human: Floats) -> Contest:
    lead = of_llm - of_human
    return Contest(
        ratings.items, ratings.raters, lead >= -TIE, lead <= TIE, ratings.n_items, ratings.n_raters
    )


def _similarities(near: Floats | None, scored: Ints, reference: Ints) -> Floats:
    return (scored == reference).astype(np.float64) if near is None else near[scored, reference]


def _check_similarity(given: ArrayLike | None, n_categories: int) -> Floats | None:
    if given is None:
        return None
    near = np.asarray(given, dtype=np.float64)
    if near.shape != (n_categories, n_categories) or not np.all((near >= 0) & (near <= 1)):
        raise InvalidInput(f"Similarities are {n_categories} by {n_categories} numbers in [0, 1].")
    return near


def _check_codes(given: ArrayLike, humans: Ratings) -> Ints:
    codes = np.asarray(given, dtype=np.int64)
    declared = (codes >= -1) & (codes < humans.n_categories)
    if codes.shape != (humans.n_items,) or not declared.all():
        raise InvalidInput("Every item needs the number of a declared category, or -1 for none.")
    return codes


#: The price of a human over an LLM, as the share of items that the LLM may lose.
EPSILON: Mapping[str, float] = MappingProxyType({"expert": 0.2, "skilled": 0.15, "crowd": 0.1})
LEVEL = 0.05
FEW_ITEMS = "few_items"
NO_VARIATION = "no_variation"
ONE_CLUSTER = "one_cluster"

#: More clusters than these are drawn in groups of whole ones (random groups, Wolter 2007).
MOST_CLUSTERS = 1000
#: Fewer comparisons with a human are not tested.
MIN_ITEMS = 30


@dataclass(frozen=True, slots=True)
class Human(Record):
    """One human against the LLM; ``rejected`` says that the LLM beats this human.

    ``advantage`` is the share of items on which the LLM was at least as good, ``difference`` the
    human's such share minus the LLM's. ``p`` is None for ``reason``: ``few_items`` (not tested),
    ``no_variation`` or ``one_cluster``; ``lacking`` is how many more labels a test of this human
    needs; ``clusters``: of how many the items are, where the test is one over clusters.
    """

    rater: int
    items: int
    advantage: float | None
    difference: float | None
    p: float | None
    adjusted_p: float | None
    rejected: bool
    lacking: int
    reason: str
    clusters: int | None = None


@dataclass(frozen=True, slots=True)
class AltTest:
    """The verdict; ``winning_rate`` and ``passes`` are None where no human could be tested.

    ``tested``: the humans with enough items, by which the rate is divided. ``lacking``: how many
    more would make three.
    """

    epsilon: float
    humans: tuple[Human, ...]
    tested: int
    winning_rate: float | None
    advantage: Figure
    passes: bool | None
    lacking: int


def alt_test(contest: Contest, epsilon: float, clusters: ArrayLike | None = None) -> AltTest:
    """The alternative annotator test (Calderon, Reichart and Dror 2025).

    For each human with at least ``MIN_ITEMS`` comparisons a one-sided t-test that the LLM loses
    less than ``epsilon``; Benjamini-Yekutieli holds the false discoveries at .05. The winning
    rate is the share of tested humans it beats; a half or more passes. The advantage is the mean
    over tested humans of the LLM's share of items.

    Where all differences are the same there is no t and p is None. The verdict follows from the
    difference, as from the authors' p of 0 or 1: below epsilon the LLM beats the human, above it
    not. At a difference of epsilon, where their p is NaN, the human is not beaten.

    Args:
        clusters: number of the cluster of each item, shape (items,), e.g. its user or conversation:
            the items of a cluster go together in the test, whose error is then linearised with
            clusters - 1 degrees of freedom, and in the advantage's interval.
    """
    groups = _number_clusters(contest, clusters)
    summed, tested = _sum_leads(contest, groups)
    p_values, adjusted = np.full((2, contest.n_raters), np.nan)
    p_values[tested] = summed.of(tested).p_values(epsilon)
    adjusted[tested] = _adjust(p_values[tested])
    n_tested = int(tested.sum())
    rate = float(np.mean(adjusted[tested] <= LEVEL)) if n_tested else None
    return AltTest(
        epsilon=epsilon,
        humans=_humans(contest, summed, (p_values, adjusted)),
        tested=n_tested,
        winning_rate=rate,
        advantage=_advantage(contest, tested, groups),
        passes=None if rate is None else rate >= 0.5,
        lacking=max(3 - n_tested, 0),
    )


def curve(
    contest: Contest,
    epsilons: Sequence[float],
    clusters: ArrayLike | None = None,
) -> list[float | None]:
    """Winning rate at each of ``epsilons``: how the verdict depends on the price of a human."""
    summed, tested = _sum_leads(contest, _number_clusters(contest, clusters))
    if not tested.any():
        return [None] * len(epsilons)
    adjusted = [_adjust(summed.of(tested).p_values(epsilon)) for epsilon in epsilons]
    return [float(np.mean(p_values <= LEVEL)) for p_values in adjusted]


def _sum_leads(contest: Contest, groups: Ints | None) -> tuple[MeanLeads, Bools]:
    """The leads of every human over the LLM, and which humans are tested."""
    lead = contest.human_wins.astype(np.int64) - contest.llm_wins
    of_item = None if groups is None else groups[contest.items]
    summed = mean_leads(contest.raters, lead, contest.n_raters, of_item)
    return summed, summed.n >= MIN_ITEMS


def _number_clusters(contest: Contest, clusters: ArrayLike | None) -> Ints | None:
    """The clusters of the items numbered from 0 without gaps."""
    if clusters is None:
        return None
    if np.shape(clusters) != (contest.n_items,):
        raise InvalidInput("Every item needs the number of its cluster.")
    return np.unique(np.asarray(clusters), return_inverse=True)[1]


def _adjust(p_values: Floats) -> Floats:
    """By Benjamini and Yekutieli 2001; an unknown p stays unknown, yet counts as a test."""
    adjusted = benjamini_yekutieli(np.nan_to_num(p_values, nan=1.0).tolist())
    return np.where(np.isnan(p_values), np.nan, adjusted)


def _humans(
    contest: Contest,
    summed: MeanLeads,
    found: tuple[Floats, Floats],
) -> tuple[Human, ...]:
    """``found``: p-values and adjusted ones, which decide also where nothing varies."""
    p_values, adjusted = found
    wins = np.bincount(contest.raters, contest.llm_wins, contest.n_raters)
    known = ~np.isnan(p_values) & ~summed.alike
    results = []
    for rater, n in enumerate(summed.n.astype(np.int64).tolist()):
        lacking = max(MIN_ITEMS - n, 0)
        unknown = ONE_CLUSTER if summed.units[rater] < 2 else NO_VARIATION
        results.append(
            Human(
                rater=rater,
                items=n,
                advantage=float(wins[rater] / n) if n else None,
                difference=float(summed.total[rater] / n) if n else None,
                p=float(p_values[rater]) if known[rater] else None,
                adjusted_p=float(adjusted[rater]) if known[rater] else None,
                rejected=bool(adjusted[rater] <= LEVEL),
                lacking=lacking,
                reason="" if known[rater] else FEW_ITEMS if lacking else unknown,
                clusters=int(summed.units[rater]) if summed.clustered else None,
            )
        )
    return tuple(results)


def _advantage(contest: Contest, tested: Bools, groups: Ints | None) -> Figure:
    """Mean over tested humans of the LLM's share of items, with an interval over clusters."""
    if not tested.any():
        return undefined(FEW_ITEMS)
    kept = tested[contest.raters]
    # Wins of the LLM, then comparisons, of every rater: shape (clusters, 2 raters).
    group = (np.arange(contest.n_items) if groups is None else groups) % MOST_CLUSTERS
    cells = group[contest.items] * contest.n_raters + contest.raters
    size = (int(group.max()) + 1) * contest.n_raters
    won = np.bincount(cells[kept & contest.llm_wins], minlength=size)
    compared = np.bincount(cells[kept], minlength=size)
    table = np.hstack([counts.reshape(-1, contest.n_raters) for counts in (won, compared)])
    sums = table[table.any(axis=1)][:, np.tile(tested, 2)]
    value = float(_mean_share(sums.sum(axis=0, keepdims=True))[0])
    different, often = np.unique(sums, axis=0, return_counts=True)
    ends = percentile_ends(_mean_share(draw_weights(often) @ different))
    low, high = limit_interval(value, *ends)
    together = "" if groups is None else "; the items of a cluster go together"
    grouped = f"; in {MOST_CLUSTERS} groups" if len(sums) == MOST_CLUSTERS else ""
    n = int(np.count_nonzero(np.bincount(contest.items[kept])))
    return figure(value, low=low, high=high, n=n, method=BOOTSTRAP + together + grouped)


def _mean_share(sums: Floats | Ints) -> Floats:
    """Mean over humans of wins by comparisons, draw by draw; humans not drawn are left out."""
    wins, n = np.split(sums, 2, axis=1)
    return np.asarray(np.nanmean(divide(wins, n), axis=1))
