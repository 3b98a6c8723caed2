"""Excel workbooks: the first sheet, its first row naming the columns."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from apps.exchange.readers.base import MAX_COLUMNS, Format, RawRow, UnreadableFile, shortened
from apps.exchange.readers.workbook import BROKEN, check_workbook


def read(path: Path) -> Iterator[RawRow]:
    """Rows numbered as in the sheet; ``position`` is estimated from the row number."""
    check_workbook(path)
    # An open file: of a name openpyxl wants the ending, and uploads are kept without one.
    with path.open("rb") as file:
        yield from _read(file, path.stat().st_size)


def _read(file: BinaryIO, size: int) -> Iterator[RawRow]:
    from openpyxl import load_workbook  # noqa: PLC0415 - heavy, needed for this format only

    try:
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except MemoryError:
        raise
    except Exception as error:  # openpyxl raises anything on a crafted file
        raise UnreadableFile(BROKEN) from error
    try:
        sheet = book.worksheets[0] if book.worksheets else None
        if sheet is None:
            raise UnreadableFile("The workbook has no sheet.")
        last = sheet.max_row or 0
        sheet.reset_dimensions()  # they are only a claim, and padding to it costs memory
        yield from _rows(sheet, size, last)
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
        except Exception as error:  # a broken sheet shows while it is read
            raise UnreadableFile(BROKEN) from error
        if all(cell is None for cell in cells):
            continue
        if not header:
            header = _header(cells)
            continue
        position = min(size, size * number // max(last, number))
        yield RawRow(number, _record(header, cells), position=position)


def _header(cells: Sequence[Any]) -> list[str]:
    if len(cells) > MAX_COLUMNS:
        raise UnreadableFile(f"The sheet has more than {MAX_COLUMNS} columns.")
    names = [
        str(cell).strip() if cell is not None else f"column {at}"
        for at, cell in enumerate(cells, 1)
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnreadableFile(
            f"Two columns are named '{shortened(twice, 80)}'; give each its own name."
        )
    return names


def _record(header: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    filled = {}
    for at, cell in enumerate(cells[:MAX_COLUMNS]):
        if cell is not None and cell != "":
            filled[header[at] if at < len(header) else f"column {at + 1}"] = _plain(cell)
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
    sample="First sheet; the first row names the columns: id, text, gold",
    unpacks=True,
)
