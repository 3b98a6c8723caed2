"""Parquet with types: sets as lists, numbers, times, and annotations as lists of structs.

Metadata and provenance may hold anything, so they are JSON texts.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
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
_encode = json.JSONEncoder(ensure_ascii=False).encode


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """One row group per chunk."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for these formats only

    column = source.schema.task.column
    schema = _schema(column, gold_only=bool(source.only))
    batches = (
        pa.RecordBatch.from_pylist([_record(row, column) for row in rows], schema=schema)
        for rows in chunks
        if rows
    )
    yield from parquet_pieces(schema, batches)


def _schema(column: str, *, gold_only: bool) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - heavy, needed for these formats only

    struct: Any = pa.struct  # its stubs take no dictionaries of fields of several types
    text, texts, flag, number = pa.string(), pa.list_(pa.string()), pa.bool_(), pa.float64()
    time = pa.timestamp("us", tz="UTC")
    value = {"class": text, "classes": texts, "number": number, "text": text}[column]
    turn = struct({"role": text, "text": text})
    item = {
        MARKER: text, "id": text, "text": text, "context": pa.list_(turn), "question": text,
        "options": texts, "gold": value, "meta": text,
    }  # fmt: skip
    if gold_only:
        return pa.schema(item)
    quotes = struct({"label": text, "quotes": texts})
    label = {
        "uid": text, "annotator": text, "kind": text, "offline": flag, "value": value,
        "value_json": text, "abstained": flag, "withdrawn": flag, "rejected": flag, "action": text,
        "role": text, "confidence": number, "rationale": text, "evidence": pa.list_(quotes),
        "seconds": number, "cost_nanousd": pa.int64(), "shown": text, "proposed_from": text,
        "supersedes": text, "run": text, "replicate": pa.int32(), "schema_version": pa.int32(),
        "provenance": text, "created_at": time,
    }  # fmt: skip
    decided_by = struct({"annotator": text, "kind": text, "offline": flag})
    decision = {
        "uid": text, "value": value, "value_json": text, "withdrawn": flag, "basis": text,
        "decided_by": decided_by, "evidence": texts, "supersedes": text,
        "schema_version": pa.int32(), "created_at": time,
    }  # fmt: skip
    ledger = {"labels": pa.list_(struct(label)), "gold_history": pa.list_(struct(decision))}
    return pa.schema(item | ledger)


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
    return {**entry, "value": None, **typed, "created_at": created_at}


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
