"""The import formats, one module each. A new format is a new module and one word in
``_MODULES``."""

import json
from collections.abc import Iterator
from pathlib import Path

from apps.exchange.readers import delimited, json_list, jsonl, parquet, xlsx
from apps.exchange.readers.base import (
    Format,
    RawRow,
    RowFault,
    UnreadableFile,
    check_row,
)
from apps.exchange.readers.isolation import Meanwhile, keep_waiting, read_apart
from apps.exchange.readers.text import HEAD, is_binary
from labelhub.core.phrases import Phrase

_MODULES = (delimited, json_list, jsonl, xlsx, parquet)

#: First bytes of files that people send by mistake.
FOREIGN = {
    b"%PDF-": Phrase("a PDF; use a table or lines of text."),
    b"\x1f\x8b": Phrase("compressed (gzip); unpack it first."),
    b"\xd0\xcf\x11\xe0": Phrase(
        "an old Excel file (.xls) or has a password; save it as .xlsx without a password."
    ),
}
#: Every format by its name.
FORMATS: dict[str, Format] = {module.FORMAT.name: module.FORMAT for module in _MODULES}

#: A text file up to this size cannot become large in memory, and is read faster than a process
#: starts.
MAX_BYTES_HERE = 1024 * 1024

#: The column that marks our own files, and its content in a table that is no import.
MARKER, TABLE = delimited.MARKER, "table"
#: Between the names of a set in one cell.
BETWEEN = "|"


def accepted() -> str:
    """The accepted file endings, for messages and file pickers."""
    return ", ".join(suffix for known in FORMATS.values() for suffix in known.suffixes)


def open_rows(
    path: Path,
    format_name: str,
    *,
    meanwhile: Meanwhile = keep_waiting,
    in_all: int | None = None,
) -> Iterator[RawRow]:
    """Stream the rows of a file in constant memory; rows with a fault carry it.

    Packed formats and large files are read by a separate process, as the server would keep the
    memory that they take. ``PLACES`` of these run at once; ``meanwhile`` is called while none is
    free. ``in_all`` limits the seconds of processor time.

    Raises:
        UnreadableFile: the file as a whole is of no use (empty, broken, a bomb, no rows); while
            iterating, too.
        ReadingFault: the server failed; while iterating.
        FileNotFoundError: the file is gone.
    """
    size = path.stat().st_size
    if FORMATS[format_name].unpacks or size > MAX_BYTES_HERE:
        return read_apart(path, format_name, meanwhile, in_all)
    return read_here(path, format_name)


def read_here(path: Path, format_name: str) -> Iterator[RawRow]:
    """The rows of a file, read in this process."""
    rows = 0
    for row in FORMATS[format_name].read(path):
        rows += 1
        if row.data.get(MARKER) == TABLE:
            # Its answers would become metadata, which reviewers see.
            raise UnreadableFile(
                "This is a table for people: one row per item. Import the project's JSON "
                "Lines or Parquet export instead; it holds every annotation."
            )
        try:
            if row.error is None:
                check_row(row.data)
        except RowFault as fault:
            yield RawRow(row.number, error=fault.message, field=fault.field, position=row.position)
        else:
            yield row
    if not rows:
        raise UnreadableFile(
            Phrase("The file has no rows.") if path.stat().st_size else Phrase("The file is empty.")
        )


def format_of(file_name: str, path: Path, content_type: str = "") -> str:
    """The name of the format: by file ending or content type, then by the first bytes.

    Raises:
        UnreadableFile: an unknown ending, or content that does not match it.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head.strip():
        raise UnreadableFile("The file is empty.")
    named = _format_by_name(file_name, content_type)
    foreign = next((what for start, what in FOREIGN.items() if head.startswith(start)), None)
    if foreign is not None:
        raise UnreadableFile(
            "The content of '%(file_name)s' is %(foreign)s",
            file_name=file_name[:80],
            foreign=foreign,
        )
    if head.startswith((b"PK\x03\x04", b"PAR1")):
        found = "parquet" if head.startswith(b"PAR1") else "xlsx"
        if named != found:
            what = "Parquet" if found == "parquet" else Phrase("Excel or another zip archive")
            raise UnreadableFile(
                "The content of '%(file_name)s' is %(what)s; unpack it, or rename it.",
                file_name=file_name[:80],
                what=what,
            )
    elif named not in ("parquet", "xlsx") and is_binary(head):
        raise UnreadableFile(
            "The content of '%(file_name)s' is not text; use CSV, JSONL or another of "
            "%(accepted)s.",
            file_name=file_name[:80],
            accepted=accepted(),
        )
    return _json_or_lines(head, named) if named in ("json", "jsonl") else named


def _format_by_name(file_name: str, content_type: str) -> str:
    suffix = Path(file_name).suffix.lower()
    plain = content_type.partition(";")[0].strip().lower()
    for known in FORMATS.values():
        if suffix in known.suffixes or (not suffix and plain in known.content_types):
            return known.name
    raise UnreadableFile(
        "'%(file_name)s' is of an unknown type; use one of %(accepted)s.",
        file_name=file_name[:80],
        accepted=accepted(),
    )


def _json_or_lines(head: bytes, named: str) -> str:
    """The format by the first bracket and the first line, as the endings are often mixed up."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{") and named == "json":
        try:
            first = json.loads(start.splitlines()[0])
        except (ValueError, RecursionError):
            return named
        return (
            "json"
            if any(isinstance(first.get(key), list) for key in json_list.LIST_KEYS)
            else "jsonl"
        )
    return named
