"""Label Studio's JSON_MIN: a row per annotation, the columns of ``data`` beside it. No I/O."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from apps.exchange.columns import ColumnMap, guess_columns
from apps.exchange.readers.base import RawRow, RowFault
from apps.exchange.shapes.base import Data, Shape, Translated
from apps.exchange.shapes.said import Asked, Said, seconds_of
from apps.exchange.values import as_object
from labelhub.core.schema import Schema, role_of

#: Columns of the annotation, not of the task.
OWN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
#: The rows of one task, once :func:`gathered` has put them together.
ALL = "label_studio_rows"
MOST = 1000
#: Characters of texts that are held for one task besides those of its first row: packed formats
#: unpack to any size.
MOST_CHARS = 4_000_000


def fits(data: Data) -> bool:
    """Whether it is such a row."""
    return "annotation_id" in data and "annotator" in data and "lead_time" in data


def gathered(rows: Iterable[RawRow]) -> Iterator[RawRow]:
    """The rows, those that follow each other with one task's annotations as one."""
    held: list[RawRow] = []
    chars = 0
    for row in rows:
        if held and _together(held[0], row) and len(held) < MOST and chars < MOST_CHARS:
            row = _sharing(held[0], row)  # noqa: PLW2901 - the same row
            chars += _own_chars(held[0], row)
            held.append(row)
            continue
        if held:
            yield _joined(held)
        held, chars = [row], 0
    if held:
        yield _joined(held)


def _together(one: RawRow, other: RawRow) -> bool:
    if one.error or other.error or not (fits(one.data) and fits(other.data)):
        return False
    return bool(one.data.get("id") == other.data.get("id") is not None)


def _sharing(first: RawRow, row: RawRow) -> RawRow:
    """The row; what it repeats of the first one is in memory once."""
    there = first.data
    shared = {
        name: there[name] if _same(there.get(name), value) else value
        for name, value in row.data.items()
    }
    return replace(row, data=shared)


def _same(one: Any, other: Any) -> bool:
    """Numbers are left alone: 1 is also true."""
    if isinstance(one, list | dict):
        return type(one) is type(other) and json.dumps(one) == json.dumps(other)
    return isinstance(one, str) and one == other


def _own_chars(first: RawRow, row: RawRow) -> int:
    there = first.data
    return sum(_chars(value) for name, value in row.data.items() if there.get(name) is not value)


def _chars(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return len(json.dumps(value)) if isinstance(value, list | dict) else 0


def _joined(rows: list[RawRow]) -> RawRow:
    first, last = rows[0], rows[-1]
    if last is first:
        return first
    told = {**last.data, ALL: [row.data for row in rows]}
    return RawRow(first.number, told, position=last.position)


def read(data: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row of a task with its annotations as labels of people.

    Raises:
        RowFault: several columns could hold the answer and nobody chose.
    """
    together = data.get(ALL)
    rows = together if isinstance(together, list) else [data]
    content = {name: value for name, value in data.items() if name not in (*OWN, ALL)}
    fields, others = columns.of(content)
    answer = columns.question.chosen or fields.get("gold") or _only_other(others, data)
    asked = Asked(schema, str(data.get(fields.get("text", "")) or ""), (), columns.question)
    names = ("id", "text", "context", "question", "options")
    row: dict[str, Any] = {name: data[fields[name]] for name in names if name in fields}
    row["labels"] = [
        _label(as_object(one, f"row {at + 1}"), answer, others, asked)
        for at, one in enumerate(rows)
    ]
    said = {answer, *(name for name in others if role_of(name) or _is_quotes(data.get(name)))}
    row["meta"] = {name: data[name] for name in others if name not in said}
    return Translated(row)


def _only_other(others: tuple[str, ...], data: Data) -> str:
    left = [name for name in others if not role_of(name) and not _is_quotes(data.get(name))]
    if len(left) == 1:
        return left[0]
    if not left and any(_is_quotes(data.get(name)) for name in others):
        return ""
    raise RowFault(
        f"Which column has the answer? Choose one (answer) of: {', '.join(left[:12]) or 'none'}.",
        field=left[0] if left else "",
    )


def _label(
    one: dict[str, Any], answer: str, others: tuple[str, ...], asked: Asked
) -> dict[str, Any]:
    said = Said(asked)
    for name in others:
        if name != answer and _is_quotes(one.get(name)):
            _take_quotes(said, one[name], name)
        elif name != answer and (role := role_of(name)):
            said.sure(one.get(name)) if role == "confidence" else said.words(role, one.get(name))
    raw = _plain(one.get(answer))
    if _is_quotes(raw):
        _take_quotes(said, raw, answer)
    elif raw not in (None, ""):
        said.answer(answer, raw, answer)
    label = {"annotator": _who(one["annotator"]), "kind": "crowd", **said.to_label()}
    label |= seconds_of(one["lead_time"])
    kept = {name: one[name] for name in ("annotation_id", "updated_at") if name in one}
    label["provenance"] = {**label["provenance"], "label_studio_min": kept}
    return label | ({"created_at": one["created_at"]} if one.get("created_at") else {})


def _who(raw: Any) -> str:
    if isinstance(raw, int):
        return f"Label Studio user {raw}"
    return str(raw or "").strip()[:200] or "Label Studio"


def _plain(raw: Any) -> Any:
    """``{"choices": ["A", "B"]}`` and the like say what they hold."""
    if isinstance(raw, dict) and len(raw) == 1:
        return next(iter(raw.values()))
    only = raw[0] if isinstance(raw, list) and len(raw) == 1 else None
    return _plain(only) if isinstance(only, dict) and len(only) == 1 else raw


def _is_quotes(raw: Any) -> bool:
    parts = raw if isinstance(raw, list) else []
    return bool(parts) and all(isinstance(one, dict) and "start" in one for one in parts)


def _take_quotes(said: Said, raw: list[dict[str, Any]], name: str) -> None:
    for at, one in enumerate(raw):
        where, labels = f"{name}[{at}]", one.get("labels")
        for label in labels if isinstance(labels, list) else [labels]:
            said.span(label, (one.get("start"), one.get("end")), one.get("text"), where)


def _columns(data: Data) -> list[str]:
    return [name for name in data if name not in (*OWN, ALL)]


def _questions(data: Data) -> list[str]:
    told = guess_columns(_columns(data))
    left = [name for name in _columns(data) if name not in (told.get("text"), told.get("id"))]
    return [name for name in left if not role_of(name) and not _is_quotes(data.get(name))]


SHAPE = Shape("Label Studio JSON_MIN", fits, read, _columns, _questions)
