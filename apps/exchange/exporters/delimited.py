"""CSV: one row per item, safe to open in a spreadsheet."""

from collections.abc import Iterator

from apps.common.spreadsheets import csv_text
from apps.exchange.exporters.base import Chunks, ExportFormat, Source
from apps.exchange.exporters.table import cells, find_columns


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    """A header, then one row per item; UTF-8."""
    names, filled = find_columns(chunks)
    yield csv_text(names, ()).encode()
    for rows in filled:
        yield csv_text(names, (cells(row, names) for row in rows), header=False).encode()


FORMAT = ExportFormat(
    name="csv",
    title="CSV",
    suffix=".csv",
    content_type="text/csv; charset=utf-8",
    purpose="One row per item, for spreadsheets; the full ledger is in the last columns.",
    write=write,
)
