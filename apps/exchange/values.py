"""Cells and values: from what a file spells to what the ledger keeps. No I/O."""

import json
from collections.abc import Sequence
from typing import Any

from apps.exchange.readers.base import RowFault
from apps.exchange.readers.checks import check_row
from apps.exchange.readers.objects import DECODER
from labelhub.core.schema import Schema, Task, Value, ValueNotOffered, listed_names


def json_cell(raw: Any, where: str) -> Any:
    """What a text cell spells when it starts like a JSON list or object; anything else as it is."""
    if not isinstance(raw, str) or not raw.lstrip().startswith(("[", "{")):
        return raw
    try:
        value = DECODER.decode(raw)
    except (ValueError, RecursionError):
        raise RowFault("Starts like JSON and is not valid JSON.", field=where) from None
    check_row({where: value})
    return value


def as_object(raw: Any, where: str) -> dict[str, Any]:
    """``raw`` if it is an object.

    Raises:
        RowFault: it is not.
    """
    if not isinstance(raw, dict):
        raise RowFault("Must be an object.", field=where)
    return raw


def label_value(schema: Schema, raw: Any, options: Sequence[str], *, where: str) -> Value | None:
    """The canonical value of a file's value; None when there is none.

    Raises:
        RowFault: the value is not offered; the message names it.
    """
    blank = isinstance(raw, str) and not raw.strip()
    if raw is None or blank or (raw == [] and schema.task is not Task.MULTI):
        return None
    try:
        return schema.normalise(_shaped(schema, raw, where), options)
    except ValueNotOffered as refused:
        raise RowFault(refused.message, field=where) from None


def past_value(schema: Schema, raw: Any, options: Sequence[str], *, where: str) -> Value | None:
    """The value of a ledger row that another one in the file supersedes: also one that was offered
    when it was given and is called otherwise now. It stands for nothing any more.

    Raises:
        RowFault: no value of any schema looks like that.
    """
    try:
        return label_value(schema, raw, options, where=where)
    except RowFault:
        names = raw if isinstance(raw, list) else [raw]
        if all(isinstance(name, str | int | float) for name in names):
            kept: Value = raw
            return kept
        raise


def _shaped(schema: Schema, raw: Any, where: str) -> Any:
    """File formats flatten values; this gives them the shape their task has."""
    match schema.task:
        case Task.MULTI:
            return _names(raw, schema, where)
        case Task.ORDINAL:
            return _only(raw)
        case _:
            one = _only(raw)
            return one if not isinstance(one, int | float) else _spelled(one)


def _names(raw: Any, schema: Schema, where: str) -> Any:
    given = json_cell(raw, where)
    if isinstance(given, str):
        names = listed_names(given, schema.names)
        if not names:
            raise RowFault("It names no label; the empty set is written as [].", field=where)
        return names
    if isinstance(given, dict):
        return {
            name: bool(present) if present in (0, 1) else present for name, present in given.items()
        }
    return given


def _spelled(number: float) -> str:
    """A label name that a spreadsheet turned into a number or a truth value."""
    if isinstance(number, bool):
        return str(number).lower()
    return str(int(number)) if number == int(number) else str(number)


def _only(raw: Any) -> Any:
    return raw[0] if isinstance(raw, list) and len(raw) == 1 else raw


def value_cell(value: Value | None) -> str:
    """A value as one readable table cell; :func:`label_value` reads it back."""
    if value is None:
        return ""
    if isinstance(value, list):
        plain = value and not any("," in name for name in value)
        return ", ".join(value) if plain else json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value)
