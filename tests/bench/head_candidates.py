"""Heads that could stand behind a feature: ours, and scikit-learn's online ones.

All read the same hashed words, pairs of words and runs of characters; naive Bayes reads them as
counts, since it takes no negative numbers. Each learns one answer at a time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB

from labelhub.core.echo.models import (
    VARIANCE,
    FeatureModel,
    OnlineClassifier,
    learn,
    predict,
    probabilities,
    teach,
)
from labelhub.core.echo.replay.labelled_texts import Columns, Labelled, read_labelled
from labelhub.core.echo.vectors import PLACES, Sparse, vector_of

Floats: TypeAlias = NDArray[np.float64]
#: What an answer 50 answers ago counts now in a blend is about a third, as in ``models``.
_KEPT, _LEAST = 0.98, 1e-4


@dataclass(frozen=True, slots=True)
class Source:
    """A set of labelled texts: its file, and where in it they are."""

    name: str
    path: Path
    columns: Columns


@dataclass(frozen=True, slots=True)
class Loaded:
    """A set, its texts in every form that a head reads."""

    data: Labelled
    vectors: tuple[Sparse, ...]
    rows: Any
    counts: Any


@dataclass(frozen=True, slots=True)
class Candidate:
    """A head with its options; ``blended`` with how often each value was given, as ours ships."""

    kind: str
    options: tuple[tuple[str, Any], ...] = ()
    blended: bool = False

    def __str__(self) -> str:
        options = ", ".join(f"{name} {value}" for name, value in self.options)
        return (
            f"{self.kind}{' blended' if self.blended else ''}{f' ({options})' if options else ''}"
        )


class Learner(Protocol):
    """What learns one answer at a time."""

    def likely(self, texts: Sequence[int]) -> Floats:
        """How likely each value of each text is, (texts, values)."""

    def learn(self, text: int, value: int) -> None:
        """Learn that a text has a value."""


@lru_cache(maxsize=8)
def loaded(source: Source) -> Loaded:
    """The set, read once in each process."""
    data = read_labelled(source.path.read_bytes(), source.columns)
    vectors = tuple(vector_of(text) for text in data.texts)
    lengths = np.cumsum([0, *(len(vector.places) for vector in vectors)])
    values = np.concatenate([vector.values for vector in vectors])
    places = np.concatenate([vector.places for vector in vectors])
    rows = sparse.csr_matrix((values, places, lengths), shape=(len(vectors), PLACES))
    words, runs = (
        HashingVectorizer(n_features=PLACES, alternate_sign=False, norm=None, **options)
        for options in ({"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 4)})
    )
    both = (words.transform(data.texts) + runs.transform(data.texts)).tocsr()
    return Loaded(data, vectors, rows, both)


@dataclass(slots=True)
class Own:
    """Our linear head alone."""

    given: Loaded
    head: OnlineClassifier

    def likely(self, texts: Sequence[int]) -> Floats:
        """See :class:`Learner`."""
        return np.stack([self._likely(text) for text in texts])

    def learn(self, text: int, value: int) -> None:
        """See :class:`Learner`."""
        places, values = self.given.vectors[text]
        seen = OnlineClassifier(self.head.mean[:, places], self.head.var[:, places])
        learn(seen, values, value)
        self.head.mean[:, places], self.head.var[:, places] = seen.mean, seen.var

    def _likely(self, text: int) -> Floats:
        places, values = self.given.vectors[text]
        return probabilities(
            OnlineClassifier(self.head.mean[:, places], self.head.var[:, places]), values
        )


@dataclass(slots=True)
class Shipped:
    """The feature model as it ships: our head blended with how often each value was given."""

    given: Loaded
    model: FeatureModel = field(default_factory=FeatureModel)

    def likely(self, texts: Sequence[int]) -> Floats:
        """See :class:`Learner`."""
        values = self.given.data.values
        vectors = [self.given.vectors[text] for text in texts]
        return np.stack([predict(self.model, vector, values).likely for vector in vectors])

    def learn(self, text: int, value: int) -> None:
        """See :class:`Learner`."""
        values = self.given.data.values
        teach(self.model, self.given.vectors[text], values[value], values)


@dataclass(slots=True)
class Sklearn:
    """A classifier of scikit-learn's that learns by ``partial_fit``, one row at a time."""

    rows: Any
    values: int
    classifier: Any
    taught: bool = False

    def likely(self, texts: Sequence[int]) -> Floats:
        """See :class:`Learner`; one that gives no probabilities is as sure as can be."""
        if not self.taught:
            return np.full((len(texts), self.values), 1 / self.values)
        if hasattr(self.classifier, "predict_proba"):
            shares: Floats = self.classifier.predict_proba(self.rows[texts])
            return shares
        sure: Floats = np.eye(self.values)[self.classifier.predict(self.rows[texts])]
        return sure

    def learn(self, text: int, value: int) -> None:
        """See :class:`Learner`."""
        classes = None if self.taught else np.arange(self.values)
        self.classifier.partial_fit(self.rows[text], [value], classes=classes)
        self.taught = True


