"""CSV: one row per item, safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterator

from apps.common.spreadsheets import guard
from apps.exchange.exporters.base import Chunks, ExportFormat, Source
from apps.exchange.exporters.table import EVERY_COLUMN, cells, columns


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    """A header, then one row per item; UTF-8."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    names: list[str] = []
    for rows in chunks:
        if rows and not names:
            names = columns(rows[0])
            writer.writerow(names)
        writer.writerows([guard(cell) for cell in cells(row, names)] for row in rows)
        yield _taken(buffer)
    if not names:
        writer.writerow(EVERY_COLUMN)
        yield _taken(buffer)


def _taken(buffer: io.StringIO) -> bytes:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text.encode()


FORMAT = ExportFormat(
    name="csv",
    title="CSV",
    suffix=".csv",
    content_type="text/csv; charset=utf-8",
    purpose="One row per item, for spreadsheets; the full ledger is in the last columns.",
    write=write,
)
