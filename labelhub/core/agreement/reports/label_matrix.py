"""A project's current labels as arrays: all that a report needs, without any text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from labelhub.core.agreement.aggregation.majority import row_shares, winners
from labelhub.core.agreement.coefficients.sums import Patterns, find_patterns, number_keys
from labelhub.core.agreement.estimation import MOST_DRAWN, Units, cluster_units, item_units
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.scores import ConfusionMatrix, indicate, tabulate
from labelhub.core.agreement.texts import Texts
from labelhub.core.schema import LabelType

#: The kinds of annotators in their one fixed order.
KINDS = ("llm", "crowd", "expert", "author", "model")
AUTHORS = KINDS.index("author")
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Rater:
    """An annotator as the ledger knows it."""

    id: int
    name: str
    kind: str
    offline: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Answers of which tied ones share an item, and the number of each item's answer.

    ``shares``: of the categories, shape (different answers, categories); a row sums to 1, or to 0
    without labels. ``of_item``: shape (items,).
    """

    shares: Floats
    of_item: Ints

    def credit(self, truth: Ints, rows: Ints) -> Floats:
        """How far the items ``rows`` are right, shape (rows,); NaN where there is no answer.

        1, 0, or 1 / k where one of k tied answers is the truth: the accuracy to expect when ties
        are broken at random (so Snow et al. 2008 score the majority). ``truth``: shape (rows,).
        """
        answers, answered = self.of_item[rows], self.shares.sum(axis=1) > 0
        return np.where(answered[answers], self.shares[answers, truth], np.nan)


