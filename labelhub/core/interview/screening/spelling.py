"""Words as they are meant: drawn out for feeling ("thaaanks", "heyyy"), or mistyped ("thnaks").

Only words that a vocabulary knows are set right, and only where nothing else is known by that
spelling: a wish keeps its own words.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from labelhub.core.interview.screening.phrases import is_dense
from labelhub.core.interview.screening.vocabulary import vocabularies

_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_DOUBLED = re.compile(r"([^\W\d_])\1$")
#: "byebyeee" is one word; longer ones are mashed keys.
LONGEST = 40
#: Shorter words are too often others ("form" and "from").
SHORTEST_SWAPPED, SHORTEST_OMITTED = 5, 7


def meant(tokens: Sequence[str]) -> list[str]:
    """``tokens`` with known words in their usual spelling."""
    known = _known()
    return [token if token in known else _meant(token) for token in tokens]


def is_known(token: str) -> bool:
    """Whether a vocabulary knows ``token``, as it is written or as it is meant."""
    known = _known()
    return token in known or _meant(token) in known


def _meant(token: str) -> str:
    if len(token) > LONGEST or is_dense(token) or token[0].isdigit():
        return token
    if token in _mistyped():
        return _mistyped()[token]
    if _DRAWN_OUT.search(token):
        return next((each for each in _shorter(token) if each in _known()), token)
    # Two letters are no sign of feeling: "tree" is no "tre".
    ends_double = _DOUBLED.search(token) is not None and token[:-1] in _courteous()
    return token[:-1] if ends_double else token


def _shorter(token: str) -> Iterator[str]:
    """Spellings with fewer of the letters that are repeated."""
    yield (twice := _DRAWN_OUT.sub(r"\1\1", token))
    yield (once := _DRAWN_OUT.sub(r"\1", token))
    yield _DOUBLED.sub(r"\1", once)
    yield _DOUBLED.sub(r"\1", twice)


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset().union(*(each.known for each in vocabularies()))


@lru_cache(maxsize=1)
def _courteous() -> frozenset[str]:
    return frozenset().union(*(each.courteous for each in vocabularies()))


@lru_cache(maxsize=1)
def _mistyped() -> dict[str, str]:
    """Spellings of courtesies with two letters swapped or one left out, and what is meant."""
    known = _known()
    found: dict[str, str] = {}
    for word in sorted(_courteous()):
        for spelling in _misspellings(word):
            if spelling not in known:
                found.setdefault(spelling, word)
    return found


def _misspellings(word: str) -> Iterator[str]:
    if len(word) >= SHORTEST_SWAPPED:
        for at in range(len(word) - 1):
            yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if len(word) >= SHORTEST_OMITTED:
        for at in range(1, len(word)):
            yield word[:at] + word[at + 1 :]
