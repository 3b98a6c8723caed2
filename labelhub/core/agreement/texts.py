"""Free texts compared by their words: how alike two are, and which one of an item is most like all.

A text is a bag of numbered words; no wording is kept. Token F1 of two texts is twice the words they
share over all their words, copies counted (Rajpurkar et al. 2016). Pairs of labels of an item grow
with the square of the labels: above a bound only some labels of an item are compared, drawn by the
seed.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy

from labelhub.core.agreement.aggregation.majority import SAME
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints, divide

#: Of a text so many characters are read.
READ = 20_000
#: So many pairs of labels are compared, and so many words of them: a few seconds.
MOST_PAIRS = 2_000_000
MOST_WORDS = 50_000_000
#: Words of pairs that are compared at once: some ten megabytes.
CHUNK = 1 << 21

#: Thai to Myanmar, Khmer, kana, Han: written without blanks; signs and emoji: each means something.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2600-\u27bf\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
#: Blanks, punctuation, symbols and unseen signs. Not ``\W``: vowel signs belong to their words.
_APART = "".join(
    re.escape(sign) for sign in map(chr, range(0x3100)) if unicodedata.category(sign)[0] in "ZPSC"
)
_TOKEN = re.compile(f"[{_DENSE}]|[^{_APART}\ufe00-\ufe6f\ufeff{_DENSE}]+")


#: Different texts as counts of words: sparse, shape (texts, words).
Bags: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of a sheet by item and place: ``numbers[starts[item] + place]`` is a row of bags.

    ``starts``: shape (items,).
    """

    bags: Bags
    starts: Ints
    numbers: Ints

    def of(self, items: Ints, places: Ints) -> Ints:
        """Number of the text at each place of an item: its row in ``bags``."""
        return np.asarray(self.numbers[self.starts[items] + places])

    def on(self, items: Ints) -> "Texts":
        """The texts with other items: ``items`` are those whose places they have."""
        return Texts(self.bags, self.starts[items], self.numbers)

    @cached_property
    def most_pairs(self) -> int:
        """How many pairs of these texts are compared at most."""
        words = 2 * self.bags.nnz / max(self.bags.shape[0], 1)
        return int(min(MOST_PAIRS, MOST_WORDS / max(words, 1)))


class ComparedLabels(NamedTuple):
    """Pairs of labels of the same item by the places of both, and their token F1: shape (pairs,).

    ``at_most``: so many labels of an item were compared; None where all were.
    """

    first: Ints
    second: Ints
    f1: Floats
    at_most: int | None


class Medoids(NamedTuple):
    """The text of each item that is most like its others: all those tied, shape (texts,).

    ``weight``: 1 over how many are tied; below 1 the item is undecided.
    """

    items: Ints
    places: Ints
    weight: Floats


def tokens(text: str) -> list[str]:
    """The words of a text that is ``fold``ed; characters where a script has no blanks.

    A text of punctuation alone has its characters: two such texts are not the same.
    """
    text = text[:READ]
    return _TOKEN.findall(text) or list("".join(text.split()))


def count_words(texts: Iterable[str]) -> Bags:
    """Count the words of folded texts."""
    known: defaultdict[str, int] = defaultdict()
    known.default_factory = known.__len__
    rows = [np.fromiter(map(known.__getitem__, tokens(text)), dtype=np.int32) for text in texts]
    ends = np.cumsum([0, *map(len, rows)])
    words = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    ones = np.ones(len(words), dtype=np.int32)
    counts = scipy.sparse.csr_array((ones, words, ends), shape=(len(rows), len(known)))
    counts.sum_duplicates()
    return counts


def number_texts(by_item: Sequence[Iterable[str]]) -> Texts:
    """Number the folded texts of each item in their order; equal ones have one number."""
    known: dict[str, int] = {}
    numbers: list[int] = []
    starts = []
    for own in by_item:
        starts.append(len(numbers))
        numbers += [known.setdefault(text, len(known)) for text in own]
    bags = count_words(known)
    return Texts(bags, np.array(starts, dtype=np.int64), np.array(numbers, dtype=np.int64))


