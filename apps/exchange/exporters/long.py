"""CSV in long form: one row per current label, for statistics and for ``import_labels``."""

from collections.abc import Iterator
from typing import Any

from apps.common.spreadsheets import csv_text
from apps.exchange.exporters.base import Chunks, ExportFormat, Row, Source, valid_labels
from apps.exchange.exporters.table import MARKER, VERSION
from apps.exchange.values import value_cell

COLUMNS = (
    "item_id", "annotator_id", "annotator_type", "label", "gold", "seconds", "cost_usd",
    "replicate", "created_at", MARKER,
)  # fmt: skip


def write(chunks: Chunks, _source: Source) -> Iterator[bytes]:
    """A header, then the current labels item by item; of gold alone one row per item."""
    yield csv_text(COLUMNS, ()).encode()
    for rows in chunks:
        lines = (line for row in rows for line in _lines(row))
        yield csv_text(COLUMNS, lines, header=False).encode()


def _lines(row: Row) -> Iterator[list[str]]:
    gold = value_cell(row["gold"])
    if "labels" not in row:
        yield [row["id"], "", "", "", gold, "", "", "", "", VERSION]
        return
    for label in valid_labels(row["labels"]):
        if label["value"] is not None:
            yield [
                row["id"], label["annotator"], label["kind"], value_cell(label["value"]), gold,
                _number(label["seconds"]), _number(label["cost_nanousd"], 1e9),
                str(label["replicate"]), label["created_at"], VERSION,
            ]  # fmt: skip


def _number(value: Any, divisor: float = 1.0) -> str:
    return "" if value is None else f"{value / divisor:.9g}"


FORMAT = ExportFormat(
    name="csv_long",
    title="CSV, one row per label",
    suffix=".csv",
    content_type="text/csv; charset=utf-8",
    purpose="Current labels with annotator, gold, seconds and cost, for pandas, R or Excel.",
    write=write,
    lossless=False,
)
