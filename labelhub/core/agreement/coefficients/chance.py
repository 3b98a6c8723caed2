"""Coefficients of any number of raters: percent agreement corrected for chance.

All take sums in the order of ``sums.Layout`` and give one value a row. Raters may differ from item
to item and be unequally many. Items with one rating count for how common a category is, but not
for agreement, as in Gwet 2014 (chapter 2); Krippendorff's alpha leaves them out altogether.
Where chance alone would explain full agreement the value is NaN. Conger's kappa has a margin for
each rater. Items that bring their own options have a coefficient of their own, S_q.
"""

import numpy as np

from labelhub.core.agreement.coefficients.sums import (
    Coefficient,
    Layout,
    Value,
    agreement_parts,
    first_over_second,
)
from labelhub.core.agreement.ratings import Floats, Ints, Ratings, divide

#: Differences smaller than this are rounding.
NIL = 1e-12


def percent(q: int) -> Value:
    """Share of pairs of ratings that agree, mean over items with two or more."""
    layout = Layout(q)

    def value(sums: Floats) -> Floats:
        return divide(sums[:, layout.agree], sums[:, layout.pairable])

    return value


def coefficient(q: int, chance: Value) -> Value:
    """Percent agreement corrected for ``chance``."""
    return lambda sums: correct_for_chance(percent(q)(sums), chance(sums))


def fleiss_kappa(q: int) -> Value:
    """Fleiss 1971, for unequal raters as Gwet 2014, section 2.4; Scott's pi of two raters.

    Chance draws two ratings from the mean shares of the categories over all rated items.
    """
    layout = Layout(q)
    return coefficient(q, lambda sums: np.asarray((_shares(sums, layout) ** 2).sum(axis=1)))


def gwet_ac(q: int, weights: Floats | None = None) -> Value:
    """Gwet 2008: AC1, and AC2 with weights. ``q`` counts the declared categories.

    Only hard items are guessed: chance stays small where one category prevails.
    """
    layout = Layout(q)
    nearness = float(q if weights is None else weights.sum())

    def chance(sums: Floats) -> Floats:
        shares = _shares(sums, layout)
        if q < 2:
            return np.full(len(sums), np.nan)
        return np.asarray(nearness / (q * (q - 1)) * (shares * (1 - shares)).sum(axis=1))

    return coefficient(q, chance)


def brennan_prediger(q: int) -> Value:
    """Brennan and Prediger 1981. ``q`` counts the declared categories."""
    return coefficient(q, lambda sums: np.full(len(sums), 1 / max(q, 1)))


def alpha_nominal(q: int) -> Value:
    """Krippendorff 2011, nominal: chance draws two ratings without putting the first one back."""
    layout = Layout(q)

    def value(sums: Floats) -> Floats:
        margins = sums[:, layout.margins]
        n = margins.sum(axis=1)
        observed = divide(sums[:, layout.pairs], n)
        chance = divide((margins * (margins - 1)).sum(axis=1), n * (n - 1))
        return correct_for_chance(observed, chance)

    return value


def correct_for_chance(observed: Floats, chance: Floats) -> Floats:
    """(observed - chance) / (1 - chance); NaN where chance alone gives full agreement."""
    return divide(observed - chance, np.where(1 - chance > NIL, 1 - chance, 0.0))


def _shares(sums: Floats, layout: Layout) -> Floats:
    rated = sums[:, layout.rated : layout.rated + 1]
    return divide(sums[:, layout.shares], np.broadcast_to(rated, sums[:, layout.shares].shape))


def own_options_parts(counts: Ints, options: Ints) -> Floats:
    """Shape (items, 3): share of agreeing pairs, pairable, 1 / options of pairable items.

    ``counts``: of positions, shape (items, most options); ``options``: how many each item has.
    """
    shared = agreement_parts(counts)[:, [Layout.agree, Layout.pairable]]
    chance = shared[:, 1] / np.maximum(options, 1)
    return np.column_stack([shared, chance])


def s_q(sums: Floats) -> Floats:
    """Of sums in the order of ``own_options_parts``; NaN where every item has one option."""
    observed = first_over_second(sums)
    return correct_for_chance(observed, divide(sums[:, 2], sums[:, 1]))


