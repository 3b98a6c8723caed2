"""What no model needs to read to leave a message alone, whatever its language.

Length, links, repetition, templates and mashed keys. Whether a message is small talk, advertising,
code or none of anybody's business, a model judges (:mod:`.asking`); who speaks of a danger in plain
words is found by :mod:`labelhub.core.safety` as well.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from labelhub.core.interview.language import MOST_READ, folded, is_dense, tokens_of

#: One word, or so few characters where words are not set apart, does not say what is wanted.
FEWEST_WORDS, FEWEST_DENSE = 2, 4
#: Longer ones are pasted.
LONGEST = 4_000
#: So many addresses advertise.
MOST_LINKS = 1
#: One token over and over: from this many tokens on, and this share of them.
REPEATED_TOKENS, REPEATED_SHARE = 6, 0.6
#: The same group of words over and over, that often.
REPEATED_GROUPS = 3
LONGEST_WORD = 60
#: A word of Latin letters of this length on has this share of vowels.
MASHED_LETTERS, VOWEL_SHARE = 6, 0.12

_LINK = re.compile(
    r"https?:/|\bwww\.|\b[\w-]{2,40}\.(?:com|net|org|biz|info|ru|xyz|top|shop)\b", re.IGNORECASE
)
#: Short addresses hide where they lead.
_HIDDEN_LINK = re.compile(r"\b(?:t|wa)\.me/|\b(?:bit\.ly|tinyurl\.\w|goo\.gl)\b", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\d.,-])\+?(?:\d[ -]?){9,16}")
_PLACEHOLDER = re.compile(
    r"\{\{\s?\w{1,40}\s?\}\}|\$\{\w{1,40}\}|%%\w{1,40}%%|<%=?\s?\w{1,40}\s?%>"
    r"|\[(?:your|insert|enter|customer|recipient)[ _][\w ]{1,30}\]",
    re.IGNORECASE,
)
_VOWELS = frozenset("aeiouy")
_LATIN = re.compile(r"[a-z]+")
_UNSAID = re.compile("[^a-zA-Z0-9]")


@dataclass(frozen=True, slots=True)
class Screened:
    """The verdict on a message.

    ``reason``: "" if it ``passed``, else ``empty``, ``repeated``, ``machine_like``, ``overlong``,
    ``too_short`` or ``spam``.
    """

    passed: bool
    reason: str = ""


def screen(text: str, *, recent: Sequence[str] = ()) -> Screened:
    """Whether the author of ``text`` may be asked about it, as far as no model needs to say so.

    Args:
        text: a message as its author wrote it.
        recent: messages of the same author shortly before; one that says the same is repeated.
    """
    reason = _reason(text, recent)
    return Screened(not reason, reason)


def _reason(text: str, recent: Sequence[str]) -> str:
    tokens = tokens_of(text)
    if not any(map(str.isalnum, text[:MOST_READ])):
        return "empty"
    if _key(text) in map(_key, recent):
        return "repeated"
    if _is_of_a_machine(text, tokens):
        return "machine_like"
    if len(text) > LONGEST:
        return "overlong"
    dense = sum(map(is_dense, tokens))
    if len(tokens) - dense < FEWEST_WORDS and dense < FEWEST_DENSE:
        return "too_short"
    return "spam" if _advertises(text[:MOST_READ]) else ""


def _advertises(text: str) -> bool:
    links = len(_LINK.findall(text))
    hidden, phone = _HIDDEN_LINK.search(text), _PHONE.search(text)
    return links > MOST_LINKS or hidden is not None or (links > 0 and phone is not None)


def _key(text: str) -> tuple[str, str]:
    """What two messages that say the same have in common, the part that is not read included."""
    letters = folded(text)
    if letters.isascii():
        return _UNSAID.sub("", letters), text[MOST_READ:]
    return "".join(letter for letter in letters if _is_said(letter)), text[MOST_READ:]


def _is_said(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"


def _is_of_a_machine(text: str, tokens: Sequence[str]) -> bool:
    """Whether no person wrote ``text`` as a message: templates, repetitions, mashed keys."""
    mashed = bool(tokens) and all(map(_is_mash, tokens))
    return mashed or _repeats(tokens) or _PLACEHOLDER.search(text[:LONGEST]) is not None


def _repeats(tokens: Sequence[str]) -> bool:
    words = [token for token in tokens if not is_dense(token)]
    if len(words) >= REPEATED_TOKENS:
        ((_, times),) = Counter(words).most_common(1)
        if times >= REPEATED_SHARE * len(words):
            return True
    joined = " ".join(tokens)
    period = _period(tokens)
    if period and len(tokens) >= REPEATED_GROUPS * period and len(joined) > LONGEST_WORD // 3:
        return True
    return len(joined) >= REPEATED_TOKENS and len(set(joined) - {" "}) == 1


def _period(tokens: Sequence[str]) -> int:
    """After how many tokens they begin again, to the end; 0 if they never do."""
    # The text laid twice is found in itself at its period, and else only at its end.
    laid = "\n".join(tokens) + "\n"
    shift = (laid + laid).find(laid, 1)
    return laid[:shift].count("\n") if shift < len(laid) else 0


def _is_mash(token: str) -> bool:
    """Whether ``token`` is longer than any word, or Latin letters that nobody can say."""
    if len(token) > LONGEST_WORD:
        return True
    if len(token) < MASHED_LETTERS or not _LATIN.fullmatch(token):
        return False
    return sum(map(_VOWELS.__contains__, token)) < VOWEL_SHARE * len(token)