@dataclass(slots=True)
class Blended:
    """A head and how often each value was given, weighed as ``models`` weighs its parts."""

    head: Learner
    counts: Floats
    losses: Floats = field(default_factory=lambda: np.zeros(2))

    def likely(self, texts: Sequence[int]) -> Floats:
        """See :class:`Learner`."""
        weights = np.exp(self.losses.min() - self.losses)
        rate = self.counts / self.counts.sum()
        blend: Floats = (weights[0] * rate + weights[1] * self.head.likely(texts)) / weights.sum()
        return blend

    def learn(self, text: int, value: int) -> None:
        """See :class:`Learner`."""
        terms = [self.counts[value] / self.counts.sum(), self.head.likely([text])[0, value]]
        chances = np.maximum(terms, _LEAST)
        self.losses = _KEPT * self.losses - np.log(chances)
        self.counts[value] += 1
        self.head.learn(text, value)


def learner_of(candidate: Candidate, given: Loaded) -> Learner:
    """A candidate that has learnt nothing."""
    head = _head_of(candidate.kind, dict(candidate.options), given)
    return Blended(head, np.ones(len(given.data.values))) if candidate.blended else head


def _head_of(kind: str, options: Mapping[str, Any], given: Loaded) -> Learner:
    values = len(given.data.values)
    match kind:
        case "shipped":
            return Shipped(given)
        case "own":
            shape = (values, PLACES)
            return Own(
                given, OnlineClassifier(np.zeros(shape), np.full(shape, options["variance"]))
            )
        case "sgd":
            return Sklearn(
                given.rows, values, SGDClassifier(loss="log_loss", random_state=0, **options)
            )
        case "pa":
            # Passive-aggressive (Crammer et al. 2006), as scikit-learn has it since 1.8.
            classifier = SGDClassifier(loss="hinge", penalty=None, random_state=0, **options)
            return Sklearn(given.rows, values, classifier)
        case "complement_nb":
            return Sklearn(given.counts, values, ComplementNB(**options))
        case _:
            return Sklearn(given.counts, values, MultinomialNB(**options))


def grid() -> Mapping[str, Sequence[Candidate]]:
    """By kind, the options that are tried."""
    rates = [
        ("optimal", 0.01),
        ("invscaling", 1.0),
        *(("constant", eta) for eta in (0.3, 1.0, 3.0)),
    ]
    alphas = [1e-4, 1e-3, 1e-2]
    smoothing = [0.1, 0.3, 1.0, 3.0]
    return {
        "own": [
            _candidate("own", variance=variance) for variance in (2.0, 5.0, 10.0, VARIANCE, 50.0)
        ],
        "sgd": [
            _candidate("sgd", alpha=alpha, average=average, learning_rate=rate, eta0=eta)
            for alpha, average, (rate, eta) in product(alphas, [False, True], rates)
        ],
        "pa": [
            _candidate("pa", learning_rate=rate, eta0=eta)
            for rate, eta in product(["pa1", "pa2"], [0.1, 0.3, 1.0])
        ],
        "complement_nb": [
            _candidate("complement_nb", alpha=alpha, norm=norm)
            for alpha, norm in product(smoothing, [False, True])
        ],
        "multinomial_nb": [
            _candidate("multinomial_nb", alpha=alpha, fit_prior=prior)
            for alpha, prior in product(smoothing, [False, True])
        ],
    }


def _candidate(kind: str, **options: Any) -> Candidate:
    return Candidate(kind, tuple(options.items()))
