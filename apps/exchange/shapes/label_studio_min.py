"""Label Studio's JSON_MIN, CSV and TSV: a row per annotation, the columns of ``data`` beside it.

Cells of tables hold JSON where the value is not a single text. No I/O.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import uuid5

from apps.exchange.columns import ColumnMap
from apps.exchange.readers.base import DECODER, RawRow, RowFault, check_row
from apps.exchange.shapes.base import (
    FIELDS,
    NAMESPACE,
    AnnotationContext,
    Data,
    ParsedAnnotation,
    Shape,
    Translated,
    chain_revisions,
    seconds_of,
    user_name,
)
from apps.exchange.values import as_object
from labelhub.core.schema import Schema, role_of

#: Columns of the annotation, not of the task.
OWN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
#: The prefix of a column of ``data`` whose name a control has as well.
RENAMED = "_data_"
#: The names of the answer and the quotes in our own configuration.
OUR_ANSWER, OUR_QUOTES = "label", "evidence"
#: The rows of one task, after :func:`merge_tasks`.
ALL = "label_studio_rows"
MOST = 1000
#: Characters that are held for one task, beyond those of its first row: packed files can unpack to
#: any size.
MOST_CHARS = 4_000_000


def fits(data: Data) -> bool:
    """Whether the row is one of these formats."""
    return "annotation_id" in data and "annotator" in data and "lead_time" in data


def merge_tasks(rows: Iterable[RawRow]) -> Iterator[RawRow]:
    """The rows, where consecutive rows with annotations of one task become one row."""
    held: list[RawRow] = []
    chars = 0
    for row in rows:
        if held and _same_task(held[0], row) and len(held) < MOST and chars < MOST_CHARS:
            data = _share_values(held[0].data, row.data)
            own = [value for name, value in data.items() if held[0].data.get(name) is not value]
            chars += sum(map(_count_chars, own))
            held.append(replace(row, data=data))
            continue
        if held:
            yield _merge(held)
        held, chars = [row], 0
    if held:
        yield _merge(held)


def _same_task(first: RawRow, other: RawRow) -> bool:
    if first.error or other.error or not (fits(first.data) and fits(other.data)):
        return False
    return bool(first.data.get("id") == other.data.get("id") is not None)


def _share_values(first: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """``row``, where texts and structures equal to those of ``first`` are the same objects, so that
    they are in memory once. Numbers are left alone: 1 equals true."""
    shared = {}
    for name, value in row.items():
        before = first.get(name)
        if isinstance(value, list | dict) and type(before) is type(value):
            same = json.dumps(before) == json.dumps(value)
        else:
            same = isinstance(value, str) and before == value
        shared[name] = before if same else value
    return shared


def _count_chars(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return len(json.dumps(value)) if isinstance(value, list | dict) else 0


def _merge(rows: list[RawRow]) -> RawRow:
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
            "Label Studio has renamed the task's column '%(name)s', because a control has "
            "that name: choose '%(renamed)s' for the column, and '%(name)s' for the answer.",
            name=name,
            renamed=renamed,
            field=renamed,
        )
    annotated = [row for row in rows if row["annotation_id"] not in (None, "")]
    fields, given = _split_columns(data, rows, columns)
    answer = columns.question.chosen or (_find_answer(given, rows, schema) if annotated else "")
    asked = AnnotationContext(
        schema, str(data.get(fields.get("text", "")) or ""), (), columns.question
    )
    row: dict[str, Any] = {name: data[column] for name, column in fields.items()}
    # In the order in which they were given: a later one of an annotator revises the one before.
    annotated.sort(key=lambda row: str(row.get("created_at") or ""))
    row["labels"] = [_label(annotation, answer, given.names, asked) for annotation in annotated]
    chain_revisions(row["labels"])
    used = {answer, *fields.values(), *(name for name in given.names if _is_extra(name, rows))}
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
    #: Whether the task's own columns are not among them.
    apart: bool
    #: Whether the only column that may be the answer is the answer.
    alone: bool


def _split_columns(
    data: Data, rows: list[dict[str, Any]], columns: ColumnMap
) -> tuple[dict[str, str], _Given]:
    """Field → column of the task itself, and the columns of its annotations."""
    fields, _ = columns.of([name for name in data if name not in (*OWN, ALL)], FIELDS)
    behind = [_control_columns(row, fields.get("text", "")) for row in rows]
    apart = all(given.apart for given in behind)
    sure = columns.chosen if apart else fields
    held = {column for field, column in sure.items() if field != "gold"}
    names = dict.fromkeys(name for given in behind for name in given.names if name not in held)
    content_fields = {
        field: column for field, column in fields.items() if field == "gold" or column not in names
    }
    return content_fields, _Given(tuple(names), apart, all(given.alone for given in behind))


def _control_columns(row: Data, text: str) -> _Given:
    """JSON_MIN has the task's data, its id, then the answers. Where the id is before the text, the
    data has an id of its own, and more data may follow the text. Tables are sorted by name, and
    each row has all columns."""
    names = list(row)
    places = {name: index for index, name in enumerate(names)}
    id_at, text_at = places.get("id", -1), places.get(text, -1)
    in_order = -1 < id_at < places.get("annotation_id", -1)
    start = max(id_at, text_at) + 1 if in_order else 0
    behind = tuple(name for name in names[start:] if name not in (*OWN, ALL))
    apart = in_order and text_at < id_at
    return _Given(behind, apart, alone=apart or not in_order)


def _is_extra(name: str, rows: list[dict[str, Any]]) -> bool:
    """Whether a column holds the words, confidence or quotes of an answer."""
    return bool(role_of(name)) or any(_is_quotes(_cell(row, name)) for row in rows)


def _candidates(given: _Given, rows: list[dict[str, Any]]) -> list[str]:
    return [name for name in given.names if name != OUR_QUOTES and not _is_extra(name, rows)]


def _find_answer(given: _Given, rows: list[dict[str, Any]], schema: Schema) -> str:
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
        "Which column has the answer? Choose it (answer, --answer NAME) of: %(shown)s.",
        shown=shown,
        field=left[0],
    )


def _label(
    row: dict[str, Any], answer: str, names: tuple[str, ...], asked: AnnotationContext
) -> dict[str, Any]:
    annotation = ParsedAnnotation(asked)
    for name in names:
        raw = _cell(row, name)
        if name != answer and _is_quotes(raw):
            _add_quotes(annotation, raw, name)
        elif name != answer and role_of(name) == "confidence":
            annotation.set_confidence(_unwrap(raw))
        elif name != answer and (role := role_of(name)):
            annotation.add_words(role, raw)
    raw = _unwrap(_cell(row, answer))
    if _is_quotes(raw):
        _add_quotes(annotation, raw, answer)
    elif raw not in (None, ""):
        annotation.set_answer(answer, raw, answer)
    label = {"annotator": user_name(row["annotator"]), "kind": "crowd", **annotation.to_label()}
    label["uid"] = str(uuid5(NAMESPACE, json.dumps(row, sort_keys=True)))
    label |= seconds_of(row["lead_time"])
    kept = {name: row[name] for name in ("annotation_id", "updated_at") if name in row}
    label["provenance"] = {**label["provenance"], "label_studio_min": kept}
    return label | ({"created_at": row["created_at"]} if row.get("created_at") else {})


def _cell(row: Data, name: str) -> Any:
    """A cell as JSON_MIN has it: JSON in a table's cell is decoded, unless it is a plain text."""
    raw = row.get(name)
    if not isinstance(raw, str) or not raw.startswith(("[", "{")):
        return raw
    try:
        found = DECODER.decode(raw)
        check_row({name: found})
    except (ValueError, RecursionError):
        return raw
    if isinstance(found, dict):
        is_value = len(found) == 1 and isinstance(next(iter(found.values())), list)
    else:
        texts = len(found) > 1 and all(isinstance(part, str) for part in found)
        is_value = texts or (bool(found) and all(isinstance(part, dict) for part in found))
    return found if is_value else raw


