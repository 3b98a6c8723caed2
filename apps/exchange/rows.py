"""Makes an item of a raw row, and checks its columns and values. No I/O."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.exchange.columns import ColumnMap
from apps.exchange.label_rows import (
    GoldRow,
    LabelRow,
    by_source,
    is_annotations,
    read_gold_history,
    read_labels,
)
from apps.exchange.readers.base import RawRow, RowFault, isolate_row
from apps.exchange.shapes import translate
from apps.exchange.shapes.base import Translated
from apps.exchange.values import (
    LabelLeftOut,
    UnknownLabels,
    as_object,
    is_number,
    json_cell,
    label_value,
)
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema, Value

MAX_ID = 200
ROLES = ("user", "assistant")
#: Translated rows have our own names already.
OUR_NAMES = ColumnMap()


@dataclass(frozen=True, slots=True)
class RowError:
    """The reason why a row was not imported; ``field`` is empty for the whole row."""

    row: int
    field: str
    message: str
    #: The names that are no labels, if these are the reason.
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A row that fits the schema; every value in it is canonical."""

    number: int
    external_id: str
    text: str
    context: list[dict[str, str]]
    question: str
    options: list[str]
    meta: dict[str, Any]
    content_hash: str
    gold: Value | None
    labels: tuple[LabelRow, ...]
    gold_history: tuple[GoldRow, ...]
    #: (field, message) of remarks on the file, each shown once.
    remarks: tuple[tuple[str, str], ...] = ()


def read_row(raw: RawRow, columns: ColumnMap, schema: Schema) -> ItemRow | RowError:
    """The item that ``raw`` describes under ``schema``, or its error."""
    if raw.error is not None:
        return RowError(raw.number, raw.field, raw.error)
    try:
        with isolate_row(raw.number):
            return _item_row(raw, columns, schema)
    except UnknownLabels as fault:
        return RowError(raw.number, fault.field, fault.message, fault.names)
    except RowFault as fault:
        return RowError(raw.number, fault.field, fault.message)


def _item_row(raw: RawRow, columns: ColumnMap, schema: Schema) -> ItemRow:
    translated = translate(raw.data, columns, schema)
    data, remarks = translated or Translated(_split_turns(raw.data))
    fields, others = (OUR_NAMES if translated else columns).of(data)
    given = {field: data[column] for field, column in fields.items()}
    text = _text(given.get("text"), fields.get("text", "text"), data)
    context = _context(given.get("context"))
    question = _question(given.get("question"))
    options = _options(given.get("options"))
    if schema.task.item_options and (len(options) == 1 or not (options or question)):
        raise RowFault(
            "Each item needs two options or more, or a question and none, because the project "
            "asks per item.",
            field="options",
        )
    meta = {name: data[name] for name in others}
    own = json_cell(given.get("meta"), "meta")
    if own is not None:
        meta |= own if isinstance(own, dict) else {"meta": own}
    content = _dumps([text, context, question, options])
    labels, gold = _annotations_and_gold(given, fields)
    where = fields.get("gold", "gold")
    try:
        gold_value = label_value(schema, gold, options, where=where)
        history = read_gold_history(given.get("gold_history"), schema, options)
    except LabelLeftOut:
        gold_value, history = None, ()
    return ItemRow(
        number=raw.number,
        external_id=external_id(given.get("id"), fields.get("id", "id")) or _digest(content),
        text=text,
        context=context,
        question=question,
        options=options,
        meta=meta,
        content_hash=_digest(content + _dumps(meta)) if meta else _digest(content),
        gold=gold_value,
        labels=read_labels(labels, schema, options),
        gold_history=history,
        remarks=remarks,
    )


