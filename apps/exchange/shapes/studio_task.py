"""The content of a Label Studio task: item fields, and what is left of it. No I/O."""

from collections.abc import Mapping
from typing import Any

from apps.exchange.columns import CONTENT, ColumnMap
from apps.exchange.shapes.base import Data
from apps.exchange.values import as_object

#: Where an item's ``meta`` keeps what only Label Studio knows what to do with.
KEPT = "label_studio"
#: Made anew by an export from what there is then.
COUNTED = ("total_annotations", "cancelled_annotations", "total_predictions")
READ = ("data", "meta", "annotations", "predictions", "drafts", *COUNTED)
FIELDS = ("id", "text", "context", "question", "options")


def content_of(task: Data, columns: ColumnMap) -> dict[str, Any]:
    """A row without labels: item fields out of ``data``; the remaining columns and the task's own
    ``meta`` are metadata.

    A column of ``data`` is gold only where somebody chose it, and then kept as that alone: metadata
    is shown to those who label.
    """
    data = as_object(task["data"], "data")
    fields, others = columns.of(data, CONTENT)
    fields = dict(fields)
    if "text" not in fields and (only := _only_text(data)):
        fields["text"] = only
        others = tuple(name for name in others if name != only)
    gold = _gold(data, fields)
    row = {name: data[fields[name]] for name in FIELDS if name in fields}
    if "options" in row:
        row["options"] = _options(row["options"])
    if gold:
        row["gold"] = data[gold]
    if "id" not in row and task.get("id") is not None:
        row["id"] = task["id"]
    row["meta"] = _meta(task, data, fields, [name for name in others if name != gold], gold)
    return row


def _only_text(data: Mapping[str, Any]) -> str:
    texts = [name for name, value in data.items() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else ""


def _gold(data: Mapping[str, Any], fields: Mapping[str, str]) -> str:
    """The column that was chosen to hold a decided value, if its value can be one."""
    column = fields.get("gold", "")
    value = data.get(column)
    parts = value if isinstance(value, list) else [value]
    return "" if value is None or any(isinstance(part, list | dict) for part in parts) else column


def _options(raw: Any) -> Any:
    """Dynamic choices come as objects."""
    if isinstance(raw, list) and raw and all(isinstance(one, dict) for one in raw):
        return [one.get("value") for one in raw]
    return raw


def _meta(
    task: Data, data: Mapping[str, Any], fields: Mapping[str, str], others: list[str], gold: str
) -> dict[str, Any]:
    meta = task.get("meta")
    text = fields.get("text", "")
    text = text if isinstance(data.get(text), str) else ""
    kept: dict[str, Any] = {
        "columns": {name: column for name, column in (("text", text), ("gold", gold)) if column},
        "task": {name: value for name, value in task.items() if name not in READ},
    }
    theirs = meta if isinstance(meta, dict) else {"meta": meta} if meta else {}
    own = data.get(fields.get("meta", ""))
    besides = own if isinstance(own, dict) else {}
    shown = {**{name: data[name] for name in others}, **besides, **theirs}
    shown.pop(KEPT, None)
    rest = {name: value for name, value in data.items() if name not in (text, gold)}
    kept["data"] = _apart(rest, shown)
    if "meta" in task:
        kept["meta"] = _apart(meta, shown) if isinstance(meta, dict) else meta
    return {**shown, KEPT: kept}


def _apart(given: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` without what is among the metadata: of that, the names."""
    there = [name for name, value in given.items() if shown.get(name, given) is value]
    rest = {name: value for name, value in given.items() if name not in there}
    return {"shown": there, "rest": rest}


def together(apart: Any, shown: Mapping[str, Any]) -> Any:
    """What :func:`_apart` took apart."""
    if not isinstance(apart, dict) or set(apart) != {"shown", "rest"}:
        return apart
    if not (isinstance(apart["shown"], list) and isinstance(apart["rest"], dict)):
        return apart
    names = [name for name in apart["shown"] if isinstance(name, str) and name in shown]
    return {**{name: shown[name] for name in names}, **apart["rest"]}


def kept_in(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What :func:`_meta` kept of a task; nothing where others use the name for something else."""
    kept: Any = meta.get(KEPT)
    parts = ("columns", "task", "data")
    if not (isinstance(kept, dict) and all(isinstance(kept.get(part), dict) for part in parts)):
        return {}
    return kept
