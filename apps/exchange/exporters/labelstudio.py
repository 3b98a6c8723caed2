"""Label Studio task JSON: labels of machines as predictions, of people as annotations.

The full row rides along in ``meta.labelhub``; our importer reads that and nothing else.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.exchange.exporters.base import Chunks, ExportFormat, Row
from apps.exchange.exporters.json_list import write_list
from apps.exchange.studio import OURS
from labelhub.core.schema import Schema, Task, Value, value_key

MACHINES = ("llm", "model")
CONTROL, OBJECT = "label", "text"


def write(chunks: Chunks, schema: Schema) -> Iterator[bytes]:
    """A list of tasks."""
    return write_list([task(row, schema) for row in rows] for rows in chunks)


def task(row: Row, schema: Schema) -> dict[str, Any]:
    """One task; superseded and withdrawn labels are in ``meta.labelhub`` only."""
    current = _current(row.get("labels", []))
    predictions = [_prediction(one, schema) for one in current if one["kind"] in MACHINES]
    by_uid = {one["uid"]: one["id"] for one in predictions}
    people = [one for one in current if one["kind"] not in MACHINES]
    gold = row.get("gold")
    annotations = [_annotation(one, schema, gold, by_uid) for one in people]
    if gold is not None and not any(one["ground_truth"] for one in annotations):
        annotations.append(_gold_annotation(row["id"], gold, schema))
    data = {name: row[name] for name in ("text", "question", "options", "context") if row[name]}
    return {
        "data": {**data, "id": row["id"]},
        "meta": {OURS: row},
        "predictions": predictions,
        "annotations": annotations,
        "total_predictions": len(predictions),
        "total_annotations": sum(not one["was_cancelled"] for one in annotations),
        "cancelled_annotations": sum(one["was_cancelled"] for one in annotations),
    }


def _current(labels: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    superseded = {label["supersedes"] for label in labels}
    return [one for one in labels if one["uid"] not in superseded and not one["withdrawn"]]


def _prediction(label: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    name = f"{label['annotator']} ({label['note']})" if "note" in label else label["annotator"]
    return {
        "id": _number(label["uid"]),
        "uid": label["uid"],
        "model_version": name,
        "score": label["confidence"],
        "result": _result(label["uid"], label["value"], schema, label["confidence"]),
    }


def _annotation(
    label: Mapping[str, Any], schema: Schema, gold: Value | None, predictions: Mapping[str, int]
) -> dict[str, Any]:
    value = label["value"]
    agrees = gold is not None and value is not None and value_key(gold) == value_key(value)
    return {
        "id": _number(label["uid"]),
        "unique_id": label["uid"],
        "annotator": {"name": label["annotator"], "kind": label["kind"]},
        "was_cancelled": value is None,
        "ground_truth": agrees,
        "lead_time": label["seconds"],
        "created_at": label["created_at"],
        "parent_prediction": predictions.get(label["proposed_from"]),
        "result": _result(label["uid"], value, schema),
    }


def _gold_annotation(item_id: str, gold: Value, schema: Schema) -> dict[str, Any]:
    """Gold that no single person's current label spells (imported, or decided otherwise)."""
    return {
        "id": _number(f"gold {item_id}"),
        "annotator": {"name": "gold", "kind": "gold"},
        "was_cancelled": False,
        "ground_truth": True,
        "lead_time": None,
        "parent_prediction": None,
        "result": _result(f"gold {item_id}", gold, schema),
    }


def _result(
    uid: str, value: Value | None, schema: Schema, score: float | None = None
) -> list[dict[str, Any]]:
    if value is None:
        return []
    kind, name = ("textarea", "text") if schema.task is Task.TEXT else ("choices", "choices")
    result: dict[str, Any] = {
        "id": f"r{_number(uid)}",
        "from_name": CONTROL,
        "to_name": OBJECT,
        "type": kind,
        "value": {name: _choices(value, schema)},
    }
    return [result if score is None else {**result, "score": score}]


def _choices(value: Value, schema: Schema) -> list[str]:
    """Names; a scale point goes by the name of its label."""
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        return [value]
    named = (label.name for label in schema.labels if label.point == value)
    return [next(named, str(value))]


def _number(uid: str) -> int:
    """Label Studio's ids are numbers; these are stable and refer within their task only."""
    return zlib.crc32(uid.encode()) & 0x7FFFFFFF


FORMAT = ExportFormat(
    name="labelstudio",
    title="Label Studio JSON",
    suffix=".json",
    content_type="application/json",
    purpose="Tasks with predictions and annotations, to be imported by Label Studio.",
    write=write,
)
