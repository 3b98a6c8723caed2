"""Coefficients of agreement against their definitions by pairs, and where they have no value."""

import tracemalloc
from collections.abc import Callable
from itertools import permutations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import alpha, chance, pairwise, sums
from labelhub.core.agreement.estimation import Units, estimate, item_units, linearised_error
from labelhub.core.agreement.intervals import draw_weights
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement import by_pairs
from tests.core.agreement.by_pairs import Table, measures, tables
from tests.core.agreement.matrices import from_matrix, value_of_counts

Q = 3
SCORES = [1.0, 2.0, 4.5]
NOMINAL = 1 - np.eye(Q)
FAMILIES: list[tuple[Callable[[int], sums.Value], Callable[[Table], float | None]]] = [
    (chance.percent, by_pairs.percent),
    (chance.fleiss_kappa, lambda table: by_pairs.fleiss(table, Q)),
    (chance.gwet_ac, lambda table: by_pairs.gwet(table, Q)),
    (chance.brennan_prediger, lambda table: by_pairs.brennan_prediger(table, Q)),
    (chance.alpha_nominal, lambda table: by_pairs.alpha(table, lambda a, b: float(a != b))),
]
NO_PAIRS = [
    pytest.param(np.zeros((0, Q), dtype=np.int64), id="no item"),
    pytest.param(np.zeros((2, Q), dtype=np.int64), id="no rating"),
    pytest.param(np.eye(Q, dtype=np.int64), id="no item with two ratings"),
]
TABLES = st.integers(2, 4).flatmap(
    lambda q: st.lists(st.lists(st.integers(0, 12), min_size=q, max_size=q), min_size=q, max_size=q)
)


def counts_of(table: Table) -> Ints:
    return from_matrix(table, Q).counts()


def ordinal_value(counts: Ints) -> float | None:
    found = alpha.ordinal_alpha(counts, once(counts))
    return number(found.value(found.parts.sum(axis=0, keepdims=True)))


def alpha_of(counts: Ints, distances: Floats) -> float | None:
    columns = alpha.distance_parts(counts, distances).sum(axis=0, keepdims=True)
    return number(alpha.alpha_by_distance(distances)(columns))


def number(values: Floats) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def near(found: float | None) -> object:
    return pytest.approx(found, abs=1e-9)


def near_or_nan(found: float | None) -> object:
    return pytest.approx(np.nan if found is None else found, abs=1e-9, nan_ok=True)


def once(counts: Ints) -> Ints:
    return np.ones(len(counts), dtype=np.int64)


@given(tables())
def test_coefficients_of_many_raters_follow_their_definitions(table: Table) -> None:
    for family, slow in FAMILIES:
        assert value_of_counts(counts_of(table), family(Q)) == near(slow(table))


@given(tables(), measures())
def test_gwets_weighted_coefficient_follows_its_definition(
    table: Table, weights: list[list[float]]
) -> None:
    w = np.array(weights)
    slow = by_pairs.gwet(table, Q, by_pairs.from_table(weights))
    assert value_of_counts(counts_of(table), chance.gwet_ac(Q, w), w) == near(slow)


@given(tables(), measures())
def test_alpha_of_any_distance_follows_its_definition(
    table: Table, weights: list[list[float]]
) -> None:
    counts = counts_of(table)
    by_rank = by_pairs.alpha(table, by_pairs.ordinal(table))
    assert ordinal_value(counts) == near(by_rank)
    assert alpha_of(counts, 1 - np.array(weights)) == near(
        by_pairs.alpha(table, lambda a, b: 1 - weights[a][b])
    )
    assert alpha_of(counts, alpha.interval_distance(SCORES)) == near(
        by_pairs.alpha(table, lambda a, b: (SCORES[a] - SCORES[b]) ** 2)
    )
    assert alpha_of(counts, alpha.ratio_distance(SCORES)) == near(
        by_pairs.alpha(table, lambda a, b: ((SCORES[a] - SCORES[b]) / (SCORES[a] + SCORES[b])) ** 2)
    )


