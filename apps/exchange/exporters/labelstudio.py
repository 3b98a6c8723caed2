"""Label Studio task JSON: labels of machines as predictions, of people as annotations.

The full row rides along in ``meta.labelhub``, which our importer reads. What came from Label Studio
goes back as it came.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.exchange.exporters.base import Chunks, ExportFormat, Row, Source
from apps.exchange.exporters.json_list import write_list
from apps.exchange.exporters.studio_names import Names, names_of
from apps.exchange.exporters.studio_results import results_of
from apps.exchange.shapes.studio import LISTS, OURS, THEIRS, number_of
from apps.exchange.shapes.studio_task import kept_in, together
from apps.labels.models import Label
from labelhub.core.schema import Schema, Value, value_key

MACHINES = ("llm", "model")


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """A list of tasks."""
    names, schema = names_of(source.project), source.schema
    return write_list([task(row, schema, names) for row in rows] for rows in chunks)


def task(row: Row, schema: Schema, names: Names) -> dict[str, Any]:
    """One task; labels that were superseded or withdrawn here, and rejections without a label, are
    in ``meta.labelhub`` only."""
    kept = kept_in(row["meta"])
    lists = _lists(row, schema, names)
    gold = row.get("gold")
    marked = any(one.get("ground_truth") is True for one in lists["annotations"])
    if gold is not None and not marked and "gold" not in kept.get("columns", {}):
        lists["annotations"].append(_gold_annotation(row["id"], gold, schema, names))
    cancelled = sum(one.get("was_cancelled") is True for one in lists["annotations"])
    return {
        **kept.get("task", {}),
        "data": _data(row, kept, schema, names),
        "meta": {**_own_meta(kept, row), OURS: row},
        **lists,
        "total_predictions": len(lists["predictions"]),
        "total_annotations": len(lists["annotations"]) - cancelled,
        "cancelled_annotations": cancelled,
    }


def _own_meta(kept: Mapping[str, Any], row: Row) -> dict[str, Any]:
    meta = together(kept.get("meta"), row["meta"])
    return meta if isinstance(meta, dict) else {"meta": meta} if meta else {}


def _data(row: Row, kept: Mapping[str, Any], schema: Schema, names: Names) -> dict[str, Any]:
    """As it came, with what is kept in fields of ours; else our fields."""
    columns, held = kept.get("columns", {}), {"text": row["text"], "gold": row.get("gold")}
    if kept:
        own = {column: held[name] for name, column in columns.items() if held.get(name) is not None}
        data = {**own, **together(kept.get("data", {}), row["meta"])}
    else:
        fields = ("question", "options", "context")
        data = {"id": row["id"], names.column: row["text"]}
        data |= {name: row[name] for name in fields if row[name]}
        if schema.task.item_options:
            data["choices"] = [{"value": option} for option in row["options"]]
    if names.context:
        data.setdefault("context", [])
    return data


def _lists(row: Row, schema: Schema, names: Names) -> dict[str, list[dict[str, Any]]]:
    """Predictions, annotations and drafts: those that came from there in their order, then ours."""
    labels = row.get("labels", [])
    numbers = {label["uid"]: _number(label) for label in labels}
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in LISTS}
    for label in _current(labels):
        if theirs := _theirs(label):
            name, one, at = theirs
            found[name].append((at, _as_it_came(one, name, label, row)))
        elif label["kind"] in MACHINES:
            found["predictions"].append((len(labels), _prediction(label, schema, names, row)))
        elif label["role"] != Label.Role.DRAFT:
            made = {"parent_prediction": numbers.get(label["proposed_from"])}
            made = _annotation(label, schema, names, row) | made
            found["annotations"].append((len(labels), made))
    in_order = {name: sorted(pairs, key=lambda pair: pair[0]) for name, pairs in found.items()}
    return {name: [one for _, one in pairs] for name, pairs in in_order.items()}


def _theirs(label: Mapping[str, Any]) -> tuple[str, dict[str, Any], int] | None:
    """Which list it came in, as what and in which place; imported provenance may hold anything."""
    theirs = label["provenance"].get(THEIRS)
    for name, what in LISTS.items() if isinstance(theirs, dict) else ():
        if isinstance(theirs.get(what), dict):
            at = theirs.get("at")
            return name, theirs[what], at if isinstance(at, int) else 0
    return None


def _number(label: Mapping[str, Any]) -> Any:
    if (theirs := _theirs(label)) and theirs[0] == "predictions":
        return theirs[1].get("id")
    return number_of(label["uid"])


def _current(labels: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """What stands; of what came from there, what nobody changed here."""
    by_us = {one["supersedes"] for one in labels if THEIRS not in one["provenance"]}
    by_any = {one["supersedes"] for one in labels}
    return [
        one
        for one in labels
        if one["uid"] not in (by_us if THEIRS in one["provenance"] else by_any)
        and (not one["withdrawn"] or one["role"] in Label.ASIDE)
        and not one["rejected"]  # a cancelled annotation there would be an abstention
    ]


def _as_it_came(
    one: Mapping[str, Any], name: str, label: Mapping[str, Any], row: Row
) -> dict[str, Any]:
    """The original; whether an annotation is the truth is another matter once that is decided."""
    came = dict(one)
    if name != "annotations":
        return came
    history = row.get("gold_history") or []
    if history and history[-1]["basis"] != "imported":
        came["ground_truth"] = _agrees(label["value"], row.get("gold"))
    return came


def _agrees(value: Value | None, gold: Value | None) -> bool:
    return gold is not None and value is not None and value_key(gold) == value_key(value)


def _prediction(label: Mapping[str, Any], schema: Schema, names: Names, row: Row) -> dict[str, Any]:
    name = f"{label['annotator']} ({label['note']})" if "note" in label else label["annotator"]
    return {
        "id": number_of(label["uid"]),
        "uid": label["uid"],
        "model_version": name,
        "score": label["confidence"],
        "result": results_of(label, schema, names, row["text"]),
    }


def _annotation(label: Mapping[str, Any], schema: Schema, names: Names, row: Row) -> dict[str, Any]:
    """Without ``completed_by``: Label Studio takes members of its own organisation only."""
    return {
        "id": number_of(label["uid"]),
        "unique_id": label["uid"],
        "annotator": {"name": label["annotator"], "kind": label["kind"]},
        "was_cancelled": label["value"] is None,
        "ground_truth": _agrees(label["value"], row.get("gold")),
        "lead_time": label["seconds"],
        "created_at": label["created_at"],
        "result": results_of(label, schema, names, row["text"]),
    }


def _gold_annotation(item_id: str, gold: Value, schema: Schema, names: Names) -> dict[str, Any]:
    """Gold that no single person's current label spells (imported, or decided otherwise)."""
    uid = f"gold {item_id}"
    return {
        "id": number_of(uid),
        "annotator": {"name": "gold", "kind": "gold"},
        "was_cancelled": False,
        "ground_truth": True,
        "lead_time": None,
        "parent_prediction": None,
        "result": results_of({"uid": uid, "value": gold}, schema, names, ""),
    }


FORMAT = ExportFormat(
    name="labelstudio",
    title="Label Studio JSON",
    suffix=".json",
    content_type="application/json",
    purpose="Tasks with predictions and annotations, to be imported by Label Studio.",
    write=write,
)
