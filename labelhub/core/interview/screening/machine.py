"""Text that no person wrote on purpose: leftovers of models, templates, mashed keys, repetition."""

import re
from collections import Counter
from collections.abc import Sequence

from labelhub.core.interview.screening.phrases import is_dense
from labelhub.core.interview.screening.spelling import is_known
from labelhub.core.interview.screening.vocabulary import machine_phrases

#: One token over and over: from this many tokens on, and this share of them.
REPEATED_TOKENS = 6
REPEATED_SHARE = 0.6
#: The same group of words or line over and over.
REPEATED_GROUPS = 3
LONGEST_WORD = 60
_PLACEHOLDER = re.compile(
    r"\{\{\s?\w{1,40}\s?\}\}|\$\{\w{1,40}\}|%%\w{1,40}%%|<%=?\s?\w{1,40}\s?%>"
    r"|\[(?:your|insert|enter|customer|recipient)[ _][\w ]{1,30}\]",
    re.IGNORECASE,
)
_ROWS = (
    *("qwertyuiop", "asdfghjklo", "asdfghjkln", "zxcvbnm", "qwertzuiop", "azertyuiop"),
    *("qsdfghjklm", "wxcvbn", "yxcvbnm", "1234567890"),
    *("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"),
    # Letters as they are folded.
    *("ضصثقفغعهخحجد", "شسيبلاتنمكط", "يءورلاهوزظ"),
)
_RUNS = frozenset(
    row[at : at + 4] for each in _ROWS for row in (each, each[::-1]) for at in range(len(row) - 3)
)
#: Shorter runs, mashed beside longer ones.
_BITS = frozenset(run[at : at + 3] for run in _RUNS for at in (0, 1))
_VOWELS = frozenset("aeiouy")
_LATIN = re.compile(r"[a-z]+")
#: Pairs of letters that no word has twice: "jajsjdhaksjd".
_UNSAYABLE = re.compile(r"j[bcdfghklmpqrstvwxz]|q[bcdfghjklmnprstvwxyz]")
#: So many short runs and nothing else are mashed too: "qwe asd zxc".
LEAST_BITS = 3


def machine_sign(text: str, tokens: Sequence[str]) -> str:
    """What shows that no person wrote ``text`` on purpose; "" if nothing does."""
    placeholder = _PLACEHOLDER.search(text[:4000])
    if placeholder:
        return f"placeholder {placeholder.group()[:30]}"
    for start, end, _ in machine_phrases().found(tokens):
        return " ".join(tokens[start:end])
    if _is_mashed(tokens):
        return "mashed keys"
    return _repetition(tokens)


def _repetition(tokens: Sequence[str]) -> str:
    words = [token for token in tokens if not is_dense(token)]
    if len(words) >= REPEATED_TOKENS:
        token, times = Counter(words).most_common(1)[0]
        if times >= REPEATED_SHARE * len(words):
            return f"{token[:20]} repeated"
    joined = " ".join(tokens)
    period = _period(tokens)
    if period and len(tokens) >= REPEATED_GROUPS * period and len(joined) > LONGEST_WORD // 3:
        return "the same words over and over"
    return "one sign over and over" if _is_one_sign(joined) else ""


def _period(tokens: Sequence[str]) -> int:
    """After how many tokens they begin again, to the end; 0 if they never do."""
    # The text laid twice is found in itself at its period, and else only at its end.
    laid = "\n".join(tokens) + "\n"
    shift = (laid + laid).find(laid, 1)
    return laid[:shift].count("\n") if shift < len(laid) else 0


def _is_one_sign(joined: str) -> bool:
    return len(joined) >= REPEATED_TOKENS and len(set(joined) - {" "}) == 1


def _is_mashed(tokens: Sequence[str]) -> bool:
    if not any(map(_is_mash, tokens)) and len(tokens) < LEAST_BITS:
        return False
    return all(_is_mash(each) or each in _BITS for each in tokens)


def _is_mash(token: str) -> bool:
    """Whether ``token`` is keys in the order of the keyboard, or letters nobody can say."""
    if len(token) > LONGEST_WORD:
        return True
    if len(token) < 4 or not token.isalpha() or is_known(token):
        return False
    on_row = sum(token[at : at + 4] in _RUNS for at in range(len(token) - 3))
    if on_row and on_row >= 0.5 * (len(token) - 3):
        return True
    if len(token) < 6:
        return False
    period = _period_of(token)
    if period and (len(token) >= REPEATED_GROUPS * period or token[:period] in _BITS | _RUNS):
        return True
    if not _LATIN.fullmatch(token):
        return False
    if len(_UNSAYABLE.findall(token)) > 1:
        return True
    return sum(map(_VOWELS.__contains__, token)) < 0.12 * len(token)


def _period_of(token: str) -> int:
    """After how many letters they begin again, to the end; 0 if they never do."""
    shift = (token + token).find(token, 1)
    return shift if shift < len(token) else 0
