"""Krippendorff's alpha for any distance, against the definition by pairs."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import alpha, chance, metrics
from labelhub.core.agreement.ratings import Floats, Ints, from_matrix
from tests.core.agreement import by_pairs
from tests.core.agreement.by_pairs import Table, measures, tables

Q = 4
SCORES = [1.0, 2.0, 4.0, 4.5]
METRICS: dict[str, alpha.Metric] = {
    "nominal": alpha.fixed(1 - np.eye(Q)),
    "ordinal": alpha.ordinal(),
    "interval": alpha.fixed(metrics.interval_distance(SCORES)),
    "ratio": alpha.fixed(metrics.ratio_distance(SCORES)),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def counts_of(table: Table, q: int = Q) -> Ints:
    return from_matrix(table, q).counts()


def near(one: float | None) -> object:
    return pytest.approx(one, abs=1e-9)


def interval(a: int, b: int) -> float:
    return (SCORES[a] - SCORES[b]) ** 2


def ratio(a: int, b: int) -> float:
    return ((SCORES[a] - SCORES[b]) / (SCORES[a] + SCORES[b])) ** 2


@given(tables(q=Q))
def test_alpha_follows_its_definition(table: Table) -> None:
    counts = counts_of(table)
    assert alpha.estimate(counts, METRICS["interval"]) == near(by_pairs.alpha(table, interval))
    assert alpha.estimate(counts, METRICS["ratio"]) == near(by_pairs.alpha(table, ratio))
    ordinal = by_pairs.alpha(table, by_pairs.ordinal(table))
    assert alpha.estimate(counts, METRICS["ordinal"]) == near(ordinal)


@given(tables(q=3), measures())
def test_alpha_of_any_distance_follows_its_definition(
    table: Table, weights: list[list[float]]
) -> None:
    found = alpha.estimate(counts_of(table, 3), alpha.fixed(1 - np.array(weights)))
    assert found == near(by_pairs.alpha(table, lambda a, b: 1 - weights[a][b]))


@given(tables(q=Q))
def test_with_nominal_distance_it_is_nominal_alpha(table: Table) -> None:
    counts = counts_of(table)
    nominal = chance.estimate(counts, chance.alpha_nominal(Q))
    assert alpha.estimate(counts, METRICS["nominal"]) == near(nominal)


@pytest.mark.parametrize(
    "distances",
    [
        1 - np.eye(Q),
        metrics.interval_distance(SCORES),
        metrics.ratio_distance(SCORES),
    ],
)
@given(table=tables(q=Q))
def test_the_short_way_for_fixed_distances_gives_the_same(distances: Floats, table: Table) -> None:
    counts = counts_of(table)
    columns = alpha.distance_parts(counts, distances).sum(axis=0, keepdims=True)
    found = float(alpha.alpha_by_distance(distances)(columns)[0])
    expected = alpha.estimate(counts, alpha.fixed(distances))
    assert found == pytest.approx(np.nan if expected is None else expected, abs=1e-9, nan_ok=True)


@given(tables(q=2))
def test_of_two_categories_every_metric_says_the_same(table: Table) -> None:
    counts = counts_of(table, 2)
    nominal = chance.estimate(counts, chance.alpha_nominal(2))
    assert alpha.estimate(counts, alpha.ordinal()) == near(nominal)
    assert alpha.estimate(counts, alpha.fixed(metrics.interval_distance([3, 8]))) == near(nominal)


@pytest.mark.thorough
@every_metric
@given(table=tables(q=Q), seed=st.integers(0, 99))
def test_the_order_of_raters_and_items_does_not_matter(
    metric: alpha.Metric, table: Table, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(generator.permuted(np.array(table), axis=1))
    found = alpha.estimate(from_matrix(shuffled, Q).counts(), metric)
    assert found == near(alpha.estimate(counts_of(table), metric))


@pytest.mark.thorough
@every_metric
@given(table=tables(q=Q), code=st.integers(0, Q - 1))
def test_an_item_with_one_rating_does_not_change_alpha_at_all(
    metric: alpha.Metric, table: Table, code: int
) -> None:
    counts = counts_of(table)
    more = np.vstack([counts, np.eye(Q, dtype=np.int64)[code], np.zeros(Q, dtype=np.int64)])
    assert alpha.estimate(more, metric) == alpha.estimate(counts, metric)


@given(tables(q=Q))
def test_ranks_read_from_the_other_end_give_the_same_ordinal_alpha(table: Table) -> None:
    counts = counts_of(table)
    reverse = alpha.estimate(counts[:, ::-1], alpha.ordinal())
    assert reverse == near(alpha.estimate(counts, alpha.ordinal()))


@given(tables(q=Q), st.integers(0, Q))
def test_a_rank_that_nobody_uses_does_not_change_ordinal_alpha(table: Table, at: int) -> None:
    counts = counts_of(table)
    wider = np.insert(counts, at, 0, axis=1)
    found = alpha.estimate(wider, alpha.ordinal())
    assert found == near(alpha.estimate(counts, alpha.ordinal()))


@given(tables(q=Q), st.floats(0.5, 50), st.floats(-50, 50))
def test_the_unit_of_the_scores_does_not_matter(table: Table, unit: float, zero: float) -> None:
    counts = counts_of(table)
    moved = alpha.fixed(metrics.interval_distance([unit * s + zero for s in SCORES]))
    scaled = alpha.fixed(metrics.ratio_distance([unit * s for s in SCORES]))
    assert alpha.estimate(counts, moved) == near(alpha.estimate(counts, METRICS["interval"]))
    assert alpha.estimate(counts, scaled) == near(alpha.estimate(counts, METRICS["ratio"]))


@given(tables(q=Q))
def test_coincidences_count_every_rating_of_a_pairable_item_once(table: Table) -> None:
    counts = counts_of(table)
    matrix = alpha.coincidences(counts).sum(axis=0).reshape(Q, Q)
    pairable = counts[counts.sum(axis=1) >= 2].sum(axis=0)
    assert matrix.sum(axis=1) == pytest.approx(pairable)
    assert matrix == pytest.approx(matrix.T)


@pytest.mark.parametrize("distance", [metrics.masi_distance, metrics.jaccard_distance])
@given(table=tables(q=Q))
def test_sets_of_one_label_each_are_plain_labels(
    distance: Callable[[list[frozenset[str]]], Floats], table: Table
) -> None:
    sets = [frozenset({name}) for name in "abcd"]
    found = alpha.estimate(counts_of(table), alpha.fixed(distance(sets)))
    assert found == near(alpha.estimate(counts_of(table), METRICS["nominal"]))


@every_metric
@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(np.zeros((0, Q), dtype=np.int64), id="no item"),
        pytest.param(np.zeros((2, Q), dtype=np.int64), id="no rating"),
        pytest.param(np.eye(Q, dtype=np.int64), id="no item with two ratings"),
        pytest.param(np.array([[3, 0, 0, 0], [2, 0, 0, 0]]), id="everybody says the same"),
        pytest.param(np.array([[2, 0, 0, 0], [0, 1, 0, 0]]), id="the same where it counts"),
    ],
)
def test_where_nothing_varies_there_is_no_alpha(metric: alpha.Metric, counts: Ints) -> None:
    assert alpha.estimate(counts, metric) is None


def test_no_or_one_category_is_no_alpha() -> None:
    assert alpha.estimate(np.zeros((2, 0), dtype=np.int64), alpha.ordinal()) is None
    assert alpha.estimate(np.array([[2], [3]]), alpha.ordinal()) is None


def test_categories_with_one_score_are_no_difference() -> None:
    same = alpha.fixed(metrics.interval_distance([2, 2]))
    assert alpha.estimate(np.array([[1, 1], [2, 0]]), same) is None


def test_full_agreement_is_one_and_systematic_disagreement_is_below_zero() -> None:
    agreed = np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 2]])
    for metric in METRICS.values():
        assert alpha.estimate(agreed, metric) == near(1.0)
    assert alpha.estimate(np.array([[1, 1]] * 5), alpha.ordinal()) == near(-0.8)
