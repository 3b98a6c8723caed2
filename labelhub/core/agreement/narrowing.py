"""A part of the ratings: some places, some items, or the last of each rater and item."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.ratings import Ints, Ratings

#: In a table of so many items by raters it is looked up whether anybody rated an item twice.
FEW_CELLS = 1 << 24


def taken(said: Ratings, places: Ints) -> Ratings:
    """The ratings at ``places``; numbers stay as they are.

    Taking places is several times as fast as a mask for each array.
    """
    return replace(
        said, items=said.items[places], raters=said.raters[places], codes=said.codes[places]
    )


def on_items(said: Ratings, wanted: NDArray[np.bool_]) -> Ratings:
    """Only what was said of the items in ``wanted``, shape (items,)."""
    return taken(said, np.flatnonzero(wanted[said.items]))


def latest(said: Ratings) -> Ratings:
    """Of a rater's several ratings of an item only the last; the same object without any."""
    cells = said.items * said.n_raters + said.raters
    size = said.n_items * said.n_raters
    if size <= FEW_CELLS:
        given = np.zeros(size, dtype=bool)
        given[cells] = True
        if np.count_nonzero(given) == cells.size:
            return said
    from_end = np.unique(cells[::-1], return_index=True)[1]
    return taken(said, np.sort(cells.size - 1 - from_end))
