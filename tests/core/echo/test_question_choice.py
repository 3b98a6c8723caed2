"""What is asked is worth asking, and every question's chance to be asked is known and true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labelhub.core.echo.question_choice import (
    EXPLORE,
    Asking,
    Floats,
    choose,
    worth,
)

worths = st.lists(st.floats(-1, 1), max_size=12).map(np.array)
#: Two of them are not worth asking, two are equal.
VALUES = np.array([0.3, -0.1, 0.9, 0.05, 0.3, 0.0, 0.6])
WORTHY = np.flatnonzero(VALUES > 0)
DRAWS = 20_000


def asked(
    values: Floats, most: int, seed: int = 0, explore: float = EXPLORE, times: int = DRAWS
) -> list[Asking]:
    draws = np.random.default_rng(seed)
    return [choose(values, most, draws, explore) for _ in range(times)]


@given(worths, st.integers(0, 6), st.floats(0, 1), st.integers(0, 1_000))
def test_the_chances_of_all_candidates_sum_to_the_number_asked(
    values: Floats, most: int, explore: float, seed: int
) -> None:
    found = choose(values, most, np.random.default_rng(seed), explore)
    assert len(found.chosen) == min(most, int((values > 0).sum()))
    assert found.propensities.shape == values.shape
    assert found.propensities.sum() == pytest.approx(len(found.chosen))
    assert ((found.propensities >= 0) & (found.propensities <= 1 + 1e-12)).all()


@given(worths, st.integers(0, 6), st.floats(0.01, 1), st.integers(0, 1_000))
def test_what_is_not_worth_asking_is_not_asked_and_what_is_may_be(
    values: Floats, most: int, explore: float, seed: int
) -> None:
    found = choose(values, most, np.random.default_rng(seed), explore)
    assert (values[found.chosen] > 0).all()
    assert len(set(found.chosen.tolist())) == len(found.chosen)
    may = found.propensities > 0
    assert may.tolist() == ((values > 0) & (most > 0)).tolist()


@pytest.mark.thorough
@pytest.mark.parametrize(("most", "explore"), [(1, 0.1), (2, 0.1), (3, 0.5), (2, 1.0)])
def test_each_is_asked_as_often_as_its_stored_chance_says(most: int, explore: float) -> None:
    found = asked(VALUES, most, seed=most, explore=explore)
    told = found[0].propensities[WORTHY]
    counts = np.bincount(np.concatenate([each.chosen for each in found]), minlength=len(VALUES))
    assert counts[np.setdiff1d(np.arange(len(VALUES)), WORTHY)].sum() == 0
    # One term for asked and one for not asked of each candidate: as many binomials.
    got, want = counts[WORTHY], DRAWS * told
    statistic = ((got - want) ** 2 / (want * (1 - told))).sum()
    # Fixed in number, so that they hang together; the number of candidates is more than enough.
    assert stats.chi2.sf(statistic, len(WORTHY)) > 0.001


@pytest.mark.thorough
def test_weighted_by_their_chances_those_asked_stand_for_all_that_are_worthy() -> None:
    quantity = np.array([5.0, 100.0, 1.0, 9.0, 2.0, 100.0, 7.0])  # the best differ from the rest
    weighed = [
        (quantity[each.chosen] / each.propensities[each.chosen]).sum() / len(WORTHY)
        for each in asked(VALUES, 2, seed=1)
    ]
    plain = [quantity[each.chosen].mean() for each in asked(VALUES, 2, seed=1, times=2_000)]
    error = np.std(weighed) / np.sqrt(DRAWS)
    truth = quantity[WORTHY].mean()
    assert abs(np.mean(weighed) - truth) < 3.5 * error
    assert abs(np.mean(plain) - truth) > 0.5


@given(
    st.floats(-1, 2), st.floats(0.001, 0.999), st.integers(0, 10_000), st.floats(0.01, 1)
)  # fmt: skip
def test_worth_grows_with_doubt_and_shrinks_with_answers(
    relevance: float, doubt: float, answers: int, answered: float
) -> None:
    def one(sigma: float, had: float) -> float:
        columns = np.array([relevance]), np.array([sigma]), np.array([had])
        return float(worth(*columns, answered=answered)[0])

    assert one(doubt, answers) > one(doubt / 2, answers) > 0
    assert one(doubt, answers) > one(doubt, answers + 30)
