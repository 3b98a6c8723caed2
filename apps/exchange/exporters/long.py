"""CSV with one row per annotation, for statistics and for ``import_labels``. No cell holds JSON."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext_lazy as _

from apps.common.spreadsheets import csv_text
from apps.exchange.exporters.base import (
    TABLES,
    Chunks,
    ExportFormat,
    Row,
    Source,
    current_labels,
    independent_labels,
)
from apps.exchange.exporters.wide import Cell, point_name, truth
from apps.exchange.readers import BETWEEN, MARKER
from apps.exchange.readers.base import shortened
from apps.labels.models import Label
from labelhub.core.schema import Schema

#: The version of the columns, in the column that marks our own files for the importer.
VERSION = "2"
#: The beginning of the text, for people: many ids are codes.
EXCERPT_CHARS = 80


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """A header, then the annotations item by item; of gold alone one row per item."""
    schema = source.schema
    columns = _columns(schema)
    yield csv_text(columns, ()).encode()
    for rows in chunks:
        lines = (line for row in rows for line in _lines(row, source))
        cells = ([line.get(name) for name in columns] for line in lines)
        yield csv_text(columns, cells, header=False).encode()


def _columns(schema: Schema) -> list[str]:
    name, gold_name = (["label_name"], ["gold_name"]) if schema.task.ordered else ([], [])
    return [
        "excerpt", "annotator_id", "annotator_type", "label", *name, "unsure", "gold", *gold_name,
        "has_gold", "confidence", "seconds", "cost_usd", "replicate", "role", "rationale",
        "created_at", "item_id", MARKER,
    ]  # fmt: skip


def _lines(row: Row, source: Source) -> Iterator[dict[str, Cell]]:
    """Of somebody who settled the item their vote and, after it, their ruling."""
    schema = source.schema
    item = {
        "excerpt": shortened(" ".join(row["text"].split()), EXCERPT_CHARS),
        "item_id": row["id"],
        "gold": _cell(row["gold"]),
        "gold_name": point_name(schema, row["gold"]) if schema.task.ordered else "",
        "has_gold": truth(row["gold"] is not None),
        MARKER: VERSION,
    }
    if "labels" not in row:
        yield item
        return
    rulings = [label for label in current_labels(row) if label["role"] in Label.SETTLING]
    for label in (*independent_labels(row, source), *rulings):
        cost = label["cost_nanousd"]
        yield item | {
            "annotator_id": label["annotator"],
            "annotator_type": label["kind"],
            "label": _cell(label["value"]),
            "label_name": point_name(schema, label["value"]) if schema.task.ordered else "",
            "unsure": truth(label["abstained"]),
            "confidence": label["confidence"],
            "seconds": label["seconds"],
            "cost_usd": None if cost is None else f"{cost / 1e9:.9g}",
            "replicate": label["replicate"],
            "role": label["role"],
            "rationale": label["rationale"],
            "created_at": label["created_at"],
        }


def _cell(value: Any) -> Cell:
    """A set as its names with bars between them: no name has a bar. Empty for the empty set."""
    return BETWEEN.join(value) if isinstance(value, list) else value


FORMAT = ExportFormat(
    name="csv_long",
    title=_("CSV, one row per annotation"),
    suffix=".csv",
    content_type="text/csv; charset=utf-8",
    group=TABLES,
    write=write,
    lossless=False,
)
