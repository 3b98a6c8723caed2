"""Products that are the same to the last bit on every machine.

``@`` is left to a linear algebra library that adds up in another order on another processor; what
is learnt from a log must not depend on where (a state is checked against its log by the bit).
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def dot(rows: Floats, vector: Floats) -> Floats:
    """``rows @ vector``, (…, places) by (…, places): the sums over the last axis.

    Added up in pairs, in the same order on every processor and however the rows lie in memory.
    """
    products: Floats = np.multiply(rows, vector, order="C")
    sums: Floats = products.sum(axis=-1)
    return sums
