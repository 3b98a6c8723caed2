"""Published standard errors: none where there is no coefficient, and of items that were rated."""

import numpy as np
import pytest

from labelhub.core.agreement.coefficients import chance, conger, errors, sums
from labelhub.core.agreement.ratings import from_matrix

Q = 3


def test_dividing_by_items_instead_of_one_less_is_the_smaller_error() -> None:
    counts = np.array([[2, 1, 0], [0, 3, 0], [0, 1, 2], [3, 0, 0], [1, 1, 1]])
    columns = sums.parts(counts)
    usual = errors.gwet_error(columns, chance.gwet_chance(Q))
    other = errors.gwet_error(columns, chance.gwet_chance(Q), corrected=False)
    assert other == pytest.approx(usual * np.sqrt(4 / 5))


def test_congers_error_is_fleiss_error_where_all_raters_have_the_same_shares() -> None:
    """Not equal, but near: each rater says each category equally often."""
    table = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]] * 10
    ratings = from_matrix(table)
    of_conger = errors.gwet_error(conger.conger_parts(ratings), conger.conger_chance(3, Q))
    of_fleiss = errors.gwet_error(sums.parts(ratings.counts()), chance.fleiss_chance(Q))
    assert of_conger == pytest.approx(of_fleiss, rel=0.01)
