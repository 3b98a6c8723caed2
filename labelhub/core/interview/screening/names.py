"""Whether a message is but the name of a person or a place."""

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from labelhub.core.interview.screening.phrases import DENSE, entries

_SOURCE = Path(__file__).with_name("names.toml")
#: A name has at most so many words.
MOST_WORDS = 3
#: In kanji or katakana a noun alone, up to this long, is a bare value.
LONGEST_DENSE = 5
_TWO_WORDS = re.compile(rf"\W*[^\W\d_{DENSE}]+[\W_]+[^\W\d_{DENSE}]+\W*")
_HIRAGANA = re.compile("[\u3041-\u3096]")


def is_name(text: str, tokens: Sequence[str]) -> bool:
    """Whether ``text`` says no more than who or where.

    A capital does not make a name: "Red Dress" and "Neue Schuhe" are wishes.

    Args:
        text: the message as written.
        tokens: its tokens.
    """
    given, endings, _ = _tables()
    if is_place(text, tokens):
        return True
    if not 2 <= len(tokens) <= MOST_WORDS:
        return False
    if tokens[0] in given and all(map(str.isalpha, tokens)):
        # "anna bikini" is a wish; other scripts know no capitals.
        cased = text.lower() != text.upper()
        known = tokens[-1] in given or tokens[-1].endswith(endings)
        return known or text.istitle() or not cased
    return _are_two(text, tokens) and text.istitle() and tokens[1].endswith(endings)


def is_place(text: str, tokens: Sequence[str]) -> bool:
    """Whether ``text`` is a place of two words, such as "New York"."""
    if not _are_two(text, tokens):
        return False
    second = _tables()[2].get(tokens[0], frozenset())
    return tokens[1] in second or (text.istitle() and "" in second)


def _are_two(text: str, tokens: Sequence[str]) -> bool:
    return len(tokens) == 2 and _TWO_WORDS.fullmatch(text[:80]) is not None


def is_noun_alone(text: str, tokens: Sequence[str]) -> bool:
    """Whether a text in Japanese is one noun: the name of a thing or a place, as "shoes" is."""
    return len(tokens) <= LONGEST_DENSE and not _HIRAGANA.search(text)


@lru_cache(maxsize=1)
def _tables() -> tuple[frozenset[str], tuple[str, ...], dict[str, frozenset[str]]]:
    raw = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    places: dict[str, frozenset[str]] = {}
    for entry in entries(raw["places"]):
        first, *rest = entry.split()
        # "san ..." takes any word, which the empty one stands for.
        second = frozenset(rest[0].split("|")) if rest != ["..."] else frozenset({""})
        for word in first.split("|"):
            places[word] = places.get(word, frozenset()) | second
    return frozenset(entries(raw["given"])), tuple(entries(raw["endings"])), places
