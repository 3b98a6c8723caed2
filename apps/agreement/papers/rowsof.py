"""What a file holds, as far as a table needs to know before it is imported: labels and columns.

The importer reads any format; here are the plain ones, so that labels can be told and columns
joined. Other formats need ``--labels`` or ``--schema``.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.schema import MAX_LABELS, Schema, schema_from_names

#: What the importer takes for gold, most telling first, and for options.
GOLD = ("gold", "gold_label", "aspects", "label", "labels")
OPTIONS = ("options", "choices")
DELIMITERS = {".csv": ",", ".tsv": "\t"}
LISTS = ("items", "rows", "tasks", "data", "results")
TRUTH = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
SAY_LABELS = "say what the labels are: --labels A,B,C or --schema FILE."

FileRow = Mapping[str, Any]


def read_rows(path: Path) -> list[FileRow]:
    """The rows of a JSONL, JSON, CSV or TSV file.

    Raises:
        InvalidInput: another format, or a file that is none of these; the message names it.
    """
    try:
        return list(_rows(path))
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        raise InvalidInput(f"{path.name}: cannot be read as {path.suffix[1:]} ({error}).") from None
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}).") from None


def readable(path: Path) -> bool:
    """Whether :func:`read_rows` knows the format."""
    return path.suffix.lower() in {".jsonl", ".ndjson", ".json", *DELIMITERS}


def gold_column(rows: Sequence[FileRow], chosen: str) -> str:
    """The column that holds what is right; empty where none does.

    Raises:
        InvalidInput: the chosen one is not there.
    """
    columns = {str(name) for row in rows for name in row}
    if chosen and all(cell_of(row, chosen) is None for row in rows):
        raise InvalidInput(f"gold-column: the file has no column '{chosen}'.")
    by_name = {_folded(name): name for name in sorted(columns)}
    found = (by_name[_folded(name)] for name in GOLD if _folded(name) in by_name)
    return chosen or next((name for name in found if _is_gold(rows, name)), "")


def cell_of(row: FileRow, column: str) -> Any:
    """A cell; ``labels.expert`` is what the object in ``labels`` has under ``expert``."""
    outer, dot, inner = column.partition(".")
    if column in row or not dot:
        return row.get(column)
    held = row.get(outer)
    return held.get(inner) if isinstance(held, dict) else None


def truth_columns(rows: Sequence[FileRow]) -> list[str]:
    """Columns with true or false in every row: aspects, each in a column of its own."""
    columns = dict.fromkeys(str(name) for row in rows for name in row)
    return [name for name in columns if all(truth(row.get(name)) is not None for row in rows)]


def truth(cell: Any) -> bool | None:
    """What a cell says is true or false; None where it says neither."""
    if isinstance(cell, bool):
        return cell
    return TRUTH.get(str(cell).strip().lower())


def gold_of(row: FileRow, column: str, truths: Sequence[str]) -> Any:
    """What the row says is right: its gold, else its true aspects."""
    if column:
        raw = cell_of(row, column)
        starts_like_json = isinstance(raw, str) and raw.lstrip().startswith(("[", "{"))
        return json.loads(str(raw)) if starts_like_json else raw
    return {name: truth(row.get(name)) for name in truths}


def schema_of(rows: Sequence[FileRow], column: str, truths: Sequence[str]) -> Schema:
    """The schema that a file's own labels ask for.

    Raises:
        InvalidInput: it has none, or they are of different kinds, or far too many.
    """
    golds = [gold_of(row, column, truths) for row in rows]
    golds = [gold for gold in golds if gold not in (None, "")]
    if not golds or (not column and not truths):
        raise InvalidInput(
            f"gold: no column says what is right ({', '.join(GOLD)}, or a true/false column for "
            "each label); name it with --gold-column."
        )
    if all(isinstance(gold, dict) for gold in golds):
        return _schema("multi", dict.fromkeys(name for gold in golds for name in gold))
    if all(isinstance(gold, list) for gold in golds):
        return _schema("multi", sorted({str(name) for gold in golds for name in gold}))
    if any(isinstance(gold, dict | list) for gold in golds):
        raise InvalidInput(f"gold: '{column}' holds values of several kinds; {SAY_LABELS}")
    if any(_folded(str(name)) in OPTIONS for row in rows for name in row):
        return schema_from_names("per_item", [])
    return _schema("single", sorted({_name(gold) for gold in golds}))


def _is_gold(rows: Sequence[FileRow], column: str) -> bool:
    """Not where it holds the annotations of several, by their names or as objects."""
    for row in rows:
        held = row.get(column)
        if isinstance(held, dict):
            return all(truth(value) is not None for value in held.values())
        if isinstance(held, list) and held:
            return not isinstance(held[0], dict)
    return True


def _schema(task: str, names: Any) -> Schema:
    names = [str(name) for name in names]
    if len(names) > MAX_LABELS:
        raise InvalidInput(f"gold: {len(names):,} different labels are too many; {SAY_LABELS}")
    return schema_from_names(task, names)


def _name(gold: Any) -> str:
    if isinstance(gold, bool):
        return str(gold).lower()
    whole = isinstance(gold, float) and gold.is_integer()
    return str(int(gold) if whole else gold).strip()


def _rows(path: Path) -> Iterator[FileRow]:
    suffix = path.suffix.lower()
    if not readable(path):
        raise InvalidInput(f"{path.name}: its labels cannot be told from this format; {SAY_LABELS}")
    with path.open(encoding="utf-8-sig", newline="") as file:
        if suffix in DELIMITERS:
            yield from csv.DictReader(file, delimiter=_delimiter(file.readline(), suffix, file))
            return
        whole = (
            json.load(file)
            if suffix == ".json"
            else (json.loads(line) for line in file if line.strip())
        )
        if isinstance(whole, dict):
            whole = next((whole[name] for name in LISTS if isinstance(whole.get(name), list)), [])
        for row in whole:
            if not isinstance(row, dict):
                raise ValueError("a row is no object")
            yield row


def _delimiter(head: str, suffix: str, file: Any) -> str:
    """The one that parts the heading most often; the file is read from its start again."""
    file.seek(0)
    return max((DELIMITERS[suffix], ",", ";", "\t", "|"), key=head.count)


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace(" ", "").replace("-", "")