@dataclass(frozen=True, eq=False)
class LabelMatrix:
    """All answers to the items of a project.

    ``categories``: names of the category numbers. Of sets, ``sets`` has their members; of points on
    a scale, ``scores`` the points; where items bring their own options a number is a position
    among them and ``options`` is how many each item has; of free texts a number means the same
    text only within an item, and ``texts`` has the words of each.
    ``gold``, ``author``: category numbers of the two truths, shape (items,), -1 where unknown;
    ``gold_kind``: number in KINDS of the kind that decided, -1 for none.
    ``clusters``: items that belong together have the same number; ``unit`` is their name.
    ``abstained``: item and rater of each abstention, shape (abstentions, 2).
    ``rejections``: how often each kind only rejected a suggestion; no figure counts them.
    ``left_out``: labels without a category, by reason.
    """

    task: LabelType
    categories: Sequence[str]
    ratings: Ratings
    raters: Sequence[Rater]
    abstained: Ints
    gold: Ints
    gold_kind: Ints
    author: Ints
    item_ids: Ints
    sets: Sequence[frozenset[str]] | None = None
    scores: Sequence[float] | None = None
    options: Ints | None = None
    texts: Texts | None = None
    clusters: Ints | None = None
    unit: str = "items"
    rejections: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def shares_categories(self) -> bool:
        """Whether a category number means the same in every item."""
        return self.task.labelled

    @property
    def chance_refusal(self) -> str | None:
        """The reason, as a code, why agreement by chance means nothing; None where it does."""
        return self.task.chance_refusal or None

    @cached_property
    def kind_of(self) -> NDArray[np.int64]:
        """Number in KINDS of each rater."""
        return np.array([KINDS.index(rater.kind) for rater in self.raters], dtype=np.int64)

    @cached_property
    def abstentions(self) -> Ints:
        """How often each rater abstained."""
        return np.bincount(self.abstained[:, 1], minlength=len(self.raters))

    @cached_property
    def labels_of(self) -> Ints:
        """How many labels each rater gave, abstentions not counted."""
        return np.bincount(self.ratings.raters, minlength=len(self.raters))

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds that labelled, abstained or rejected a suggestion, in their order."""
        active = (self.labels_of + self.abstentions) > 0
        return [
            kind
            for number, kind in enumerate(KINDS)
            if self.rejections.get(kind) or (active & (self.kind_of == number)).any()
        ]

    @property
    def labelled_kinds(self) -> list[str]:
        """The kinds that labelled."""
        return [kind for kind in self.kinds if len(self.of_kind(kind))]

    @cached_property
    def _by_kind(self) -> dict[str, Ratings]:
        return {}

    def of_kind(self, kind: str) -> Ratings:
        """The ratings by annotators of ``kind``."""
        if kind not in self._by_kind:
            wanted = self.kind_of == KINDS.index(kind)
            ratings = self.ratings
            if self.labels_of[~wanted].any():
                ratings = ratings.where(wanted[ratings.raters])
            self._by_kind[kind] = ratings
        return self._by_kind[kind]

    @cached_property
    def _patterns(self) -> dict[str, Patterns]:
        return {}

    def patterns_of(self, kind: str) -> Patterns:
        """How often each item got each category from ``kind``, as distinct rows."""
        if kind not in self._patterns:
            self._patterns[kind] = find_patterns(self.of_kind(kind).counts())
        return self._patterns[kind]

    @cached_property
    def _votes(self) -> dict[str, "Votes"]:
        return {}

    def votes_of(self, kind: str) -> "Votes":
        """The most frequent answers of ``kind`` to each item."""
        if kind not in self._votes:
            patterns = self.patterns_of(kind)
            found = find_patterns(winners(patterns.counts).astype(np.int64))
            self._votes[kind] = Votes(
                np.nan_to_num(row_shares(found.counts)), found.of_item[patterns.of_item]
            )
        return self._votes[kind]

    def with_abstentions(self, kind: str) -> Ratings | None:
        """The ratings by ``kind``, "not sure" as one more category; None without abstentions."""
        own = self.abstained[self.kind_of[self.abstained[:, 1]] == KINDS.index(kind)]
        if not len(own):
            return None
        ratings = self.of_kind(kind)
        return Ratings(
            np.concatenate([ratings.items, own[:, 0]]),
            np.concatenate([ratings.raters, own[:, 1]]),
            np.concatenate([ratings.codes, np.full(len(own), ratings.n_categories)]),
            ratings.n_items,
            ratings.n_raters,
            ratings.n_categories + 1,
        )

    def raters_of(self, kind: str) -> int:
        """How many annotators of ``kind`` gave a label."""
        return int(((self.labels_of > 0) & (self.kind_of == KINDS.index(kind))).sum())

    def clusters_of(self, rows: Ints) -> Ints | None:
        """The cluster of each of the items ``rows``, numbered from 0 without gaps."""
        if self.clusters is None:
            return None
        return np.unique(self.clusters[rows], return_inverse=True)[1]


def units_of(matrix: LabelMatrix, columns: Floats | Ints, rows: Ints) -> Units:
    """The items ``rows`` ready to be drawn from, as whole clusters where there are any.

    ``columns``: of these items, shape (rows, k).
    """
    table, clusters = columns.astype(np.float64), matrix.clusters_of(rows)
    if clusters is None:
        return item_units(table, np.ones(len(rows), dtype=np.int64))
    return cluster_units(table, clusters, matrix.unit)


def sparse_units(matrix: LabelMatrix, parts: Any, often: Ints, of_item: Ints, rows: Ints) -> Units:
    """The same, of ``parts`` that would not fit as a table: sparse, shape (different rows, k).

    ``often``: how many of the items ``rows`` have each; ``of_item``: which one each of them has.
    """
    clusters = matrix.clusters_of(rows)
    if clusters is not None:
        size = int(clusters.max(initial=-1)) + 1
        cells = (np.ones(len(rows)), (clusters, of_item))
        parts = scipy.sparse.csr_array(cells, shape=(size, len(often))) @ parts
        often = np.ones(size, dtype=np.int64)
    # Many items have too many different rows for draws.
    if int(often.sum()) > MOST_DRAWN:
        return Units(parts, often, matrix.unit, None)
    return item_units(parts.toarray(), often, matrix.unit)


def mean_units(matrix: LabelMatrix, values: Floats, rows: Ints) -> Units:
    """Units for the mean of ``values``, shape (rows,), of the items ``rows``."""
    if matrix.clusters is not None:
        return units_of(matrix, np.column_stack([values, np.ones(len(rows))]), rows)
    distinct, often = np.unique(values, return_counts=True)
    return item_units(np.column_stack([distinct, np.ones(len(distinct))]), often)


def confusion_of(matrix: LabelMatrix, votes: Votes, truth: Ints, rows: Ints) -> ConfusionMatrix:
    """The answers to the items ``rows`` by ``truth``, both of shape (rows,); each has an answer."""
    shares, labels = scipy.sparse.csr_array(votes.shares), matrix.categories
    answers, clusters, q = votes.of_item[rows], matrix.clusters_of(rows), len(matrix.categories)
    if clusters is not None:
        gold = indicate(truth, q)
        return tabulate(shares[answers], gold, labels, clusters=clusters, unit=matrix.unit)
    pairs, often, rows = number_keys(answers * q + truth, len(votes.shares) * q)
    return tabulate(shares[pairs // q], indicate(pairs % q, q), labels, often=often, of_item=rows)
