"""Whether an LLM can take the place of human annotators: the alternative annotator test.

Calderon, Reichart and Dror 2025. Each human is left out in turn; the LLM and that human are both
compared with the humans that remain. The LLM may be a little worse: by ``epsilon``, the price of a
human. It passes when it beats at least half of the humans. With the author's own label as the truth
the LLM and each human are compared with the author instead (their single expert variant).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP, bootstrap
from labelhub.core.agreement.multiplicity import benjamini_yekutieli
from labelhub.core.agreement.narrowing import latest, on_items
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.resampling import divided
from labelhub.core.agreement.student import t_cdf
from labelhub.core.errors import InvalidInput

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: What a human costs more than an LLM, as the share of items the LLM may lose.
EPSILON: Mapping[str, float] = MappingProxyType({"expert": 0.2, "skilled": 0.15, "crowd": 0.1})
LEVEL = 0.05

FEW_ITEMS = "few_items"
NO_VARIATION = "no_variation"

TIE = 1e-9  # sums of the same similarities in another order differ by less
#: More clusters than these are drawn in groups of whole ones (random groups, Wolter 2007).
MOST_CLUSTERS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """Who of LLM and human was at least as close to the truth; all of shape (comparisons,).

    ``raters[k]`` was compared on ``items[k]``; a tie counts for both.
    """

    items: Ints
    raters: Ints
    llm_wins: Bools
    human_wins: Bools
    n_items: int
    n_raters: int


@dataclass(frozen=True, slots=True)
class Human:
    """One human against the LLM; ``rejected`` says that the LLM beats this human.

    ``advantage`` is the share of items on which the LLM was at least as good, ``difference`` the
    human's such share minus the LLM's. ``p`` is None for ``reason``: ``few_items`` (not tested) or
    ``no_variation``; ``lacking`` is how many more labels a test of this human needs.
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


@dataclass(frozen=True, slots=True)
class AltTest:
    """The verdict; ``winning_rate`` and ``passes`` are None where no human could be tested.

    ``tested`` is what the rate is divided by: the humans with enough items, not all. ``lacking`` is
    how many more would make three.
    """

    epsilon: float
    humans: tuple[Human, ...]
    tested: int
    winning_rate: float | None
    advantage: Figure
    passes: bool | None
    lacking: int


def against_humans(
    humans: Ratings,
    llm: ArrayLike,
    *,
    similarity: ArrayLike | None = None,
    min_humans: int = 2,
    repeated: bool = True,
) -> Contest:
    """Leave one human out: compare them and the LLM with the others of each item.

    Args:
        humans: of a rater who rated an item more than once the last rating counts.
        llm: the LLM's category of each item, shape (items,); -1 where there is none.
        similarity: shape (categories, categories), in [0, 1]: how near a category (row) is to what
            another human said (column); by default 1 for the same category, else 0.
        min_humans: items that fewer humans rated are left out, and those without an LLM's label.
        repeated: False where the caller knows that nobody rated an item twice (``latest``).

    Returns:
        One comparison for every human rating of such an item: the mean similarity with the others.
    """
    if min_humans < 2:
        raise InvalidInput("Leaving one human out needs at least two humans of an item.")
    codes, near = _codes(llm, humans), _similarity(similarity, humans.n_categories)
    said = latest(humans) if repeated else humans
    raters_of_item = np.bincount(said.items, minlength=said.n_items)
    said = on_items(said, (raters_of_item >= min_humans) & (codes >= 0))
    # Sums stand for means, as both have the same others: those of all humans less one's own.
    sums = said.counts().astype(np.float64)
    if near is not None:
        sums = sums @ near.T
    own, model = said.codes, codes[said.items]
    of_human = sums[said.items, own] - _nearness(near, own, own)
    return _contest(said, sums[said.items, model] - _nearness(near, model, own), of_human)


