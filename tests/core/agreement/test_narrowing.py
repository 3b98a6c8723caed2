"""A part of the ratings: of some items, or the last of each rater and item."""

import numpy as np
import pytest

from labelhub.core.agreement import narrowing
from labelhub.core.agreement.ratings import Ratings, from_matrix

ITEMS, RATERS, CODES = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [0, 1, 1, 2]])
TWICE = Ratings(ITEMS, RATERS, CODES, 2, 2, 3)


@pytest.mark.parametrize("few", [narrowing.FEW_CELLS, 0])
def test_of_several_ratings_the_last_stays_in_its_place(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrowing, "FEW_CELLS", few)
    found = narrowing.latest(TWICE)
    assert found.items.tolist() == [0, 1, 0]
    assert found.raters.tolist() == [1, 0, 0]
    assert found.codes.tolist() == [1, 1, 2]


def test_where_nobody_rated_twice_nothing_is_copied() -> None:
    once = from_matrix([[0, 1], [1, -1]])
    assert narrowing.latest(once) is once


def test_what_was_said_of_some_items() -> None:
    found = narrowing.on_items(TWICE, np.array([False, True]))
    assert (found.items.tolist(), found.codes.tolist(), len(found)) == ([1], [1], 1)
    assert (found.n_items, found.n_raters, found.n_categories) == (2, 2, 3)
