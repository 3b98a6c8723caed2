"""Drop messages without a model, in any language, by simple rules.

The rules are length, links, repetition, templates and mashed keys. A model judges whether a message
is small talk, advertising, code or private (:mod:`.calls`); :mod:`labelhub.core.safety` also finds
plain words of danger.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from labelhub.core.interview.language import MOST_READ, fold_text, is_dense, tokens_of

#: The fewest words (or characters of scripts without blanks) of a message with a meaning.
FEWEST_WORDS, FEWEST_DENSE = 2, 4
#: Longer ones are pasted.
LONGEST = 4_000
#: More links are advertising.
MOST_LINKS = 1
#: One repeated token: the fewest tokens, and its share of them.
REPEATED_TOKENS, REPEATED_SHARE = 6, 0.6
#: How often a repeated group of words occurs at least.
REPEATED_GROUPS = 3
LONGEST_WORD = 60
#: Latin words from this length on have at least this share of vowels.
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


def screen(text: str, *, recent: Sequence[str] = ()) -> str:
    """Why the author of ``text`` may not be asked about it, by rules without a model; "" if nothing
    speaks against it, else ``empty``, ``repeated``, ``machine_like``, ``overlong``, ``too_short``
    or ``spam``.

    Args:
        text: a message as its author wrote it.
        recent: messages of the same author shortly before; an equal one makes ``text`` repeated.
    """
    tokens = tokens_of(text)
    if not any(map(str.isalnum, text[:MOST_READ])):
        return "empty"
    if _key(text) in map(_key, recent):
        return "repeated"
    mashed = bool(tokens) and all(map(_is_mash, tokens))
    if mashed or _repeats(tokens) or _PLACEHOLDER.search(text[:LONGEST]):
        return "machine_like"
    if len(text) > LONGEST:
        return "overlong"
    dense = sum(map(is_dense, tokens))
    if len(tokens) - dense < FEWEST_WORDS and dense < FEWEST_DENSE:
        return "too_short"
    read = text[:MOST_READ]
    links = len(_LINK.findall(read))
    advertises = links > MOST_LINKS or _HIDDEN_LINK.search(read) or (links and _PHONE.search(read))
    return "spam" if advertises else ""


def _key(text: str) -> tuple[str, str]:
    """A key that is equal for messages of equal letters and digits."""
    letters = fold_text(text)
    if letters.isascii():
        return _UNSAID.sub("", letters), text[MOST_READ:]
    kept = (sign for sign in letters if sign.isalnum() or unicodedata.category(sign)[0] == "M")
    return "".join(kept), text[MOST_READ:]


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
    """The number of tokens after which they repeat to the end; 0 if they do not."""
    # Written twice, the text is found in itself at its period, or else only at its end.
    laid = "\n".join(tokens) + "\n"
    shift = (laid + laid).find(laid, 1)
    return laid[:shift].count("\n") if shift < len(laid) else 0


def _is_mash(token: str) -> bool:
    """Whether ``token`` is longer than any word, or unpronounceable Latin letters."""
    if len(token) > LONGEST_WORD:
        return True
    if len(token) < MASHED_LETTERS or not _LATIN.fullmatch(token):
        return False
    return sum(map(_VOWELS.__contains__, token)) < VOWEL_SHARE * len(token)
