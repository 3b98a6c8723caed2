"""Cells that a spreadsheet would run when it opens a file of ours."""

#: A spreadsheet runs cells that start like this. Keep in step with readers.delimited.unguard.
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def guard(cell: str) -> str:
    """``cell`` with an apostrophe before it if a spreadsheet would run it.

    A cell that looks guarded already gets one more, so that taking one off always gives it back.
    """
    return f"'{cell}" if cell.lstrip("'").startswith(RUN_BY_SPREADSHEETS) else cell
