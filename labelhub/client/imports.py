"""Imports: a file, rows or a DataFrame, sent in parts that can be repeated and counted."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from labelhub.client import endpoints
from labelhub.client.endpoints import Columns
from labelhub.client.errors import ClientError, Fault, Invalid, Problem, WrongUse
from labelhub.client.progress import Meter
from labelhub.client.records import DONE, FAILED, ImportOutcome, RowFault, read
from labelhub.client.transport import Session, build_request, polling_pauses, to_json

if TYPE_CHECKING:
    import pandas as pd

#: A failed part is sent again as a whole, and the connection waits while the server works on it.
ROWS_OF_PART = 5_000
BYTES_OF_PART = 8 * 1024 * 1024
LINE_FORMATS = (".jsonl", ".ndjson")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
COUNTS = ("rows", "created", "filled", "unchanged", "conflicts", "failed", "labels_created")

Rows = Iterable[Mapping[str, Any]]
FaultT = TypeVar("FaultT", bound=Fault | RowFault)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The content of one request; ``rows`` is None for a file that is sent as it is."""

    body: bytes | Path
    name: str = "rows.jsonl"
    content_type: str = "application/x-ndjson"
    rows: int | None = None
    weight: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All parts, made one by one; ``total`` is the sum of their weights, None if not known."""

    parts: Iterator[Part]
    total: int | None
    unit: str


def import_items(
    session: Session,
    slug: str,
    given: "str | Path | Rows | pd.DataFrame",
    *,
    strict: bool,
    columns: Columns,
) -> ImportOutcome:
    """Send all parts and add up their outcomes.

    Raises:
        ClientError: a part could not be sent or read; a note says which rows are in by then.
    """
    source = split_source(given, strict=strict)
    whole, rows_before = ImportOutcome(), 0
    with Meter(session.on_progress, "Import", total=source.total, unit=source.unit) as meter:
        try:
            for part in source.parts:
                reached = meter.done
                outcome = _import_part(session, slug, part, meter, strict=strict, columns=columns)
                whole = replace(
                    outcome,
                    errors=whole.errors + shift_rows(outcome.errors, rows_before),
                    conflict_rows=whole.conflict_rows
                    + shift_rows(outcome.conflict_rows, rows_before),
                    **{name: getattr(whole, name) + getattr(outcome, name) for name in COUNTS},
                )
                rows_before += part.rows or 0
                meter.reach(reached + part.weight)
        except ClientError as error:
            error.problem = replace(error.problem, errors=shift_rows(error.errors, rows_before))
            if rows_before:
                error.add_note(
                    f"Rows 1 to {rows_before} are in; importing again leaves them as they are."
                )
            raise
    return whole


def shift_rows(faults: tuple[FaultT, ...], rows_before: int) -> tuple[FaultT, ...]:
    """The faults of a part, with the numbers of their rows in the whole source."""
    return tuple(
        fault if fault.row is None else replace(fault, row=fault.row + rows_before)
        for fault in faults
    )


def _import_part(
    session: Session, slug: str, part: Part, meter: Meter, *, strict: bool, columns: Columns
) -> ImportOutcome:
    query = {**columns, "name": part.name, "strict": True if strict else None}
    request = replace(
        build_request(endpoints.IMPORT, query, slug=slug),
        body=part.body,
        content_type=part.content_type,
        on_sent=meter.reach,
    )
    outcome = read(ImportOutcome, session.fetch(request))
    pauses = polling_pauses()
    while outcome.status not in (DONE, FAILED):  # a worker of the server reads a large file
        meter.reach(meter.done, f"the server has read {outcome.rows:,} rows")
        time.sleep(next(pauses))
        outcome = session.get(endpoints.IMPORT_STATUS, slug=slug, batch_id=outcome.id)
    if outcome.status == FAILED:
        faults = tuple(
            Fault(field=fault.field, message=fault.message, row=fault.row)
            for fault in outcome.errors
        )
        raise Invalid(
            outcome.message or "The import failed.", Problem(code="import_failed", errors=faults)
        )
    return outcome


def split_source(given: Any, *, strict: bool) -> Source:
    """A path, a DataFrame or rows in parts; ``strict`` ones are one part: all or none come in.

    Raises:
        WrongUse: something else, or a file that is not there.
    """
    if isinstance(given, str | Path):
        return split_file(Path(given), strict=strict)
    kind = type(given)
    if kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas":
        return split_rows(read_frame(given), len(given), strict=strict)
    if isinstance(given, Iterable) and not isinstance(given, Mapping | bytes):
        total = len(given) if isinstance(given, list | tuple) else None
        return split_rows(given, total, strict=strict)
    raise WrongUse(f"Give the path of a file, a list of rows or a DataFrame, not {kind.__name__}.")


def split_file(path: Path, *, strict: bool) -> Source:
    """A file of lines in parts; any other file as it is."""
    if not path.is_file():
        raise WrongUse(f"There is no file {str(path)!r}.")
    try:
        with path.open("rb") as file:
            start = file.read(2)
    except OSError as error:
        raise WrongUse(f"The file {str(path)!r} cannot be read: {error.strerror}.") from None
    size = path.stat().st_size
    # In UTF-16, a byte that looks like a line feed need not be one.
    if path.suffix.lower() in LINE_FORMATS and size and not strict and start not in UTF16:
        return Source(parts=join_lines(read_lines(path), by_rows=False), total=size, unit="B")
    whole = Part(body=path, name=path.name, content_type="application/octet-stream", weight=size)
    return Source(parts=iter([whole]), total=size, unit="B")


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, which is open only while they are read."""
    with path.open("rb") as file:
        yield from file


