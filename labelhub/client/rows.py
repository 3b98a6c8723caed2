"""What is imported, in parts that can be sent, repeated and counted one by one."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

from labelhub.client.errors import WrongUse
from labelhub.client.frames import is_frame, rows_of_frame

#: A part is sent again as a whole, and the server works at it while the connection waits.
ROWS_OF_PART = 5_000
BYTES_OF_PART = 8 * 1024 * 1024
LINES = (".jsonl", ".ndjson")
UTF16 = (b"\xff\xfe", b"\xfe\xff")

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One request's worth; ``rows`` is None for a file that is sent as it is."""

    body: bytes | Path
    name: str = "rows.jsonl"
    content_type: str = "application/x-ndjson"
    rows: int | None = None
    weight: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All parts, lazily; ``total`` sums up their weights, None where nobody knows."""

    parts: Iterator[Part]
    total: int | None
    unit: str


def source_of(given: Any, *, strict: bool) -> Source:
    """A path, a DataFrame, or rows; ``strict`` ones go as one part, so that all or none come in.

    Raises:
        WrongUse: something else, or a file that is not there.
    """
    if isinstance(given, str | Path):
        return _of_file(Path(given), strict=strict)
    if is_frame(given):
        return _of_rows(rows_of_frame(given), len(given), strict=strict)
    if isinstance(given, Iterable) and not isinstance(given, Mapping | bytes):
        total = len(given) if isinstance(given, list | tuple) else None
        return _of_rows(given, total, strict=strict)
    raise WrongUse(
        f"Give the path of a file, a list of rows or a DataFrame, not {type(given).__name__}."
    )


def _of_file(path: Path, *, strict: bool) -> Source:
    if not path.is_file():
        raise WrongUse(f"There is no file {str(path)!r}.")
    size, start = path.stat().st_size, _start(path)
    # Lines of UTF-16 do not end where its bytes look like it.
    if path.suffix.lower() in LINES and size and not strict and start not in UTF16:
        return Source(parts=_parts(_lines(path), by_rows=False), total=size, unit="B")
    whole = Part(body=path, name=path.name, content_type="application/octet-stream", weight=size)
    return Source(parts=iter([whole]), total=size, unit="B")


def _of_rows(rows: Rows, total: int | None, *, strict: bool) -> Source:
    lines = (_line(number, row) for number, row in enumerate(rows, 1))
    if strict:
        body = b"".join(lines)
        count = body.count(b"\n")
        parts = iter([Part(body=body, rows=count, weight=count)])
    else:
        parts = _parts(lines, by_rows=True)
    return Source(parts=_never_empty(parts), total=total, unit="rows")


def _never_empty(parts: Iterator[Part]) -> Iterator[Part]:
    """No rows at all are sent as well: the server has words for that."""
    first = next(parts, Part(body=b"", rows=0))
    return chain([first], parts)


def _parts(lines: Iterable[bytes], *, by_rows: bool) -> Iterator[Part]:
    """Lines together; blank ones count, but do not stand alone: the server would find no rows."""
    held: list[bytes] = []
    size, sent, worth = 0, False, False
    for line in lines:
        held.append(line)
        size += len(line)
        worth = worth or not line.isspace()
        if worth and (len(held) >= ROWS_OF_PART or size >= BYTES_OF_PART):
            yield _part(held, size, by_rows=by_rows)
            held, size, sent, worth = [], 0, True, False
    if worth or (held and not sent):
        yield _part(held, size, by_rows=by_rows)


def _part(lines: list[bytes], size: int, *, by_rows: bool) -> Part:
    return Part(body=b"".join(lines), rows=len(lines), weight=len(lines) if by_rows else size)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(2)
    except OSError as error:
        raise WrongUse(f"The file {str(path)!r} cannot be read: {error.strerror}.") from None


def _line(number: int, row: Any) -> bytes:
    if not isinstance(row, Mapping):
        raise WrongUse(f"Row {number} is {type(row).__name__}, not a mapping of fields.")
    try:
        text = json.dumps(dict(row), ensure_ascii=False, allow_nan=False, default=_plain)
        try:
            return text.encode() + b"\n"
        except UnicodeEncodeError:  # half a character pair: the server says so, with the row
            return json.dumps(dict(row), allow_nan=False, default=_plain).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"Row {number} cannot be sent as JSON: {error}.") from None


def _plain(value: Any) -> Any:
    """Dates as ISO 8601; numpy and the like as what they hold."""
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
