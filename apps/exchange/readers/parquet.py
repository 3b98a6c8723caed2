"""Parquet files, in batches."""

import datetime as dt
import decimal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.exchange.readers.base import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    TOO_LONG,
    Format,
    RawRow,
    UnreadableFile,
    check_columns,
)
from labelhub.core.extras import missing_extra

Sizes = NDArray[np.int64]
#: The memory of a value besides its letters: a number, an empty text, a part of a list.
LEAST = 32


def row_sizes(batch: Any) -> Sizes:
    """The approximate bytes of each row."""
    total = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        total += _sizes(column)
    return total


def _sizes(array: Any) -> Sizes:
    """The bytes of each value of an array, with its contents."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.compute as pc  # noqa: PLC0415 - the same

    kind, types = array.type, pa.types
    if isinstance(array, pa.ExtensionArray):
        return _sizes(array.storage)
    if types.is_dictionary(kind):
        there = _sizes(array.dictionary)
        known = np.append(there, LEAST)  # the last one stands for null
        return known[_numbers(pc.fill_null(array.indices.cast(pa.int64()), len(there)))]
    if types.is_struct(kind):
        parts = (_sizes(array.field(index)) for index in range(kind.num_fields))
        return sum(parts, np.full(len(array), LEAST, np.int64))
    if (bounds := _list_bounds(array)) is not None:
        begins, ends = bounds
        until = np.concatenate([np.zeros(1, np.int64), np.cumsum(_sizes(array.values))])
        found: Sizes = until[ends] - until[begins] + LEAST
        return found
    if types.is_string_view(kind) or types.is_binary_view(kind):
        array = array.cast(pa.large_binary())
    texts = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if any(is_kind(array.type) for is_kind in (*texts, types.is_fixed_size_binary)):
        return _numbers(pc.fill_null(pc.binary_length(array), 0)) + LEAST
    return np.full(len(array), LEAST, np.int64)


def _list_bounds(array: Any) -> tuple[Sizes, Sizes] | None:
    """The begins and ends of an array's lists in their values; None where it has no lists."""
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


def _numbers(array: Any) -> Sizes:
    found: Sizes = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


BATCH, PLAIN_BATCH = 500, 20
#: From so many rows on, a file must have a byte for each.
MANY_ROWS = 1_000_000
MAX_ROW_GROUP = 512 * 1024 * 1024
#: Parts of all lists of one column in a row group; each takes memory.
MAX_PARTS = 32_000_000
#: Bytes of a batch that are converted to Python values at once.
DECODED = 32 * 1024 * 1024


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered by their place, from 1; ``position`` is estimated from the row number."""
    if missing := missing_extra("pyarrow", "parquet"):
        raise UnreadableFile(missing)
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.parquet as pq  # noqa: PLC0415 - the same

    size, number = path.stat().st_size, 0
    try:
        metadata = pq.read_metadata(path)
        _check_limits(metadata, pq.read_schema(path).names, size)
        rows = max(1, metadata.num_rows)
        for batch in _batches(path, metadata):
            for record in _records(batch):
                number += 1
                place = size * number // rows
                if record is None:
                    yield RawRow(number, error=TOO_LONG, position=place)
                else:
                    cells = {name: _plain(cell) for name, cell in record.items()}
                    data = {name: cell for name, cell in cells.items() if cell not in (None, "")}
                    yield RawRow(number, data, position=place)
    except MemoryError:  # also an Arrow exception
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(
            "The file is not a readable Parquet file after row %(row)s: %(error)s",
            row=number,
            error=error,
        ) from error


def _batches(path: Path, metadata: Any) -> Iterator[Any]:
    """The file in batches, with texts as dictionaries, so that repeated texts are in memory once.

    Arrow cannot put two dictionaries into one batch of lists. So a file with lists is read group by
    group, and the rest of a group that changes its encoding in small batches of plain texts. JSON,
    which has no dictionaries, is read in small batches.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    flat, nested, plain = _text_columns(metadata.schema)
    rows = PLAIN_BATCH if plain else BATCH
    groups = [[index] for index in range(metadata.num_row_groups)] if nested else [None]
    for group in groups:
        seen = 0
        try:
            for batch in _group_batches(path, group, rows, flat + nested):
                yield batch
                seen += batch.num_rows
        except pa.ArrowNotImplementedError:
            for batch in _group_batches(path, group, PLAIN_BATCH, flat):
                fresh = batch.slice(min(seen, batch.num_rows))
                seen -= batch.num_rows - fresh.num_rows
                yield fresh


