"""The items of a kind that have a truth, and what is estimated from them.

Items with the same counts and the same truth are one row with a weight.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelhub.core.agreement.aggregation.majority import (
    check_gold,
    credit_of_votes,
    majority_accuracy,
    single_winner,
    winners,
)
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.coefficients.sums import Patterns, number_keys
from labelhub.core.agreement.estimation import (
    Units,
    cluster_units,
    estimate,
    estimate_share,
    item_units,
)
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.ratings import Bools, Floats, Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.divergences import estimate_divergence
from labelhub.core.agreement.reports.sheet import LabelMatrix

#: Items by categories: two tables of them, 160 MB.
MOST_CELLS = 10_000_000


class ScoredItems:
    """The items of a kind that have a truth, ready to be estimated from."""

    def __init__(self, sheet: LabelMatrix, patterns: Patterns, truth: Ints, rows: Ints) -> None:
        self.sheet, self.rows = sheet, rows
        q = patterns.counts.shape[1]
        check_gold(truth, len(rows), q)
        keys = patterns.of_item[rows] * q + truth
        cells, self.often, self.of_row = number_keys(keys, len(patterns.counts) * q)
        self.counts, self.truth = patterns.counts[cells // q], cells % q
        self.total = self.counts.sum(axis=1)
        self.right = self.counts[np.arange(len(cells)), self.truth]
        self.labels = int(self.often @ self.total)
        self.won = winners(self.counts)

    @cached_property
    def credit(self) -> Floats:
        """How far the majority is right, by item."""
        return winner_credit(self.won, self.truth)[self.of_row]

    @cached_property
    def single(self) -> Ints:
        """The one most frequent answer of each item; -1 in a tie."""
        return single_winner(self.won)[self.of_row]

    @property
    def ties(self) -> int:
        """Items without a single most frequent answer."""
        return int(self.often[self.won.sum(axis=1) > 1].sum())

    @cached_property
    def agreeing(self) -> Ints:
        """How many labels of an item are the same, 0 where all differ; -1 of a single label."""
        most = self.counts.max(axis=1)
        return np.where(self.total < 2, -1, np.where(most > 1, most, 0))[self.of_row]

    def accuracy(self) -> Figure:
        """Of single labels; items are what is drawn, as the labels of one go together."""
        found = self._units(np.column_stack([self.right, self.total]).astype(np.float64))
        return estimate_share(found, n=self.labels, items=len(self.rows))

    def mean(self, credit: Floats) -> Figure:
        """Of items; NaN is an item without an answer."""
        known = ~np.isnan(credit)
        if not known.any():
            return undefined(reasons.NO_SHARED_ITEMS)
        if self.sheet.clusters is None:
            found = _of_credit(credit[known])
        else:
            columns = np.column_stack([credit[known], np.ones(known.sum())])
            found = self._clustered(columns, self.rows[known])
        return estimate_share(found, n=int(known.sum()))

    def beyond_chance(self) -> dict[str, Figure]:
        """What is left of accuracy once guessing is taken off, and how the answers lie."""
        if self.sheet.options is not None:
            refused = undefined(reasons.OWN_OPTIONS)
            lift = self._lift_over_guessing(self.sheet.options[self.rows])
            return {"lift_over_guessing": lift, "cohen_kappa": refused, "js_divergence": refused}
        if not self.sheet.shares_categories:
            refused = undefined(reasons.FREE_TEXT)
            return {"cohen_kappa": refused, "js_divergence": refused}
        q = self.counts.shape[1]
        laid_out = len(self.counts) if self.sheet.clusters is None else len(self.rows)
        if laid_out * q > MOST_CELLS:
            refused = undefined(reasons.MANY_ANSWERS)
            return {"cohen_kappa": refused, "js_divergence": refused}
        true = np.zeros_like(self.counts)
        true[np.arange(len(true)), self.truth] = self.total
        columns = np.column_stack([self.right, self.total, self.counts, true]).astype(np.float64)
        found = self._units(columns)
        kappa = estimate(found, _kappa(q), n=self.labels, items=len(self.rows))
        labels, items = self.labels, len(self.rows)
        apart = estimate_divergence(
            found, slice(2, 2 + q), slice(2 + q, None), n=labels, items=items
        )
        return {"cohen_kappa": kappa, "js_divergence": apart}

    def _lift_over_guessing(self, options: Ints) -> Figure:
        """``options``: how many each item has, shape (items,)."""
        right, total = self.right[self.of_row], self.total[self.of_row]
        columns = np.column_stack([right, total, total / np.maximum(options, 1)])
        if self.sheet.clusters is not None:
            found = self._clustered(columns, self.rows)
        else:
            found = item_units(*np.unique(columns, axis=0, return_counts=True))
        return estimate(found, _lift, n=self.labels, items=len(self.rows))

    def _units(self, columns: Floats) -> Units:
        """``columns``: of the different pairs of counts and truth, shape (pairs, k)."""
        if self.sheet.clusters is not None:
            return self._clustered(columns[self.of_row], self.rows)
        distinct, numbers = np.unique(columns, axis=0, return_inverse=True)
        often = np.bincount(numbers.reshape(-1), self.often, minlength=len(distinct))
        return item_units(distinct, often.astype(np.int64))

    def _clustered(self, columns: Floats, rows: Ints) -> Units:
        """``columns``: of the items ``rows``, shape (rows, k)."""
        clusters = self.sheet.clusters
        _, numbers = np.unique(clusters[rows], return_inverse=True)  # type: ignore[index]  # asked for before
        return cluster_units(columns, numbers, self.sheet.unit)


def winner_credit(won: Bools, truth: Ints) -> Floats:
    """Of rows with a truth: 1, 0, or a part in a tie; NaN where nothing won."""
    return majority_accuracy(won.astype(np.int64), truth).credit


def _of_credit(credit: Floats) -> Units:
    """Items by their credit."""
    distinct, often = np.unique(credit, return_counts=True)
    return item_units(np.column_stack([distinct, np.ones(len(distinct))]), often)


def _lift(sums: Floats) -> Floats:
    """Accuracy less that of guessing among each item's own options."""
    return chance.divided(sums[:, 0] - sums[:, 2], sums[:, 1])


