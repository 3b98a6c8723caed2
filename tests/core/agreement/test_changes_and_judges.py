"""Changes of mind, agreement of voters, and the front of what nobody beats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.arms import front
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.figures import resample
from labelhub.core.agreement.opinions import NO_VARIATION, TOO_FEW, agreement, changes

POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


def test_percent_agreement_is_that_of_pairs_of_voters() -> None:
    votes = np.array([[3, 0], [2, 1], [1, 0]])
    found = agreement(resample(3), np.arange(3), votes)
    assert found.debates == 2  # one voter alone agrees with nobody
    assert found.percent["value"] == pytest.approx((1 + 1 / 3) / 2)


def test_one_voter_alone_counts_for_how_common_a_category_is() -> None:
    # Shares are means over all three debates: (1 + 2/3 + 0) / 3 = 5/9 and 4/9.
    votes = np.array([[3, 0], [2, 1], [0, 1]])
    found = agreement(resample(3), np.arange(3), votes)
    assert (found.debates, found.fleiss["n"]) == (2, 2)
    by_chance = (5 / 9) ** 2 + (4 / 9) ** 2
    expected = (2 / 3 - by_chance) / (1 - by_chance)
    assert found.fleiss["value"] == pytest.approx(expected)
    assert chance.estimate(votes, chance.fleiss_kappa(2)) == pytest.approx(expected)


def test_where_everybody_says_the_same_there_is_no_kappa() -> None:
    found = agreement(resample(2), np.arange(2), np.array([[3, 0], [3, 0]]))
    assert found.percent["value"] == 1.0
    assert found.fleiss == {"value": None, "reason": NO_VARIATION}
    nobody = agreement(resample(2), np.arange(2), np.zeros((2, 1), dtype=np.int64))
    assert nobody.percent == {"value": None, "reason": TOO_FEW}


def test_changes_are_counted_both_ways() -> None:
    before = np.array([True, True, False, False, False])
    after = np.array([True, False, True, True, False])
    found = changes(resample(5), np.arange(5), before, after)
    assert (found.right_right, found.right_wrong) == (1, 1)
    assert (found.wrong_right, found.wrong_wrong) == (2, 1)
    assert (found.gain, found.n) == (1, 5)
    assert found.mended["value"] == pytest.approx(2 / 3)
    assert found.spoilt["value"] == 0.5
    never = changes(resample(1), np.array([0]), np.array([True]), np.array([True]))
    assert never.mended == {"value": None, "reason": "nothing was wrong before"}


@given(POINTS)
def test_the_front_is_what_nothing_dominates(points: list[tuple[int, int]]) -> None:
    def beaten(at: int) -> bool:
        cost, quality = points[at]
        return any(c <= cost and q >= quality and (c, q) != points[at] for c, q in points)

    found = front([(float(c), float(q)) for c, q in points])
    assert sorted(found) == [at for at in range(len(points)) if not beaten(at)]
    assert [points[at][0] for at in found] == sorted(points[at][0] for at in found)
