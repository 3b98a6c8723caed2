"""Student's t and the tests of means: against scipy, published values and degenerate data."""

import numpy as np
import pytest
from scipy import stats

from labelhub.core.agreement.student import t_cdf, t_quantile


@pytest.mark.parametrize("df", [1, 2.5, 9, 1000])
def test_the_distribution_is_that_of_scipy(df: float) -> None:
    t = np.linspace(-6, 6, 25)
    np.testing.assert_allclose(t_cdf(t, df), stats.t.cdf(t, df), rtol=1e-10)
    shares = np.linspace(0.001, 0.999, 25)
    np.testing.assert_allclose(t_quantile(shares, df), stats.t.ppf(shares, df), rtol=1e-8)


def test_the_quantile_undoes_the_distribution() -> None:
    shares = np.array([0.01, 0.3, 0.5, 0.975])
    np.testing.assert_allclose(t_cdf(t_quantile(shares, 7), 7), shares, rtol=1e-10)
