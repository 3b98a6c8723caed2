"""From a text to the text with marks: ask every detector, settle overlaps, replace."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from labelhub.core.interview.redaction.detectors import (
    MARKS,
    Finding,
    NameFinder,
    credentials,
    emails,
    found,
    identities,
    links,
    long_numbers,
    machines,
    payments,
    phones,
)

_DETECTORS = (emails, links, machines, phones, payments, identities, credentials, long_numbers)
_RANKS = {kind: rank for rank, kind in enumerate(MARKS)}
_MARK = re.compile("|".join(sorted({re.escape(mark) for mark in MARKS.values()})))
#: A mark can bare something to its left or right; that this goes on is the work of an attacker.
_MOST_PASSES = 8
#: Stands for a mark that is in the text already; no pattern matches it.
_BARRIER = "\ue000"
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_DASHES = frozenset("‐‑‒–—−﹣－")
_QUOTES = frozenset("‘’ʼ＇")
# A dash between digits, a long vowel anywhere else.
_LONG_VOWEL = re.compile("(?<=[0-9])ー(?=[0-9])")


class _Letters(dict[int, str]):
    """Code point -> the plain character for it; always one, so that offsets stay."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain_letter(chr(code))
        return plain


_LETTERS = _Letters()


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without the personal data found in it.

    ``findings`` point into the original, in its order and apart from each other; each replaced by
    its mark makes ``text``.
    """

    text: str
    findings: tuple[Finding, ...]


def redact(text: str, *, region: str = "US", names: NameFinder | None = None) -> Redacted:
    """``text`` with a mark such as ``[e-mail]`` in place of all personal data found.

    To redact what is redacted changes nothing. Marks that the text already has stay.

    Args:
        text: what an author wrote.
        region: ISO 3166 code of the country whose national phone numbers are expected; an unknown
            one is no hint.
        names: finds names and places, see ``finder()``; without it none are found.
    """
    findings: list[Finding] = []
    for _ in range(_MOST_PASSES):
        shown, origins = _shown(text, findings)
        more = _search(shown, region, names)
        if not more:
            break
        findings = sorted(
            [*findings, *(_moved(each, origins) for each in more)], key=lambda each: each.start
        )
    return Redacted(_shown(text, findings)[0], tuple(findings))


def _shown(text: str, findings: Sequence[Finding]) -> tuple[str, list[int]]:
    """``text`` with marks, and where each character of it is in ``text`` (-1: in a mark)."""
    parts: list[str] = []
    origins: list[int] = []
    at = 0
    for each in findings:
        parts += text[at : each.start], each.mark
        origins += range(at, each.start)
        origins += [-1] * len(each.mark)
        at = each.end
    parts.append(text[at:])
    origins += range(at, len(text))
    return "".join(parts), origins


def _moved(finding: Finding, places: Sequence[int]) -> Finding:
    return Finding(places[finding.start], places[finding.end - 1] + 1, finding.type, finding.mark)


def _search(text: str, region: str, names: NameFinder | None) -> list[Finding]:
    """What all detectors find in ``text``, apart from each other and from the marks in it."""
    searched, places = _plain(text)
    findings = [each for detector in _DETECTORS for each in detector(searched, region)]
    if places is not None:
        findings = [_moved(each, places) for each in findings]
    if names is not None:
        findings += names(text)
    return list(_settled(text, findings)) if findings else []


def _settled(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each character belongs to the longest finding over it, then to the best checked one.

    What is left of the others is still personal data and stays a finding, if it says anything.
    """
    owners: list[Finding | None] = [None] * len(text)
    for each in sorted(findings, key=lambda one: (one.start - one.end, _RANKS[one.type]))[::-1]:
        owners[each.start : each.end] = [each] * (each.end - each.start)
    for mark in _MARK.finditer(text):
        owners[mark.start() : mark.end()] = [None] * len(mark[0])
    at = 0
    for owner, run in groupby(owners):
        start, at = at, at + len(list(run))
        if owner is not None:
            yield from _stripped(text, start, at, owner.type)


def _stripped(text: str, start: int, end: int, kind: str) -> Iterator[Finding]:
    piece = text[start:end]
    if any(letter.isalnum() for letter in piece):
        left = len(piece) - len(piece.lstrip())
        yield found(start + left, start + len(piece.rstrip()), kind)


def _plain(text: str) -> tuple[str, list[int] | None]:
    """``text`` as it is searched, and where each of its characters stood (None: where it stands).

    Marks become barriers, digits of all scripts 0-9, full-width characters narrow ones; characters
    that nobody sees are taken out.
    """
    searched = _MARK.sub(lambda mark: _BARRIER * len(mark[0]), text) if "[" in text else text
    if searched.isascii():
        return searched, None
    # Which code points occur is in the hands of strangers: what is remembered has an end.
    if len(_LETTERS) > 20_000:
        _LETTERS.clear()
    searched = _LONG_VOWEL.sub("-", searched.translate(_LETTERS))
    if not _UNSEEN.search(searched):
        return searched, None
    places = [at for at, letter in enumerate(searched) if not _UNSEEN.match(letter)]
    return "".join(searched[at] for at in places), places


def _plain_letter(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    if digit is not None:
        return str(digit)
    if letter in _DASHES:
        return "-"
    if letter in _QUOTES:
        return "'"
    if letter not in "\n\r\t" and unicodedata.category(letter) == "Zs":
        return " "
    narrow = unicodedata.normalize("NFKC", letter)
    return narrow if len(narrow) == 1 else letter
