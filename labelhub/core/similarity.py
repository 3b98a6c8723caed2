"""Find the texts most similar to a given one, by their words or by vectors of a model.

Words are compared by TF-IDF as scikit-learn computes it with ``sublinear_tf`` and ``smooth_idf``:
a term counts ``1 + log(times)``, weighted by ``log((1 + texts) / (1 + texts with it)) + 1``; every
text has length one, and similarity is the cosine. Terms are words and pairs of neighbouring words;
scripts without blanks (Chinese, Japanese, Thai ...) are read as pairs of characters.

Results do not depend on chance, the process or the order of a set: the same texts have the same
neighbours, and of equally near ones the earlier comes first.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelhub.core.errors import InvalidInput

#: The compared characters of a text: similar texts show early, and memory is bounded.
READ = 5_000
#: The characters that decide whether two texts are the same: a pile of combining marks takes
#: quadratic time to sort.
SAME = 20_000
#: How many vectors are normalised at once.
PART = 500
#: Decimal places of similarities, so that rounding of sums decides nothing.
PLACES = 5

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Neighbours: TypeAlias = list[tuple[int, float]]
Vector: TypeAlias = Sequence[float] | NDArray[np.floating]
Vectors: TypeAlias = Sequence[Vector] | NDArray[np.floating]
Scalar = TypeVar("Scalar", bound=np.generic)

#: Thai, Lao, Myanmar, Khmer, kana, Han.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17dd\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # fmt: skip  # noqa: E501
#: Marks on letters, which ``\w`` leaves out: accents, Hebrew points, Arabic and Indic vowels.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_WORD = re.compile(rf"[\w{_MARKS}{_DENSE}]+")
_RUN = re.compile(rf"[{_DENSE}]+|[^{_DENSE}]+")
_DENSE_RUN = re.compile(rf"[{_DENSE}]{{2,}}")
#: Invisible: soft hyphens, zero-width and direction characters, tags, variation selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]"
)
_MIX = np.uint64(0x9E3779B97F4A7C15)


class UnusableVectors(InvalidInput):
    """Vectors that are not numbers, not of one length, or not as many as there are texts."""

    code = "unusable_vectors"


def same_text_key(text: str) -> str:
    """Equal for texts that read the same: without case, width, blanks and invisible characters.

    Of very long texts the first 20,000 characters decide.
    """
    return _folded(" ".join(_INVISIBLE.sub("", text).split())[:SAME])


def words(text: str) -> list[str]:
    """The folded words of ``text`` in order; pairs of characters in scripts without blanks."""
    found = _WORD.findall(_folded(_INVISIBLE.sub("", text[:READ])))
    if not any(_DENSE_RUN.search(word) for word in found if not word.isascii()):
        return found
    grams: list[str] = []
    for run in (run for word in found for run in _RUN.findall(word)):
        pairs = [run[start : start + 2] for start in range(len(run) - 1)]
        grams += pairs if _DENSE_RUN.match(run) else [run]
    return grams


def closest(similarities: Floats, among: ArrayLike, count: int) -> Neighbours:
    """Of the indices ``among``, the ``count`` with the highest similarity, highest first.

    Args:
        similarities: one for each text of an index.
        among: indices into them.
        count: the most results.

    Returns:
        ``(index, similarity)``; equal ones by index.
    """
    indices = np.asarray(among, dtype=np.int64)
    values = np.round(similarities[indices], PLACES)
    order = np.lexsort((indices, -values))[: max(0, count)]
    return [(int(indices[place]), float(values[place])) for place in order]


class TfIdfIndex:
    """Texts by their terms: for each term its texts and its weights in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        bags = [_bag(text) for text in texts]
        sizes = [len(terms) for terms, _ in bags]
        terms = _joined([terms for terms, _ in bags], np.uint64)
        weights = _joined([times for _, times in bags], np.float32)
        del bags
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        self._owners = np.repeat(np.arange(self._count, dtype=np.int32), sizes)[order]
        firsts = _first_places(terms)
        self._terms = terms[firsts]
        del terms
        self._starts = np.append(firsts, len(order))
        spread = np.diff(self._starts)
        self._rarity = _rarity(spread, self._count)
        weights = weights[order] * np.repeat(self._rarity.astype(np.float32), spread)
        lengths = np.sqrt(np.bincount(self._owners, weights**2, minlength=self._count))
        self._weights = weights / lengths.astype(np.float32)[self._owners]

    def __len__(self) -> int:
        return self._count

    def similarities(self, text: str) -> Floats:
        """The similarity of each indexed text to ``text``: 0 (no common term) to 1."""
        terms, times = _bag(text)
        place, known = self._places(terms)
        rarity = np.where(known, 0.0, _rarity(np.zeros(1), self._count))
        rarity[known] = self._rarity[place[known]]
        weights = times * rarity
        weights /= np.sqrt(np.sum(weights**2)) or 1.0
        starts = self._starts[place[known]]
        sizes = self._starts[place[known] + 1] - starts
        # The postings of all terms at once: each term's range, one range after the other.
        shift = starts - (np.cumsum(sizes) - sizes)
        postings = np.repeat(shift, sizes) + np.arange(sizes.sum())
        shares = self._weights[postings] * np.repeat(weights[known], sizes)
        return np.clip(np.bincount(self._owners[postings], shares, minlength=self._count), 0.0, 1.0)

    def nearest(self, text: str, among: ArrayLike, count: int) -> Neighbours:
        """Of the texts ``among`` the ``count`` most similar to ``text``; see :func:`closest`."""
        return closest(self.similarities(text), among, count)

    def _places(self, terms: NDArray[np.uint64]) -> tuple[Ints, NDArray[np.bool_]]:
        """The places of the terms among the known ones, and which terms are known."""
        place = np.searchsorted(self._terms, terms)
        inside = place < len(self._terms)
        known = np.zeros(len(terms), dtype=np.bool_)
        known[inside] = self._terms[place[inside]] == terms[inside]
        return place, known


