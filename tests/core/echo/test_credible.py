"""Between which bounds a relevance lies."""

import numpy as np
import pytest

from labelhub.core.echo.credible import relevance_bounds
from labelhub.core.echo.relevance import Relevance, new_relevance
from tests.cases import all_cases


def belief(odds: float, weight: float, variance: float) -> Relevance:
    one = np.ones(1)
    return Relevance(odds * one, weight * one, variance * one, odds * one)


@all_cases("odds", [-4.0, -1.7, 0.0, 2.0, 6.0])
@all_cases(("weight", "variance"), [(0.4, 0.03), (0.1, 0.04), (-0.2, 0.01)])
def test_the_bounds_hold_what_they_say(odds: float, weight: float, variance: float) -> None:
    found = belief(odds, weight, variance)
    (low,), (high,) = relevance_bounds(found, 0.9)
    draws = np.random.default_rng(7)
    on = draws.random(100_000) < found.matters
    values = np.where(on, weight + np.sqrt(variance) * draws.standard_normal(100_000), 0.0)
    assert (values < low).mean() <= 0.055
    assert (values > high).mean() <= 0.055
    assert ((values >= low) & (values <= high)).mean() >= 0.89


def test_what_hardly_ever_matters_is_nothing() -> None:
    low, high = relevance_bounds(belief(-6.0, 0.4, 0.03))
    assert (low[0], high[0]) == (0.0, 0.0)


def test_what_surely_matters_is_where_its_weight_is() -> None:
    low, high = relevance_bounds(belief(6.0, 0.5, 0.0001))
    assert (low[0], high[0]) == pytest.approx((0.48, 0.52), abs=0.01)


def test_the_interval_is_that_of_draws_from_the_belief() -> None:
    relevance = new_relevance(4)
    relevance.odds[:] = [-5.0, -1.7, 0.5, 5.0]
    relevance.weight[:] = [0.4, 0.4, -0.2, 0.3]
    draws = np.random.default_rng(3)
    lows, highs = relevance_bounds(relevance)
    for at in range(4):
        on = draws.random(200_000) < relevance.matters[at]
        weight = relevance.weight[at] + np.sqrt(relevance.variance[at]) * draws.standard_normal(
            200_000
        )
        found = np.percentile(np.where(on, weight, 0.0), [2.5, 97.5])
        assert [lows[at], highs[at]] == pytest.approx(found.tolist(), abs=0.01)
