"""Label Studio task JSON: labels of machines as predictions, of people as annotations.

``meta.labelhub`` holds the full row, which our importer reads. Entries that came from Label Studio
are written back unchanged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from apps.exchange.exporters import json_list
from apps.exchange.exporters.base import Chunks, ExportFormat, Row, Source, quotes_of
from apps.exchange.shapes.label_studio import (
    ANSWERS,
    LISTS,
    OURS,
    SPANS,
    THEIRS,
    kept_task,
    number_of,
    originals_of,
    with_shown,
)
from apps.labels.models import MACHINES, Label
from apps.projects.models import Item, Project
from labelhub.core.schema import Schema, Value, role_of, value_key

#: The number of first items that are read to find the names of the controls.
LOOKED_AT = 100


@dataclass(slots=True)
class Names:
    """Control → its name in results and configuration; ``column`` is that of the text."""

    answer: str = "label"
    text: str = "text"
    column: str = "text"
    evidence: str = "evidence"
    rationale: str = "rationale"
    comment: str = "comment"
    confidence: str = "confidence"
    #: The type of the answer's results if it is not the usual one of the label type.
    kind: str = ""
    #: Whether an item has context; the configuration then has a place for it.
    context: bool = False


def names_of(project: Project) -> Names:
    """The names in the first items and their labels; a few queries for any size of project."""
    names = Names()
    names.context = Item.objects.filter(project=project).exclude(context=[]).exists()
    first = Item.objects.filter(project=project).order_by("pk").values_list("pk", "meta")
    theirs = {pk: kept for pk, meta in first[:LOOKED_AT] if (kept := kept_task(meta))}
    columns = [kept["columns"].get("text") for kept in theirs.values()]
    names.column = next((str(column) for column in columns if column), names.column)
    labels = Label.objects.filter(item__in=list(theirs)).order_by("pk")
    for provenance in labels.values_list("provenance", flat=True)[: 10 * LOOKED_AT]:
        for original in originals_of(provenance):
            results = original.get("result")
            for result in results if isinstance(results, list) else ():
                if isinstance(result, dict) and result.get("from_name"):
                    _add_names(names, result)
    return names


def _add_names(names: Names, result: Mapping[str, Any]) -> None:
    name, kind = str(result["from_name"]), str(result.get("type") or "")
    role = role_of(name)
    if kind in SPANS:
        names.evidence = name
    elif role:
        setattr(names, role, name)
    elif kind in ANSWERS and "parentID" not in result and not names.kind:
        names.answer, names.kind = name, kind
    if result.get("to_name"):
        names.text = str(result["to_name"])


def results_of(
    label: Mapping[str, Any], schema: Schema, names: Names, text: str
) -> list[dict[str, Any]]:
    """The results of a label; none without a value, as Label Studio attaches the others to it.

    Quotes are included for labels of the schema, where ``text`` contains them.
    """
    if label["value"] is None:
        return []
    score = label.get("confidence")
    parts = [_answer(label["value"], schema, names)]
    for name, phrase, start, _ in quotes_of(label, text):
        begin = text.find(phrase) if start is None else start
        if name in schema.names and begin >= 0:
            end = begin + len(phrase)
            quote = {"start": begin, "end": end, "text": phrase, "labels": [name]}
            parts.append((names.evidence, "labels", quote))
    if label.get("rationale"):
        parts.append((names.rationale, "textarea", {"text": [label["rationale"]]}))
    if comment := label.get("provenance", {}).get("comment"):
        parts.append((names.comment, "textarea", {"text": [str(comment)]}))
    if score is not None:
        parts.append((names.confidence, "number", {"number": score}))
    number = number_of(label["uid"])
    made = [
        {
            "id": f"r{number}-{index}" if index else f"r{number}",
            "from_name": name,
            "to_name": names.text,
            "type": kind,
            "value": value,
        }
        for index, (name, kind, value) in enumerate(parts)
    ]
    if score is not None:
        made[0]["score"] = score
    return made


def _answer(value: Value, schema: Schema, names: Names) -> tuple[str, str, dict[str, Any]]:
    if schema.task.written:
        return names.answer, "textarea", {"text": [value]}
    if names.kind in ("rating", "number") and isinstance(value, int | float):
        return names.answer, names.kind, {names.kind: value}
    chosen = value if isinstance(value, list) else [schema.name_of(value)]
    return names.answer, "choices", {"choices": chosen}


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """A list of tasks."""
    names, schema = names_of(source.project), source.schema
    tasks = ([task(row, schema, names) for row in rows] for rows in chunks)
    return json_list.write(tasks, source)


def task(row: Row, schema: Schema, names: Names) -> dict[str, Any]:
    """One task; labels that were superseded or withdrawn here, and rejections without a label, are
    in ``meta.labelhub`` only."""
    kept = kept_task(row["meta"])
    meta = with_shown(kept.get("meta"), row["meta"])
    lists = _lists(row, schema, names)
    gold = row.get("gold")
    marked = any(annotation.get("ground_truth") is True for annotation in lists["annotations"])
    if gold is not None and not marked and "gold" not in kept.get("columns", {}):
        lists["annotations"].append(_gold_annotation(row["id"], gold, schema, names))
    cancelled = sum(annotation.get("was_cancelled") is True for annotation in lists["annotations"])
    return {
        **kept.get("task", {}),
        "data": _data(row, kept, schema, names),
        "meta": {**(meta if isinstance(meta, dict) else {"meta": meta} if meta else {}), OURS: row},
        **lists,
        "total_predictions": len(lists["predictions"]),
        "total_annotations": len(lists["annotations"]) - cancelled,
        "cancelled_annotations": cancelled,
    }


def _data(row: Row, kept: Mapping[str, Any], schema: Schema, names: Names) -> dict[str, Any]:
    """The original data with our text and gold; for items from elsewhere, our fields."""
    columns, held = kept.get("columns", {}), {"text": row["text"], "gold": row.get("gold")}
    if kept:
        own = {column: held[name] for name, column in columns.items() if held.get(name) is not None}
        data = {**own, **with_shown(kept.get("data", {}), row["meta"])}
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
    """Predictions, annotations and drafts: those from Label Studio in their order, then ours."""
    labels = row.get("labels", [])
    history = row.get("gold_history") or []
    decided_here = bool(history) and history[-1]["basis"] != "imported"
    numbers = {label["uid"]: _number(label) for label in labels}
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in LISTS}
    for label in _current(labels):
        if entry := _original(label):
            name, original, position = entry
            entry_now = dict(original)
            if name == "annotations" and decided_here:
                entry_now["ground_truth"] = _agrees(label["value"], row.get("gold"))
            found[name].append((position, entry_now))
        elif label["kind"] in MACHINES:
            found["predictions"].append((len(labels), _prediction(label, schema, names, row)))
        elif label["role"] != Label.Role.DRAFT:
            made = {"parent_prediction": numbers.get(label["proposed_from"])}
            made = _annotation(label, schema, names, row) | made
            found["annotations"].append((len(labels), made))
    return {
        name: [entry for _, entry in sorted(pairs, key=itemgetter(0))]
        for name, pairs in found.items()
    }


def _original(label: Mapping[str, Any]) -> tuple[str, dict[str, Any], int] | None:
    """(list, entry, position) of a label from Label Studio; imported provenance may be anything."""
    theirs = label["provenance"].get(THEIRS)
    for name, what in LISTS.items() if isinstance(theirs, dict) else ():
        if isinstance(theirs.get(what), dict):
            position = theirs.get("at")
            return name, theirs[what], position if isinstance(position, int) else 0
    return None


def _number(label: Mapping[str, Any]) -> Any:
    if (entry := _original(label)) and entry[0] == "predictions":
        return entry[1].get("id")
    return number_of(label["uid"])


def _current(labels: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The current labels; those from Label Studio unless they were changed here."""
    by_us = {label["supersedes"] for label in labels if THEIRS not in label["provenance"]}
    by_any = {label["supersedes"] for label in labels}
    return [
        label
        for label in labels
        if label["uid"] not in (by_us if THEIRS in label["provenance"] else by_any)
        and (not label["withdrawn"] or label["role"] in Label.ASIDE)
        and not label["rejected"]  # a cancelled annotation there would be an abstention
    ]


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
    """An annotation for gold that has no annotation of its own in the task."""
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
    write=write,
)