def _group_batches(
    path: Path, group: list[int] | None, rows: int, dictionaries: list[str]
) -> Iterator[Any]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, needed for this format only

    with pq.ParquetFile(path, pre_buffer=False, read_dictionary=dictionaries) as file:
        yield from file.iter_batches(batch_size=rows, row_groups=group, use_threads=False)


def _text_columns(schema: Any) -> tuple[list[str], list[str], list[str]]:
    """The paths of the columns with texts: flat ones, nested ones, and those that are never read as
    dictionaries."""
    columns = [schema.column(index) for index in range(len(schema))]
    texts = [
        column
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]
    plain = [column.path for column in texts if column.logical_type.type == "JSON"]
    flat = [column.path for column in texts if column.path == column.name]
    nested = [column.path for column in texts if column.path != column.name]
    return flat, nested, plain


def _records(batch: Any) -> Iterator[dict[str, Any] | None]:
    """The rows as Arrow scalars or Python values, a bounded number at once; None for a row that is
    too long."""
    sizes = row_sizes(batch)
    until, start = sizes.cumsum(), 0
    while start < batch.num_rows:
        if sizes[start] > MAX_ROW_BYTES:
            yield None
            start += 1
            continue
        before = until[start] - sizes[start]
        end = max(start + 1, int(until.searchsorted(before + DECODED, side="right")))
        yield from _decode_rows(batch.slice(start, end - start), sizes[start:end] > MAX_ROW_BYTES)
        start = end


def _decode_rows(piece: Any, too_long: Any) -> Iterator[dict[str, Any] | None]:
    # Nanoseconds would become pandas values, so they are converted one by one.
    fine = any(getattr(field.type, "unit", "") == "ns" for field in piece.schema)
    try:
        rows = _scalars(piece) if fine else iter(piece.to_pylist())
    except (ValueError, OverflowError):  # a time that Python cannot hold
        rows = _scalars(piece)
    for row, skipped in zip(rows, too_long, strict=True):
        yield None if skipped else row


def _scalars(piece: Any) -> Iterator[dict[str, Any]]:
    names = piece.schema.names
    for index in range(piece.num_rows):
        yield {name: piece.column(name)[index] for name in names}


def _check_limits(metadata: Any, names: Sequence[str], size: int) -> None:
    if metadata.num_columns > MAX_COLUMNS:
        raise UnreadableFile(
            "The file has more than %(max_columns)s columns.", max_columns=MAX_COLUMNS
        )
    check_columns(names)
    if metadata.num_rows > max(MANY_ROWS, size):
        raise UnreadableFile(
            "This Parquet file claims %(num_rows)s rows in %(size)s bytes; it was not opened.",
            num_rows=metadata.num_rows,
            size=size,
        )
    groups = range(metadata.num_row_groups)
    if any(metadata.row_group(index).total_byte_size > MAX_ROW_GROUP for index in groups):
        raise UnreadableFile(
            "A row group of this Parquet file exceeds 512 MB; write it with smaller row groups."
        )
    lists = [
        index
        for index in range(metadata.num_columns)
        if metadata.schema.column(index).max_repetition_level
    ]
    if any(
        metadata.row_group(g).column(column).num_values > MAX_PARTS
        for g in groups
        for column in lists
    ):
        raise UnreadableFile(
            "The lists in a row group of this Parquet file have more than %(max_parts)s "
            "parts; write it with smaller row groups.",
            max_parts=MAX_PARTS,
        )


def _plain(cell: Any) -> Any:
    """Arrow's Python values as JSON has them."""
    if hasattr(cell, "as_py"):
        return _scalar_value(cell)
    if isinstance(cell, dict):
        return {str(key): _plain(inner) for key, inner in cell.items()}
    if isinstance(cell, list | tuple):
        return [_plain(inner) for inner in cell]
    if isinstance(cell, dt.datetime | dt.date | dt.time):
        return cell.isoformat()
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogateescape")
    if isinstance(cell, decimal.Decimal | dt.timedelta | UUID):
        return str(cell)
    return cell


def _scalar_value(scalar: Any) -> Any:
    """The Python value of a scalar; a time that Python cannot hold, such as one with nanoseconds,
    as a text."""
    # Python's times are no finer than microseconds.
    if getattr(scalar.type, "unit", "") == "ns" and scalar.is_valid and scalar.value % 1000:
        return scalar.cast("string").as_py()
    try:
        return _plain(scalar.as_py())
    except (ValueError, OverflowError):
        return scalar.cast("string").as_py()


FORMAT = Format(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet",),
    content_types=("application/vnd.apache.parquet",),
    read=read,
    unpacks=True,
)
