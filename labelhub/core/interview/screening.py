"""What no model needs to read to leave a message alone, whatever its language.

Length, links, repetition, and text that a machine or a keyboard made. Whether a message is small
talk, advertising or none of anybody's business, a model judges (:mod:`.asking`); people in danger
are found by :mod:`labelhub.core.safety` as well.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from labelhub.core.interview.tokens import READ, folded, is_dense, tokens_of

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
#: Lines of code or of a log make a message one from this share on.
CODE_SHARE = 0.5

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
#: How lines of code, of a log or of a data format begin, or are from end to end.
_CODE = re.compile(
    r"^\s*(?:at [\w$.<>]+ ?\(|File \".{1,200}\", line \d|Traceback \(|Caused by:"
    r"|Exception in thread|panic: |npm ERR!|fatal: |Segmentation fault|[\w.]+(?:Error|Exception): "
    r"|import [\w.]+(?:;|$)|from [\w.]+ import |def \w+\(|class \w+[:({]|for \w+ in \w+\("
    r"|\"?(?:GET|POST|PUT|PATCH|DELETE|HEAD) /\S*"
    r"|\[?(?:ERROR|WARN|INFO|DEBUG|FATAL)\b[\]:]?\s+[\d[(]"
    r"|(?:const|let|var) \w+ =|(?:public|private|static|void|function) .{0,200}[({]|#include"
    r"|(?:SELECT|INSERT|UPDATE|DELETE) .{1,200}(?:FROM|INTO|SET|WHERE)|[})\];]+\s*;?$"
    r"|<[/!]?\w+[^>]{0,200}>$|[\[{]\s*[\"'{\[].{0,4000}[\]}]$"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|.{0,300}(?:;|\{|\}|\):|\);)\s*$|return [\w.(\[]+\)?$)"
)
#: What people hardly ever write between two blanks, wherever it stands in a line.
_SHAPE = re.compile(
    r"""[\"'(\[]?(?:
    [a-z_$]\w*(?:(?:\.|::|->)\w{2,}){2,}        # a chain of names
    | \w[\w.]*\((?:[\"'$({\[\d)]|\w+,).*        # a call
    | </?[a-z]\S* | \S*</\w+>\S*                # a tag
    | [\w.-]+=(?!\)|.*,$).+ | [\"']\w+[\"']:.*  # a name with its value
    | [{}]+[;,]? | \S*[{}]\S+ | \S*\)\S*[;{]    # a block, the end of a statement
    | [=!<>]=|=>|&&|\|\|                        # an operator
    | /\w[\w.-]*/\S+ | --?[a-z][\w-]*           # a path, an option
    | \S*\w\.[a-z]{1,5}:\d+\S*                  # a line in a file
    | \S*\d\d:\d\d:\d\d\S* | 0x[\da-f]+         # a time to the second, a hexadecimal number
    | [\w./-]+@\"?\^?\d+\.\d\S*                 # a version of a package
    | \S*error: | err! | \[[a-z]+\]:?           # what a log calls a line
    )[\"')\],;]*""",
    re.IGNORECASE | re.VERBOSE,
)
#: So many words of such shapes, and this share of all, make a line one of a machine.
LEAST_SHAPES, SHAPE_SHARE = 2, 0.25
_ROWS = (
    *("qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "azertyuiop"),
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
#: So many short runs and nothing else are mashed too: "qwe asd zxc".
_LEAST_BITS = 3
_VOWELS = frozenset("aeiouy")
_LATIN = re.compile(r"[a-z]+")
#: Pairs of letters that no word has twice: "jajsjdhaksjd".
_UNSAYABLE = re.compile(r"j[bcdfghklmpqrstvwxz]|q[bcdfghjklmnprstvwxyz]|[sdfghjk]{5}")
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
    if not any(map(str.isalnum, text[:READ])):
        return "empty"
    if recent and _is_repeated(text, recent):
        return "repeated"
    if _is_of_a_machine(text, tokens):
        return "machine_like"
    if len(text) > LONGEST:
        return "overlong"
    dense = sum(map(is_dense, tokens))
    if len(tokens) - dense < FEWEST_WORDS and dense < FEWEST_DENSE:
        return "too_short"
    return "spam" if _advertises(text[:READ]) else ""


def _advertises(text: str) -> bool:
    links = len(_LINK.findall(text))
    hidden, phone = _HIDDEN_LINK.search(text), _PHONE.search(text)
    return links > MOST_LINKS or hidden is not None or (links > 0 and phone is not None)


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


def _is_of_a_machine(text: str, tokens: Sequence[str]) -> bool:
    """Whether no person wrote ``text`` as a message: templates, code, logs, mashed keys."""
    if _PLACEHOLDER.search(text[:LONGEST]) or _is_mashed(tokens) or _repeats(tokens):
        return True
    lines = [line for line in text[:LONGEST].splitlines() if line.strip()]
    return sum(map(_is_code, lines)) > CODE_SHARE * len(lines)


def _is_code(line: str) -> bool:
    words = line.split()
    shapes = sum(_SHAPE.fullmatch(word) is not None for word in words)
    if shapes >= min(LEAST_SHAPES, len(words)) and shapes >= SHAPE_SHARE * len(words):
        return True
    return _CODE.match(line) is not None


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


def _is_mashed(tokens: Sequence[str]) -> bool:
    if not any(map(_is_mash, tokens)) and len(tokens) < _LEAST_BITS:
        return False
    return all(_is_mash(each) or each in _BITS for each in tokens)


def _is_mash(token: str) -> bool:
    """Whether ``token`` is keys in the order of the keyboard, or letters nobody can say."""
    if len(token) > LONGEST_WORD:
        return True
    if len(token) < 5 or not token.isalpha():
        return False
    on_row = sum(token[at : at + 4] in _RUNS for at in range(len(token) - 3))
    if on_row >= 0.5 * (len(token) - 3):
        return True
    if len(token) < 6 or not _LATIN.fullmatch(token):
        return False
    if _UNSAYABLE.search(token) or sum(map(_VOWELS.__contains__, token)) < 0.12 * len(token):
        return True
    return any(
        token[:3] in _BITS and token == (token[:size] * len(token))[: len(token)] for size in (3, 4)
    )