def token_f1(bags: Bags, first: Ints, second: Ints) -> Floats:
    """Token F1 of pairs of texts, both of shape (pairs,), rows of ``bags``."""
    found = np.ones(len(first))
    differ = np.flatnonzero(first != second)
    sizes = np.asarray(bags.sum(axis=1), dtype=np.int64)
    step = max(int(CHUNK * bags.shape[0] / max(bags.nnz, 1)), 1)
    for start in range(0, len(differ), step):
        pairs = differ[start : start + step]
        a, b = first[pairs], second[pairs]
        whole = sizes[a] + sizes[b]
        shared = np.asarray(bags[a].minimum(bags[b]).sum(axis=1))
        found[pairs] = np.where(whole > 0, 2 * shared / np.maximum(whole, 1), 1.0)
    return found


def within_items(texts: Texts, items: Ints, places: Ints) -> ComparedLabels:
    """Every two labels of the same item; ``items``, ``places``: of each label, shape (labels,)."""
    sizes = np.bincount(items)
    kept, at_most = _limit_labels(sizes, sizes - 1, 2 * texts.most_pairs)
    order, first = _order_by_item(items, kept, len(sizes))
    after = first[items[order] + 1] - np.arange(len(order)) - 1
    first_label, second_label = _pair_up(order, np.arange(len(order)) + 1, after, order)
    numbers = texts.of(items, places)
    return ComparedLabels(
        first_label,
        second_label,
        token_f1(texts.bags, numbers[first_label], numbers[second_label]),
        at_most,
    )


def across_sides(
    texts: Texts, mine: tuple[Ints, Ints], theirs: tuple[Ints, Ints], n_items: int
) -> ComparedLabels:
    """Every label of the one side with every label of the other on the same item.

    ``mine``, ``theirs``: items and places of the labels of a side, below ``n_items``.
    """
    sizes = [np.bincount(side[0], minlength=n_items) for side in (mine, theirs)]
    kept, at_most = _limit_labels(sizes[0], sizes[1], texts.most_pairs)
    order, _ = _order_by_item(mine[0], kept, n_items)
    others, first = _order_by_item(theirs[0], kept, n_items)
    own = mine[0][order]
    first_label, second_label = _pair_up(order, first[own], first[own + 1] - first[own], others)
    f1 = token_f1(texts.bags, texts.of(*mine)[first_label], texts.of(*theirs)[second_label])
    return ComparedLabels(first_label, second_label, f1, at_most)


