"""Messages that carry nothing to ask about: courtesies, bare replies, values, talk about the bot.

A message is read in each language that knows enough of its words. Courtesies, values and words
without a wish of their own are struck out; what is left over, the *content*, decides.
"""

from collections.abc import Sequence

from labelhub.core.interview.screening.names import is_name, is_noun_alone, is_place
from labelhub.core.interview.screening.phrases import is_dense
from labelhub.core.interview.screening.reading import Reading, read, unknown
from labelhub.core.interview.screening.spelling import meant
from labelhub.core.interview.screening.vocabulary import Vocabulary, languages_of

#: Longer messages say something; nobody chats with the bot about itself in so many words.
MOST_TOKENS = 40
MOST_OF_SMALLTALK = 18
#: How much may follow "thank you for" or a name before it is more than that, words; after other
#: thanks and replies, one less.
MOST_OF_A_REPLY = 3
#: Words that may stand beside small talk ("a fact about apples").
BESIDES = 2
#: From so many letters on a word is one of several; adverbs ("exactamente") only say yes.
LONG = 11
_ADVERBS = ("mente", "ment", "lich", "weise", "ly")
_SAME = {"thanks_for": "thanks", "closed": "bare_reply", "naming": "bare_reply"}
_PARTING = frozenset({"thanks", "thanks_for", "goodbye"})
#: Who takes leave may give thanks and greetings with it.
_ORDER = ("goodbye", "thanks", "greeting", "bare_reply")


def courtesy(text: str, tokens: Sequence[str]) -> tuple[str, str]:
    """The reason why ``text`` is not worth asking about and what spoke for it; "" if it is.

    Args:
        text: the message as written.
        tokens: its tokens.
    """
    if len(tokens) > MOST_TOKENS:
        return "", ""
    tokens = meant(tokens)
    if is_place(text, tokens):
        return "bare_reply", " ".join(tokens)
    languages = languages_of(tokens)
    said = _smalltalk_in(tokens, languages)
    if said:
        return "smalltalk", said
    readings = [read(text, tokens, language) for language in languages] or [unknown(tokens)]
    most = max(reading.known for reading in readings)
    return _judged(text, tokens, [reading for reading in readings if reading.known == most])


def _judged(text: str, tokens: Sequence[str], readings: Sequence[Reading]) -> tuple[str, str]:
    """What the first reading that finds a reason says, those that understand the most first."""
    for reading in sorted(readings, key=_misses):
        # Words that are a wish in one language and nothing in another are a wish.
        if reading.weight and any(map(_is_wish, readings)):
            return "", ""
        reason = _reason(text, tokens, reading)
        if reason:
            return reason, ", ".join(reading.content[:3]) or " ".join(tokens[:4])
    return "", ""


def _misses(reading: Reading) -> tuple[int, bool]:
    """Sorts first what understands most."""
    return reading.weight, not reading.kinds


def _reason(text: str, tokens: Sequence[str], reading: Reading) -> str:
    """Why ``reading`` leaves nothing to ask about; "" if it leaves something."""
    if _is_wish(reading):
        return ""
    weight = reading.weight
    if weight == 0 and reading.left > 1 and _asks_something(reading):
        return ""
    if weight > 1 and not _is_reply(reading, weight):
        return "bare_reply" if _is_name(text, tokens, reading) else ""
    if weight == 1 and (reading.asks or reading.wants or reading.first):
        return _named(reading) if _is_reply(reading, weight) else ""
    return _named(reading) or ("bare_reply" if reading.values or reading.approving else "too_short")


def _is_wish(reading: Reading) -> bool:
    """Whether something is wanted, however few the words: "broken", "taxi please", "red dress"."""
    replies = reading.opening == "bare_reply"
    if reading.worth or (reading.command and not replies):
        return True
    if replies or not reading.content:
        # "Yes, but in blue" is more than yes.
        return reading.wants and reading.trait
    if not reading.kinds and reading.left == 1 and _is_long(reading.content[0]):
        return True
    if reading.please and not reading.kinds & _PARTING:
        return True
    return (reading.described or reading.topic) and not reading.kinds & _PARTING


def _asks_something(reading: Reading) -> bool:
    """Whether it is a question: in thanks ("I appreciate what you did") only one with its mark."""
    if reading.marked:
        return True
    struck = reading.kinds & {"thanks", "thanks_for"} if reading.worded else reading.kinds
    return reading.asks and not struck


def _is_long(word: str) -> bool:
    """Whether a word alone is a compound that says as much as two ("Geburtstagskuchen")."""
    return len(word) >= LONG and not word.endswith(_ADVERBS)


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


def _is_name(text: str, tokens: Sequence[str], reading: Reading) -> bool:
    """Whether the message is but a name, or one noun in kanji or katakana."""
    if reading.asks or reading.wants or reading.first or reading.kinds:
        return False
    if is_dense(reading.content[0]):
        return is_noun_alone(text, tokens)
    return is_name(text, tokens)


def _smalltalk_in(tokens: Sequence[str], languages: Sequence[Vocabulary]) -> str:
    if len(tokens) > MOST_OF_SMALLTALK:
        return ""
    return next(filter(None, (_smalltalk(tokens, language) for language in languages)), "")


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
