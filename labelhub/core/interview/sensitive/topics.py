"""What a message tells of its author that is not asked about: health, belief, money, sex, politics.

And children: a message in which the author says to be under age, or speaks of a certain child, is
about a minor. A present "for my 5 year old" is, because the child's age is told; two children
among the guests of a room, who are but counted, are not. "My son" is held to be a child, whatever
his age: better one question too few.

Words count in the languages that the rest of the message speaks for, so that what is harmless in
one language is not mistaken for another's.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from labelhub.core.interview.screening.phrases import (
    PhraseTable,
    entries,
    is_dense,
    phrase_table,
    tokens_of,
)
from labelhub.core.interview.screening.vocabulary import vocabularies

TOPICS = ("minors", "health", "sexual_life", "religion", "finance", "politics")
HARMLESS = "harmless"
_FOLDER = Path(__file__).with_name("words")
#: A language is spoken if the message has this share of the words that the likeliest knows, or
#: but one less: short messages have few of them.
_SHARE = 0.6
_TEENS = r"1[0-7]|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
_UNDER_AGE = rf"{_TEENS}|[1-9]|one|two|three|four|five|six|seven|eight|nine"
# A noun after an age is a thing's ("my 5 year old laptop"); after a person's these may stand.
_NO_THING = (
    r"(?! (?!(?:and|or|but|who|that|is|was|has|had|will|would|wants|needs|loves|likes|s|in|at|for"
    r"|to|on|with|please|son|daughter|boy|girl|kid|child|niece|nephew)\b)\w)"
)
_CHILD_BY_AGE = re.compile(
    rf"\b(?:{_UNDER_AGE}) ?(?:(?:years?|yrs?|y) (?:old|o)|yo)\b{_NO_THING}"
    rf"|\bi (?:m|am) (?:only |just |still )?(?:{_TEENS}|[6-9])\b{_NO_THING}"
)


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A topic that is not asked about, and the word of the message that shows it.

    ``topic``: ``health``, ``religion``, ``finance``, ``sexual_life``, ``politics`` or ``minors``.
    ``word``: in small letters without accents.
    """

    topic: str
    word: str


Found: TypeAlias = tuple[int, int, tuple[str, str]]


def sensitive_topic(text: str) -> Sensitive | None:
    """The sensitive topic that ``text`` touches; of several the one that most needs care.

    Wary rather than exact. Only the first 2,000 characters are read.
    """
    tokens = tokens_of(text)
    found = _spoken(tokens, list(_table().found(tokens)))
    masked = {
        at for start, end, (_, topic) in found if topic == HARMLESS for at in range(start, end)
    }
    words = {
        topic: "".join(_joined(tokens[start:end]))
        for start, end, (_, topic) in reversed(found)
        if topic != HARMLESS and masked.isdisjoint(range(start, end))
    }
    aged = _child_by_age(tokens)
    if aged:
        words.setdefault("minors", aged)
    return next((Sensitive(topic, words[topic]) for topic in TOPICS if topic in words), None)


def _spoken(tokens: Sequence[str], found: list[Found]) -> list[Found]:
    """What was found in a language that the message may be in."""
    counts = {
        each.language: sum(token in each.words["light"] for token in tokens)
        for each in vocabularies()
    }
    most = max(counts.values())
    enough = min(most * _SHARE, most - 1)
    return [each for each in found if counts[each[2][0]] >= enough or is_dense(tokens[each[0]])]


def _child_by_age(tokens: Sequence[str]) -> str:
    """The age of a person under age, in English; "" if none is told."""
    told = _CHILD_BY_AGE.search(" ".join(tokens))
    return told.group() if told else ""


def _joined(tokens: Sequence[str]) -> Iterator[str]:
    for at, token in enumerate(tokens):
        yield token if not at or is_dense(token) else f" {token}"


@lru_cache(maxsize=1)
def _table() -> PhraseTable[tuple[str, str]]:
    """Every phrase with its language and topic."""
    return phrase_table(
        (entry, (path.stem, topic))
        for path in sorted(_FOLDER.glob("*.toml"))
        for topic, phrases in tomllib.loads(path.read_text(encoding="utf-8")).items()
        for entry in entries(phrases)
    )
