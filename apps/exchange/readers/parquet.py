"""Parquet files, in batches."""

import datetime as dt
import decimal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from apps.exchange.readers.base import MAX_COLUMNS, Format, RawRow, UnreadableFile, shortened

BATCH = 500
MAX_ROW_GROUP = 512 * 1024 * 1024
#: So much of a batch is made into Python values at once.
DECODED = 32 * 1024 * 1024


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered by their place, from 1; ``position`` is estimated from the row number."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for this format only
    import pyarrow.parquet as pq  # noqa: PLC0415 - the same

    size, number = path.stat().st_size, 0
    try:
        texts = _texts(pq.read_schema(path))
        # As dictionaries: one long text repeated for every row is in memory once.
        with pq.ParquetFile(path, pre_buffer=False, read_dictionary=texts) as file:
            _check(file.metadata, file.schema_arrow.names)
            rows = max(1, file.metadata.num_rows)
            for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
                for record in _records(batch):
                    number += 1
                    yield _row(record, number, size * number // rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        after = f" after row {number}" if number else ""
        raise UnreadableFile(f"The file is not a readable Parquet file{after}: {error}") from error


def _texts(schema: Any) -> list[str]:
    return [field.name for field in schema if str(field.type) in ("string", "binary")]


def _records(batch: Any) -> Iterator[dict[str, Any]]:
    """The rows, each as Arrow's scalars or Python values, a bounded number at once."""
    step = max(1, DECODED // max(1, batch.nbytes))
    for start in range(0, batch.num_rows, step):
        piece = batch.slice(start, step)
        # Nanoseconds come as pandas' values where that is installed: those are asked one by one.
        fine = any(getattr(field.type, "unit", "") == "ns" for field in piece.schema)
        try:
            yield from _scalars(piece) if fine else piece.to_pylist()
        except (ValueError, OverflowError):  # a time that Python cannot hold
            yield from _scalars(piece)


def _scalars(piece: Any) -> Iterator[dict[str, Any]]:
    names = piece.schema.names
    for at in range(piece.num_rows):
        yield {name: piece.column(name)[at] for name in names}


def _row(record: dict[str, Any], number: int, position: int) -> RawRow:
    cells = {name: _plain(cell) for name, cell in record.items()}
    data = {name: cell for name, cell in cells.items() if cell is not None and cell != ""}
    return RawRow(number, data, position=position)


def _check(metadata: Any, names: Sequence[str]) -> None:
    if metadata.num_columns > MAX_COLUMNS:
        raise UnreadableFile(f"The file has more than {MAX_COLUMNS} columns.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnreadableFile(
            f"Two columns are named '{shortened(twice, 80)}'; give each its own name."
        )
    groups = range(metadata.num_row_groups)
    if any(metadata.row_group(at).total_byte_size > MAX_ROW_GROUP for at in groups):
        raise UnreadableFile(
            "A row group of this Parquet file exceeds 512 MB; write it with smaller row groups."
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
    if isinstance(cell, decimal.Decimal | dt.timedelta):
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
)
