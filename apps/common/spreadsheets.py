"""CSV that is safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

#: Cells that start like this are formulas. Keep in step with readers.delimited.unguard.
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def guard(cell: str) -> str:
    """``cell``, with an apostrophe before it if a spreadsheet would read a formula.

    A cell with apostrophes gets one more, so that removing one always restores it.
    """
    return f"'{cell}" if cell.lstrip("'").startswith(RUN_BY_SPREADSHEETS) else cell


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]], *, header: bool = True) -> str:
    """Rows of texts and numbers as CSV with the columns ``names``.

    Only texts are guarded, so negative numbers stay numbers. None is an empty cell.
    """
    file = StringIO()
    writer = csv.writer(file)
    if header:
        writer.writerow(map(guard, names))
    for row in rows:
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in row])
    return file.getvalue()
