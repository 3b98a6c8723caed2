"""Whether a message is worth asking its author about."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from labelhub.core.interview.screening.courtesies import courtesy
from labelhub.core.interview.screening.machine import machine_sign
from labelhub.core.interview.screening.phrases import READ, folded, tokens_of
from labelhub.core.interview.screening.spam import limit_for, spam_score


@dataclass(frozen=True, slots=True)
class Screened:
    """The verdict on a message.

    ``reason``: "" if it ``passed``, else ``empty``, ``greeting``, ``thanks``, ``goodbye``,
    ``bare_reply``, ``smalltalk``, ``spam``, ``machine_like``, ``too_short`` or ``repeated``.
    ``detail``: what spoke for it, few words; parts of the message may be among them.
    """

    passed: bool
    reason: str = ""
    detail: str = ""


_UNSAID = re.compile("[^a-zA-Z0-9]")

PASSED = Screened(passed=True)


def screen(text: str, *, recent: Sequence[str] = ()) -> Screened:
    """Whether the author of ``text`` may be asked about it.

    Requests, questions, wishes and feelings pass, short ones too, and whatever a language without
    a table says at some length. Only the first 2,000 characters are read.

    Args:
        text: a message as its author wrote it.
        recent: messages of the same author shortly before; one that says the same is repeated.
    """
    tokens = tokens_of(text)
    if not any(map(str.isalnum, text[:READ])):
        return Screened(passed=False, reason="empty", detail="no letters")
    if recent and _is_repeated(text, recent):
        return Screened(passed=False, reason="repeated", detail="said before")
    sign = machine_sign(text, tokens)
    if sign:
        return Screened(passed=False, reason="machine_like", detail=sign)
    read = text[:READ]
    score, spoken = spam_score(read, tokens)
    if score >= limit_for(read):
        return Screened(passed=False, reason="spam", detail=", ".join(spoken[:4]))
    reason, detail = courtesy(text, tokens)
    return Screened(passed=False, reason=reason, detail=detail) if reason else PASSED


def _is_repeated(text: str, recent: Sequence[str]) -> bool:
    key = _key(text)
    return any(_key(each) == key for each in recent)


def _key(text: str) -> tuple[str, str]:
    """What two messages that say the same have in common, the part that is not read included."""
    said = folded(text)
    if said.isascii():
        return _UNSAID.sub("", said), text[READ:]
    return "".join(letter for letter in said if _is_said(letter)), text[READ:]


def _is_said(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"
