"""A row as cells: readable columns first, the ledger as JSON in the last ones."""

import json
from collections.abc import Sequence
from itertools import chain

from apps.exchange.exporters.base import Chunks, Row
from apps.exchange.values import value_cell

READABLE = ("id", "text", "question", "gold")
AS_JSON = ("context", "options", "meta", "labels", "gold_history")
#: The column that marks our own files for the importer, and the version of the columns.
MARKER, VERSION = "labelhub", "1"

_encode = json.JSONEncoder(ensure_ascii=False).encode


def columns(row: Row) -> list[str]:
    """The columns of a table with such rows."""
    return [MARKER, *READABLE, *(name for name in AS_JSON if name in row)]


def find_columns(chunks: Chunks) -> tuple[list[str], Chunks]:
    """The columns of the rows, and the chunks that are not empty."""
    filled = (rows for rows in chunks if rows)
    first = next(filled, None)
    return (EVERY_COLUMN, ()) if first is None else (columns(first[0]), chain([first], filled))


def cells(row: Row, names: Sequence[str]) -> list[str]:
    """The row's cells, each a text."""
    texts = []
    for name in names:
        if name == MARKER:
            texts.append(VERSION)
        elif name == "gold":
            texts.append(value_cell(row[name]))
        elif name in READABLE:
            texts.append(str(row[name]))
        else:
            texts.append(_encode(row[name]) if row[name] else "")
    return texts


EVERY_COLUMN = [MARKER, *READABLE, *AS_JSON]