def _unwrap(raw: Any) -> Any:
    """The inside of ``{"choices": ["A", "B"]}`` and the like."""
    if isinstance(raw, dict) and len(raw) == 1:
        return next(iter(raw.values()))
    only = raw[0] if isinstance(raw, list) and len(raw) == 1 else None
    return _unwrap(only) if isinstance(only, dict) and len(only) == 1 else raw


def _is_quotes(raw: Any) -> bool:
    parts = raw if isinstance(raw, list) else []
    return bool(parts) and all(isinstance(part, dict) and "start" in part for part in parts)


def _add_quotes(annotation: ParsedAnnotation, raw: list[dict[str, Any]], name: str) -> None:
    for index, quote in enumerate(raw):
        where, labels = f"{name}[{index}]", quote.get("labels")
        for label in labels if isinstance(labels, list) else [labels]:
            annotation.add_span(
                label, (quote.get("start"), quote.get("end")), quote.get("text"), where
            )


def column_names(data: Data) -> list[str]:
    """The columns beside those of the annotation."""
    return [name for name in data if name not in (*OWN, ALL)]


def question_names(data: Data) -> list[str]:
    """The columns that may hold the answer."""
    rows = _rows(data)
    return _candidates(_split_columns(data, rows, ColumnMap())[1], rows)


SHAPE = Shape("Label Studio (JSON_MIN, CSV, TSV)", fits, read, column_names, question_names)
