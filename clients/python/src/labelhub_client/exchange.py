"""Imports in parts that can be repeated, and exports that are read as they arrive."""

import json
import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labelhub_client.api import Api, encode_json, polling_pauses
from labelhub_client.errors import (
    AnswerLost,
    ClientError,
    Fault,
    Invalid,
    PandasMissing,
    UnexpectedAnswer,
    WrongUse,
)
from labelhub_client.progress import Meter
from labelhub_client.records import Record

if TYPE_CHECKING:
    import pandas as pd

#: A failed part is sent again as a whole, and the connection waits while the server works on it.
ROWS_OF_PART = 5_000
BYTES_OF_PART = 8 * 1024 * 1024
LINE_FORMATS = (".jsonl", ".ndjson")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
COUNTS = (
    "rows", "created", "filled", "unchanged", "conflicts", "failed", "items_created",
    "labels_created", "gold_created", "unlabelled",
)  # fmt: skip

Rows = Iterable[Mapping[str, Any]]
Per = Literal["item", "label"]

LINE_LIMIT_BYTES = 256 * 1024 * 1024
ITEM_COLUMNS = ("id", "text", "context", "question", "options", "meta", "gold")
LABEL_COLUMNS = (
    "uid", "annotator", "kind", "offline", "value", "abstained", "withdrawn", "rejected",
    "action", "confidence", "rationale", "seconds", "cost_nanousd", "shown", "proposed_from",
    "supersedes", "run", "replicate", "schema_version", "created_at",
)  # fmt: skip


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
    api: Api,
    slug: str,
    given: "str | Path | Rows | pd.DataFrame",
    *,
    strict: bool = False,
    operation_id: str = "project_import",
    **columns: str,
) -> Record:
    """Send all parts and add up their results.

    Raises:
        ClientError: a part could not be sent or read; a note says which rows are in by then.
    """
    source = split_source(given, strict=strict)
    whole = Record(**dict.fromkeys(COUNTS, 0), errors=(), conflict_rows=())
    rows_before = 0
    with Meter(api.on_progress, "Import", total=source.total, unit=source.unit) as meter:
        try:
            for part in source.parts:
                reached = meter.done
                options = {"strict": True} if strict else {}
                outcome = import_part(api, operation_id, slug, part, meter, **options, **columns)
                faults = {
                    name: whole[name] + shift_rows(outcome[name], rows_before)
                    for name in ("errors", "conflict_rows")
                }
                counts = {name: whole[name] + outcome[name] for name in COUNTS}
                whole = Record(**vars(outcome) | counts | faults)
                rows_before += part.rows or 0
                meter.reach(reached + part.weight)
        except ClientError as error:
            error.errors = shift_rows(error.errors, rows_before)
            if rows_before:
                error.add_note(
                    f"Rows 1 to {rows_before} are in; importing again leaves them as they are."
                )
            raise
    return whole


def shift_rows(faults: Iterable[Fault], rows_before: int) -> tuple[Fault, ...]:
    """The faults of a part, with the numbers of their rows in the whole source."""
    return tuple(
        Fault(
            field=fault.field,
            message=fault.message,
            row=None if fault.row is None else fault.row + rows_before,
        )
        for fault in faults
    )


def import_part(
    api: Api, operation_id: str, slug: str, part: Part, meter: Meter, **options: Any
) -> Record:
    """Send one part, and wait until the server has read it."""
    outcome = api.record(
        operation_id,
        slug=slug,
        content=part.body,
        content_type=part.content_type,
        on_sent=meter.reach,
        name=part.name,
        **options,
    )
    pauses = polling_pauses()
    while outcome.status not in ("done", "failed"):  # a worker of the server reads a large file
        meter.reach(meter.done, f"the server has read {outcome.rows:,} rows")
        time.sleep(next(pauses))
        outcome = api.record("project_import_detail", slug=slug, batch_id=outcome.id)
    if outcome.status == "failed":
        reason = outcome.message or "The import failed."
        raise Invalid(reason, code="import_failed", errors=shift_rows(outcome.errors, 0))
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
    return encode_json(f"Row {number}", dict(row)) + b"\n"


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


class Export:
    """An export that is requested when it is read, and read as it arrives."""

    def __init__(
        self, api: Api, slug: str, format_name: str, only: str | None, since: str | None = None
    ) -> None:
        self._api, self._slug, self._format, self._only = api, slug, format_name, only
        self._since = since
        #: The cursor with which the next export has only what is new or changed; None until read.
        self.since: str | None = None

    def pieces(self) -> Generator[bytes, None, None]:
        """The file as it arrives."""
        download = self._api.download(
            "project_export",
            on_headers=self._note_cursor,
            slug=self._slug,
            format=self._format,
            only=self._only,
            since=self._since,
        )
        meter = Meter(self._api.on_progress, "Export", total=None, unit="B")
        with meter, closing(download) as pieces:
            for piece in pieces:
                meter.reach(meter.done + len(piece))
                yield piece

    def _note_cursor(self, headers: Mapping[str, str]) -> None:
        self.since = headers.get("LabelHub-Since")

    def rows(self) -> Generator[dict[str, Any], None, None]:
        """One dict per item, with its ``labels``; of JSON Lines only."""
        if self._format != "jsonl":
            raise WrongUse(
                f"An export as {self._format} has no rows; save() it, or leave out the format."
            )
        with closing(self.pieces()) as pieces:
            yield from parse_rows(pieces)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """The file at ``path``, which appears there when it is complete, and not before."""
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with part.open("wb") as file:
                file.writelines(self.pieces())
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def to_dataframe(self, per: Per = "item") -> "pd.DataFrame":
        """One row per item with its gold, or with ``per="label"`` one per label: ``item`` (its id),
        ``text`` and ``gold`` of the item, then the label's columns.

        Raises:
            PandasMissing: it is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - the rest of the client needs no pandas
        except ImportError:
            raise PandasMissing("DataFrames need pandas: install it, or use rows().") from None
        if per == "item":
            items = [[row.get(name) for name in ITEM_COLUMNS] for row in self.rows()]
            return pd.DataFrame(items, columns=ITEM_COLUMNS)
        labels = [
            [row.get("id"), row.get("text"), row.get("gold")]
            + [label.get(name, False if name == "offline" else None) for name in LABEL_COLUMNS]
            for row in self.rows()
            for label in row.get("labels", ())
        ]
        frame = pd.DataFrame(labels, columns=["item", "text", "gold", *LABEL_COLUMNS])
        return frame.assign(
            created_at=pd.to_datetime(frame["created_at"], utc=True, format="ISO8601")
        )


def parse_rows(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The rows of JSON Lines, with no more than a line in memory.

    Lines end at line feeds alone: texts hold other line ends that JSON leaves as they are.

    Raises:
        UnexpectedAnswer: a line is no JSON object, or does not end.
        AnswerLost: the last line is not complete.
    """
    rest: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > LINE_LIMIT_BYTES:
            raise UnexpectedAnswer("A line of the export does not end.")
        if others:
            complete = [b"".join(rest), *others[:-1]]
            yield from (parse_row(line) for line in complete if line.strip())
            rest, size = [others[-1]], len(others[-1])
    if b"".join(rest).strip():
        raise AnswerLost("The export ended in the middle of a row; call again.")


def parse_row(line: bytes) -> dict[str, Any]:
    """One row of JSON Lines."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise UnexpectedAnswer("A line of the export is no JSON object.")
    return row
