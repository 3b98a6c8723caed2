"""Ordinal alpha of many categories: the same numbers as by coincidences, in little memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given

from labelhub.core.agreement.coefficients import alpha, ordinal
from labelhub.core.agreement.estimation import estimated, linearised_error, units
from labelhub.core.agreement.intervals import weights
from labelhub.core.agreement.ratings import Ints, from_matrix
from tests.core.agreement.by_pairs import Table, tables

Q = 4
MOST_MEMORY = 50_000_000


def rated(items: int, q: int, spread: int) -> Ints:
    """Counts of three raters who scatter about an item's true rank; a tenth of ratings missing."""
    generator = np.random.default_rng(1)
    truth = generator.integers(0, q, (items, 1))
    table = np.clip(truth + generator.integers(-spread, spread + 1, (items, 3)), 0, q - 1)
    table[generator.random(table.shape) < 0.1] = -1
    return from_matrix(table, q).counts()


def once(counts: Ints) -> Ints:
    return np.ones(len(counts), dtype=np.int64)


@given(tables(q=Q))
def test_the_value_is_that_of_the_definition(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    expected = alpha.estimate(counts, alpha.ordinal())
    for way in (ordinal.ordinal_alpha, ordinal.near_all):
        parts, value = way(counts, once(counts))
        found = float(value(parts.sum(axis=0, keepdims=True))[0])
        known = np.nan if expected is None else expected
        assert found == pytest.approx(known, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("items", [20, 60, 300])
def test_draws_near_all_the_data_give_the_same_interval(items: int) -> None:
    counts = rated(items, 9, 2)
    drawn = weights(once(counts))
    exact, near = (
        way.value(drawn @ way.parts)
        for way in (
            ordinal.ordinal_alpha(counts, once(counts)),
            ordinal.near_all(counts, once(counts)),
        )
    )
    assert np.abs(near - exact).max() < 1 / items
    ends = [np.percentile(each, [2.5, 97.5]) for each in (exact, near)]
    assert ends[0] == pytest.approx(ends[1], abs=0.3 / items)


def test_the_linearised_error_is_the_same() -> None:
    counts = rated(200, 7, 1)
    found = [
        linearised_error(units(way.parts, once(counts)), way.value)
        for way in (
            ordinal.ordinal_alpha(counts, once(counts)),
            ordinal.near_all(counts, once(counts)),
        )
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_rows_that_stand_for_several_items_count_as_often() -> None:
    counts, often = rated(40, 6, 1), np.arange(40) % 4 + 1
    whole = np.repeat(counts, often, axis=0)
    parts, value = ordinal.near_all(counts, often)
    found = float(value((often @ parts)[None, :])[0])
    assert found == pytest.approx(alpha.estimate(whole, alpha.ordinal()))


@pytest.mark.parametrize("counts", [np.zeros((0, 40)), np.eye(40), 3 * np.eye(1, 40)])
def test_where_nothing_varies_there_is_no_alpha(counts: Ints) -> None:
    table = counts.astype(np.int64)
    parts, value = ordinal.ordinal_alpha(table, once(table))
    assert np.isnan(value(parts.sum(axis=0, keepdims=True))).all()


@pytest.mark.parametrize("items", [1500, 10_000])
def test_a_scale_of_101_points_fits_into_little_memory(items: int) -> None:
    counts = rated(items, 101, 9)
    tracemalloc.start()
    try:
        parts, value = ordinal.ordinal_alpha(counts, once(counts))
        assert alpha.estimate(counts, alpha.ordinal()) == pytest.approx(
            estimated(units(parts, once(counts)), value, n=items)["value"]
        )
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
