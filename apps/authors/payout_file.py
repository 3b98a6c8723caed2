"""A payout as a CSV file, safe to open in a spreadsheet."""

import csv
import io

from apps.authors.models import Payout
from apps.authors.selectors.people import payout_lines
from apps.common.spreadsheets import guard

COLUMNS = ("author", "pseudonym", "amount", "currency", "answers")


def payout_csv(payout: Payout) -> str:
    """A header, then a line for each author and currency; ``author`` is the host's own id."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    writer.writerows(
        (guard(each.subject), each.pseudonym, _amount(each.cents), each.currency, each.answers)
        for each in payout_lines(payout)
    )
    return buffer.getvalue()


def _amount(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"
