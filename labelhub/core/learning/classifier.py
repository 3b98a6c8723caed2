"""The classifiers: logistic regression for one label, a scale, or several labels.

A classifier turns rows of features into scores, and scores into probabilities. Scores are logits;
they are divided by a temperature first (Guo et al. 2017, "On Calibration of Modern Neural
Networks"), which is fitted on texts that the scores were not learnt from (``quality``).

======== ======================================================================
task     model
======== ======================================================================
single   multinomial logistic regression
ordinal  one logistic regression for each step of the scale, "above it or not"
         (Frank and Hall 2001, "A Simple Approach to Ordinal Classification")
multi    one logistic regression for each label, "present or not"
======== ======================================================================
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from labelhub.core.errors import InvalidInput
from labelhub.core.learning.lessons import Document, Shape

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
#: With so many texts, terms of a single text are left out.
MANY = 300


class NothingToRead(InvalidInput):
    """The texts have no words."""

    code = "nothing_to_read"


@dataclass(frozen=True, slots=True)
class _Part:
    """A text of an item, how it is read, and its weight."""

    name: str
    of: Callable[[Document], str]
    runs: bool
    weight: float


PARTS = (
    _Part("words", attrgetter("text"), runs=False, weight=1.0),
    _Part("runs", attrgetter("text"), runs=True, weight=1.0),
    _Part("question", attrgetter("question"), runs=False, weight=1.0),
    _Part("context", attrgetter("context"), runs=False, weight=0.5),
)


class Features:
    """Turns documents (see ``normalise_document``) into rows of numbers, after a fit."""

    def __init__(self, most_terms: int = MOST_TERMS) -> None:
        self._most = most_terms
        self._parts: list[tuple[_Part, TfidfVectorizer]] = []

    def fit(self, documents: Sequence[Document]) -> Self:
        """Learn the terms; parts that no document has are left out.

        Raises:
            NothingToRead: no document has a word.
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
        return scipy.sparse.hstack(blocks, format="csr")


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


Floats: TypeAlias = NDArray[np.float64]
#: Items x labels, True where the label is given: one per row but for ``multi``.
Marks: TypeAlias = NDArray[np.bool_]

#: Inverse regularisation strength: 10 to 100 differ by a hundredth on six public sets.
STRENGTH = 10.0
MOST_STEPS = 2_000
NEVER = -1e9


class Classifier(Protocol):
    """A classifier, fitted or not."""

    def fit(self, rows: Matrix, marks: Marks) -> Self:
        """Learn the marks of ``rows``."""

    def scores(self, rows: Matrix) -> Floats:
        """Logits, one row per row."""

    def probabilities(self, scores: Floats, temperature: float) -> Floats:
        """Items x labels; rows sum to 1 but for ``multi``."""


def classifier_for(shape: Shape) -> Classifier:
    """A new classifier for answers of that shape."""
    match shape:
        case Shape.SINGLE:
            return _Single()
        case Shape.ORDINAL:
            return _Ordinal()
        case Shape.MULTI:
            return _Multi()


def choose_labels(shape: Shape, probabilities: Floats) -> Marks:
    """The labels that a classifier gives: the likeliest, or all that are likelier than not."""
    if shape is Shape.MULTI:
        return np.asarray(probabilities >= 0.5)
    marks = np.zeros(probabilities.shape, bool)
    marks[np.arange(len(marks)), probabilities.argmax(axis=1)] = True
    return marks


def probability_of(shape: Shape, probabilities: Floats, marks: Marks) -> Floats:
    """The probability of each row's marks; of several labels, taken as independent, of all."""
    if shape is Shape.MULTI:
        chances: Floats = np.where(marks, probabilities, 1 - probabilities)
        return np.asarray(chances.prod(axis=1))
    return np.asarray((probabilities * marks).sum(axis=1))


class _Binary:
    """Yes or no, or a constant where only one of them has been seen."""

    def __init__(self) -> None:
        self._model: Any = None
        self._constant = 0.0

    def fit(self, rows: Matrix, yes: Marks) -> Self:
        count = int(yes.sum())
        if 0 < count < len(yes):
            self._model = _regression().fit(rows, yes)
        else:
            self._constant = float(np.log((count + 0.5) / (len(yes) - count + 0.5)))
        return self

    def scores(self, rows: Matrix) -> Floats:
        if self._model is None:
            return np.full(rows.shape[0], self._constant)
        return np.asarray(self._model.decision_function(rows))


class _Single:
    """One of several labels; those that no row had are never given."""

    def __init__(self) -> None:
        self._model: Any = None
        self._seen: NDArray[np.intp] = np.zeros(0, np.intp)
        self._labels = 0

    def fit(self, rows: Matrix, marks: Marks) -> Self:
        self._labels = marks.shape[1]
        self._seen = np.flatnonzero(marks.any(axis=0))
        if len(self._seen) > 1:
            self._model = _regression().fit(rows, marks.argmax(axis=1))
        return self

    def scores(self, rows: Matrix) -> Floats:
        found = np.full((rows.shape[0], self._labels), NEVER)
        if self._model is None:
            found[:, self._seen] = 0.0
            return found
        raw = np.asarray(self._model.decision_function(rows))
        found[:, self._seen] = np.column_stack([-raw / 2, raw / 2]) if raw.ndim == 1 else raw
        return found

    def probabilities(self, scores: Floats, temperature: float) -> Floats:
        return np.asarray(scipy.special.softmax(scores / temperature, axis=1))


class _Several:
    """One yes-or-no classifier for each column."""

    def __init__(self) -> None:
        self._models: list[_Binary] = []

    def _fit(self, rows: Matrix, columns: Marks) -> None:
        self._models = [
            _Binary().fit(rows, columns[:, column]) for column in range(columns.shape[1])
        ]

    def scores(self, rows: Matrix) -> Floats:
        return np.column_stack([model.scores(rows) for model in self._models])


class _Multi(_Several):
    def fit(self, rows: Matrix, marks: Marks) -> Self:
        self._fit(rows, marks)
        return self

    def probabilities(self, scores: Floats, temperature: float) -> Floats:
        return np.asarray(scipy.special.expit(scores / temperature))


class _Ordinal(_Several):
    def fit(self, rows: Matrix, marks: Marks) -> Self:
        point = marks.argmax(axis=1)
        steps = np.arange(marks.shape[1] - 1)
        self._fit(rows, point[:, None] > steps[None, :])
        return self

    def probabilities(self, scores: Floats, temperature: float) -> Floats:
        """What is above a step is above all lower ones; where the classifiers disagree, the lower
        step decides."""
        above = np.minimum.accumulate(scipy.special.expit(scores / temperature), axis=1)
        ends = np.ones((len(above), 1)), np.zeros((len(above), 1))
        return np.asarray(-np.diff(np.hstack([ends[0], above, ends[1]]), axis=1))


def marks_of(targets: Sequence[Sequence[int]], labels: int) -> Marks:
    """Items x labels, from the numbers of each item's labels."""
    marks = np.zeros((len(targets), labels), bool)
    for row, numbers in enumerate(targets):
        marks[row, list(numbers)] = True
    return marks


def _regression() -> Any:
    return LogisticRegression(C=STRENGTH, max_iter=MOST_STEPS, tol=1e-3)
