"""A row as cells: readable columns first, the ledger as JSON in the last ones."""

import json
from collections.abc import Sequence
from typing import Any

from apps.exchange.exporters.base import Row
from apps.exchange.values import value_cell

READABLE = ("id", "text", "question", "gold")
AS_JSON = ("context", "options", "meta", "labels", "gold_history")
#: Tells our importer that the file is ours; the number is the version of the columns.
MARKER, VERSION = "labelhub", "1"

_encode = json.JSONEncoder(ensure_ascii=False).encode


def columns(row: Row) -> list[str]:
    """The columns of a table with such rows."""
    return [MARKER, *READABLE, *(name for name in AS_JSON if name in row)]


def cells(row: Row, names: Sequence[str]) -> list[str]:
    """The row's cells, each a text."""
    return [VERSION if name == MARKER else _cell(name, row[name]) for name in names]


def _cell(name: str, value: Any) -> str:
    if name == "gold":
        return value_cell(value)
    if name in READABLE:
        return str(value)
    return _encode(value) if value else ""


EVERY_COLUMN = [MARKER, *READABLE, *AS_JSON]
