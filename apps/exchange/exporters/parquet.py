"""Parquet with types: sets as lists, numbers, times, and annotations as lists of structs.

Metadata and provenance may hold anything, so they are JSON texts.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.exchange.exporters.base import (
    PROGRAMS,
    Chunks,
    ExportFormat,
    Row,
    Source,
    parquet_pieces,
)
from apps.exchange.readers import MARKER
from apps.exchange.values import is_number
from labelhub.core.schema import Value

VERSION = "2"
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """One row group per chunk."""
    column = source.schema.task.column
    records = ([_record(row, column) for row in rows] for rows in chunks if rows)
    yield from parquet_pieces(_columns(column, gold_only=bool(source.only)), records)


def _columns(column: str, *, gold_only: bool) -> dict[str, Any]:
    text, texts, flag, number = "string", ["string"], "bool", "float64"
    value = {"class": text, "classes": texts, "number": number, "text": text}[column]
    item = {
        MARKER: text, "id": text, "text": text, "context": [{"role": text, "text": text}],
        "question": text, "options": texts, "gold": value, "meta": text,
    }  # fmt: skip
    if gold_only:
        return item
    label = {
        "uid": text, "annotator": text, "kind": text, "offline": flag, "value": value,
        "value_json": text, "abstained": flag, "withdrawn": flag, "rejected": flag, "action": text,
        "role": text, "confidence": number, "rationale": text,
        "evidence": [{"label": text, "quotes": texts}], "seconds": number, "cost_nanousd": "int64",
        "shown": text, "proposed_from": text, "supersedes": text, "run": text,
        "replicate": "int32", "schema_version": "int32", "provenance": text, "created_at": "time",
    }  # fmt: skip
    decision = {
        "uid": text, "value": value, "value_json": text, "withdrawn": flag, "basis": text,
        "decided_by": {"annotator": text, "kind": text, "offline": flag}, "evidence": texts,
        "supersedes": text, "schema_version": "int32", "created_at": "time",
    }  # fmt: skip
    return item | {"labels": [label], "gold_history": [decision]}


def _record(row: Row, column: str) -> Row:
    record = row | {MARKER: VERSION, "meta": _encode(row["meta"]) if row["meta"] else None}
    if "labels" in row:
        record["labels"] = [_label(label, column) for label in row["labels"]]
        record["gold_history"] = [_typed(decision, column) for decision in row["gold_history"]]
    return record


def _label(label: Mapping[str, Any], column: str) -> dict[str, Any]:
    evidence, provenance = label["evidence"], label["provenance"]
    return _typed(label, column) | {
        "offline": label.get("offline", False),
        "evidence": [{"label": name, "quotes": quotes} for name, quotes in evidence.items()],
        "provenance": _encode(provenance) if provenance else None,
    }


def _typed(entry: Mapping[str, Any], column: str) -> dict[str, Any]:
    """A label or decision with its time and value in their types. ``value_json`` holds a value of
    an older schema that the column cannot hold."""
    value, created_at = entry["value"], datetime.fromisoformat(entry["created_at"])
    fits = value is None or _fits(value, column)
    typed = {"value": value, "value_json": None} if fits else {"value_json": _encode(value)}
    return {**entry, "value": None, **typed, "created_at": (created_at - EPOCH) // MICROSECOND}


def _fits(value: Value, column: str) -> bool:
    if column == "number":
        return is_number(value)
    return isinstance(value, list if column == "classes" else str)


FORMAT = ExportFormat(
    name="parquet",
    title="Parquet",
    suffix=".parquet",
    content_type="application/vnd.apache.parquet",
    group=PROGRAMS,
    write=write,
    is_parquet=True,
)
