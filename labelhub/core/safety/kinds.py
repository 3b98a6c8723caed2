"""What kind of message somebody wrote, as far as a small classifier can tell.

A logistic regression for each kind over words, pairs of words and parts of words, hashed, weighted
by their rarity (tf-idf) and fitted on the messages of ``examples`` (:mod:`.training`). It knows no
grammar and nothing of the world: it is the floor beneath a language model, and what stands in for
one where a site has none.
"""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelhub.core.safety.spelling import DENSE, WORD, spell_plainly

WEIGHTS = Path(__file__).with_name("kinds.npz")
DANGER = "danger"
ORDINARY = "ordinary"
#: In the order of the weights.
KINDS = (DANGER, ORDINARY, "sensitive", "small_talk", "spam")
#: Features are hashed into so many places, a power of two.
PLACES = 1 << 17
#: A text is read by sentences and in windows of so many words, or characters of a script without
#: blanks, each of which begins amid the one before: one sentence says enough.
WINDOW = 20
DENSE_WINDOW = 40
_SENTENCE_END = re.compile(r"[.!?;\n。！？؟؛…]+")
#: What stands for a number or a name that was taken out of a text.
_PLACEHOLDER = re.compile(r"\[\w+\]")
_SHORTEST, _LONGEST = 3, 5
_LONGEST_DENSE = 4


class _Weights(NamedTuple):
    rarity: NDArray[np.float32]  # of a place
    weights: NDArray[np.int8]  # place by kind
    scale: NDArray[np.float32]  # of a kind's weights
    bias: NDArray[np.float32]


def kind_chances(text: str) -> Mapping[str, float]:
    """How probable it is for a text to be of each of :data:`KINDS`, each from 0 to 1.

    It shows as much danger as the part that shows most. The kinds are judged apart, so the sum
    need not be one.
    """
    plain = _PLACEHOLDER.sub(" ", spell_plainly(text))
    whole = _chances(plain)
    worst = max(_chances(part)[0] for part in parts_of(plain))
    return dict(zip(KINDS, map(float, (worst, *whole[1:])), strict=True))


def places_of(text: str) -> NDArray[np.int64]:
    """Where the features of a plainly spelt text are, each once, in order."""
    found = {zlib.crc32(gram.encode("utf-8", "surrogatepass")) % PLACES for gram in _grams(text)}
    return np.array(sorted(found), dtype=np.int64)


def parts_of(text: str) -> set[str]:
    """What of a plainly spelt text is judged by itself: sentences and windows."""
    sentences = (each.strip() for each in _SENTENCE_END.split(text))
    return {*filter(None, sentences), *_windows(text)}


def _chances(text: str) -> NDArray[np.float64]:
    known, places = _load(), places_of(text)
    rarity = known.rarity[places].astype(np.float64)
    length = float(np.sqrt(rarity @ rarity)) or 1.0
    scores = (rarity @ known.weights[places]) * known.scale / length + known.bias
    result: NDArray[np.float64] = 1 / (1 + np.exp(-scores))
    return result


def _windows(text: str) -> Iterator[str]:
    pieces, size, blank = text.split(), WINDOW, " "
    if DENSE.search(text):
        pieces, size, blank = list(text), DENSE_WINDOW, ""
    for start in range(0, max(1, len(pieces) - size // 2), size // 2):
        yield blank.join(pieces[start : start + size])


def _grams(text: str) -> Iterator[str]:
    words = WORD.findall(text)
    for word in words:
        yield from _dense_parts(word) if DENSE.search(word) else _parts_of_word(word)
    yield from _pairs(words)


def _parts_of_word(word: str) -> Iterator[str]:
    yield f"w{word}"
    whole = f"<{word}>"
    for size in range(_SHORTEST, _LONGEST + 1):
        for start in range(len(whole) - size + 1):
            yield f"c{whole[start : start + size]}"


def _dense_parts(word: str) -> Iterator[str]:
    for size in range(1, _LONGEST_DENSE + 1):
        for start in range(len(word) - size + 1):
            yield f"j{word[start : start + size]}"


def _pairs(words: Sequence[str]) -> Iterator[str]:
    spaced = [word for word in words if not DENSE.search(word)]
    for first, second in pairwise(spaced):
        yield f"b{first} {second}"
    for first, third in zip(spaced, spaced[2:], strict=False):
        yield f"s{first} {third}"


@lru_cache(maxsize=1)
def _load() -> _Weights:
    with np.load(WEIGHTS) as stored:
        return _Weights(**{name: stored[name] for name in _Weights._fields})
