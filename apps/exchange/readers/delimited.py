"""CSV and its relatives: comma, semicolon, tab or bar."""

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from apps.exchange.readers.base import (
    MAX_ROW_BYTES,
    TOO_LONG,
    Format,
    RawRow,
    RowFault,
    UnreadableFile,
    check_columns,
    check_row,
)
from apps.exchange.readers.text import HEAD, Line, lines, utf8_source
from labelhub.core.phrases import Phrase, join_sentences

DELIMITERS = (",", ";", "\t", "|")
#: Quotes that are never closed: each costs reading up to MAX_ROW_BYTES again.
MAX_RECOVERIES = 100
#: A header column of this name marks our own export, whose guarded cells are unguarded again.
MARKER = "labelhub"
GUARDED = ("=", "+", "-", "@", "\t", "\r")
#: A table with this column is from Label Studio: an empty cell means null; rows have all columns.
ANNOTATION = "annotation_id"
UNCLOSED = Phrase(
    "The quotes of this row do not match: one is never closed; the next line is a row again."
)


def unguard(cell: str) -> str:
    """Remove the apostrophe that our export puts before a cell that a spreadsheet would run."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(GUARDED) else cell


class _Feed:
    """Lines for csv.reader; raises for one row without ending (a generator would be dead).

    The lines of the row that is being read are kept: a quote that is never closed takes all that
    follows for one cell, and then only its own line is given up.
    """

    def __init__(self, source: Iterator[Line], newline: str) -> None:
        self._lines = source
        self._newline = newline
        self._again: deque[str] = deque()
        self._held: list[str] = []
        self._recoveries = 0
        self.position = 0
        self.bytes_in_row = 0

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        text = self._again.popleft() if self._again else self._next_line()
        self._held.append(text)
        self.bytes_in_row += len(text)
        if self.bytes_in_row > MAX_ROW_BYTES:
            raise RowFault(TOO_LONG)
        return text

    def _next_line(self) -> str:
        line = next(self._lines)
        self.position = line.position
        if line.too_long:
            raise RowFault(TOO_LONG)
        return line.data.decode("utf-8", "surrogateescape") + self._newline

    @property
    def lines_in_row(self) -> int:
        return len(self._held)

    def begin_row(self) -> None:
        self.bytes_in_row = 0
        self._held.clear()

    def put_back(self, line: str) -> None:
        """Let ``line``, which was just read, be the next one."""
        self._again.appendleft(line)
        self.begin_row()

    def read_again(self) -> bool:
        """Give the lines of this row once more, without its first; False if there are none."""
        if len(self._held) < 2 or self._recoveries >= MAX_RECOVERIES:
            return False
        self._recoveries += 1
        self._again.extendleft(reversed(self._held[1:]))
        return True


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered as in a spreadsheet: the header is row 1."""
    # The limit is the process's; rows are bounded by ``_Feed`` before it matters.
    csv.field_size_limit(MAX_ROW_BYTES)
    with path.open("rb") as file:
        head = file.read(HEAD)
    newline = "\r" if b"\r" in head and b"\n" not in head else "\n"
    with utf8_source(path) as source:
        feed = _Feed(lines(source, newline.encode()), newline)
        first = _first_line(feed)
        # The most frequent candidate outside quotes; a comma when there is none.
        outside = "".join(first.split('"')[::2])
        delimiter = max(DELIMITERS, key=lambda mark: (outside.count(mark), -DELIMITERS.index(mark)))
        feed.put_back(first)
        reader = csv.reader(feed, delimiter=delimiter, strict=True)
        header, number = _header(reader), 1
        while (number := number + 1) and (
            row := _next_row(reader, feed, header, number)
        ) is not None:
            if row.data or row.error:
                yield row


def _first_line(feed: _Feed) -> str:
    try:
        first = next((line for line in feed if line.strip()), None)
    except RowFault as fault:
        raise UnreadableFile(
            "The first line, which names the columns: %(message)s", message=fault.message
        ) from None
    if first is None:
        raise UnreadableFile("The file is empty.")
    return first


def _header(reader: Iterator[list[str]]) -> list[str]:
    try:
        names = [name.strip() for name in next(reader)]
        check_row(dict.fromkeys(names))
    except (csv.Error, RowFault) as error:
        raise UnreadableFile(
            "The first line, which names the columns, cannot be read: %(error)s", error=error
        ) from None
    names = [name or f"column {number}" for number, name in enumerate(names, 1)]
    check_columns(names)
    return names


def _next_row(
    reader: Iterator[list[str]], feed: _Feed, header: Sequence[str], number: int
) -> RawRow | None:
    feed.begin_row()
    try:
        cells = next(reader)
    except StopIteration:
        return None
    except RowFault as fault:
        error = UNCLOSED if feed.read_again() else fault.message
        return RawRow(number, error=error, position=feed.position)
    except csv.Error as error:
        return RawRow(number, error=_mismatch(error, feed), position=feed.position)
    if len(cells) > len(header):
        message = Phrase(
            "The row has %(cells)s cells, the header %(columns)s; quote cells that hold the "
            "delimiter.",
            cells=len(cells),
            columns=len(header),
        )
        return RawRow(number, error=message, position=feed.position)
    if MARKER in header:
        cells = [unguard(cell) for cell in cells]
    filled: dict[str, str | None] = {
        name: cell for name, cell in zip(header, cells, strict=False) if cell != ""
    }
    if ANNOTATION in header and filled:
        filled = dict.fromkeys(header) | filled
    return RawRow(number, filled, position=feed.position)


def _mismatch(error: csv.Error, feed: _Feed) -> str:
    if "unexpected end" in str(error) and feed.read_again():
        return UNCLOSED
    fault = Phrase("The quotes of this row do not match: %(error)s.", error=error)
    if not (taken := feed.lines_in_row - 1):
        return fault
    return join_sentences(
        fault,
        Phrase("It goes on over %(number)s more lines, which were left out with it.", number=taken),
    )


FORMAT = Format(
    name="csv",
    title="CSV, TSV",
    suffixes=(".csv", ".tsv", ".tab"),
    content_types=("text/csv", "text/tab-separated-values", "application/csv"),
    read=read,
    sample="id,text,gold\nr1,The room was spotless.,clean",
)
