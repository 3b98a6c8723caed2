"""Messages that carry nothing to ask about: courtesies, bare replies, values, talk about the bot.

A message is read in each language that knows enough of its words. Courtesies, values and words
without a wish of their own are struck out; what is left over, the *content*, decides.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from labelhub.core.interview.screening.phrases import DENSE, READ, is_dense
from labelhub.core.interview.screening.vocabulary import COURTESIES, Vocabulary, languages_of

#: Longer messages say something; nobody chats with the bot about itself in so many words.
MOST_TOKENS = 40
MOST_OF_SMALLTALK = 18
#: Characters without blanks that make up about one word.
DENSE_OF_A_WORD = 2
#: How much may follow "thank you for" or a name before it is more than that, words; after other
#: thanks and replies, one less.
MOST_OF_A_REPLY = 3
#: A noun in kanji or katakana alone, up to this long, is a bare value.
LONGEST_NAME = 4
#: Words that may stand beside small talk ("a fact about apples").
BESIDES = 2
_QUESTION_MARK = re.compile("[?？؟;]\\s*$|[?？؟]")
_NAME_ALONE = re.compile(rf"\W*(?:[^\W\d_{DENSE}]+\W+){{0,1}}[^\W\d_{DENSE}]+\W*")
_HIRAGANA = re.compile("[\u3041-\u3096]")
_SAME = {"thanks_for": "thanks", "closed": "bare_reply", "naming": "bare_reply"}
_REPLY = re.compile(r"\W*\w+(?:[ ']\w+){0,2}\s?[,.!;:\u2013\u3001\u3002-]")
_ORDER = ("thanks", "goodbye", "greeting", "bare_reply")


@dataclass(slots=True)
class Reading:
    """What one language makes of a message; ``left`` counts tokens that no phrase has struck."""

    kinds: set[str] = field(default_factory=set)
    content: list[str] = field(default_factory=list)
    polite: list[str] = field(default_factory=list)
    approving: int = 0
    left: int = 0
    values: bool = False
    asks: bool = False
    wants: bool = False
    first: bool = False
    worth: bool = False
    command: bool = False
    #: What the message begins with: the key of a phrase, if anything but light words goes on.
    opening: str = ""

    @property
    def weight(self) -> int:
        """How much is left over, in words."""
        dense = sum(map(is_dense, self.content))
        words = len(self.content) - dense + -(-dense // DENSE_OF_A_WORD)
        return words + self.approving if words else 0


def courtesy(text: str, tokens: Sequence[str]) -> tuple[str, str]:
    """The reason why ``text`` is not worth asking about and what spoke for it; "" if it is.

    Args:
        text: the message as written.
        tokens: its tokens.
    """
    if len(tokens) > MOST_TOKENS:
        return "", ""
    languages = languages_of(tokens)
    if len(tokens) <= MOST_OF_SMALLTALK:
        for language in languages:
            said = _smalltalk(tokens, language)
            if said:
                return "smalltalk", said
    readings = [_read(text, tokens, language) for language in languages]
    for reading in sorted(readings or [_unknown(tokens)], key=_misses):
        reason = _reason(text, reading)
        if reason:
            return reason, ", ".join(reading.content[:3]) or " ".join(tokens[:4])
    return "", ""


def _read(text: str, tokens: Sequence[str], language: Vocabulary) -> Reading:
    reading = Reading(asks=_QUESTION_MARK.search(text) is not None)
    at = 0
    while at < len(tokens):
        end, key = max(language.said.ends_at(tokens, at), default=(0, ""))
        if end:
            if at == 0 and key in COURTESIES:
                reading.opening = key if _goes_on(text, tokens, end, language) else ""
            _note_phrase(reading, key, tokens[at:end])
            at = end
        else:
            _note_word(reading, tokens[at], language)
            at += 1
    if not reading.kinds & {"thanks", "thanks_for", "goodbye"}:
        reading.content.extend(reading.polite)
        reading.worth |= not language.words["worth"].isdisjoint(reading.polite)
        reading.command |= not language.words["command"].isdisjoint(reading.polite)
    reading.wants |= not language.words["asking"].isdisjoint(tokens)
    reading.first |= not language.words["first"].isdisjoint(tokens)
    if reading.content and "bare_reply" in reading.kinds:
        reading.approving += sum(map(language.words["approving"].__contains__, tokens))
    return reading


def _unknown(tokens: Sequence[str]) -> Reading:
    """The reading of a message of which no language knows a word."""
    content = [token for token in tokens if not token[0].isdigit()]
    return Reading(content=content, left=len(tokens), values=len(content) < len(tokens))


def _misses(reading: Reading) -> tuple[int, bool]:
    """Sorts first what understands most."""
    return reading.weight, not reading.kinds


def _note_phrase(reading: Reading, key: str, tokens: Sequence[str]) -> None:
    if key in COURTESIES:
        reading.kinds.add(key)
        return
    reading.left += len(tokens)
    reading.values |= key == "slot"
    reading.asks |= key == "question"
    reading.first |= key == "first"
    reading.wants |= key == "asking"
    reading.worth |= key == "worth"
    reading.command |= key == "command"
    if key in {"worth", "command"}:
        reading.content.extend(tokens)
    if key == "polite":
        reading.polite.extend(tokens)


def _note_word(reading: Reading, token: str, language: Vocabulary) -> None:
    words = language.words
    reading.left += 1
    if token[0].isdigit() or token in words["slot"]:
        reading.values = True
    elif token in words["question"]:
        reading.asks = True
    elif token in words["polite"]:
        reading.polite.append(token)
    elif token in words["approving"]:
        reading.approving += 1
    elif token not in words["light"]:
        reading.content.append(token)
        reading.worth |= token in words["worth"]
        reading.command |= token in words["command"]


def _goes_on(text: str, tokens: Sequence[str], end: int, language: Vocabulary) -> bool:
    """Whether a reply ends at ``end`` and its reasons follow: "no, hot", not "no hot water"."""
    if end == len(tokens) or _REPLY.match(text[:READ]):
        return True
    words = language.words
    # Where "no" is "not" too, only a stop shows that it was the reply.
    if tokens[0] in words["light"]:
        return False
    return tokens[end] in words["light"] | words["slot"] or tokens[end][0].isdigit()


def _reason(text: str, reading: Reading) -> str:
    """Why ``reading`` leaves nothing to ask about; "" if it leaves something."""
    if reading.worth or (reading.command and reading.opening != "bare_reply"):
        return ""
    weight = reading.weight
    if weight == 0 and reading.asks and reading.left > 1:
        return ""
    if weight > 1 and not _is_reply(reading, weight):
        return "bare_reply" if _is_name(text, reading) else ""
    if weight == 1 and (reading.asks or reading.wants or reading.first):
        return _named(reading) if _is_reply(reading, weight) else ""
    return _named(reading) or ("bare_reply" if reading.values or reading.approving else "too_short")


def _named(reading: Reading) -> str:
    kinds = {_SAME.get(kind, kind) for kind in reading.kinds}
    return next((kind for kind in _ORDER if kind in kinds), "")


def _is_reply(reading: Reading, weight: int) -> bool:
    """Whether what goes with thanks, a yes or a no, or a name, only rounds it off."""
    if reading.asks or reading.wants or weight > MOST_OF_A_REPLY:
        return False
    kinds = reading.kinds
    if "naming" in kinds or "thanks_for" in kinds or {"closed", "thanks"} <= kinds:
        return True
    if weight == MOST_OF_A_REPLY:
        return False
    if "thanks" in kinds:
        return reading.first or reading.opening == "thanks"
    return reading.opening == "bare_reply"


def _is_name(text: str, reading: Reading) -> bool:
    """Whether the message is but a name: two capitalised words, or a noun in kanji or katakana."""
    if reading.asks or reading.wants or reading.first:
        return False
    if is_dense(reading.content[0]):
        return len(reading.content) <= LONGEST_NAME and not _HIRAGANA.search(text)
    if not _NAME_ALONE.fullmatch(text[:80]):
        return False
    return text.istitle()


def _smalltalk(tokens: Sequence[str], language: Vocabulary) -> str:
    """The words that show the message to be small talk; "" if there is more to it."""
    struck: set[int] = set()
    for start, end, _ in language.smalltalk.found(tokens):
        struck.update(range(start, end))
    if not struck:
        return ""
    known = language.known
    besides = [
        token
        for at, token in enumerate(tokens)
        if at not in struck and token not in known and not token[0].isdigit()
    ]
    if len(besides) > BESIDES:
        return ""
    return " ".join(tokens[at] for at in sorted(struck)[:6])
