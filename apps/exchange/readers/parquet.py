"""Parquet files, in batches."""

import datetime as dt
import decimal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.exchange.readers.base import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    TOO_LONG,
    Format,
    RawRow,
    UnreadableFile,
    shortened,
)
from apps.exchange.readers.unpacked import row_sizes

BATCH, PLAIN_BATCH = 500, 20
#: From here on a row takes at least a byte, or it is no row.
MANY_ROWS = 1_000_000
MAX_ROW_GROUP = 512 * 1024 * 1024
#: Parts of all lists of one column in a row group: each takes some bytes, however it is packed.
MAX_PARTS = 32_000_000
#: So much of a batch is made into Python values at once.
DECODED = 32 * 1024 * 1024


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered by their place, from 1; ``position`` is estimated from the row number."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.parquet as pq  # noqa: PLC0415 - the same

    size, number = path.stat().st_size, 0
    try:
        metadata = pq.read_metadata(path)
        _check(metadata, pq.read_schema(path).names, size)
        rows = max(1, metadata.num_rows)
        for batch in _batches(path, metadata):
            for record in _records(batch):
                number += 1
                place = size * number // rows
                if record is None:
                    yield RawRow(number, error=TOO_LONG, position=place)
                else:
                    yield _row(record, number, place)
    except MemoryError:  # Arrow's own is one of its exceptions, too
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        after = f" after row {number}" if number else ""
        raise UnreadableFile(f"The file is not a readable Parquet file{after}: {error}") from error


def _batches(path: Path, metadata: Any) -> Iterator[Any]:
    """The file in batches, texts as dictionaries: a long one that is repeated is in memory once.

    Arrow puts no two dictionaries into one batch of lists: then it is read group by group, and
    from where a group has changed its encoding, in small batches as plain texts; JSON, of which it
    makes no dictionaries, in small batches from the start.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only

    flat, nested, plain = _texts(metadata.schema)
    rows = PLAIN_BATCH if plain else BATCH
    groups = [[at] for at in range(metadata.num_row_groups)] if nested else [None]
    for group in groups:
        seen = 0
        try:
            for batch in _of_group(path, group, rows, flat + nested):
                yield batch
                seen += batch.num_rows
        except pa.ArrowNotImplementedError:
            for batch in _of_group(path, group, PLAIN_BATCH, flat):
                fresh = batch.slice(min(seen, batch.num_rows))
                seen -= batch.num_rows - fresh.num_rows
                yield fresh


def _of_group(
    path: Path, group: list[int] | None, rows: int, dictionaries: list[str]
) -> Iterator[Any]:
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, needed for this format only

    with pq.ParquetFile(path, pre_buffer=False, read_dictionary=dictionaries) as file:
        yield from file.iter_batches(batch_size=rows, row_groups=group, use_threads=False)


def _texts(schema: Any) -> tuple[list[str], list[str], list[str]]:
    """The paths of the columns that hold texts: as they are, within lists and structures, and those
    that are never read as dictionaries."""
    columns = [schema.column(at) for at in range(len(schema))]
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
    """The rows, each as Arrow's scalars or Python values, a bounded number at once; None for one
    that is too long."""
    sizes = row_sizes(batch)
    until, start = sizes.cumsum(), 0
    while start < batch.num_rows:
        if sizes[start] > MAX_ROW_BYTES:
            yield None
            start += 1
            continue
        before = until[start] - sizes[start]
        end = max(start + 1, int(until.searchsorted(before + DECODED, side="right")))
        yield from _made(batch.slice(start, end - start), sizes[start:end] > MAX_ROW_BYTES)
        start = end


def _made(piece: Any, too_long: Any) -> Iterator[dict[str, Any] | None]:
    # Nanoseconds come as pandas' values where that is installed: those are asked one by one.
    fine = any(getattr(field.type, "unit", "") == "ns" for field in piece.schema)
    try:
        rows = _scalars(piece) if fine else iter(piece.to_pylist())
    except (ValueError, OverflowError):  # a time that Python cannot hold
        rows = _scalars(piece)
    for row, skipped in zip(rows, too_long, strict=True):
        yield None if skipped else row


def _scalars(piece: Any) -> Iterator[dict[str, Any]]:
    names = piece.schema.names
    for at in range(piece.num_rows):
        yield {name: piece.column(name)[at] for name in names}


def _row(record: dict[str, Any], number: int, position: int) -> RawRow:
    cells = {name: _plain(cell) for name, cell in record.items()}
    data = {name: cell for name, cell in cells.items() if cell is not None and cell != ""}
    return RawRow(number, data, position=position)


def _check(metadata: Any, names: Sequence[str], size: int) -> None:
    if metadata.num_columns > MAX_COLUMNS:
        raise UnreadableFile(f"The file has more than {MAX_COLUMNS} columns.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnreadableFile(
            f"Two columns are named '{shortened(twice, 80)}'; give each its own name."
        )
    if metadata.num_rows > max(MANY_ROWS, size):
        raise UnreadableFile(
            f"This Parquet file claims {metadata.num_rows:,} rows in {size:,} bytes; it was not "
            "opened."
        )
    groups = range(metadata.num_row_groups)
    if any(metadata.row_group(at).total_byte_size > MAX_ROW_GROUP for at in groups):
        raise UnreadableFile(
            "A row group of this Parquet file exceeds 512 MB; write it with smaller row groups."
        )
    lists = [
        at for at in range(metadata.num_columns) if metadata.schema.column(at).max_repetition_level
    ]
    if any(metadata.row_group(g).column(at).num_values > MAX_PARTS for g in groups for at in lists):
        raise UnreadableFile(
            f"The lists in a row group of this Parquet file have more than {MAX_PARTS:,} parts; "
            "write it with smaller row groups."
        )


def _plain(cell: Any) -> Any:
    """Arrow's Python values as JSON has them."""
    if hasattr(cell, "as_py"):
        return _python(cell)
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


def _python(scalar: Any) -> Any:
    """A time that Python cannot hold is spelled out; one by nanoseconds is such a time, which only
    pandas could hold, where it is installed."""
    if getattr(scalar.type, "unit", "") == "ns" and scalar.is_valid and _between(scalar):
        return scalar.cast("string").as_py()
    try:
        return _plain(scalar.as_py())
    except (ValueError, OverflowError):
        return scalar.cast("string").as_py()


def _between(scalar: Any) -> bool:
    """Whether nanoseconds stand between two microseconds, which is as fine as Python's times go."""
    return bool(scalar.value % 1000)


FORMAT = Format(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet",),
    content_types=("application/vnd.apache.parquet",),
    read=read,
    sample="Columns id, text, gold; lists and structs are read as they are",
    unpacks=True,
)
