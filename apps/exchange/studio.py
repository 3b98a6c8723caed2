"""Label Studio tasks (choices, ratings, text areas) as rows of ours. No I/O."""

from collections.abc import Mapping
from typing import Any

from apps.exchange.readers.base import RowFault
from apps.exchange.values import as_object

#: Where our own export keeps the full row inside a task's ``meta``.
OURS = "labelhub"


def is_task(data: Mapping[str, Any]) -> bool:
    """Whether a row is a Label Studio task: its content sits in ``data``."""
    return isinstance(data.get("data"), dict) and "text" not in data


def from_task(task: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a task.

    Our own export carries its full row in ``meta.labelhub``. Otherwise annotations become labels of
    people, predictions labels of models, and a ``ground_truth`` annotation the gold.

    Raises:
        RowFault: a result of a kind that is no choice, rating or text.
    """
    meta = task.get("meta")
    if isinstance(meta, dict) and isinstance(meta.get(OURS), dict):
        return dict(meta[OURS])
    row = dict(task["data"])
    if (
        not any(name in row for name in ("id", "item_id", "ext_id", "external_id"))
        and task.get("id") is not None
    ):
        row["id"] = task["id"]
    if isinstance(meta, dict) and meta:
        row["meta"] = meta
    predictions, annotations = _listed(task, "predictions"), _listed(task, "annotations")
    labels = [
        label
        for at, one in enumerate(predictions)
        if (label := _prediction(one, f"predictions[{at}]"))
    ]
    people = [(one, _annotation(one, f"annotations[{at}]")) for at, one in enumerate(annotations)]
    labels += [label for _, label in people]
    if labels:
        row["labels"] = labels
    gold = next(
        (label["value"] for one, label in people if one.get("ground_truth") and "value" in label),
        None,
    )
    if gold is not None:
        row["gold"] = gold
    return row


def _listed(task: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Label Studio's plain export has bare ids in ``predictions``: there is nothing to take."""
    given = task.get(name) or []
    if not isinstance(given, list):
        raise RowFault("Must be a list.", field=name)
    return [
        as_object(one, f"{name}[{at}]") for at, one in enumerate(given) if not isinstance(one, int)
    ]


def _prediction(given: dict[str, Any], where: str) -> dict[str, Any] | None:
    value = _value(given, where)
    if value is None:
        return None
    score = given.get("score")
    name = str(given.get("model_version") or "Label Studio prediction")
    label = {"annotator": name, "kind": "model", "value": value}
    if isinstance(score, int | float) and 0 <= score <= 1:
        label["confidence"] = score
    return label


def _annotation(given: dict[str, Any], where: str) -> dict[str, Any]:
    label: dict[str, Any] = {"annotator": _who(given.get("completed_by")), "kind": "crowd"}
    if isinstance(given.get("lead_time"), int | float):
        label["seconds"] = given["lead_time"]
    value = None if given.get("was_cancelled") else _value(given, where)
    return {**label, "abstained": True} if value is None else {**label, "value": value}


def _who(raw: Any) -> str:
    if isinstance(raw, dict):
        raw = raw.get("email") or raw.get("username") or raw.get("id")
    return f"Label Studio user {raw}" if isinstance(raw, int) else str(raw or "Label Studio")


def _value(given: dict[str, Any], where: str) -> Any:
    """The value of the first answered control; None when there is no result."""
    results = given.get("result") or []
    if not isinstance(results, list):
        raise RowFault("Must be a list.", field=f"{where}.result")
    for at, one in enumerate(results):
        result = as_object(one, f"{where}.result[{at}]")
        value = as_object(result.get("value") or {}, f"{where}.result[{at}].value")
        for kind in ("choices", "rating", "text", "number"):
            if kind in value:
                return value[kind]
        raise RowFault(
            f"Results of type '{str(result.get('type'))[:40]}' cannot be imported.",
            field=f"{where}.result[{at}]",
        )
    return None
