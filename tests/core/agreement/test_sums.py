"""Items as rows of numbers: what stands in a row, and that different rows are enough."""

import numpy as np
import pytest
from hypothesis import given

from labelhub.core.agreement.coefficients import sums
from labelhub.core.agreement.ratings import from_matrix
from tests.core.agreement.by_pairs import Table, tables

Q = 3


@given(tables(items=20))
def test_the_sums_of_different_rows_are_those_of_all_rows(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    rows = sums.distinct(counts)
    assert len(np.unique(rows.counts, axis=0)) == len(rows.counts)
    found = sums.total(rows, sums.parts(rows.counts))
    assert found == pytest.approx(sums.parts(counts).sum(axis=0, keepdims=True))


@pytest.mark.parametrize(
    ("most", "q"),
    [
        pytest.param(3, 3, id="by position"),
        pytest.param(200, 4, id="by sorted numbers"),
        pytest.param(3000, 6, id="too wide for one number"),
    ],
)
def test_however_rows_are_numbered_every_item_is_found_again(most: int, q: int) -> None:
    counts = np.random.default_rng(3).integers(0, most + 1, size=(50, q))
    counts = np.vstack([counts, counts[:20], np.full((1, q), most)])
    rows = sums.distinct(counts)
    again = np.repeat(rows.counts, rows.items, axis=0)
    assert sorted(again.tolist()) == sorted(counts.tolist())


@pytest.mark.parametrize("most", [3, 200, 3_000_000])
def test_every_item_knows_its_row(most: int) -> None:
    counts = np.random.default_rng(3).integers(0, most + 1, size=(50, 4))
    counts = np.vstack([counts, counts[:20]])
    found = sums.patterns(counts)
    assert (found.table() == counts).all()
    assert (np.bincount(found.of_item) == found.items).all()
    assert (found.totals[found.of_item] == counts.sum(axis=1)).all()


def test_rows_may_stand_for_several_items() -> None:
    rows = sums.distinct(np.array([[1, 0], [0, 2], [1, 0]]), np.array([5, 1, 2]))
    told = dict(zip(map(tuple, rows.counts.tolist()), rows.items.tolist(), strict=True))
    assert told == {(1, 0): 7, (0, 2): 1}


@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (2, 0), (0, 0)])
def test_rows_of_nothing(shape: tuple[int, int]) -> None:
    rows = sums.distinct(np.zeros(shape, dtype=np.int64))
    assert rows.items.sum() == shape[0]
    assert rows.counts.shape[1] == shape[1]


def test_what_stands_in_a_row() -> None:
    found = sums.parts(np.array([[3, 1, 0]]))[0]
    layout = sums.Layout(Q)
    assert found[layout.agree] == pytest.approx(6 / 12)
    assert found[layout.pairable] == found[layout.rated] == 1
    assert found[layout.pairs] == pytest.approx(6 / 3)
    assert found[layout.shares] == pytest.approx([3 / 4, 1 / 4, 0])
    assert found[layout.margins] == pytest.approx([3, 1, 0])


def test_an_item_with_one_rating_has_shares_but_nothing_to_pair() -> None:
    found = sums.parts(np.array([[0, 1, 0]]))[0]
    layout = sums.Layout(Q)
    assert found[layout.rated] == 1
    assert found[layout.shares].tolist() == [0, 1, 0]
    assert not found[[layout.agree, layout.pairable, layout.pairs]].any()
    assert not found[layout.margins].any()


def test_an_item_without_ratings_is_nought_throughout() -> None:
    assert not sums.parts(np.zeros((2, Q), dtype=np.int64)).any()


def test_weights_count_near_pairs_in_part() -> None:
    near = np.array([[1, 0.5], [0.5, 1]])
    found = sums.parts(np.array([[1, 1], [2, 1]]), near)
    assert found[:, sums.Layout.agree] == pytest.approx([0.5, 2 / 3])


@given(tables())
def test_identity_weights_change_nothing(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    assert sums.parts(counts, np.eye(Q)) == pytest.approx(sums.parts(counts))
