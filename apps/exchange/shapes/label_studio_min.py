"""Label Studio's JSON_MIN, CSV and TSV: a row per annotation, the columns of ``data`` beside it.

In tables what is no single text is spelled as JSON. No I/O.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid5

from apps.exchange.columns import ColumnMap
from apps.exchange.readers.base import DECODER, RawRow, RowFault, check_row
from apps.exchange.shapes.base import (
    NAMESPACE,
    AnnotationContext,
    Data,
    ParsedAnnotation,
    Shape,
    Translated,
    seconds_of,
    user_name,
)
from apps.exchange.values import as_object
from labelhub.core.schema import Schema, role_of

#: Columns of the annotation, not of the task.
OWN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
FIELDS = ("id", "text", "context", "question", "options")
#: What a column of ``data`` is called where a control has its name.
RENAMED = "_data_"
#: What our own configuration calls the answer and the quotes.
OUR_ANSWER, OUR_QUOTES = "label", "evidence"
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


def _together(first: RawRow, other: RawRow) -> bool:
    if first.error or other.error or not (fits(first.data) and fits(other.data)):
        return False
    return bool(first.data.get("id") == other.data.get("id") is not None)


def _sharing(first: RawRow, row: RawRow) -> RawRow:
    """The row; what it repeats of the first one is in memory once."""
    there = first.data
    shared = {
        name: there[name] if _same(there.get(name), value) else value
        for name, value in row.data.items()
    }
    return replace(row, data=shared)


def _same(first: Any, other: Any) -> bool:
    """Numbers are left alone: 1 is also true."""
    if isinstance(first, list | dict):
        return type(first) is type(other) and json.dumps(first) == json.dumps(other)
    return isinstance(first, str) and first == other


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
    merged = {**last.data, ALL: [row.data for row in rows]}
    size = sum(row.size for row in rows)
    return RawRow(first.number, merged, position=last.position, size=size)


def read(data: Data, columns: ColumnMap, schema: Schema) -> Translated:
    """The row of a task with its annotations as labels of people.

    Raises:
        RowFault: several columns could hold the answer and nobody chose.
    """
    rows = _rows(data)
    content = [name for name in data if name not in (*OWN, ALL)]
    renamed = next((name for name in content if name.startswith(RENAMED)), "")
    if renamed and renamed not in columns.chosen.values():
        name = renamed.removeprefix(RENAMED)
        raise RowFault(
            f"Label Studio calls the task's own column '{name}' so, because a control has that "
            f"name: choose '{renamed}' where you mean it, and '{name}' as the answer.",
            field=renamed,
        )
    annotated = [row for row in rows if row["annotation_id"] not in (None, "")]
    fields, given = _parted(data, rows, columns)
    answer = columns.question.chosen or (_answer(given, rows, schema) if annotated else "")
    asked = AnnotationContext(
        schema, str(data.get(fields.get("text", "")) or ""), (), columns.question
    )
    row: dict[str, Any] = {name: data[column] for name, column in fields.items()}
    row["labels"] = _labels(annotated, answer, given.names, asked)
    used = {answer, *fields.values(), *(name for name in given.names if _is_beside(name, rows))}
    row["meta"] = {
        name: data[name] for name in content if name not in used and data[name] is not None
    }
    return Translated(row)


def _rows(data: Data) -> list[dict[str, Any]]:
    together = data.get(ALL)
    given = together if isinstance(together, list) else [dict(data)]
    return [as_object(row, f"row {index + 1}") for index, row in enumerate(given)]


class _Given(NamedTuple):
    """The columns that controls may have written."""

    names: tuple[str, ...]
    #: The task's own columns are not among them.
    apart: bool
    #: The only one that may be the answer is the answer.
    alone: bool


def _parted(
    data: Data, rows: list[dict[str, Any]], columns: ColumnMap
) -> tuple[dict[str, str], _Given]:
    """Field → column for what the task holds, and what was said of it."""
    fields, _ = columns.of([name for name in data if name not in (*OWN, ALL)], FIELDS)
    behind = [_behind(row, fields.get("text", "")) for row in rows]
    apart = all(given.apart for given in behind)
    sure = columns.chosen if apart else fields
    held = {column for field, column in sure.items() if field != "gold"}
    names = dict.fromkeys(name for given in behind for name in given.names if name not in held)
    content_fields = {
        field: column for field, column in fields.items() if field == "gold" or column not in names
    }
    return content_fields, _Given(tuple(names), apart, all(given.alone for given in behind))


def _behind(row: Data, text: str) -> _Given:
    """JSON_MIN has the task's data, its id, then what was answered, if anything was; where the id
    stands before the text, the data had one of its own, and may go on behind the text. Tables are
    sorted by name, and each row has all columns."""
    names = list(row)
    places = {name: index for index, name in enumerate(names)}
    id_at, text_at = places.get("id", -1), places.get(text, -1)
    in_order = -1 < id_at < places.get("annotation_id", -1)
    start = max(id_at, text_at) + 1 if in_order else 0
    behind = tuple(name for name in names[start:] if name not in (*OWN, ALL))
    apart = in_order and text_at < id_at
    return _Given(behind, apart, alone=apart or not in_order)


def _is_beside(name: str, rows: list[dict[str, Any]]) -> bool:
    """Whether a column holds words, a sureness or quotes that go with an answer."""
    return bool(role_of(name)) or any(_is_quotes(_cell(row, name)) for row in rows)


def _candidates(given: _Given, rows: list[dict[str, Any]]) -> list[str]:
    return [name for name in given.names if name != OUR_QUOTES and not _is_beside(name, rows)]


def _answer(given: _Given, rows: list[dict[str, Any]], schema: Schema) -> str:
    """The column that answers the project's question; empty where there is none in these rows.

    Raises:
        RowFault: it may be another one. In free words any column of a table could be the answer.
    """
    left = _candidates(given, rows)
    sure = given.apart or (given.alone and not schema.task.written)
    if not left or (len(left) == 1 and (sure or left[0] == OUR_ANSWER)):
        return left[0] if left else ""
    shown = ", ".join(left[:12])
    raise RowFault(
        f"Which column has the answer? Choose it (answer, --answer NAME) of: {shown}.",
        field=left[0],
    )


def _labels(
    rows: list[dict[str, Any]], answer: str, names: tuple[str, ...], asked: AnnotationContext
) -> list[dict[str, Any]]:
    """The labels in the order in which they were given: who annotated a task several times says
    by now what they said last."""
    last: dict[str, str] = {}
    labels = []
    in_order = sorted(rows, key=lambda row: str(row.get("created_at") or ""))
    for row in in_order:
        label = _label(row, answer, names, asked)
        label["uid"] = str(uuid5(NAMESPACE, json.dumps(row, sort_keys=True)))
        labels.append(label)
        if label.get("withdrawn"):
            continue
        before = last.get(label["annotator"])
        label |= {} if before is None else {"supersedes": before}
        last[label["annotator"]] = label["uid"]
    return labels


def _label(
    row: dict[str, Any], answer: str, names: tuple[str, ...], asked: AnnotationContext
) -> dict[str, Any]:
    annotation = ParsedAnnotation(asked)
    for name in names:
        raw = _cell(row, name)
        if name != answer and _is_quotes(raw):
            _take_quotes(annotation, raw, name)
        elif name != answer and (role := role_of(name)):
            annotation.sure(_plain(raw)) if role == "confidence" else annotation.words(role, raw)
    raw = _plain(_cell(row, answer))
    if _is_quotes(raw):
        _take_quotes(annotation, raw, answer)
    elif raw not in (None, ""):
        annotation.answer(answer, raw, answer)
    label = {"annotator": user_name(row["annotator"]), "kind": "crowd", **annotation.to_label()}
    label |= seconds_of(row["lead_time"])
    kept = {name: row[name] for name in ("annotation_id", "updated_at") if name in row}
    label["provenance"] = {**label["provenance"], "label_studio_min": kept}
    return label | ({"created_at": row["created_at"]} if row.get("created_at") else {})


def _cell(row: Data, name: str) -> Any:
    """A cell as JSON_MIN has it: what a table spells as JSON, unless words only look like it."""
    raw = row.get(name)
    if not isinstance(raw, str) or not raw.startswith(("[", "{")):
        return raw
    try:
        found = DECODER.decode(raw)
        check_row({name: found})
    except (ValueError, RecursionError):
        return raw
    if isinstance(found, dict):
        spelled = len(found) == 1 and isinstance(next(iter(found.values())), list)
    else:
        texts = len(found) > 1 and all(isinstance(part, str) for part in found)
        spelled = texts or (bool(found) and all(isinstance(part, dict) for part in found))
    return found if spelled else raw


def _plain(raw: Any) -> Any:
    """``{"choices": ["A", "B"]}`` and the like say what they hold."""
    if isinstance(raw, dict) and len(raw) == 1:
        return next(iter(raw.values()))
    only = raw[0] if isinstance(raw, list) and len(raw) == 1 else None
    return _plain(only) if isinstance(only, dict) and len(only) == 1 else raw


def _is_quotes(raw: Any) -> bool:
    parts = raw if isinstance(raw, list) else []
    return bool(parts) and all(isinstance(part, dict) and "start" in part for part in parts)


def _take_quotes(annotation: ParsedAnnotation, raw: list[dict[str, Any]], name: str) -> None:
    for index, quote in enumerate(raw):
        where, labels = f"{name}[{index}]", quote.get("labels")
        for label in labels if isinstance(labels, list) else [labels]:
            annotation.span(label, (quote.get("start"), quote.get("end")), quote.get("text"), where)


def _columns(data: Data) -> list[str]:
    return [name for name in data if name not in (*OWN, ALL)]


def _questions(data: Data) -> list[str]:
    rows = _rows(data)
    return _candidates(_parted(data, rows, ColumnMap())[1], rows)


SHAPE = Shape("Label Studio JSON_MIN, CSV or TSV", fits, read, _columns, _questions)