def _kappa(q: int) -> Any:
    def value(sums: Floats) -> Floats:
        margins = (sums[:, 2 : 2 + q] * sums[:, 2 + q :]).sum(axis=1)
        expected = chance.divided(margins, sums[:, 1] ** 2)
        return chance.correct_for_chance(chance.divided(sums[:, 0], sums[:, 1]), expected)

    return value


LEAST, MOST = 3, 9
#: Fewer items do not tell a vote of three from a single label.
FEWEST_ITEMS = 10
#: With more categories the counting would take long.
MOST_CATEGORIES = 60


@dataclass(frozen=True, slots=True)
class VotesAccuracy:
    """How often a majority of ``votes`` labels is right."""

    votes: int
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"votes": self.votes, "accuracy": self.accuracy}


def accuracy_by_votes(compared: ScoredItems) -> Sequence[VotesAccuracy]:
    """From one label to as many as half of the items have; nothing where that is less than three.

    Every choice of an item's labels is as likely, and a tie shares its weight.
    """
    totals = compared.total[compared.of_row]
    enough = max(FEWEST_ITEMS, (len(totals) + 1) // 2)
    if len(totals) < enough or compared.counts.shape[1] > MOST_CATEGORIES:
        return []
    most = min(int(np.sort(totals)[-enough]), MOST)
    if most < LEAST:
        return []
    these = totals >= most
    return [
        VotesAccuracy(votes, compared.mean(np.where(these, _credit(compared, votes), np.nan)))
        for votes in range(1, most + 1, 2)
    ]


def _credit(compared: ScoredItems, votes: int) -> Any:
    return credit_of_votes(compared.counts, compared.truth, votes)[compared.of_row]
