"""One rater against all others: by hand, and against the formulas for two raters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients.pairwise import cohen, contingency
from labelhub.core.agreement.intervals import student_t
from labelhub.core.agreement.with_others import rater_agreement
from tests.core.agreement.matrices import from_matrix

NONE = -1


def test_only_items_that_others_rated_count() -> None:
    found = rater_agreement(
        from_matrix([[0, 0, NONE], [1, 0, NONE], [1, NONE, NONE], [0, 0, NONE]])
    )

    assert [rater.items for rater in found] == [3, 3, 0]
    assert found[0].percent["value"] == pytest.approx(2 / 3)
    assert found[2].percent["reason"] == "nobody else labelled the same items"


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=10, max_size=60).filter(
        lambda rows: len({value for row in rows for value in row}) > 1
    )
)
def test_of_two_raters_it_is_cohens_kappa_with_its_published_error(
    rows: list[tuple[int, int]],
) -> None:
    kappa = rater_agreement(from_matrix(rows, 3))[0].kappa

    first, second = (np.array([row[rater] for row in rows]) for rater in (0, 1))
    value, error = cohen(contingency(first, second, 3))
    assert value is not None
    assert kappa["value"] == pytest.approx(value)
    n, low = len(rows), kappa["low"]
    away = student_t(n - 1) * (error or 0) * (n / (n - 1)) ** 0.5
    # An error of nothing comes out of the published formula as the root of a rounding error.
    assert low == pytest.approx(max(-1, value - away), abs=1e-6)


def test_where_nothing_varies_there_is_no_kappa() -> None:
    found = rater_agreement(from_matrix([[0, 0], [0, 0], [0, 0]], 2))[0]

    assert found.percent["value"] == 1
    assert found.kappa["value"] is None


def test_every_other_rating_is_a_comparison_but_items_make_the_interval() -> None:
    """Ten items by six raters: fifty comparisons say little more than ten would."""
    table = [[0] * 6 if item % 2 else [0, 1, 1, 1, 1, 1] for item in range(10)]

    percent = rater_agreement(from_matrix(table))[0].percent

    assert (percent["value"], percent["n"]) == (0.5, 50)
    low, high = percent["low"], percent["high"]
    assert low is not None
    assert high is not None
    assert low < 0.3
    assert high > 0.7


def test_the_order_of_ratings_does_not_matter() -> None:
    ratings = from_matrix([[0, 1, 0], [1, 1, NONE], [0, 0, 1], [NONE, 1, 1]], 2)
    mixed = np.random.default_rng(3).permutation(len(ratings))
    turned = type(ratings)(
        ratings.items[mixed],
        ratings.raters[mixed],
        ratings.codes[mixed],
        ratings.n_items,
        ratings.n_raters,
        ratings.n_categories,
    )

    assert rater_agreement(turned) == rater_agreement(ratings)