class VectorIndex:
    """Texts by their vectors of a model; one row each.

    Raises:
        UnusableVectors: they are not finite numbers, or not of one length.
    """

    def __init__(self, vectors: Vectors) -> None:
        # In parts, because numbers take more room during normalisation.
        parts = [unit_rows(vectors[start : start + PART]) for start in range(0, len(vectors), PART)]
        if len({part.shape[1] for part in parts}) > 1:
            raise UnusableVectors("The vectors are not of one length.")
        self._rows = _joined(parts, np.float32)

    def __len__(self) -> int:
        return len(self._rows)

    def similarities(self, vector: Vector) -> Floats:
        """The cosine between ``vector`` and each row; 0 if it is negative.

        Raises:
            UnusableVectors: it is not as long as the rows, or has no finite numbers.
        """
        asked = unit_rows([vector])
        if len(self) and asked.shape[1] != self._rows.shape[1]:
            raise UnusableVectors("A text's vector is not as long as those it is compared with.")
        found = (self._rows @ asked[0]) if len(self) else np.zeros(0)
        return np.clip(found.astype(np.float64), 0.0, 1.0)

    def nearest(self, vector: Vector, among: ArrayLike, count: int) -> Neighbours:
        """Of the rows ``among`` the ``count`` nearest to ``vector``; see :func:`closest`."""
        return closest(self.similarities(vector), among, count)


def unit_rows(vectors: Vectors) -> NDArray[np.float32]:
    """The vectors as rows of length one; a row of zeros stays zero.

    Raises:
        UnusableVectors: they are not finite numbers, or not of one length.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise UnusableVectors("The vectors are not numbers, or not of one length.") from None
    if rows.shape == (0,):
        return np.zeros((0, 0), np.float32)
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
        raise UnusableVectors("The vectors are not rows of finite numbers.")
    # Divide by the largest first: squares of large numbers overflow.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _folded(text: str) -> str:
    # Twice: case folding can undo the normalisation.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _bag(text: str) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """The hashed terms of ``text``, each once and in order, and their counts on a log scale."""
    found = words(text)
    single = np.fromiter(
        (crc32(word.encode("utf-8", "surrogatepass")) for word in found), np.uint64, len(found)
    )
    pairs = single[:-1] * _MIX + single[1:]
    terms, times = np.unique(np.concatenate((single, pairs)), return_counts=True)
    return terms, (1.0 + np.log(times)).astype(np.float32)


def _first_places(terms: NDArray[np.uint64]) -> Ints:
    """The first place of each term in sorted ``terms``."""
    new = np.ones(len(terms), dtype=np.bool_)
    new[1:] = terms[1:] != terms[:-1]
    return np.flatnonzero(new)


def _rarity(spread: NDArray[np.generic], texts: int) -> Floats:
    """The weight of a term by the number of its texts; above 0."""
    weighed: Floats = np.log((1.0 + texts) / (1.0 + spread.astype(np.float64))) + 1.0
    return weighed


def _joined(parts: Sequence[NDArray[Scalar]], kind: type[Scalar]) -> NDArray[Scalar]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


_LONGEST = 40
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A rough English stem of a word, case-folded; words of other scripts keep their endings."""
    word = word.casefold().replace("’", "'")
    if len(word) > _LONGEST:
        return word[:_LONGEST]
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isascii():
        return word
    word = _without_ending(_singular(word))
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    if word.endswith("ied"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= 3 and _VOWEL.search(left):
            doubled = left[-1] == left[-2] and left[-1] not in "lsz"
            return left[:-1] if doubled else left
    return word
