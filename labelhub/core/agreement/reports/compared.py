"""The items of a kind that have a truth, and what is estimated from them.

Items with the same counts and the same truth are one row with a weight.
"""

from typing import Any

import numpy as np

from labelhub.core.agreement.aggregation.majority import (
    Bools,
    check_known,
    majority_accuracy,
    only,
    winners,
)
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.coefficients.sums import Patterns, numbered
from labelhub.core.agreement.divergence import js_divergence
from labelhub.core.agreement.estimation import Units, clustered, estimated, units
from labelhub.core.agreement.figures import Figure, share, undefined
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import Sheet


class Compared:
    """The items of a kind that have a truth, ready to be estimated from."""

    def __init__(self, sheet: Sheet, patterns: Patterns, truth: Ints, rows: Ints) -> None:
        self.sheet, self.rows = sheet, rows
        q = patterns.counts.shape[1]
        check_known(truth, len(rows), q)
        keys = patterns.of_item[rows] * q + truth
        cells, self.often, self.of_row = numbered(keys, len(patterns.counts) * q)
        self.counts, self.truth = patterns.counts[cells // q], cells % q
        self.total = self.counts.sum(axis=1)
        self.right = self.counts[np.arange(len(cells)), self.truth]
        self.labels = int(self.often @ self.total)
        self.won = winners(self.counts)

    @property
    def credit(self) -> Floats:
        """How far the majority is right, by item."""
        return credit_of(self.won, self.truth)[self.of_row]

    @property
    def single(self) -> Ints:
        """The one most frequent answer of each item; -1 in a tie."""
        return only(self.won)[self.of_row]

    @property
    def ties(self) -> int:
        """Items without a single most frequent answer."""
        return int(self.often[self.won.sum(axis=1) > 1].sum())

    @property
    def agreeing(self) -> Ints:
        """How many labels of an item are the same, 0 where all differ; -1 of a single label."""
        most = self.counts.max(axis=1)
        return np.where(self.total < 2, -1, np.where(most > 1, most, 0))[self.of_row]

    def accuracy(self) -> Figure:
        """Of single labels; items are what is drawn, as the labels of one go together."""
        if self.sheet.clusters is None and self.total.max() == 1:
            right = int(self.often @ self.right)
            return share(right, len(self.rows), reason=reasons.NO_GOLD)
        found = self._units(np.column_stack([self.right, self.total]).astype(np.float64))
        return estimated(found, _mean, n=self.labels)

    def mean(self, credit: Floats) -> Figure:
        """Of items; NaN is an item without an answer."""
        known = ~np.isnan(credit)
        if not known.any():
            return undefined(reasons.NO_SHARED_ITEMS)
        if self.sheet.clusters is None and np.isin(credit[known], (0.0, 1.0)).all():
            return share(int(credit[known].sum()), int(known.sum()), reason=reasons.NO_GOLD)
        if self.sheet.clusters is not None:
            found = self._clustered(np.column_stack([np.where(known, credit, 0), known]))
        else:
            found = _of_credit(np.where(known, credit, -1.0))
        return estimated(found, _mean, n=int(known.sum()))

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
        true = np.zeros_like(self.counts)
        true[np.arange(len(true)), self.truth] = self.total
        columns = np.column_stack([self.right, self.total, self.counts, true]).astype(np.float64)
        found = self._units(columns)
        return {
            "cohen_kappa": estimated(found, _kappa(q), n=self.labels),
            "js_divergence": estimated(found, _divergence(q), n=self.labels),
        }

    def _lift_over_guessing(self, options: Ints) -> Figure:
        """``options``: how many each item has, shape (items,)."""
        right, total = self.right[self.of_row], self.total[self.of_row]
        columns = np.column_stack([right, total, total / np.maximum(options, 1)])
        if self.sheet.clusters is not None:
            found = self._clustered(columns)
        else:
            found = units(*np.unique(columns, axis=0, return_counts=True))
        return estimated(found, _lift, n=self.labels)

    def _units(self, columns: Floats) -> Units:
        """``columns``: of the different pairs of counts and truth, shape (pairs, k)."""
        if self.sheet.clusters is not None:
            return self._clustered(columns[self.of_row])
        distinct, numbers = np.unique(columns, axis=0, return_inverse=True)
        often = np.bincount(numbers.reshape(-1), self.often, minlength=len(distinct))
        return units(distinct, often.astype(np.int64))

    def _clustered(self, columns: Floats) -> Units:
        """``columns``: of items, shape (items, k)."""
        clusters = self.sheet.clusters
        _, numbers = np.unique(clusters[self.rows], return_inverse=True)  # type: ignore[index]  # asked for before
        return clustered(columns, numbers, self.sheet.unit)


def credit_of(won: Bools, truth: Ints) -> Floats:
    """Of rows with a truth: 1, 0, or a part in a tie; NaN where nothing won."""
    return majority_accuracy(won.astype(np.int64), truth).credit


def _of_credit(credit: Floats) -> Units:
    """Items by their credit, which is negative where there is none."""
    distinct, often = np.unique(credit, return_counts=True)
    return units(np.column_stack([np.maximum(distinct, 0), distinct >= 0]), often)


def _mean(sums: Floats) -> Floats:
    return chance.divided(sums[:, 0], sums[:, 1])


def _lift(sums: Floats) -> Floats:
    """Accuracy less that of guessing among each item's own options."""
    return chance.divided(sums[:, 0] - sums[:, 2], sums[:, 1])


def _kappa(q: int) -> Any:
    def value(sums: Floats) -> Floats:
        margins = (sums[:, 2 : 2 + q] * sums[:, 2 + q :]).sum(axis=1)
        expected = chance.divided(margins, sums[:, 1] ** 2)
        return chance.corrected(chance.divided(sums[:, 0], sums[:, 1]), expected)

    return value


def _divergence(q: int) -> Any:
    """Jensen-Shannon, in bits, between how often each answer is given and is true."""

    def value(sums: Floats) -> Floats:
        whole = np.maximum(sums[:, 1:2], 1e-300)
        return js_divergence(
            np.maximum(sums[:, 2 : 2 + q], 0) / whole, np.maximum(sums[:, 2 + q :], 0) / whole
        )

    return value


def mean_credit(credit: Floats) -> Figure:
    """The mean over items that all have an answer, which alone are drawn."""
    if np.isin(credit, (0.0, 1.0)).all():
        return share(int(credit.sum()), len(credit), reason=reasons.NO_GOLD)
    return estimated(_of_credit(credit), _mean, n=len(credit))
