"""Ratings in long form: the same as the table they come from, whatever part is taken."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.narrowing import latest, on_items
from labelhub.core.agreement.ratings import Ratings, from_matrix
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement.by_pairs import Table, tables

Q = 3
#: Item, rater, category: any rater may have rated any item again and again.
SAID = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, Q - 1)), max_size=30)


def ratings_of(said: list[tuple[int, int, int]]) -> Ratings:
    items, raters, codes = np.array(said, dtype=np.int64).reshape(-1, 3).T
    return Ratings(items, raters, codes, n_items=5, n_raters=3, n_categories=Q)


def rows(ratings: Ratings) -> list[tuple[int, int, int]]:
    triples = zip(ratings.items, ratings.raters, ratings.codes, strict=True)
    return [(int(item), int(rater), int(code)) for item, rater, code in triples]


@given(tables(q=Q))
def test_a_table_becomes_what_everybody_said_of_every_item(table: Table) -> None:
    found = from_matrix(table, Q)
    said = [
        (item, rater, code)
        for item, row in enumerate(table)
        for rater, code in enumerate(row)
        if code >= 0
    ]
    assert rows(found) == said
    assert (found.n_items, found.n_raters) == (len(table), len(table[0]))
    counts = [[row.count(code) for code in range(Q)] for row in table]
    assert found.counts().tolist() == counts


@given(SAID)
def test_every_repetition_is_counted(said: list[tuple[int, int, int]]) -> None:
    counts = ratings_of(said).counts()
    assert counts.shape == (5, Q)
    assert counts.sum() == len(said)
    for item, _, code in said:
        assert counts[item, code] == sum((one, c) == (item, code) for one, _, c in said)


@given(SAID, st.lists(st.booleans(), min_size=3, max_size=3))
def test_of_some_raters_is_all_they_said_in_its_order(
    said: list[tuple[int, int, int]], wanted: list[bool]
) -> None:
    found = ratings_of(said).of_raters(np.array(wanted))
    assert rows(found) == [row for row in said if wanted[row[1]]]
    assert (found.n_items, found.n_raters, found.n_categories) == (5, 3, Q)


@given(SAID, st.booleans())
def test_the_latest_is_what_a_reader_of_the_list_would_keep(
    said: list[tuple[int, int, int]],
    few: bool,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not few:
            patch.setattr("labelhub.core.agreement.narrowing.FEW_CELLS", 0)
        found = rows(latest(ratings_of(said)))
    last = {(item, rater): at for at, (item, rater, _) in enumerate(said)}
    assert found == [said[at] for at in sorted(last.values())]
    assert rows(latest(ratings_of(found))) == found


@given(SAID, st.lists(st.booleans(), min_size=5, max_size=5))
def test_on_some_items_is_all_that_was_said_of_them(
    said: list[tuple[int, int, int]], wanted: list[bool]
) -> None:
    found = on_items(ratings_of(said), np.array(wanted))
    assert rows(found) == [row for row in said if wanted[row[0]]]


def test_categories_are_those_declared_or_up_to_the_highest_used() -> None:
    assert from_matrix([[0, 2], [-1, 1]]).n_categories == 3
    assert from_matrix([[0, 2], [-1, 1]], 7).n_categories == 7
    assert len(from_matrix([[-1, -1]])) == 0
    assert from_matrix(np.empty((0, 4))).counts().shape == (0, 0)


@all_cases(
    "table", [[0, 1], [[0.5, 1.0]], [["a", "b"]], [[0, 1], [1]], np.zeros((2, 2, 2), int), None]
)
def test_what_is_no_table_of_numbers_is_refused(table: Any) -> None:
    with pytest.raises(InvalidInput, match="items by raters"):
        from_matrix(table)


def test_a_number_that_is_not_declared_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Category number 2 is not among the 2"):
        from_matrix([[0, 2]], 2)
