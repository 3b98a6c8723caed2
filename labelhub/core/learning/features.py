"""Texts as numbers: TF-IDF of words, pairs of words and runs of characters.

Nothing here knows a language. Words are what stands between blanks and marks; scripts that set no
blanks (Chinese, Japanese, Thai ...) are read by their runs of two to four characters, as are
misspelt and inflected words. The item's own question and what was said before are parts of their
own: the same word means another thing there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from labelhub.core.errors import InvalidInput
from labelhub.core.learning.lessons import Document

#: A sparse matrix in rows (scipy ships without type information).
Matrix: TypeAlias = Any

#: Between blanks and the marks of ASCII, Latin and CJK: keeps vowel signs with their letters,
#: which ``\w`` does not.
WORD = (
    r"[^\s\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf"
    r"\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+"
)
#: How many terms of each part are kept, those of most texts first.
MOST_TERMS = 30_000
#: With so many texts, what stands in one alone is left out.
MANY = 300


class NothingToRead(InvalidInput):
    """The texts have no words."""

    code = "nothing_to_read"


@dataclass(frozen=True, slots=True)
class _Part:
    """Which text of an item is read how, and how much it weighs."""

    name: str
    of: Callable[[Document], str]
    runs: bool
    weight: float


def _text(document: Document) -> str:
    return document.text


def _question(document: Document) -> str:
    return document.question


def _context(document: Document) -> str:
    return document.context


PARTS = (
    _Part("words", _text, runs=False, weight=1.0),
    _Part("runs", _text, runs=True, weight=1.0),
    _Part("question", _question, runs=False, weight=1.0),
    _Part("context", _context, runs=False, weight=0.5),
)


class Features:
    """What turns documents (see ``documents.read``) into rows of numbers, learnt from some."""

    def __init__(self, most_terms: int = MOST_TERMS) -> None:
        self._most = most_terms
        self._parts: list[tuple[_Part, TfidfVectorizer]] = []

    def fit(self, documents: Sequence[Document]) -> Self:
        """Learn which terms there are; parts that no document has are left out.

        Raises:
            NothingToRead: there is not one word in any of them.
        """
        self._parts = []
        for part in PARTS:
            vectorizer = _vectorizer(part, len(documents), self._most)
            try:
                vectorizer.fit([part.of(document) for document in documents])
            except ValueError:  # no term at all, or none that two texts share
                continue
            self._parts.append((part, vectorizer))
        if not self._parts:
            raise NothingToRead("The texts have no words to learn from.")
        return self

    def transform(self, documents: Sequence[Document]) -> Matrix:
        """Documents x terms; each part of a row has the length of its weight, or 0."""
        blocks = [
            vectorizer.transform([part.of(document) for document in documents]) * part.weight
            for part, vectorizer in self._parts
        ]
        return sparse.hstack(blocks, format="csr")


def _vectorizer(part: _Part, documents: int, most: int) -> TfidfVectorizer:
    shape: dict[str, Any] = (
        {"analyzer": "char_wb", "ngram_range": (2, 4)}
        if part.runs
        else {"token_pattern": WORD, "ngram_range": (1, 2)}
    )
    return TfidfVectorizer(
        lowercase=False,
        min_df=2 if documents >= MANY else 1,
        max_features=most,
        sublinear_tf=True,
        dtype=np.float64,
        **shape,
    )
