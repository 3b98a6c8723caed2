"""Tables as CSV that is safe to open in a spreadsheet."""

from collections.abc import Iterable, Sequence

#: A spreadsheet runs cells that start like this. Keep in step with readers.delimited.unguard.
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def guard(cell: str) -> str:
    """``cell`` with an apostrophe before it if a spreadsheet would run it.

    A cell that looks guarded already gets one more, so that taking one off always gives it back.
    """
    return f"'{cell}" if cell.lstrip("'").startswith(RUN_BY_SPREADSHEETS) else cell


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]], *, header: bool = True) -> str:
    """Rows of texts and numbers as CSV, each with a cell for each of ``names``.

    Only texts are guarded: a negative number stays a number. None is an empty cell.
    """
    import pandas as pd  # noqa: PLC0415 - takes half a second, and most processes write no table

    guarded = [[guard(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    frame = pd.DataFrame(guarded, columns=[guard(name) for name in names], dtype=object)
    return str(frame.to_csv(index=False, header=header, lineterminator="\r\n"))
