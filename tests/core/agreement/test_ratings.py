"""Ratings in long form: the same as the table they come from, whatever part is taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.ratings import Ratings, latest

Q = 3
#: Item, rater, category: any rater may have rated any item again and again.
SAID = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, Q - 1)), max_size=30)


def ratings_of(said: list[tuple[int, int, int]]) -> Ratings:
    items, raters, codes = np.array(said, dtype=np.int64).reshape(-1, 3).T
    return Ratings(items, raters, codes, n_items=5, n_raters=3, n_categories=Q)


def rows(ratings: Ratings) -> list[tuple[int, int, int]]:
    triples = zip(ratings.items, ratings.raters, ratings.codes, strict=True)
    return [(int(item), int(rater), int(code)) for item, rater, code in triples]


@given(SAID)
def test_every_repetition_is_counted(said: list[tuple[int, int, int]]) -> None:
    counts = ratings_of(said).counts()
    assert counts.shape == (5, Q)
    assert counts.sum() == len(said)
    for item, _, code in said:
        assert counts[item, code] == sum((one, c) == (item, code) for one, _, c in said)


@given(SAID, st.booleans())
def test_the_latest_is_what_a_reader_of_the_list_would_keep(
    said: list[tuple[int, int, int]],
    few: bool,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not few:
            patch.setattr("labelhub.core.agreement.ratings.FEW_CELLS", 0)
        found = rows(latest(ratings_of(said)))
    last = {(item, rater): at for at, (item, rater, _) in enumerate(said)}
    assert found == [said[at] for at in sorted(last.values())]
    assert rows(latest(ratings_of(found))) == found