@given(tables())
def test_alpha_of_sets_of_one_label_each_is_that_of_labels(table: Table) -> None:
    sets = [frozenset({name}) for name in "abc"]
    for masi in (True, False):
        assert alpha_of(counts_of(table), alpha.set_distances(sets, masi=masi)) == near(
            alpha_of(counts_of(table), NOMINAL)
        )


@all_cases("counts", NO_PAIRS)
def test_without_pairs_there_is_no_value(counts: Ints) -> None:
    for family, _ in FAMILIES:
        assert value_of_counts(counts, family(Q)) is None
    assert alpha_of(counts, NOMINAL) is ordinal_value(counts) is None


def test_where_everybody_says_the_same_only_what_chance_cannot_give_has_a_value() -> None:
    same = np.array([[3, 0, 0], [2, 0, 0]])
    found = {family: value_of_counts(same, family(Q)) for family, _ in FAMILIES}
    assert found[chance.fleiss_kappa] is found[chance.alpha_nominal] is None
    assert found[chance.gwet_ac] == found[chance.brennan_prediger] == 1
    assert alpha_of(same, NOMINAL) is ordinal_value(same) is None


def conger_of(table: object) -> float:
    ratings = from_matrix(table, Q)
    columns = chance.conger_parts(ratings).sum(axis=0, keepdims=True)
    return float(chance.conger_kappa(ratings.n_raters, Q)(columns)[0])


@given(tables())
def test_congers_kappa_follows_its_definition(table: Table) -> None:
    assert conger_of(table) == near_or_nan(by_pairs.conger(table, Q))


@given(tables())
def test_congers_kappa_of_three_columns_has_the_value_and_the_error_of_all(table: Table) -> None:
    ratings = from_matrix(table, Q)
    linear, often = chance.linear_conger(ratings), np.ones(ratings.n_items, dtype=np.int64)
    few = Units(linear.parts, often, "items", None)
    full = Units(chance.conger_parts(ratings), often, "items", None)
    value = chance.conger_kappa(ratings.n_raters, Q)

    for measured in (
        lambda units, of: float(of(units.sums)[0]),
        linearised_error,
    ):
        expected = measured(full, value)
        assert measured(few, linear.value) == pytest.approx(
            expected, rel=1e-5, abs=1e-7, nan_ok=True
        )


@pytest.mark.thorough
def test_congers_kappa_of_many_items_raters_and_categories_takes_no_table_of_all() -> None:
    n, raters, q = 100_000, 200, 200
    generator = np.random.default_rng(1)
    items, rater = np.repeat(np.arange(n), 3), generator.integers(raters, size=3 * n)
    truth = generator.integers(q, size=n)[items]
    codes = np.where(generator.random(3 * n) < 0.6, truth, generator.integers(q, size=3 * n))
    ratings = Ratings(items, rater, codes, n, raters, q)
    tracemalloc.start()
    linear = chance.linear_conger(ratings)
    found: Any = estimate(item_units(linear.parts, np.ones(n, dtype=np.int64)), linear.value, n=n)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Two who know agree in .36 of the pairs, and hardly ever by chance; some met themselves.
    assert found["value"] == pytest.approx(0.36, abs=0.01)
    assert found["low"] < found["value"] < found["high"]
    # All columns would take 32 GB.
    assert peak < 60e6


@all_cases(
    "table",
    [
        pytest.param([[0, 0], [0, 0]], id="everybody says the same"),
        pytest.param([[0, -1], [-1, 1]], id="no item with two ratings"),
        pytest.param([[0], [1]], id="one rater"),
        pytest.param(np.zeros((0, 2)), id="no item"),
    ],
)
def test_congers_kappa_is_undefined_where_chance_explains_all(table: object) -> None:
    assert np.isnan(conger_of(table))


