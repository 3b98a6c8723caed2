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
    if isinstance(array, pa.ExtensionArray):
        return _sizes(array.storage)
    if pa.types.is_dictionary(kind):
        there = _sizes(array.dictionary)
        known = np.append(there, LEAST)  # the last one stands for null
        return known[_numbers(pc.fill_null(array.indices.cast(pa.int64()), len(there)))]
    if pa.types.is_struct(kind):
        parts = (_sizes(array.field(at)) for at in range(kind.num_fields))
        return sum(parts, np.full(len(array), LEAST, np.int64))
    if (places := _places(array)) is not None:
        return _summed(_sizes(array.values), *places)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    if _is_text(array.type):
        return _numbers(pc.fill_null(pc.binary_length(array), 0)) + LEAST
    return np.full(len(array), LEAST, np.int64)


def _places(array: Any) -> tuple[Sizes, Sizes] | None:
    """Where each of an array's lists begins and ends in what they hold; None: it has no lists."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        begins = (array.offset + np.arange(len(array), dtype=np.int64)) * kind.list_size
        return begins, begins + kind.list_size
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = _numbers(array.offsets)
        return offsets[:-1], offsets[1:]
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        begins = _numbers(array.offsets)
        return begins, begins + _numbers(array.sizes)
    return None


def _summed(inner: Sizes, begins: Sizes, ends: Sizes) -> Sizes:
    """Of lists that begin and end at these places in what they hold."""
    until = np.concatenate([np.zeros(1, np.int64), np.cumsum(inner)])
    found: Sizes = until[ends] - until[begins] + LEAST
    return found


def _numbers(array: Any) -> Sizes:
    found: Sizes = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _is_text(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    of = pa.types
    return (
        of.is_string(kind)
        or of.is_large_string(kind)
        or of.is_binary(kind)
        or (of.is_large_binary(kind) or of.is_fixed_size_binary(kind))
    )
