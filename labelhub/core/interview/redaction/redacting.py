"""From a text to the text with marks: ask every detector, settle overlaps, replace."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from labelhub.core.interview.redaction.addresses import addresses
from labelhub.core.interview.redaction.contact import emails
from labelhub.core.interview.redaction.credentials import credentials
from labelhub.core.interview.redaction.finding import (
    MARK,
    RANKS,
    Finding,
    NameFinder,
    Redacted,
    found,
)
from labelhub.core.interview.redaction.identity import identities
from labelhub.core.interview.redaction.introductions import introductions
from labelhub.core.interview.redaction.network import network
from labelhub.core.interview.redaction.payments import payments
from labelhub.core.interview.redaction.phones import phones
from labelhub.core.interview.redaction.plain import Reading, plain

_DETECTORS: tuple[Callable[[Reading], Iterable[Finding]], ...] = (
    emails,
    network,
    phones,
    payments,
    identities,
    credentials,
    addresses,
    introductions,
)
#: A mark can bare something to its left or right; that this goes on is the work of an attacker.
_MOST_PASSES = 8


def redact(text: str, *, region: str = "US", names: NameFinder | None = None) -> Redacted:
    """``text`` with a mark such as ``[e-mail]`` in place of all personal data found.

    To redact what is redacted changes nothing. Marks that the text already has stay.

    Args:
        text: what an author wrote.
        region: ISO 3166 code of the country whose national phone numbers are expected; an unknown
            one is no hint.
        names: finds names and places, see ``finder()``; without it only those are found that
            something announces ("my name is", "Dr.", "I live in").
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
    searched, places = plain(text)
    reading = Reading(searched, region)
    findings = [each for detector in _DETECTORS for each in detector(reading)]
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
    for each in sorted(findings, key=lambda one: (one.start - one.end, RANKS[one.type]))[::-1]:
        owners[each.start : each.end] = [each] * (each.end - each.start)
    for mark in MARK.finditer(text):
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
