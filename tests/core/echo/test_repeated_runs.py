"""A mean over plays has Student's interval, and says over what it is."""

import numpy as np
import pytest
from scipy import stats

from labelhub.core.echo.repeated_runs import mean_figure


def test_a_mean_has_students_interval() -> None:
    values = [0.1, 0.3, 0.2, 0.6]
    found = mean_figure(values)
    known = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert found["value"] == pytest.approx(0.3)
    assert (found["low"], found["high"]) == pytest.approx(known)
    assert (found["n"], found["method"]) == (4, "mean over seeds, Student's t, 95 %")


def test_one_value_has_no_interval() -> None:
    method = "mean over orders, Student's t, 95 %"
    assert mean_figure([0.3], "orders") == {
        "value": 0.3, "low": None, "high": None, "n": 1, "method": method,
    }  # fmt: skip