def against_author(
    humans: Ratings,
    llm: ArrayLike,
    author: ArrayLike,
    *,
    similarity: ArrayLike | None = None,
    repeated: bool = True,
) -> Contest:
    """Compare LLM and each human with the author's own label (the variant with a single expert).

    ``author`` and ``llm`` have shape (items,), -1 where there is none; items that lack either are
    left out. The author must not be among ``humans``. ``similarity`` and
    ``repeated`` as in ``against_humans``, with the author's category in the column.
    """
    codes, truth = _codes(llm, humans), _codes(author, humans)
    near = _similarity(similarity, humans.n_categories)
    said = on_items(latest(humans) if repeated else humans, (codes >= 0) & (truth >= 0))
    true, model = truth[said.items], codes[said.items]
    return _contest(said, _nearness(near, model, true), _nearness(near, said.codes, true))


def alt_test(
    contest: Contest, epsilon: float, clusters: ArrayLike | None = None, min_items: int = 30
) -> AltTest:
    """The alternative annotator test (Calderon, Reichart and Dror 2025).

    For each human with at least ``min_items`` comparisons a one-sided t-test that the LLM loses
    less than ``epsilon``; Benjamini-Yekutieli holds the false discoveries at .05. The winning
    rate is the share of tested humans it beats; a half or more passes. The advantage is the mean
    over tested humans of the LLM's share of items.

    Where nothing varies there is no t: a difference below epsilon is then sure (p 0, rejected), one
    above it sure the other way (p 1), and one equal to it says nothing (p None, not rejected).

    Args:
        clusters: number of the cluster of each item, shape (items,), e.g. its user or conversation:
            the advantage's interval lets the items of a cluster go together.
    """
    sums, tested = _sums(contest, min_items)
    p_values, adjusted = np.full((2, contest.n_raters), np.nan)
    p_values[tested] = _p_values(sums[:, tested], epsilon)
    adjusted[tested] = _adjusted(p_values[tested])
    rows = zip(sums.T, p_values, adjusted, strict=True)
    n_tested = int(tested.sum())
    rate = float(np.mean(adjusted[tested] <= LEVEL)) if n_tested else None
    return AltTest(
        epsilon=epsilon,
        humans=tuple(_human(rater, row, min_items) for rater, row in enumerate(rows)),
        tested=n_tested,
        winning_rate=rate,
        advantage=_advantage(contest, tested, clusters),
        passes=None if rate is None else rate >= 0.5,
        lacking=max(3 - n_tested, 0),
    )


def curve(contest: Contest, epsilons: Sequence[float], min_items: int = 30) -> list[float | None]:
    """Winning rate at each of ``epsilons``: how much the verdict hangs on the price of a human."""
    sums, tested = _sums(contest, min_items)
    if not tested.any():
        return [None] * len(epsilons)
    adjusted = [_adjusted(_p_values(sums[:, tested], each)) for each in epsilons]
    return [float(np.mean(each <= LEVEL)) for each in adjusted]


def _contest(said: Ratings, of_llm: Floats, of_human: Floats) -> Contest:
    lead = of_llm - of_human
    return Contest(said.items, said.raters, lead >= -TIE, lead <= TIE, said.n_items, said.n_raters)


def _sums(contest: Contest, min_items: int) -> tuple[Floats, Bools]:
    """Items, wins of the LLM, differences and their squares: (4, raters); and who is tested."""
    if min_items < 2:
        raise InvalidInput("A t-test of a human needs at least two items.")
    wins, losses = contest.llm_wins, contest.human_wins
    columns = None, wins, losses.astype(np.int8) - wins, losses != wins
    summed = [np.bincount(contest.raters, each, contest.n_raters) for each in columns]
    sums = np.array(summed, dtype=np.float64)
    return sums, sums[0] >= min_items


