"""A JSON file that holds many tables: which parts of it are tables, and what is printed in them.

Parts are known by their structure, never by their place. What was computed besides is left out,
or it would be taken for a claim: an audit is to find what follows, not to be told.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from labelhub.core.agreement.audit.printed import parse
from labelhub.core.errors import InvalidInput

Rows = list[dict[str, Any]]

MOST_TABLES = 200
#: In all tables together: one request must not search for repairs for minutes.
MOST_ROWS = 1_000
MOST_LEVELS = 6
#: Rows of such columns are single runs; the others with the same words in them are their means.
RUN_COLUMNS = frozenset({"iteration", "run", "seed", "fold", "trial", "replicate"})
#: Names of what is computed beside what was printed.
_COMPUTED = re.compile(
    r"recomputed|reproducing|match|agrees|consistent|problem|follows|differs|direction|cohens|wilcoxon|wilson"
    r"|from_|implied|expected|shifted|^mean_|^mixture$|^diff$|^diff_mean$|^ci\d|_times_|_ok$|_for_"
)
_PRINTED = frozenset({"stated", "printed_counts"})
_NAME_WITH_N = re.compile(r"(?:^|_)(\d{2,9})(?:_|$)")
_D_RATE_TOLD = re.compile(r"\[([^\[\]]{1,200})\][^\[\]]{0,40}?d.?rate\s+(\d*\.\d+)", re.IGNORECASE)
_CALLS_TOLD = re.compile(r"\bK\s*=\s*(\d{1,3})\b")
_BEFORE = frozenset({"base", "baseline", "control", "before", "old"})


@dataclass(frozen=True, slots=True)
class Found:
    """A table by its path in the file."""

    name: str
    rows: Rows


def collected(text: str) -> list[Found]:
    """The tables within an object of JSON; none where the text is anything else.

    Raises:
        InvalidInput: too many tables or rows.
    """
    if not text.lstrip().startswith("{"):
        return []
    try:
        found = list(islice(_tables(json.loads(text), ""), MOST_TABLES + 1))
    except (ValueError, RecursionError):
        return []
    if len(found) > MOST_TABLES or sum(len(each.rows) for each in found) > MOST_ROWS:
        raise InvalidInput.at(
            "table", f"The file has more than {MOST_TABLES} tables or {MOST_ROWS:,} rows in all."
        )
    return found


def runs_of(table: Found, others: Sequence[Found]) -> Found | None:
    """The single runs whose means ``table`` has: a table alike, but for a column of runs.

    Only of rows all of whose runs are there: of some that were left out the mean says nothing.
    """
    if _run(table.rows[0]) is not None:
        return None
    labels = {_label(row) for row in table.rows} - {()}
    for other in others:
        if _run(other.rows[0]) is None or set(table.rows[0]) != set(other.rows[0]):
            continue
        rows = [row for row in _complete(other.rows) if _label(row) in labels]
        if rows:
            return Found(other.name, rows)
    return None


def _complete(rows: Rows) -> Rows:
    runs: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        runs.setdefault(_label(row), set()).add(str(_run(row)))
    every = set().union(*runs.values())
    return [row for row in rows if runs[_label(row)] == every]


def _tables(part: Any, path: str, level: int = 0) -> Iterator[Found]:
    if level > MOST_LEVELS:
        return
    if isinstance(part, list):
        rows = _printed_rows(part)
        if rows:
            yield Found(path, rows)
    elif isinstance(part, dict):
        for name, rows in _special(part):
            yield Found(f"{path}.{name}".strip("."), rows)
        for name, inner in part.items():
            yield from _tables(inner, f"{path}.{name}".strip("."), level + 1)


def _printed_rows(part: list[Any]) -> Rows:
    """The rows of a list of objects without what was computed; nothing where no number is left."""
    if not part or not all(isinstance(row, dict) for row in part):
        return []
    rows = [_printed(row) for row in part]
    cells = [cell for row in rows for cell in _flat(row)]
    numbers = {name for name, cell in cells if parse(cell) is not None} - RUN_COLUMNS
    lists = any(_is_list_of_runs(cell) for _, cell in cells)
    return rows if len(numbers) >= 2 or lists else []


def _printed(row: Mapping[str, Any]) -> dict[str, Any]:
    if set(row) >= _PRINTED:
        return {
            name: row[name] for name in ("ids", "stated", "printed_counts", "raw") if name in row
        }
    kept = {name: cell for name, cell in row.items() if not _COMPUTED.search(name.lower())}
    if _is_votes(row):
        kept["k"] = len(row["labels"])
    return kept


def _is_list_of_runs(cell: Any) -> bool:
    numbers = isinstance(cell, list) and all(isinstance(each, int | float) for each in cell)
    return numbers and bool(cell) and not isinstance(cell[0], bool)


def _is_votes(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("labels"), list) and bool(row["labels"]) and "d_rate" in row


def _special(part: Mapping[str, Any]) -> Iterator[tuple[str, Rows]]:
    """Tables that do not stand as lists of rows."""
    for name, rows in (
        ("rates", _rates(part)),
        ("shares", _shares(part)),
        ("d_rates_told", _d_rates_told(part)),
    ):
        if rows:
            yield name, rows


def _rates(part: Mapping[str, Any]) -> Rows:
    """Arms with clicks, impressions and the rate told of them; and the increase between two."""
    arms = {
        str(name): arm
        for name, arm in part.items()
        if isinstance(arm, dict) and {"clicks", "impr", "stated"} <= set(arm)
    }
    rows: Rows = [
        {"arm": name, "clicks": arm["clicks"], "impr": arm["impr"], "rate": arm["stated"]}
        for name, arm in arms.items()
    ]
    told = [name for name in part if name.startswith("stated_increase")]
    before = [arm["stated"] for name, arm in arms.items() if name.lower() in _BEFORE]
    after = [arm["stated"] for name, arm in arms.items() if name.lower() not in _BEFORE]
    if told and len(before) == len(after) == 1:
        claim = {"before": before[0], "after": after[0], "increase": part[told[0]]}
        rows.append({"arm": "increase", **claim})
    return rows


def _shares(part: Mapping[str, Any]) -> Rows:
    """Lists of printed shares under a name that says of how many items: ``others_500``."""
    rows: Rows = []
    for name, shares in part.items():
        number = _NAME_WITH_N.search(str(name))
        texts = isinstance(shares, list) and all(isinstance(share, str) for share in shares)
        if number and texts and all(parse(share) is not None for share in shares):
            rows += [{"of": name, "accuracy": share, "n": number[1]} for share in shares]
    return rows


def _d_rates_told(part: Mapping[str, Any]) -> Rows:
    """Sentences that name a list of labels and the D-rate printed for it."""
    texts = {str(name): text for name, text in part.items() if isinstance(text, str)}
    calls = [found[1] for text in texts.values() if (found := _CALLS_TOLD.search(text))]
    return [
        {"labels": told[1], "d_rate": told[2], "k": calls[0] if calls else told[1].count(",") + 1}
        for text in texts.values()
        for told in _D_RATE_TOLD.finditer(text)
    ]


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, cell in row.items():
        yield from cell.items() if isinstance(cell, dict) else [(name, cell)]


def _run(row: Mapping[str, Any]) -> Any:
    """Which run a row is; None where it does not say."""
    runs = (cell for name, cell in _flat(row) if name.lower() in RUN_COLUMNS)
    return next(runs, None)


def _label(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that name a row, without numbers."""
    cells = [cell for name, cell in _flat(row) if isinstance(cell, str) and name != "raw"]
    return tuple(cell.lower() for cell in cells if parse(cell) is None)