def _split_turns(data: dict[str, Any]) -> dict[str, Any]:
    """A dialogue without a text: its last turn by the user is the text to label, the turns before
    it are the context."""
    turns = data.get("turns")
    if not isinstance(turns, list) or "text" in data:
        return data
    turns = [as_object(turn, f"turns[{index}]") for index, turn in enumerate(turns)]
    by_user = [index for index, turn in enumerate(turns) if turn.get("role", "user") == "user"]
    if not by_user:
        raise RowFault("None of the turns is by the user.", field="turns")
    others = {name: value for name, value in data.items() if name != "turns"}
    last = by_user[-1]
    return {**others, "text": turns[last].get("text"), "context": turns[:last]}


def _annotations_and_gold(given: Mapping[str, Any], fields: Mapping[str, str]) -> tuple[Any, Any]:
    """A ``labels`` column holds annotations (objects) or is the gold itself."""
    labels = by_source(json_cell(given.get("labels"), "labels"))
    gold = given.get("gold")
    if is_annotations(labels):
        return labels, None if fields.get("gold") == fields["labels"] else gold
    return (), gold


def _text(raw: Any, where: str, data: Mapping[str, Any]) -> str:
    if is_number(raw):
        raw = str(raw)
    if isinstance(raw, str) and raw.strip():
        return raw
    if raw not in (None, "") and not isinstance(raw, str):
        raise RowFault("The text must be a string.", field=where)
    if "annotator_id" in data:
        raise RowFault(
            "No text: this looks like a file of labels; import it as labels.", field=where
        )
    if raw is None:
        named = ", ".join(list(data)[:12])
        raise RowFault(
            "No text here. The row has: %(found)s.",
            found=named or Phrase("nothing"),
            field=where,
        )
    raise RowFault("The text is empty.", field=where)


def external_id(raw: Any, where: str) -> str:
    """The id as items store it; empty if there is none.

    Raises:
        RowFault: no text or number, or too long.
    """
    if raw is None or raw == "":
        return ""
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise RowFault("The id must be a text or a number.", field=where)
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    name = str(raw).strip()
    if len(name) > MAX_ID:
        raise RowFault(
            "The id is longer than %(max_id)s characters.", max_id=str(MAX_ID), field=where
        )
    return name


def _question(raw: Any) -> str:
    if raw is None:
        return ""
    if isinstance(raw, str) or is_number(raw):
        return str(raw)
    raise RowFault("Must be a text.", field="question")


def _context(raw: Any) -> list[dict[str, str]]:
    given = json_cell(raw, "context")
    if isinstance(given, str):
        return [{"role": "user", "text": given}] if given.strip() else []
    if given is None:
        return []
    if not isinstance(given, list):
        raise RowFault('Must be a list of {"role", "text"}.', field="context")
    return [_turn(turn, f"context[{index}]") for index, turn in enumerate(given)]


def _turn(raw: Any, where: str) -> dict[str, str]:
    if isinstance(raw, str):
        return {"role": "user", "text": raw}
    turn = as_object(raw, where)
    role, text = turn.get("role", "user"), turn.get("text", turn.get("content"))
    if role not in ROLES:
        raise RowFault(
            "'%(role)s' is not a role; use %(roles)s.",
            role=str(role)[:40],
            roles=" or ".join(ROLES),
            field=f"{where}.role",
        )
    if not isinstance(text, str):
        raise RowFault("Must be a text.", field=f"{where}.text")
    return {"role": role, "text": text}


def _options(raw: Any) -> list[str]:
    given = json_cell(raw, "options")
    if isinstance(given, str):
        given = [part.strip() for part in given.split("|")] if given.strip() else []
    given = [] if given is None else given
    if not isinstance(given, list) or not all(
        isinstance(name, str) and name.strip() for name in given
    ):
        raise RowFault("Must be a list of texts, none of them empty.", field="options")
    if len(set(given)) < len(given):
        raise RowFault("The same option is given twice.", field="options")
    return given


def bare_hash(text: str) -> str:
    """The ``content_hash`` of an item of which only the text is given."""
    return _digest(_dumps([text, [], "", []]))


def _dumps(content: Sequence[Any] | Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
