"""Converts cells of files to values of the ledger, and back. No I/O."""

from collections.abc import Sequence
from typing import Any, TypeGuard

from apps.exchange.readers.base import DECODER, RowFault, check_row
from labelhub.core.schema import Schema, Value, ValueNotOffered


def json_cell(raw: Any, where: str) -> Any:
    """The decoded value of a text cell that begins like JSON; any other value unchanged."""
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


def as_list(raw: Any, where: str) -> list[Any]:
    """``raw`` if it is a list.

    Raises:
        RowFault: it is not.
    """
    if not isinstance(raw, list):
        raise RowFault("Must be a list.", field=where)
    return raw


def is_number(raw: Any) -> TypeGuard[int | float]:
    """Whether ``raw`` is a number; ``True`` and ``False`` are none."""
    return isinstance(raw, int | float) and not isinstance(raw, bool)


def label_value(schema: Schema, raw: Any, options: Sequence[str], *, where: str) -> Value | None:
    """The canonical value of a file's value; None when there is none.

    Raises:
        RowFault: the value is not offered; the message names it.
    """
    blank = isinstance(raw, str) and not raw.strip()
    if raw is None or blank or (raw == [] and not schema.task.several):
        return None
    try:
        cell = json_cell(raw, where) if schema.task.several else raw
        return schema.normalise(schema.task.from_cell(schema, cell), options)
    except ValueNotOffered as refused:
        raise RowFault(refused.message, field=where) from None


def past_value(schema: Schema, raw: Any, options: Sequence[str], *, where: str) -> Value | None:
    """The value of a ledger row that another row of the file supersedes. It may be one that the
    schema no longer offers.

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
