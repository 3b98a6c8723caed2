"""Krippendorff's alpha of free texts, by the distance 1 less token F1.

The distances of a label's text to all others are its share of what chance gives. Of few texts all
pairs are compared, of many each label with a few others drawn by the seed. In a draw of items the
mean distance is taken near that of all the data, as ``ordinal.near_all`` does: the value and the
linearised error stay exact, an interval of draws all but exact.
"""

from typing import NamedTuple

import numpy as np

from labelhub.core.agreement.coefficients.chance import divided
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.texts import Alike, Bags, f1_of

#: Pairs of labels that are compared where they are drawn: the mean is then known to .001.
SAMPLED = 200_000


class Apart(NamedTuple):
    """``of_label``: mean distance of each label to all others, shape (labels,).

    ``sampled``: of how many pairs of labels; None where all pairs were compared.
    """

    of_label: Floats
    sampled: int | None


def apart(bags: Bags, numbers: Ints, most: int) -> Apart:
    """How far the labels lie from each other, whatever their item.

    ``numbers``: rows of ``bags``, shape (labels,), two at least; ``most``: pairs of texts or of
    labels that are compared, but each label with two others whatever that costs.
    """
    texts, place, often = np.unique(numbers, return_inverse=True, return_counts=True)
    size, labels = len(texts), len(numbers)
    if size * (size - 1) // 2 <= most:
        one, other = np.triu_indices(size, 1)
        far = 1 - f1_of(bags, texts[one], texts[other])
        by_text = np.bincount(one, far * often[other], size)
        by_text = by_text + np.bincount(other, far * often[one], size)
        return Apart(by_text[place] / (labels - 1), None)
    generator, sums = np.random.default_rng(SEED), np.zeros(labels)
    rounds = max(min(most, SAMPLED) // labels, 1)
    for _ in range(rounds):
        # Around a circle each label has two neighbours, never itself.
        one = generator.permutation(labels)
        other = np.roll(one, 1)
        far = 1 - f1_of(bags, numbers[one], numbers[other])
        sums[one] += far
        sums[other] += far
    return Apart(sums / (2 * rounds), rounds * labels)


def alpha_parts(items: Ints, alike: Alike, found: Apart) -> Floats:
    """Shape (items, 3): labels times the mean distance of their pairs, labels, their ``of_label``.

    ``items``: of each label from 0 without gaps, all with two labels or more.
    """
    labels = np.bincount(items).astype(np.float64)
    at = items[alike.one]
    distance = np.bincount(at, 1 - alike.f1, len(labels)) / np.bincount(at, minlength=len(labels))
    return np.column_stack([labels * distance, labels, np.bincount(items, found.of_label)])


def alpha_of_texts(parts: Floats) -> Value:
    """Alpha of sums of ``alpha_parts``, which are all the data; NaN where nothing varies."""
    _, labels, far = parts.sum(axis=0)
    mean = far / labels

    def value(sums: Floats) -> Floats:
        observed = divided(sums[:, 0], sums[:, 1])
        expected = 2 * divided(sums[:, 2], sums[:, 1]) - mean
        return 1 - divided(observed, expected)

    return value
