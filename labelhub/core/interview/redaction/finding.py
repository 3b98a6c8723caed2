"""What was found in a text, and the marks that stand for it afterwards."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Kind of finding -> what is written in its place. Where two findings of one length compete, the
#: kind that stands earlier here wins: it is the one that was checked better.
MARKS = {
    "iban": "[iban]",
    "card": "[card]",
    "wallet": "[wallet]",
    "national_id": "[id]",
    "document": "[id]",
    "birth_date": "[birth date]",
    "email": "[e-mail]",
    "ip": "[ip]",
    "mac": "[mac]",
    "url": "[link]",
    "phone": "[phone]",
    "secret": "[secret]",
    "address": "[address]",
    "name": "[name]",
    "place": "[place]",
}
RANKS = {kind: rank for rank, kind in enumerate(MARKS)}
MARK = re.compile("|".join(sorted({re.escape(mark) for mark in MARKS.values()})))


@dataclass(frozen=True, slots=True)
class Finding:
    """Personal data at ``start`` up to ``end`` (code points, ``end`` excluded).

    ``type`` is a key of ``MARKS``; ``mark`` replaces the data.
    """

    start: int
    end: int
    type: str
    mark: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without the personal data found in it.

    ``findings`` point into the original, in its order and apart from each other; each replaced by
    its mark makes ``text``.
    """

    text: str
    findings: tuple[Finding, ...]


NameFinder = Callable[[str], Sequence[Finding]]


def found(start: int, end: int, kind: str) -> Finding:
    """A finding of ``kind`` with the mark that belongs to it."""
    return Finding(start, end, kind, MARKS[kind])