def read_frame(frame: "pd.DataFrame") -> Iterator[dict[str, Any]]:
    """The rows of a DataFrame; empty cells are left out, and the index is ignored."""
    names = [str(name) for name in frame.columns]
    filled = frame.notna().itertuples(index=False, name=None)
    for cells, flags in zip(frame.itertuples(index=False, name=None), filled, strict=True):
        yield {name: cell for name, cell, flag in zip(names, cells, flags, strict=True) if flag}


def split_rows(rows: Rows, total: int | None, *, strict: bool) -> Source:
    """Rows as lines of JSON, in parts."""
    lines = (encode_row(number, row) for number, row in enumerate(rows, 1))
    if not strict:
        return Source(parts=join_lines(lines, by_rows=True), total=total, unit="rows")
    body = b"".join(lines)
    count = body.count(b"\n")
    whole = Part(body=body, rows=count, weight=count)
    return Source(parts=iter([whole]), total=total, unit="rows")


def encode_row(number: int, row: Any) -> bytes:
    """A row as a line of JSON."""
    if not isinstance(row, Mapping):
        raise WrongUse(f"Row {number} is {type(row).__name__}, not a mapping of fields.")
    try:
        text = json.dumps(dict(row), ensure_ascii=False, allow_nan=False, default=to_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"Row {number} cannot be sent as JSON: {error}.") from None
    # Half of a surrogate pair is escaped: the server refuses it, and names the row.
    return text.encode(errors="backslashreplace") + b"\n"


def join_lines(lines: Iterable[bytes], *, by_rows: bool) -> Iterator[Part]:
    """Parts of lines, at least one, weighed by rows or by bytes.

    Blank lines count, but no later part consists of them alone: the server would find no rows.
    """
    held: list[bytes] = []
    size, sent, filled = 0, False, False

    def part() -> Part:
        return Part(body=b"".join(held), rows=len(held), weight=len(held) if by_rows else size)

    for line in lines:
        held.append(line)
        size += len(line)
        filled = filled or not line.isspace()
        if filled and (len(held) >= ROWS_OF_PART or size >= BYTES_OF_PART):
            yield part()
            held, size, sent, filled = [], 0, True, False
    if filled or not sent:
        yield part()
