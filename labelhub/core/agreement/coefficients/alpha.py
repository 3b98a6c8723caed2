"""Krippendorff's alpha for any distance: ordinal, interval, ratio, sets.

alpha = 1 - observed over expected distance of two ratings of the same item (Krippendorff 2011;
2019, chapter 12). Items with fewer than two ratings are left out. Computed over the whole data set:
a mean of alphas of single items means nothing.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from labelhub.core.agreement.coefficients.sums import Coefficient, Value, count_pairs
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings, divide


def quadratic_weights(scores: Sequence[float]) -> Floats:
    """1 less the squared distance over the widest (Fleiss and Cohen 1973)."""
    gap = interval_distance(scores)
    widest = float(gap.max(initial=0))
    return np.asarray(1 - gap / widest) if widest else np.ones_like(gap)


def interval_distance(scores: Sequence[float]) -> Floats:
    """Squared difference of the scores."""
    values = np.asarray(scores, dtype=float)
    return np.asarray((values[:, None] - values[None, :]) ** 2)


def ratio_distance(scores: Sequence[float]) -> Floats:
    """Squared difference over squared sum; 0 where both are 0."""
    values = np.asarray(scores, dtype=float)
    total = values[:, None] + values[None, :]
    gap = values[:, None] - values[None, :]
    ratio: Floats = np.divide(gap, total, out=np.zeros_like(gap), where=total != 0)
    return ratio**2


def ordinal_distance(margins: Floats) -> Floats:
    """Squared number of ratings between two ranks (Krippendorff's ordinal metric).

    ``margins``: how often each category occurs, in rank order, shape (..., categories); the
    distances of each row of it, shape (..., categories, categories).
    """
    upto = np.cumsum(margins, axis=-1) - margins / 2
    return np.asarray((upto[..., :, None] - upto[..., None, :]) ** 2)


def set_members(sets: Sequence[AbstractSet[str]]) -> tuple[list[str], Bools]:
    """The labels that occur, and which of them each set has: shape (sets, labels)."""
    names = list(dict.fromkeys(name for labels in sets for name in sorted(labels)))
    table = np.array([[name in labels for name in names] for labels in sets], dtype=bool)
    return names, table.reshape(len(sets), len(names))


def set_distances(sets: Sequence[AbstractSet[str]], *, masi: bool) -> Floats:
    """1 less the similarity of every two sets, shape (sets, sets).

    By Jaccard (1901) that is the share of all members that both have, 1 for two empty sets. By MASI
    (Passonneau 2006) it is that times how they lie: 1 for equal sets, 2/3 where one holds the
    other, 1/3 where they overlap. An empty set is held by every other one but shares nothing.
    """
    members = set_members(sets)[1].astype(np.float64)
    sizes = members.sum(axis=1)
    return distance_of_sets(members @ members.T, sizes[:, None], sizes, masi=masi)


#: Numbers in a block of distances: 32 MB.
BLOCK = 1 << 22


def distance_of_sets(shared: Floats, first: Floats, second: Floats, *, masi: bool) -> Floats:
    """Distances by the number of ``shared`` members and the sizes, of shapes that broadcast."""
    union = first + second - shared
    similarity = np.divide(shared, union, out=np.ones_like(union), where=union > 0)
    if masi:
        held = shared == np.minimum(first, second)
        similarity *= np.where(held & (first == second), 1, np.where(held, 2 / 3, 1 / 3))
    return np.asarray(1 - similarity)


def linear_set_alpha(ratings: Ratings, members: Bools, *, masi: bool) -> Coefficient:
    """Alpha by MASI, or by Jaccard, of more different sets than a table of distances can hold.

    The expected distance is linear about that of all ratings, so value and linearised error are
    those of ``alpha_by_distance``; a draw differs by the square of how far it moves the margins.
    The parts: observed distance, ratings, change of the expected distance.

    ``ratings``: of items with two ratings or more; ``members``: shape (sets, labels).
    """
    used, codes = np.unique(ratings.codes, return_inverse=True)
    table = members[used].astype(np.float64)
    sizes, margins = table.sum(axis=1), np.bincount(codes).astype(np.float64)
    to_all = np.empty(len(used))
    step = max(BLOCK // max(len(used), 1), 1)
    for start in range(0, len(used), step):
        some = slice(start, start + step)
        shared = table[some] @ table.T
        apart = distance_of_sets(shared, sizes[some, None], sizes, masi=masi)
        to_all[some] = apart @ margins
    expected = float(margins @ to_all)
    count = np.bincount(ratings.items, minlength=ratings.n_items)
    observed = np.zeros(ratings.n_items)
    order = np.argsort(ratings.items, kind="stable")
    items, codes = ratings.items[order], codes[order]
    step = max(BLOCK // max(table.shape[1], 1), 1)
    for away in range(1, int(count.max(initial=0))):
        pairs = np.flatnonzero(items[away:] == items[:-away])
        for start in range(0, len(pairs), step):
            first, second = (
                codes[pairs[start : start + step]],
                codes[pairs[start : start + step] + away],
            )
            shared = np.einsum("pl,pl->p", table[first], table[second])
            apart = distance_of_sets(shared, sizes[first], sizes[second], masi=masi)
            observed += np.bincount(items[pairs[start : start + step]], 2 * apart, ratings.n_items)
    observed /= np.maximum(count - 1, 1)
    moved = np.bincount(items, 2 * to_all[codes], ratings.n_items)
    return Coefficient(
        np.column_stack([observed, count, moved]),
        lambda sums: 1 - divide(sums[:, 0] * (sums[:, 1] - 1), sums[:, 2] - expected),
    )


#: Margins, shape (draws, q) → distances, shape (q, q) or (draws, q, q).
Metric = Callable[[Floats], Floats]


def coincidences(counts: Ints | Floats, squares: Floats | None = None) -> Floats:
    """Pairs of ratings of each row of counts over (ratings - 1): shape (..., q * q).

    Summed over items this is Krippendorff's coincidence matrix. The memory is that of rows x q²:
    for ordinal alpha of many categories take ``ordinal_alpha``. ``squares``: as for
    ``count_pairs``, for metrics by which a category is at no distance from itself.
    """
    table = counts.astype(np.float64)
    ratings, pairs = count_pairs(table, squares)
    scaled = table * np.nan_to_num(divide(ratings, pairs))[..., None]
    found = scaled[..., :, None] * table[..., None, :]
    diagonal = np.arange(table.shape[-1])
    # So that each row sums to how often the category counts on items with two ratings.
    margins = table * (pairs > 0)[..., None]
    found[..., diagonal, diagonal] += margins - found.sum(axis=-1)
    return found.reshape(*ratings.shape, diagonal.size**2)


def alpha_of_coincidences(q: int, metric: Metric) -> Value:
    """Alpha of summed coincidences, shape (draws, q * q); NaN where nothing varies."""

    def value(sums: Floats) -> Floats:
        matrix = sums.reshape(len(sums), q, q)
        margins = matrix.sum(axis=2)
        n = margins.sum(axis=1)
        distances = metric(margins)
        observed = (matrix * distances).sum(axis=(1, 2))
        apart = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
        return 1 - divide(observed * (n - 1), apart)

    return value


def distance_parts(
    counts: Ints | Floats, distances: Floats, squares: Floats | None = None
) -> Floats:
    """Shape (..., 1 + q): distances of an item's pairs of ratings over (ratings - 1), its margins.

    For a distance that does not depend on the data: far less than all coincidences. ``squares``:
    as for ``count_pairs``.
    """
    table = counts.astype(np.float64)
    ratings, pairs = count_pairs(table, squares)
    apart = ((table @ distances) * table).sum(axis=-1)
    observed = np.nan_to_num(divide(apart * ratings, pairs))
    return np.concatenate([observed[..., None], table * (pairs > 0)[..., None]], axis=-1)


def alpha_by_distance(distances: Floats) -> Value:
    """Alpha of sums in the order of ``distance_parts``; NaN where nothing varies."""

    def value(sums: Floats) -> Floats:
        margins = sums[:, 1:]
        n = margins.sum(axis=1)
        apart = ((margins @ distances) * margins).sum(axis=1)
        return 1 - divide(sums[:, 0] * (n - 1), apart)

    return value


#: Up to so many categories, and numbers in the table of parts (8 MB), coincidences are summed.
FEW_CATEGORIES = 30
FEW_CELLS = 1 << 20


def ordinal_alpha(counts: Ints, often: Ints) -> Coefficient:
    """Parts and value of ordinal alpha (Krippendorff 2011; 2019, section 12.3.3), ready to draw.

    ``counts``: shape (rows, categories), categories in rank order; ``often``: how many items each
    row stands for, shape (rows,). Rows with fewer than two ratings add nothing.
    """
    # A rank that nobody uses changes nothing: of few items of many ranks most go.
    counts = counts[:, counts.any(axis=0)]
    q = counts.shape[1]
    if q <= FEW_CATEGORIES and counts.size * q <= FEW_CELLS:
        return Coefficient(coincidences(counts), alpha_of_coincidences(q, ordinal_distance))
    return compact_ordinal_alpha(counts, often)


def compact_ordinal_alpha(counts: Ints, often: Ints) -> Coefficient:
    """The same with 3 q + 1 columns.

    With u the place of each rank among all ratings (its mid-rank over their number), an item of
    counts c, m ratings, has the distance 2 (m c·u² - (c·u)²) / (m - 1). In a draw u is u0 + e, and
    (c·u)² = (c·u0)² + 2 (c·u0)(c·e) + (c·e)². Only the sum of the last, tiny, term needs all pairs
    of categories: it is taken from all the data, in proportion to the ratings drawn.
    """
    rows, q = counts.shape
    two = counts.sum(axis=1) >= 2
    # Filled in place: many items of many categories should not be there several times.
    parts = np.empty((rows, 3 * q + 1))
    table, squares, crossed = (parts[:, start : start + q] for start in (0, q, 2 * q))
    np.multiply(counts, two[:, None], out=table)
    ratings = table.sum(axis=1)
    scale = np.divide(1, ratings - 1, out=np.zeros_like(ratings), where=two)
    margins = often.astype(np.float64) @ table
    places = _mid_ranks(margins[None, :])[0]
    mean_places = table @ places
    np.multiply(table, (ratings * scale)[:, None], out=squares)
    np.multiply(table, (often * scale)[:, None], out=crossed)
    pairs = crossed.T @ table
    np.multiply(table, (mean_places * scale)[:, None], out=crossed)
    parts[:, 3 * q] = mean_places**2 * scale
    return Coefficient(parts, _near(places, divide(pairs, np.full_like(pairs, margins.sum()))))


def _near(places: Floats, pairs: Floats) -> Value:
    """``places``: of the ranks in all the data; ``pairs``: of categories of an item, by rating."""
    q = len(places)

    def value(sums: Floats) -> Floats:
        margins, squares, crossed = sums[:, :q], sums[:, q : 2 * q], sums[:, 2 * q : 3 * q]
        n = margins.sum(axis=1)
        now = _mid_ranks(margins)
        moved = now - places
        last = ((moved @ pairs) * moved).sum(axis=1) * n
        together = sums[:, 3 * q] + 2 * (crossed * moved).sum(axis=1) + last
        observed = (squares * now**2).sum(axis=1) - together
        apart = n * (margins * now**2).sum(axis=1) - (margins * now).sum(axis=1) ** 2
        found = 1 - divide(observed * (n - 1), apart)
        # Where all ratings are of one rank, rounding must not pass for variation.
        return np.where((margins > 0).sum(axis=1) > 1, found, np.nan)

    return value


def _mid_ranks(margins: Floats) -> Floats:
    """Mid-ranks over the number of ratings, in [0, 1]: shape (draws, q)."""
    n = margins.sum(axis=1, keepdims=True)
    middle = np.cumsum(margins, axis=1) - margins / 2
    return divide(middle, np.broadcast_to(n, middle.shape))