@given(tables(q=2), st.lists(st.integers(2, 4), min_size=8, max_size=8))
def test_chance_among_own_options_is_the_mean_over_items_with_two_ratings(
    table: Table, options: list[int]
) -> None:
    pairable = [
        i for i, item in enumerate(table) if list(permutations(by_pairs.ratings_of(item), 2))
    ]
    slow = by_pairs.beyond(
        by_pairs.percent(table), by_pairs.mean([1 / options[i] for i in pairable])
    )
    counts = from_matrix(table, 4).counts()
    parts = chance.own_options_parts(counts, np.array(options[: len(table)]))
    found = float(chance.s_q(parts.sum(axis=0, keepdims=True))[0])
    assert found == near_or_nan(slow)


@pytest.mark.parametrize(("agreement", "stated"), [(0.555, 0.406), (0.341, 0.122), (0.348, 0.130)])
def test_the_agreement_of_the_author_labeling_paper_beyond_one_in_four(
    agreement: float, stated: float
) -> None:
    found = chance.s_q(np.array([[agreement * 100, 100, 25]]))
    assert found[0] == pytest.approx(stated, abs=0.001)


def rated(items: int, q: int, spread: int) -> Ints:
    """Counts of three raters who scatter about an item's true rank; a tenth of ratings missing."""
    generator = np.random.default_rng(1)
    truth = generator.integers(0, q, (items, 1))
    table = np.clip(truth + generator.integers(-spread, spread + 1, (items, 3)), 0, q - 1)
    table[generator.random(table.shape) < 0.1] = -1
    return from_matrix(table, q).counts()


def both_ways(counts: Ints) -> list[sums.Coefficient]:
    """By all coincidences, and near the margins of all the data."""
    return [way(counts, once(counts)) for way in (alpha.ordinal_alpha, alpha.compact_ordinal_alpha)]


@given(tables())
def test_ordinal_alpha_near_all_the_data_has_the_exact_value(table: Table) -> None:
    exact, close = (
        float(way.value(way.parts.sum(axis=0, keepdims=True))[0])
        for way in both_ways(counts_of(table))
    )
    assert close == pytest.approx(exact, abs=1e-9, nan_ok=True)


