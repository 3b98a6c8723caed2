"""Who is nearer to the truth, item by item: an LLM, or each of the humans.

The truth is what the other humans said, or what the author did. The alternative annotator test
counts the wins of either side.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.agreement.narrowing import latest, on_items
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.errors import InvalidInput

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TIE = 1e-9  # sums of the same similarities in another order differ by less


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


def against_humans(
    humans: Ratings,
    llm: ArrayLike,
    *,
    similarity: ArrayLike | None = None,
    repeated: bool = True,
) -> Contest:
    """Leave one human out: compare them and the LLM with the others of each item.

    Args:
        humans: of a rater who rated an item more than once the last rating counts.
        llm: the LLM's category of each item, shape (items,); -1 where there is none.
        similarity: shape (categories, categories), in [0, 1]: how near a category (row) is to what
            another human said (column); by default 1 for the same category, else 0.
        repeated: False where the caller knows that nobody rated an item twice (``latest``).

    Returns:
        One comparison for every human rating of an item that two humans or more and the LLM
        rated: the mean similarity with the others.
    """
    codes, near = _codes(llm, humans), _similarity(similarity, humans.n_categories)
    said = latest(humans) if repeated else humans
    raters_of_item = np.bincount(said.items, minlength=said.n_items)
    said = on_items(said, (raters_of_item >= 2) & (codes >= 0))
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


def _contest(said: Ratings, of_llm: Floats, of_human: Floats) -> Contest:
    lead = of_llm - of_human
    return Contest(said.items, said.raters, lead >= -TIE, lead <= TIE, said.n_items, said.n_raters)


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
