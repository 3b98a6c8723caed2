"""CSV: one row per item, safe to open in a spreadsheet."""

from collections.abc import Iterator

from apps.common.spreadsheets import csv_text
from apps.exchange.exporters.base import Chunks, ExportFormat, Source
from apps.exchange.exporters.table import EVERY_COLUMN, cells, columns


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    """A header, then one row per item; UTF-8."""
    names: list[str] = []
    for rows in chunks:
        header = not names
        names = names or (columns(rows[0]) if rows else [])
        if names:
            yield csv_text(names, (cells(row, names) for row in rows), header=header).encode()
    if not names:
        yield csv_text(EVERY_COLUMN, ()).encode()


FORMAT = ExportFormat(
    name="csv",
    title="CSV",
    suffix=".csv",
    content_type="text/csv; charset=utf-8",
    purpose="One row per item, for spreadsheets; the full ledger is in the last columns.",
    write=write,
)