def test_ordinal_alpha_near_all_the_data_has_the_same_interval_and_error() -> None:
    counts = rated(60, 9, 2)
    drawn = draw_weights(once(counts))
    exact, close = (way.value(drawn @ way.parts) for way in both_ways(counts))
    assert np.abs(close - exact).max() < 1 / 60
    errors = [
        linearised_error(item_units(way.parts, once(counts)), way.value)
        for way in both_ways(counts)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


def test_ordinal_alpha_of_101_points_fits_into_little_memory() -> None:
    counts = rated(1500, 101, 9)
    tracemalloc.start()
    try:
        parts, value = alpha.ordinal_alpha(counts, once(counts))
        found = estimate(item_units(parts, once(counts)), value, n=1500)["value"]
        assert found is not None
        assert found > 0.9
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


@given(tables(), measures())
def test_pairs_of_raters_have_their_tables_and_cohens_kappa(
    table: Table, weights: list[list[float]]
) -> None:
    found = pairwise.all_pairs(from_matrix(table, Q))
    columns = np.array(table).T
    for a, first in enumerate(columns):
        for b, second in enumerate(columns):
            counts = pairwise.contingency(first, second, Q)
            assert found[a, b].tolist() == counts.tolist()
            slow = by_pairs.cohen(list(first), list(second), Q)
            assert float(pairwise.cohen_kappa(counts)) == near_or_nan(slow)
            near_pairs = by_pairs.cohen(list(first), list(second), Q, by_pairs.from_table(weights))
            weighted = float(pairwise.cohen_kappa(counts, np.array(weights)))
            assert weighted == near_or_nan(near_pairs)


@pytest.mark.parametrize("ratings", [(3, 2_000), (60, 40)])
def test_few_and_many_raters_are_counted_alike(ratings: tuple[int, int]) -> None:
    """Few raters by counting, many by a sparse product."""
    raters, items = ratings
    generator = np.random.default_rng(2)
    codes = generator.integers(-3, Q, (items, raters))
    found = pairwise.all_pairs(from_matrix(codes, Q))
    assert found[0, 1].tolist() == pairwise.contingency(codes[:, 0], codes[:, 1], Q).tolist()


def test_tables_that_would_not_fit_and_undeclared_categories_are_refused() -> None:
    assert pairwise.most_raters(5) == 1000
    assert pairwise.most_raters(0) == pairwise.most_raters(1) == 5000
    nobody = np.zeros(0, dtype=np.int64)
    with pytest.raises(InvalidInput, match="1001 raters and 5 categories are too large"):
        pairwise.all_pairs(Ratings(nobody, nobody, nobody, 1, 1001, 5))
    for first, second in (([0], [3]), ([3], [0]), ([0, 1], [0])):
        with pytest.raises(InvalidInput, match="numbers below q"):
            pairwise.contingency(np.array(first), np.array(second), Q)


def test_the_error_of_cohens_kappa_is_that_of_the_delta_method() -> None:
    """Another way to the same number: every item's influence, over items less one."""
    table = np.array([[20, 3, 1], [4, 15, 6], [2, 5, 30]])
    n = int(table.sum())
    ratings = from_matrix(np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0), Q)
    found = Units(chance.conger_parts(ratings), np.ones(n, dtype=np.int64), "items", draws=None)
    expected = linearised_error(found, chance.conger_kappa(2, Q))
    error = float(pairwise.kappa_error(table))
    assert error == pytest.approx(expected * sqrt((n - 1) / n), rel=1e-6)


@all_cases("most", [3, 200, 3_000_000])
def test_every_item_knows_its_row_however_rows_are_numbered(most: int) -> None:
    counts = np.random.default_rng(3).integers(0, most + 1, size=(50, 4))
    counts = np.vstack([counts, counts[:20]])
    found = sums.find_patterns(counts)
    assert (found.table() == counts).all()
    assert (np.bincount(found.of_item) == found.items).all()
    assert (found.totals[found.of_item] == counts.sum(axis=1)).all()
    again = np.repeat(found.counts, found.items, axis=0)
    assert sorted(again.tolist()) == sorted(counts.tolist())


def test_quadratic_weights_and_distances() -> None:
    assert alpha.quadratic_weights(range(4))[0] == pytest.approx([1, 8 / 9, 5 / 9, 0])
    assert alpha.quadratic_weights([1, 2, 5])[1] == pytest.approx([15 / 16, 1, 7 / 16])
    assert (alpha.quadratic_weights([2, 2]) == 1).all()
    assert alpha.ratio_distance([0, 0, 2]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    by_rank = alpha.ordinal_distance(np.array([4.0, 10.0, 6.0]))
    assert by_rank[0].tolist() == [0, 7**2, 15**2]  # half of the ratings at either end
    assert by_rank[1].tolist() == [7**2, 0, 8**2]


@all_cases(
    ("first", "second", "masi", "jaccard"),
    [
        ("a", "a", 0, 0),
        ("a", "ab", 1 - 1 / 3, 1 / 2),
        ("ab", "abc", 1 - 4 / 9, 1 / 3),
        ("ab", "bc", 1 - 1 / 9, 2 / 3),
        ("a", "b", 1, 1),
        ("", "", 0, 0),
        ("", "a", 1, 1),
    ],
)
def test_distances_of_sets(first: str, second: str, masi: float, jaccard: float) -> None:
    sets = [frozenset(first), frozenset(second)]
    assert alpha.set_distances(sets, masi=True)[0, 1] == pytest.approx(masi)
    assert alpha.set_distances(sets, masi=False)[0, 1] == pytest.approx(jaccard)