def conger_parts(ratings: Ratings) -> Floats:
    """Shape (items, 2 + raters * categories): agreement, pairable, the answers of each rater.

    The table is dense: for many items, raters and categories take ``linear_conger``.
    """
    answers = np.zeros((ratings.n_items, ratings.n_raters * ratings.n_categories))
    answers[ratings.items, ratings.raters * ratings.n_categories + ratings.codes] = 1
    return np.hstack([shared_parts(ratings), answers])


def conger_kappa(n_raters: int, q: int) -> Value:
    """Of sums in the order of ``conger_parts``; raters without ratings are left out.

    Chance draws a rating by one rater and one by another, each from that rater's own shares.
    """

    def value(sums: Floats) -> Floats:
        answers = sums[:, 2:].reshape(len(sums), n_raters, q)
        totals = answers.sum(axis=2, keepdims=True)
        shares = np.divide(answers, totals, out=np.zeros_like(answers), where=totals > 0)
        raters = (totals > 0).sum(axis=(1, 2))
        all_pairs = (shares.sum(axis=1) ** 2).sum(axis=1)
        own_pairs = (shares**2).sum(axis=(1, 2))
        chance = divide(all_pairs - own_pairs, (raters * (raters - 1)).astype(float))
        return correct_for_chance(first_over_second(sums), chance)

    return value


def linear_conger(ratings: Ratings) -> Coefficient:
    """Conger's kappa with three columns in place of those of ``conger_parts``: agreement, pairable,
    change of chance.

    Chance is linear about that of all ratings: its derivative by how often each rater gives each
    answer, summed over the answers of an item, is the item's part. The value and the linearised
    error are those of ``conger_kappa``; a draw differs by the square of how far it moves chance.
    """
    q = ratings.n_categories
    # A rater who gives an item the same answer again counts once, as in ``conger_parts``.
    triples = (ratings.items * ratings.n_raters + ratings.raters) * q + ratings.codes
    first = np.unique(triples, return_index=True)[1]
    items, raters = ratings.items[first], ratings.raters[first]
    cells, cell = np.unique(raters * q + ratings.codes[first], return_inverse=True)
    owners, answers = np.divmod(cells, max(q, 1))
    given = np.bincount(raters, minlength=ratings.n_raters)
    own = np.bincount(cell, minlength=len(cells)) / given[owners]
    others = np.bincount(answers, own, q)[answers] - own
    met = np.bincount(owners, own * others, ratings.n_raters)
    present = int(np.count_nonzero(given))
    pairs = max(present * (present - 1), 1)
    chance = float(met.sum()) / pairs if present > 1 else float("nan")
    slopes = 2 * (others - met[owners]) / (pairs * given[owners])
    moved = np.bincount(items, slopes[cell], ratings.n_items)
    shared = shared_parts(ratings)
    return Coefficient(
        np.column_stack([shared, moved]),
        lambda sums: correct_for_chance(first_over_second(sums), chance + sums[:, 2]),
    )


def shared_parts(ratings: Ratings) -> Floats:
    """Share of agreeing pairs and 1 where there is a pair, of each item; without a dense table."""
    alike, often = np.unique(
        ratings.items * ratings.n_categories + ratings.codes, return_counts=True
    )
    size = ratings.n_items
    agreeing = np.bincount(alike // max(ratings.n_categories, 1), often * (often - 1), size)
    total = np.bincount(ratings.items, minlength=size)
    two = total >= 2
    share = np.divide(agreeing, total * (total - 1), out=np.zeros(size), where=two)
    return np.column_stack([share, two])


def pooled_kappa(sums: Floats) -> Floats:
    """Cohen's kappa of the table that all pairs of labels of two sides make.

    ``sums``: agreeing pairs, pairs; of each category how often one side has it, then the other.
    """
    q = (sums.shape[1] - 2) // 2
    margins = (sums[:, 2 : 2 + q] * sums[:, 2 + q :]).sum(axis=1)
    expected = divide(margins, sums[:, 1] ** 2)
    return correct_for_chance(first_over_second(sums), expected)
