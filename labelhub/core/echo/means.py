"""Figures over repeated plays: a mean with its interval, by Student's t."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import stats

Figure: TypeAlias = dict[str, Any]

CONFIDENCE = 0.95


def mean_figure(values: Sequence[float], over: str = "seeds") -> Figure:
    """The mean of one number per play; the interval is None of fewer than two.

    Gives {"value", "low", "high", "n", "method"}; ``over`` names what was repeated.
    """
    count, mean = len(values), float(np.mean(values))
    method = f"mean over {over}, Student's t, 95 %"
    if count < 2:
        return {"value": mean, "low": None, "high": None, "n": count, "method": method}
    error = float(np.std(values, ddof=1)) / math.sqrt(count)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error
    return {
        "value": mean, "low": mean - reach, "high": mean + reach, "n": count, "method": method,
    }  # fmt: skip
