"""A vote of fewer labels: the mean over every choice of them, exactly."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.aggregation.majority import (
    MOST_VOTES,
    credit_of_votes,
    majority_accuracy,
)
from labelhub.core.errors import InvalidInput

tables = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=3, max_size=3), st.integers(0, 2)),
    min_size=1,
    max_size=5,
)


def by_enumeration(counts: list[int], truth: int, votes: int) -> float:
    labels = [category for category, often in enumerate(counts) for _ in range(often)]
    if len(labels) < votes:
        return float("nan")
    chosen = [np.bincount(some, minlength=len(counts)) for some in combinations(labels, votes)]
    truths = np.full(len(chosen), truth)
    return float(majority_accuracy(np.array(chosen), truths).credit.mean())


@given(tables, st.integers(1, 9))
def test_it_is_the_mean_over_every_choice(table: list[tuple[list[int], int]], votes: int) -> None:
    counts = np.array([row for row, _ in table])
    truth = np.array([true for _, true in table])

    found = credit_of_votes(counts, truth, votes)

    wanted = [by_enumeration(row, true, votes) for row, true in table]
    assert found == pytest.approx(np.array(wanted), nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("votes", [0, MOST_VOTES + 1])
def test_impossible_numbers_of_votes_are_refused(votes: int) -> None:
    with pytest.raises(InvalidInput):
        credit_of_votes(np.array([[1, 1]]), np.array([0]), votes)
