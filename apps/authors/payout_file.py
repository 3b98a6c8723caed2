"""A payout as a CSV file, safe to open in a spreadsheet."""

import csv
import io

from apps.authors.models import Payout
from apps.authors.selectors.people import payout_lines

COLUMNS = ("author", "pseudonym", "amount", "currency", "answers")
#: A spreadsheet runs cells that start like this.
RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")


def payout_csv(payout: Payout) -> str:
    """A header, then a line for each author and currency; ``author`` is the host's own id."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    writer.writerows(
        (guarded(each.subject), each.pseudonym, _amount(each.cents), each.currency, each.answers)
        for each in payout_lines(payout)
    )
    return buffer.getvalue()


def guarded(cell: str) -> str:
    """``cell`` with an apostrophe before it if a spreadsheet would run it."""
    return f"'{cell}" if cell.lstrip("'").startswith(RUN_BY_SPREADSHEETS) else cell


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
