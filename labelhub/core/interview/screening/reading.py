"""What one language makes of a message: courtesies struck out, wishes and nouns noted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from labelhub.core.interview.screening.phrases import READ, is_dense
from labelhub.core.interview.screening.vocabulary import COURTESIES, Vocabulary, rank

#: Characters without blanks that make up about one word.
DENSE_OF_A_WORD = 2
#: How far before a noun what describes it stands ("black leather wallet"), and after it.
BEFORE, AFTER = 2, 1
#: How far after a noun a preposition stands that goes with it ("jacket (in red) for kids").
RELATED = 2
_QUESTION_MARK = re.compile("[?？؟;]\\s*$|[?？؟¿]")
#: Words of Spanish and Portuguese that ask only with their accent: "qué", not "que".
_ASKING_ACCENT = re.compile(
    r"(?<!\w)(?:qué|cómo|cuál|cuáles|cuándo|cuánto|cuánta|dónde|quién|quê)(?!\w)", re.IGNORECASE
)
_REPLY = re.compile(r"\W*\w+(?:[ ']\w+){0,2}\s?[,.!;:\u2013\u3001\u3002\u060c-]")


@dataclass(slots=True)
class Reading:
    """What one language makes of a message; ``left`` counts tokens that no phrase has struck."""

    kinds: set[str] = field(default_factory=set)
    content: list[str] = field(default_factory=list)
    polite: list[str] = field(default_factory=list)
    approving: int = 0
    left: int = 0
    #: How many tokens the language knows.
    known: int = 0
    values: bool = False
    #: A question; one with its mark, or with a word for what it asks. An accent ("qué") or the
    #: order of words ("is it") may be of a courtesy too.
    asks: bool = False
    marked: bool = False
    worded: bool = False
    wants: bool = False
    first: bool = False
    worth: bool = False
    command: bool = False
    please: bool = False
    #: There is a word that describes a thing ("red"), and a noun that something is said of:
    #: "tent for two", "red dress".
    trait: bool = False
    described: bool = False
    #: A matter that one asks about by naming it: "opening hours".
    topic: bool = False
    #: What the message begins with: the key of a phrase, if anything but light words goes on.
    opening: str = ""

    @property
    def weight(self) -> int:
        """How much is left over, in words."""
        dense = sum(map(is_dense, self.content))
        words = len(self.content) - dense + -(-dense // DENSE_OF_A_WORD)
        return words + self.approving if words else 0


def read(text: str, tokens: Sequence[str], language: Vocabulary) -> Reading:
    """The message as ``language`` understands it."""
    marked = _QUESTION_MARK.search(text) is not None
    accented = _ASKING_ACCENT.search(text[:READ]) is not None
    reading = Reading(asks=marked or accented, marked=marked)
    reading.known = sum(map(language.known.__contains__, tokens))
    nouns: list[int] = []
    # The tokens with courtesies struck out: what stands in one describes nothing.
    plain = list(tokens)
    at = 0
    while at < len(tokens):
        end, key = max(language.said.ends_at(tokens, at), default=(0, ""), key=rank)
        if end:
            if at == 0 and key in COURTESIES:
                reading.opening = key if _goes_on(text, tokens, end, language) else ""
            _note_phrase(reading, key, tokens[at:end])
            if key in {"greeting", "thanks", "goodbye"}:
                plain[at:end] = [""] * (end - at)
            at = end
        else:
            if _note_word(reading, tokens[at], language):
                nouns.append(at)
            at += 1
    reading.described = any(_is_described(plain, at, nouns, language) for at in nouns)
    _finish(reading, tokens, language)
    return reading


def unknown(tokens: Sequence[str]) -> Reading:
    """The reading of a message of which no language knows a word."""
    content = [token for token in tokens if not token[0].isdigit()]
    return Reading(content=content, left=len(tokens), values=len(content) < len(tokens))


def _finish(reading: Reading, tokens: Sequence[str], language: Vocabulary) -> None:
    words = language.words
    # Without blanks what describes a noun is a phrase: it is held to belong to any noun there is.
    reading.described |= reading.trait and any(map(is_dense, reading.content))
    if not reading.kinds & {"thanks", "thanks_for", "goodbye"}:
        reading.content.extend(reading.polite)
        reading.worth |= not words["worth"].isdisjoint(reading.polite)
        reading.command |= not words["command"].isdisjoint(reading.polite)
    reading.first |= not words["first"].isdisjoint(tokens)
    if reading.content and "bare_reply" in reading.kinds:
        reading.approving += sum(map(words["approving"].__contains__, tokens))


def _note_phrase(reading: Reading, key: str, tokens: Sequence[str]) -> None:
    if key in COURTESIES:
        reading.kinds.add(key)
        return
    reading.left += len(tokens)
    reading.values |= key in {"slot", "trait"}
    reading.trait |= key == "trait"
    reading.asks |= key == "question"
    reading.first |= key == "first"
    reading.wants |= key == "asking"
    reading.worth |= key == "worth"
    reading.command |= key == "command"
    reading.please |= key == "please"
    reading.topic |= key == "topic"
    if key in {"worth", "command", "topic"}:
        reading.content.extend(tokens)
    if key == "polite":
        reading.polite.extend(tokens)


def _note_word(reading: Reading, token: str, language: Vocabulary) -> bool:
    """Note what a single word says; whether it may be what the message is about."""
    words = language.words
    reading.left += 1
    reading.please |= token in words["please"]
    reading.wants |= token in words["asking"]
    reading.trait |= token in words["trait"]
    if token[0].isdigit() or token in words["slot"] or token in words["trait"]:
        reading.values = True
    elif token in words["question"]:
        reading.asks = reading.worded = True
    elif token in words["polite"]:
        reading.polite.append(token)
    elif token in words["approving"]:
        reading.approving += 1
    elif token not in words["light"] and token not in words["please"]:
        reading.content.append(token)
        reading.worth |= token in words["worth"]
        reading.command |= token in words["command"]
        reading.topic |= token in words["topic"]
        return True
    return False


def _is_described(
    tokens: Sequence[str], at: int, nouns: Sequence[int], language: Vocabulary
) -> bool:
    """Whether the noun at ``at`` is one that something is said of, as of what is looked for.

    A noun that follows a preposition is a place or a time ("from Munich for two"), one that
    follows a number a value ("2 rooms for the family").
    """
    words = language.words
    relates = words["relates"]
    beside = [*tokens[max(at - BEFORE, 0) : at], *tokens[at + 1 : at + 1 + AFTER]]
    previous = tokens[at - 1] if at else ""
    if not words["trait"].isdisjoint(beside) or previous in words["compound"]:
        return True
    if is_dense(tokens[at]):
        return previous in relates and at - 2 in nouns
    if previous[:1].isdigit() or not relates.isdisjoint(tokens[:at]):
        return False
    # Something has to follow the preposition.
    return not relates.isdisjoint(tokens[at + 1 : min(at + 1 + RELATED, len(tokens) - 1)])


def _goes_on(text: str, tokens: Sequence[str], end: int, language: Vocabulary) -> bool:
    """Whether a reply ends at ``end`` and its reasons follow: "no, hot", not "no hot water"."""
    if end == len(tokens) or _REPLY.match(text[:READ]):
        return True
    words = language.words
    # Where "no" is "not" too, only a stop shows that it was the reply.
    if tokens[0] in words["light"]:
        return False
    return tokens[end] in words["light"] | words["slot"] or tokens[end][0].isdigit()
