"""The rows of a file of labelled text: JSON lines, or CSV with a header; each knows its line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from labelhub.core.errors import InvalidInput

MOST_BYTES = 64_000_000
DELIMITERS = (",", ";", "\t")


class Row(NamedTuple):
    """One row: the line it begins at, its fields, and what makes it unreadable ("" nothing)."""

    line: int
    fields: Mapping[str, Any]
    fault: str = ""


def read_rows(source: bytes) -> Iterator[Row]:
    """The rows of a file, blank lines left out; which kind it is its first character says.

    Raises:
        InvalidInput: it is too large, not UTF-8, or no such file at all.
    """
    if len(source) > MOST_BYTES:
        raise InvalidInput(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    text = _text(source)
    first = text.lstrip()[:1]
    if not first:
        raise InvalidInput("The file is empty.")
    if first == "[":
        raise InvalidInput("The file is a JSON list; write one object a line (JSON lines).")
    return _json_rows(text) if first == "{" else _csv_rows(text)


def _text(source: bytes) -> str:
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        raise InvalidInput(f"The file is not UTF-8 (line {line}).") from None


def _json_rows(text: str) -> Iterator[Row]:
    # Not splitlines(): strings may hold other line separators as they are.
    for line, written in enumerate(text.split("\n"), start=1):
        if written.strip():
            yield _json_row(line, written)


def _json_row(line: int, written: str) -> Row:
    try:
        found = json.loads(written, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return Row(line, {}, "is no JSON")
    return Row(line, found) if isinstance(found, dict) else Row(line, {}, "is no JSON object")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _csv_rows(text: str) -> Iterator[Row]:
    head = text.lstrip("\r\n").splitlines()[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    before = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidInput(f"line {before + 1}: is no CSV ({error}).") from None
        line, before = before + 1, reader.line_num
        if cells is None:
            return
        if not any(cell.strip() for cell in cells):
            continue
        if names is None:
            names = [cell.strip() for cell in cells]
        elif len(cells) != len(names):
            yield Row(line, {}, f"has {len(cells)} cells where the header has {len(names)}")
        else:
            yield Row(line, dict(zip(names, cells, strict=True)))
