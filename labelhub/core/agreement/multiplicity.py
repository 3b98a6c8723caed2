"""Several tests at once: p-values adjusted for their number.

Holm (1979) bounds the chance of even one false finding; Benjamini and Hochberg (1995) the share of
false ones among the findings; Benjamini and Yekutieli (2001) that share whatever the tests have in
common. An adjusted value is set against the same level as a plain one.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from labelhub.core.errors import InvalidInput

Floats = NDArray[np.float64]
P = TypeVar("P", float, float | None)


def holm(p_values: Sequence[P]) -> list[P]:
    """Step-down adjustment of Holm (1979): the i-th smallest of m is multiplied by m - i + 1.

    In the order given; each at most 1, none below its own and none below that of a smaller one.
    None and NaN stay as they are and do not count as tests. Raises InvalidInput outside 0 to 1.
    """
    return _adjusted(p_values, _step_down)


def benjamini_yekutieli(p_values: Sequence[P]) -> list[P]:
    """False discovery rate under any dependence (2001, theorem 1.3).

    Steps up with the factor 1 + 1/2 + ... + 1/m; None, NaN and errors as for ``holm``.
    """
    return _adjusted(p_values, lambda p: _step_up(p, factor=_harmonic(len(p))))


def _step_down(ordered: Floats) -> Floats:
    return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))


def _step_up(ordered: Floats, factor: float = 1.0) -> Floats:
    # Dividing first keeps the largest p-value exactly what it was.
    inflated = ordered * (len(ordered) / np.arange(1, len(ordered) + 1)) * factor
    return np.minimum.accumulate(inflated[::-1])[::-1]


def _harmonic(m: int) -> float:
    return float((1 / np.arange(1, m + 1)).sum())


def _adjusted(p_values: Sequence[P], adjust: Callable[[Floats], Floats]) -> list[P]:
    """``adjust`` takes the defined p-values in ascending order."""
    given = np.array(p_values, dtype=np.float64)  # None becomes NaN
    defined = np.flatnonzero(~np.isnan(given))
    known = given[defined]
    if ((known < 0) | (known > 1)).any():
        raise InvalidInput("A p-value lies between 0 and 1.")
    order = defined[np.argsort(known, kind="stable")]
    adjusted = dict(zip(order.tolist(), np.minimum(adjust(given[order]), 1).tolist(), strict=True))
    # What is undefined goes back as it came: null stays null.
    return [cast("P", adjusted.get(at, p)) for at, p in enumerate(p_values)]
