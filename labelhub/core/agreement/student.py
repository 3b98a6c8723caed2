"""Student's t distribution."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]


def t_cdf(t: ArrayLike, df: ArrayLike) -> Floats:
    """Chance of a value of at most ``t`` under ``df`` degrees of freedom (Student 1908).

    Both broadcast; ``df`` is positive and need not be whole. NaN where either is NaN.
    """
    return np.asarray(special.stdtr(_positive(df), t), dtype=np.float64)


def t_quantile(share: ArrayLike, df: ArrayLike) -> Floats:
    """The value that a share of the distribution stays below: the inverse of ``t_cdf``."""
    shares = np.asarray(share, dtype=np.float64)
    if np.any((shares < 0) | (shares > 1)):
        raise InvalidInput("A share of a distribution lies between 0 and 1.")
    return np.asarray(special.stdtrit(_positive(df), shares), dtype=np.float64)


def _positive(df: ArrayLike) -> Floats:
    freedom = np.asarray(df, dtype=np.float64)
    if np.any(freedom <= 0):
        raise InvalidInput("Degrees of freedom are positive.")
    return freedom
