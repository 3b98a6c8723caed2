"""Reads a table as it was pasted: LaTeX, CSV, TSV, Markdown, by spaces, or a JSON list.

Cells stay as printed, since the digits matter. Nothing is guessed that the text does not show.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.agreement.audit.pasted import Rows, merged, rows_of
from labelhub.core.agreement.audit.printed import clean, parse
from labelhub.core.agreement.audit.roles import VALUE, role_of
from labelhub.core.errors import InvalidInput

LONGEST_TEXT = 200_000
MOST_ROWS = 2_000
#: LaTeX has rules and comments between its rows.
MOST_LINES = 3 * MOST_ROWS
MOST_COLUMNS = 60
LONGEST_NAME = 80
MOST_RUNS = 200

Cell = str | int | float | None | tuple[float, ...]
#: An object of this shape holds what was computed from the row besides; only this was printed.
PRINTED_PARTS = ("ids", "stated", "printed_counts")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells by column name; a row need not have every column."""

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, Cell], ...]


def read_table(text: str) -> Table:
    """The table in a pasted text of at most 200,000 characters.

    LaTeX's ampersands, Markdown pipes, tabs, semicolons, commas or spaces separate the columns, the
    first line names them, or the first two where one spans columns of the other; or a JSON list of
    objects. Objects with ``stated`` and ``printed_counts`` count as one
    row; ``raw``, if there, is their text as printed, in that order. Numbers in a list are runs.

    Raises:
        InvalidInput: there is no table, or it has over 2,000 rows or 60 columns.
    """
    if not text.strip():
        raise InvalidInput("There is no table: the text is empty.")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(f"The table is longer than {LONGEST_TEXT:,} characters.")
    stripped = text.strip()
    if stripped[0] in "[{":
        return table_of(_json_rows(stripped))
    if len(stripped.splitlines()) > MOST_LINES:
        raise InvalidInput(f"The table has more than {MOST_ROWS:,} rows.")
    return _of_rows(rows_of(text.strip("\r\n")))


def table_of(rows: object) -> Table:
    """The table of a list of objects (column name to cell); same limits as ``read_table``."""
    if isinstance(rows, Table):
        rows = rows.rows
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise InvalidInput("A table is a list of rows, each an object of column names and cells.")
    if not rows:
        raise InvalidInput("The table has no rows.")
    if len(rows) > MOST_ROWS:
        raise InvalidInput(f"The table has more than {MOST_ROWS:,} rows.")
    flat = tuple(_flat(row) for row in rows)
    columns = tuple(dict.fromkeys(name for row in flat for name in row))
    if not 1 <= len(columns) <= MOST_COLUMNS:
        raise InvalidInput(f"A table has 1 to {MOST_COLUMNS} columns, not {len(columns)}.")
    return Table(columns, flat)


def _json_rows(text: str) -> object:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("The text begins like JSON but is not valid JSON.") from None
    return [found] if isinstance(found, dict) else found


def _flat(row: Mapping[str, object]) -> dict[str, Cell]:
    """Objects within a row become columns; an inner name seen before gets the outer before it."""
    if isinstance(row.get("stated"), Mapping) and isinstance(row.get("printed_counts"), Mapping):
        row = _as_printed(row)
    flat: dict[str, Cell] = {}
    for name, cell in row.items():
        inner = cell.items() if isinstance(cell, Mapping) else [("", cell)]
        for key, value in inner:
            short = str(key) or str(name)
            free = short if short not in flat else f"{name} {short}"
            flat[free[:LONGEST_NAME]] = _cell(value)
        if len(flat) > MOST_COLUMNS:
            raise InvalidInput(f"The table has more than {MOST_COLUMNS} columns.")
    return flat


def _as_printed(row: Mapping[str, object]) -> dict[str, object]:
    parts: dict[str, object] = {}
    ids = row.get("ids")
    if isinstance(ids, Mapping):
        parts.update(ids)
    figures: dict[str, object] = {}
    for part in PRINTED_PARTS[1:]:
        found = row[part]
        if isinstance(found, Mapping):
            figures.update(found)
    raw = row.get("raw")
    if isinstance(raw, list) and len(raw) == len(figures):
        figures = dict(zip(figures, raw, strict=True))
    return parts | figures


def _cell(value: object) -> Cell:
    if isinstance(value, list | tuple):
        runs = [each for each in value[:MOST_RUNS] if isinstance(each, int | float)]
        numbers = len(runs) == len(value) and not any(isinstance(each, bool) for each in runs)
        return tuple(map(float, runs)) if numbers and _small(runs) else str(value)[:LONGEST_NAME]
    if value is None or isinstance(value, bool):
        return None
    return value if isinstance(value, str | int | float) else str(value)[:LONGEST_NAME]


def _small(runs: Sequence[float]) -> bool:
    # NaN compares false, so it is no number of a run either.
    return all(-1e12 < each < 1e12 for each in runs)


def _of_rows(rows: Rows) -> Table:
    if len(rows) > MOST_ROWS + 2:
        raise InvalidInput(f"The table has more than {MOST_ROWS:,} rows.")
    rows = merged(rows, lambda name: role_of(name) != VALUE)
    names, body = _names(rows[0] if rows else []), rows[1:]
    if not body or len(names) < 2:
        raise InvalidInput(
            "The table needs a line of column names and a row of at least two cells."
        )
    if sum((number := parse(name)) is not None and number.digits > 0 for name in names) > 1:
        raise InvalidInput("The first line holds numbers; it must name the columns.")
    return table_of([dict(zip(names, _fitted(cells, len(names)), strict=False)) for cells in body])


def _names(header: list[str]) -> list[str]:
    names: list[str] = []
    for at, cell in enumerate(header[: MOST_COLUMNS + 1], start=1):
        name = clean(cell)[:LONGEST_NAME] or f"column {at}"
        names.append(name if name not in names else f"{name} ({at})")
    return names


def _fitted(cells: list[str], width: int) -> list[str]:
    """Cells too many come from a name with spaces in the first column."""
    extra = len(cells) - width
    if extra > 0:
        cells = [" ".join(cells[: extra + 1]), *cells[extra + 1 :]]
    return [cell.strip() for cell in cells]
