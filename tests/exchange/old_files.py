"""Exports as earlier versions wrote them, from the rows of a JSON Lines export of today."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from apps.common.spreadsheets import csv_text
from apps.projects.models import Project
from tests.exchange.helpers import ledger

READABLE = ("id", "text", "question")
AS_JSON = ("context", "options", "meta", "labels", "gold_history")


def old_csv(project: Project) -> bytes:
    """One row per item, with the annotation history as JSON in the last cells."""
    rows = [_cells(row) for row in ledger(project)]
    return csv_text(list(rows[0]), (list(row.values()) for row in rows)).encode()


def old_parquet(project: Project) -> bytes:
    """The same columns, each a text."""
    rows = [_cells(row) for row in ledger(project)]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file, compression="zstd")
    return file.getvalue()


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    readable = {name: row[name] for name in READABLE} | {"gold": _gold(row["gold"])}
    structures = {name: json.dumps(row[name]) if row[name] else "" for name in AS_JSON}
    return {"labelhub": "1"} | readable | structures


def _gold(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        plain = value and not any("," in name for name in value)
        return ", ".join(value) if plain else json.dumps(value)
    return value if isinstance(value, str) else json.dumps(value)
