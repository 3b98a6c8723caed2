"""How much memory the rows of an Arrow batch take as Python values, told without making them.

Packed formats hold a long text once, however many rows, or parts of one row, repeat it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Sizes = NDArray[np.int64]
#: Of a value besides its letters: a number, an empty text, a part of a list.
LEAST = 32


def row_sizes(batch: Any) -> Sizes:
    """About how many bytes each row takes."""
    total = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        total += _sizes(column)
    return total


def _sizes(array: Any) -> Sizes:
    """Of each value of an array, with what is in it."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.compute as pc  # noqa: PLC0415 - the same

    kind = array.type
    if pa.types.is_dictionary(kind):
        there = _sizes(array.dictionary)
        known = np.append(there, LEAST)  # the last one stands for null
        indices = pc.fill_null(array.indices.cast(pa.int64()), len(there))
        found: Sizes = known[indices.to_numpy(zero_copy_only=False)]
        return found
    if pa.types.is_struct(kind):
        parts = (_sizes(array.field(at)) for at in range(kind.num_fields))
        return sum(parts, np.full(len(array), LEAST, np.int64))
    if pa.types.is_fixed_size_list(kind):
        inner = _sizes(array.values)[array.offset * kind.list_size :]
        return _summed(inner, np.arange(len(array) + 1) * kind.list_size)
    if _is_list(kind):
        offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        return _summed(_sizes(array.values), offsets)
    if _is_text(kind):
        lengths = pc.fill_null(pc.binary_length(array), 0)
        said: Sizes = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
        return said + LEAST
    return np.full(len(array), LEAST, np.int64)


def _summed(inner: Sizes, offsets: Sizes) -> Sizes:
    """Of lists that begin and end at ``offsets`` in what they hold."""
    until = np.concatenate([np.zeros(1, np.int64), np.cumsum(inner)])
    found: Sizes = until[offsets[1:]] - until[offsets[:-1]] + LEAST
    return found


def _is_list(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    of = pa.types
    return (
        of.is_string(kind)
        or of.is_large_string(kind)
        or of.is_binary(kind)
        or (of.is_large_binary(kind) or of.is_fixed_size_binary(kind))
    )
