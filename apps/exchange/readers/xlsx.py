"""Excel workbooks: the first sheet, its first row naming the columns."""

import datetime as dt
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from apps.exchange.readers.base import (
    MAX_COLUMNS,
    MAX_ROW_BYTES,
    Format,
    RawRow,
    UnreadableFile,
    check_columns,
)
from labelhub.core.phrases import Phrase

MAX_UNPACKED = 512 * 1024 * 1024
#: Real sheets pack 5 to 40 times; a bomb packs 1,000 times. Small files may be anything.
MAX_RATIO, RATIO_FROM = 150, 20 * 1024 * 1024
MAX_PARTS = 10_000
#: Limits of parts that are read as a whole. Sheets are measured, the others never opened.
STRINGS, MAX_STRINGS, MAX_WHOLE = "xl/sharedStrings.xml", 128 * 1024 * 1024, 16 * 1024 * 1024
SHEETS = "xl/worksheets/"
NOT_OPENED = (
    "xl/media/", "xl/pivotCache/", "xl/pivotTables/", "xl/drawings/", "xl/charts/",
    "xl/embeddings/", "xl/externalLinks/", "customXml/",
)  # fmt: skip
#: A sheet of Excel ends at XFD1048576.
LAST_ROW = 1_048_576
MAX_ELEMENTS_IN_ROW = 100_000
PIECE = 1024 * 1024
SAVE_AS_CSV = Phrase("Save the sheet as CSV.")
BROKEN = Phrase(
    "The file is not a readable Excel workbook (.xlsx, without a password); "
    "open it and save it again."
)

_CELL = re.compile(r"[A-Z]{1,3}[1-9][0-9]{0,6}")


def check_workbook(path: Path) -> None:
    """Refuse a workbook that does not fit into memory, by its table of contents and its rows.

    Raises:
        UnreadableFile: it is a zip bomb, or not a workbook.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            _check_sizes(parts, max(1, path.stat().st_size))
            for part in parts:
                if part.filename.startswith(SHEETS) and part.filename.endswith(".xml"):
                    _check_sheet(archive, part)
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # zipfile, zlib and expat raise anything on a crafted file
        raise UnreadableFile(BROKEN) from error


def _check_sizes(parts: list[zipfile.ZipInfo], packed: int) -> None:
    unpacked = sum(part.file_size for part in parts)
    bomb = unpacked > RATIO_FROM and unpacked / packed > MAX_RATIO
    if len(parts) > MAX_PARTS or unpacked > MAX_UNPACKED or bomb:
        raise UnreadableFile(
            "The workbook would unpack from %(packed)s to %(unpacked)s bytes; it was not "
            "opened. %(save_as_csv)s",
            packed=packed,
            unpacked=unpacked,
            save_as_csv=SAVE_AS_CSV,
        )
    for part in parts:
        if part.filename.startswith((SHEETS, *NOT_OPENED)):
            most = MAX_UNPACKED
        else:
            most = MAX_STRINGS if part.filename == STRINGS else MAX_WHOLE
        if part.file_size > most:
            raise UnreadableFile(
                "The part '%(filename)s' of the workbook is too large. %(save_as_csv)s",
                filename=part.filename[:80],
                save_as_csv=SAVE_AS_CSV,
            )


def _check_sheet(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Refuse a sheet with impossible rows, or rows that do not fit into memory."""
    parser = expat.ParserCreate()
    rows = _Rows(parser)
    parser.StartElementHandler = rows.start
    parser.StartDoctypeDeclHandler = rows.refuse
    with archive.open(part) as content:
        while piece := content.read(PIECE):
            parser.Parse(piece, False)  # noqa: FBT003 - its only form
    parser.Parse(b"", True)  # noqa: FBT003 - the same
    rows.measure()


class _Rows:
    """The bytes and elements between the starts of two rows."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.parser = parser
        self.number, self.elements, self.begin = 0, 0, 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        tag = name.rpartition(":")[2]
        if tag == "row":
            self.measure()
            self.number = int(attributes.get("r", self.number + 1))
            self.elements, self.begin = 0, self.parser.CurrentByteIndex
            if self.number > LAST_ROW:
                raise UnreadableFile(
                    "Row %(number)s is beyond the last row of a sheet.", number=self.number
                )
        elif tag == "c" and not _CELL.fullmatch(attributes.get("r", "A1")):
            place = attributes["r"][:40]
            raise UnreadableFile(
                "Row %(number)s: there is no cell '%(place)s' in a sheet.",
                number=self.number,
                place=place,
            )
        if self.elements > MAX_ELEMENTS_IN_ROW:
            self.measure()

    def measure(self) -> None:
        size = self.parser.CurrentByteIndex - self.begin
        if size > MAX_ROW_BYTES or self.elements > MAX_ELEMENTS_IN_ROW:
            raise UnreadableFile(
                "Row %(number)s of the sheet is too long. %(save_as_csv)s",
                number=self.number,
                save_as_csv=SAVE_AS_CSV,
            )

    def refuse(self, *_: object) -> None:
        raise UnreadableFile(BROKEN)


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered as in the sheet; ``position`` is estimated from the row number."""
    from openpyxl import load_workbook  # noqa: PLC0415 - heavy, needed for this format only

    check_workbook(path)
    # An open file: openpyxl refuses a name without the ending, as uploads have.
    with path.open("rb") as file:
        try:
            book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        except MemoryError:
            raise
        except Exception as error:  # openpyxl raises anything on a crafted file
            raise UnreadableFile(BROKEN) from error
        try:
            if not book.worksheets:
                raise UnreadableFile("The workbook has no sheet.")
            sheet = book.worksheets[0]
            last = sheet.max_row or 0
            sheet.reset_dimensions()  # they are only a claim, and padding to it costs memory
            yield from _rows(sheet, path.stat().st_size, last)
        finally:
            book.close()


def _rows(sheet: Any, size: int, last: int) -> Iterator[RawRow]:
    header: list[str] = []
    rows = enumerate(sheet.iter_rows(values_only=True), 1)
    while True:
        try:
            number, cells = next(rows)
        except StopIteration:
            return
        except MemoryError:
            raise
        except Exception as error:  # a broken sheet fails only while it is read
            raise UnreadableFile(BROKEN) from error
        if all(cell is None for cell in cells):
            continue
        if not header:
            header = [
                str(cell).strip() if cell is not None else f"column {place}"
                for place, cell in enumerate(cells, 1)
            ]
            check_columns(header)
            continue
        position = min(size, size * number // max(last, number))
        yield RawRow(number, _record(header, cells), position=position)


def _record(header: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    filled = {}
    for index, cell in enumerate(cells[:MAX_COLUMNS]):
        if cell is not None and cell != "":
            filled[header[index] if index < len(header) else f"column {index + 1}"] = _plain(cell)
    return filled


def _plain(cell: Any) -> Any:
    if isinstance(cell, dt.datetime | dt.date | dt.time):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell if isinstance(cell, str | int | float | bool) else str(cell)


FORMAT = Format(
    name="xlsx",
    title="Excel",
    suffixes=(".xlsx",),
    content_types=("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
    read=read,
    unpacks=True,
)
