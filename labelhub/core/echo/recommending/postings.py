"""Texts by the terms in them, for fast comparison of a few terms with very many short texts."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


class Postings:
    """For each term the texts that have it, and how much it weighs in each.

    TF-IDF as :mod:`labelhub.core.similarity` has it: a term counts ``1 + log(times)``, weighed by
    ``log((1 + texts) / (1 + texts with it)) + 1``, and every text has length one. Here a text is a
    bag of terms with times, so that a title can count more than what stands below it.
    """

    def __init__(self, bags: Sequence[Mapping[str, float]]) -> None:
        self._count = len(bags)
        places: dict[str, int] = {}
        for bag in bags:
            for term in bag:
                places.setdefault(term, len(places))
        self._places = places
        columns = [places[term] for bag in bags for term in bag]
        times = np.array([count for bag in bags for count in bag.values()], np.float64)
        starts = np.cumsum([0, *(len(bag) for bag in bags)])
        shape = (self._count, len(places))
        rows = sparse.csr_matrix((_counted(times), columns, starts), shape=shape)
        self._rarity = self._rarities(np.bincount(columns, minlength=len(places)))
        rows = rows.multiply(self._rarity[None, :]).tocsr() if columns else rows
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel())
        self._terms = (sparse.diags_array(_inverse(lengths)) @ rows).tocsc()

    def __len__(self) -> int:
        return self._count

    def likeness(self, terms: Sequence[str]) -> Floats:
        """The cosine between ``terms`` and each text: 0 (no term in common) to 1.

        Terms that no text has count as the rarest: the more of a message the texts do not speak
        of, the less like it each of them is.
        """
        found = np.zeros(self._count)
        asked = self._weighed(terms)
        length = np.sqrt(sum(weight**2 for weight in asked.values())) or 1.0
        starts, owners, weights = self._terms.indptr, self._terms.indices, self._terms.data
        for term, weight in asked.items():
            place = self._places.get(term)
            if place is not None:
                span = slice(starts[place], starts[place + 1])
                # Each text stands once under a term, so that nothing is added twice or lost.
                found[owners[span]] += weights[span] * (weight / length)
        return np.clip(found, 0.0, 1.0)

    def _weighed(self, terms: Sequence[str]) -> dict[str, float]:
        unknown = float(self._rarities(np.zeros(1))[0])
        counts = Counter(terms)
        return {
            term: (1.0 + np.log(count))
            * (self._rarity[self._places[term]] if term in self._places else unknown)
            for term, count in counts.items()
        }

    def _rarities(self, spread: NDArray[np.generic]) -> Floats:
        rare: Floats = np.log((1.0 + self._count) / (1.0 + spread.astype(np.float64))) + 1.0
        return rare


def _counted(times: Floats) -> Floats:
    counted: Floats = 1.0 + np.log(times)
    return counted


def _inverse(lengths: Floats) -> Floats:
    inverse: Floats = 1.0 / np.where(lengths > 0, lengths, 1.0)
    return inverse