def _p_values(sums: Floats, epsilon: float) -> Floats:
    """Of one-sided t-tests that the mean difference lies below ``epsilon``, by column."""
    n, _, total, squares = sums
    # Sums of whole numbers: without variation this is exactly 0, t is infinite or, at epsilon, NaN.
    variance = (n * squares - total**2) / (n * (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (total / n - epsilon) / np.sqrt(variance / n)
    return t_cdf(t, n - 1)


def _adjusted(p_values: Floats) -> Floats:
    """By Benjamini and Yekutieli 2001; an unknown p stays unknown, yet counts as a test."""
    adjusted = benjamini_yekutieli(np.nan_to_num(p_values, nan=1.0).tolist())
    return np.where(np.isnan(p_values), np.nan, adjusted)


def _human(rater: int, row: tuple[Floats, float, float], min_items: int) -> Human:
    (n, wins, total, _), p, adjusted = row
    lacking = max(min_items - int(n), 0)
    known = not np.isnan(p)
    unknown = FEW_ITEMS if lacking else NO_VARIATION
    return Human(
        rater=rater,
        items=int(n),
        advantage=float(wins / n) if n else None,
        difference=float(total / n) if n else None,
        p=float(p) if known else None,
        adjusted_p=float(adjusted) if known else None,
        rejected=bool(adjusted <= LEVEL),
        lacking=lacking,
        reason="" if known else unknown,
    )


def _advantage(contest: Contest, tested: Bools, clusters: ArrayLike | None) -> Figure:
    """Mean over tested humans of the LLM's share of items, with an interval over clusters."""
    if not tested.any():
        return undefined(FEW_ITEMS)
    kept = tested[contest.raters]
    sums = _by_cluster(contest, kept, clusters)[:, np.tile(tested, 2)]
    value = float(_mean_share(sums.sum(axis=0, keepdims=True).astype(np.float64)).item())
    ((low,), (high,)) = bootstrap(sums, _mean_share)
    together = "" if clusters is None else "; the items of a cluster go together"
    grouped = f"; in {MOST_CLUSTERS} groups" if len(sums) == MOST_CLUSTERS else ""
    n = int(np.count_nonzero(np.bincount(contest.items[kept])))
    return figure(
        value, low=float(low), high=float(high), n=n, method=BOOTSTRAP + together + grouped
    )


def _by_cluster(contest: Contest, kept: Bools, clusters: ArrayLike | None) -> Ints:
    """Wins of the LLM, then comparisons, of every rater: shape (clusters, 2 raters)."""
    group = np.arange(contest.n_items)
    if clusters is not None:
        if np.shape(clusters) != group.shape:
            raise InvalidInput("Every item needs the number of its cluster.")
        group = np.unique(np.asarray(clusters), return_inverse=True)[1]
    group %= MOST_CLUSTERS
    cells = group[contest.items] * contest.n_raters + contest.raters
    size = (int(group.max()) + 1) * contest.n_raters
    won = np.bincount(cells[kept & contest.llm_wins], minlength=size)
    n = np.bincount(cells[kept], minlength=size)
    table = np.hstack([each.reshape(-1, contest.n_raters) for each in (won, n)])
    return table[table.any(axis=1)]


def _mean_share(sums: Floats) -> Floats:
    """Mean over humans of wins by comparisons, draw by draw; humans not drawn are left out."""
    wins, n = np.split(sums, 2, axis=1)
    return np.asarray(np.nanmean(divided(wins, n), axis=1, keepdims=True))


def _nearness(near: Floats | None, scored: Ints, other: Ints) -> Floats:
    return (scored == other).astype(np.float64) if near is None else near[scored, other]


def _similarity(given: ArrayLike | None, n_categories: int) -> Floats | None:
    if given is None:
        return None
    near = np.asarray(given, dtype=np.float64)
    if near.shape != (n_categories, n_categories) or not np.all((near >= 0) & (near <= 1)):
        raise InvalidInput(f"Similarities are {n_categories} by {n_categories} numbers in [0, 1].")
    return near


def _codes(given: ArrayLike, humans: Ratings) -> Ints:
    codes = np.asarray(given, dtype=np.int64)
    declared = (codes >= -1) & (codes < humans.n_categories)
    if codes.shape != (humans.n_items,) or not declared.all():
        raise InvalidInput("Every item needs the number of a declared category, or -1 for none.")
    return codes