def medoids(items: Ints, places: Ints, alike: ComparedLabels) -> Medoids:
    """The texts with the highest mean token F1 to the other labels of their item.

    Copies are other labels too. ``alike``: of these labels, from ``within_items``.
    """
    score: Floats = np.zeros(len(items))
    for side in (alike.first, alike.second):
        score += np.bincount(side, alike.f1, len(items))
    highest = np.zeros(int(items.max(initial=-1)) + 1)
    np.maximum.at(highest, items, score)
    won = np.flatnonzero(score >= highest[items] * (1 - SAME))
    width = int(places.max(initial=0)) + 1
    cells = np.unique(items[won] * width + places[won])
    tied = np.bincount(cells // width)
    return Medoids(cells // width, cells % width, 1 / tied[cells // width])


def _limit_labels(sizes: Ints, others: Ints, most: int) -> tuple[int, int | None]:
    """How many labels of an item may be compared so that all pairs are at most ``most``.

    ``sizes``, ``others``: labels of each item on either side. Two at least, whatever they cost.
    """
    largest = int(max(sizes.max(initial=0), others.max(initial=0) + 1))
    low, high = 2, max(largest, 2)
    while low < high:
        middle = (low + high + 1) // 2
        # As numbers with fractions: a product of two counts of a million labels is no small number.
        pairs = float(np.minimum(sizes, middle) @ np.minimum(others, middle).astype(np.float64))
        low, high = (middle, high) if pairs <= most else (low, middle - 1)
    return low, None if low >= largest else low


def _order_by_item(items: Ints, most: int, n_items: int) -> tuple[Ints, Ints]:
    """Labels item by item, of each ``most`` by lot, and where the labels of each item start."""
    sizes = np.bincount(items, minlength=n_items)
    first = np.concatenate([[0], np.cumsum(sizes)])
    if sizes.max(initial=0) <= most:
        return np.argsort(items, kind="stable"), first
    drawn = np.random.default_rng(SEED).permutation(len(items))
    order = drawn[np.argsort(items[drawn], kind="stable")]
    order = order[np.arange(len(order)) - first[items[order]] < most]
    return order, np.concatenate([[0], np.cumsum(np.minimum(sizes, most))])


def _pair_up(order: Ints, first: Ints, often: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Each of ``order`` with ``often`` of ``others`` from the place ``first`` on."""
    ends = np.cumsum(often)
    within = np.arange(int(often.sum())) - np.repeat(ends - often, often)
    return np.repeat(order, often), others[np.repeat(first, often) + within]


#: Pairs of labels that are compared where they are drawn: the mean is then known to .001.
SAMPLED = 200_000


class MeanDistances(NamedTuple):
    """``of_label``: mean distance of each label to all others, shape (labels,).

    ``sampled``: of how many pairs of labels; None where all pairs were compared.
    """

    of_label: Floats
    sampled: int | None


def mean_distances(bags: Bags, numbers: Ints, most: int) -> MeanDistances:
    """How far the labels lie from each other, whatever their item.

    ``numbers``: rows of ``bags``, shape (labels,), two at least; ``most``: pairs of texts or of
    labels that are compared, but each label with two others whatever that costs.
    """
    texts, place, often = np.unique(numbers, return_inverse=True, return_counts=True)
    size, labels = len(texts), len(numbers)
    if size * (size - 1) // 2 <= most:
        first, second = np.triu_indices(size, 1)
        far = 1 - token_f1(bags, texts[first], texts[second])
        by_text = np.bincount(first, far * often[second], size)
        by_text = by_text + np.bincount(second, far * often[first], size)
        return MeanDistances(by_text[place] / (labels - 1), None)
    generator, sums = np.random.default_rng(SEED), np.zeros(labels)
    rounds = max(min(most, SAMPLED) // labels, 1)
    for _ in range(rounds):
        # Around a circle each label has two neighbours, never itself.
        first = generator.permutation(labels)
        second = np.roll(first, 1)
        far = 1 - token_f1(bags, numbers[first], numbers[second])
        sums[first] += far
        sums[second] += far
    return MeanDistances(sums / (2 * rounds), rounds * labels)


def alpha_parts(items: Ints, alike: ComparedLabels, found: MeanDistances) -> Floats:
    """Shape (items, 3): labels times the mean distance of their pairs, labels, their ``of_label``.

    ``items``: of each label from 0 without gaps, all with two labels or more.
    """
    labels = np.bincount(items).astype(np.float64)
    item = items[alike.first]
    distance = np.bincount(item, 1 - alike.f1, len(labels)) / np.bincount(
        item, minlength=len(labels)
    )
    return np.column_stack([labels * distance, labels, np.bincount(items, found.of_label)])


def alpha_of_texts(parts: Floats) -> Value:
    """Alpha of sums of ``alpha_parts``, which are all the data; NaN where nothing varies."""
    _, labels, far = parts.sum(axis=0)
    mean = far / labels

    def value(sums: Floats) -> Floats:
        observed = divide(sums[:, 0], sums[:, 1])
        expected = 2 * divide(sums[:, 2], sums[:, 1]) - mean
        return 1 - divide(observed, expected)

    return value
