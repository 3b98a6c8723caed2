"""Texts as sparse vectors: hashed words, pairs of words and runs of characters (scikit-learn).

There is no learnt vocabulary: the same text always has the same vector, on every machine, and the
text cannot be read from it. So a log may keep a vector longer than its text.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.extras import without_pandas

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int32]

#: Places of a vector. On three public sets of author labels 512 lost up to a tenth of the accuracy
#: of 4,096, and 65,536 won none.
PLACES = 4096
#: The characters of a text that are read.
READ = 2_000
_WORDS, _RUNS = 0.6, 0.8


class Sparse(NamedTuple):
    """A vector of length one: its places, ascending, and the values there."""

    places: Ints
    values: Floats


@lru_cache(maxsize=4_096)
def vector_of(text: str) -> Sparse:
    """The vector of a text; a text without features has the first place only."""
    # As ``transform`` does, which takes ten times as long for one text.
    both = np.zeros(PLACES)
    for share, hasher in zip((_WORDS, _RUNS), _hashers(), strict=True):
        both += share * _counts(hasher.build_analyzer()(_readable(text)))
    places = np.flatnonzero(both)
    vector = Sparse(np.zeros(1, np.int32), np.ones(1))
    if len(places):
        values = both[places]
        length = float(np.sqrt((values**2).sum()))
        vector = Sparse(places.astype(np.int32), values / length)
    for part in vector:
        part.setflags(write=False)  # all callers with the same text share it
    return vector


def _counts(terms: Sequence[str]) -> Floats:
    """How often hashed terms occur, each with the sign of its hash, as a vector of length one."""
    from sklearn.utils import murmurhash3_32  # noqa: PLC0415 - as below

    hashes = np.array([murmurhash3_32(term) for term in terms], dtype=np.int64)
    signs = np.where(hashes < 0, -1.0, 1.0)
    counts: Floats = np.bincount(np.abs(hashes) % PLACES, signs, PLACES).astype(np.float64)
    length = float(np.sqrt((counts**2).sum()))
    return counts / length if length else counts


def distance(text: str, other: str) -> float:
    """Cosine distance of two short texts by character n-grams, 0 (same) to 1 (none shared)."""
    if text.casefold().split() == other.casefold().split():
        return 0.0
    _, runs = _hashers()
    first, second = runs.transform([_readable(text)]), runs.transform([_readable(other)])
    return float(min(1.0, max(0.0, 1 - (first @ second.T).sum())))


def _readable(text: str) -> str:
    """The beginning of a text; half a surrogate pair, which UTF-8 cannot encode, becomes "?"."""
    return text[:READ].encode("utf-8", "replace").decode()


@lru_cache(maxsize=1)
def _hashers() -> tuple["HashingVectorizer", "HashingVectorizer"]:
    # scikit-learn takes 90 MB: do not load it on servers without Echo.
    with without_pandas():
        from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415

    return (
        HashingVectorizer(n_features=PLACES, ngram_range=(1, 2)),
        HashingVectorizer(n_features=PLACES, analyzer="char_wb", ngram_range=(2, 4)),
    )
