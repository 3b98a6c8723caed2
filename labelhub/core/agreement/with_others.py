"""How far each rater agrees with all the others on the items they share.

Every other rating of an item is a comparison. Those of one item belong together: errors go by
items. Agreement by chance follows from the rater's own answers and the others' on these very items
(Cohen 1960); it is linearised together with the observed agreement.
"""

from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.estimation import add_doubts, few_items_doubt
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import student_t, wilson_of_units
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.texts import gettext_noop

NOTHING_SHARED = gettext_noop("nobody else labelled the same items")
ONE_ITEM = gettext_noop("one item alone gives no interval")
NO_VARIATION = gettext_noop(
    "no_variation: all answers are the same, so chance agreement cannot be removed"
)
PERCENT = "agreeing of all comparisons with others, Wilson over items, effective number"
KAPPA = "Cohen's kappa against all others together, linearised over items"


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """One rater: the number of shared ``items``, the share of agreeing comparisons, and kappa."""

    items: int
    percent: Figure
    kappa: Figure


def rater_agreement(ratings: Ratings) -> list[RaterAgreement]:
    """The agreement of every rater, in their order. Each rates an item once (``keep_latest``)."""
    agreeing, others = count_comparisons(ratings)
    order = np.argsort(ratings.items, kind="stable")
    codes = ratings.codes[order]
    sizes = np.bincount(ratings.items, minlength=ratings.n_items)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shared = others > 0
    by_rater = np.argsort(ratings.raters, kind="stable")
    ends = np.searchsorted(ratings.raters[by_rater], np.arange(ratings.n_raters + 1))
    found = []
    for rater in range(ratings.n_raters):
        rows = by_rater[ends[rater] : ends[rater + 1]]
        rows = rows[shared[rows]]
        theirs = _SharedItems(ratings.codes[rows], agreeing[rows], others[rows])
        near = _concatenate_ranges(starts[ratings.items[rows]], sizes[ratings.items[rows]])
        found.append(theirs.result(codes[near]))
    return found


def count_comparisons(ratings: Ratings) -> tuple[Ints, Ints]:
    """For each rating, the other ratings of its item: how many agree, and how many there are."""
    cells = ratings.items * ratings.n_categories + ratings.codes
    _, cell, alike = np.unique(cells, return_inverse=True, return_counts=True)
    sizes = np.bincount(ratings.items, minlength=ratings.n_items)
    return alike[cell] - 1, sizes[ratings.items] - 1


def _concatenate_ranges(starts: Ints, sizes: Ints) -> Ints:
    """The positions of all ranges, given by their starts and sizes."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class _SharedItems:
    """One rater's answers to shared items, and how many others agree of how many; (items,)."""

    codes: Ints
    agreeing: Ints
    others: Ints

    def result(self, answers: Ints) -> RaterAgreement:
        """``answers``: by all raters, this one included, item after item."""
        items = len(self.codes)
        if items == 0:
            return RaterAgreement(0, undefined(NOTHING_SHARED), undefined(NOTHING_SHARED))
        if items == 1:
            return RaterAgreement(1, undefined(ONE_ITEM), undefined(ONE_ITEM))
        # Only the answers to these items count: free texts have very many values.
        used, answers = np.unique(answers, return_inverse=True)
        own = np.searchsorted(used, self.codes)
        return RaterAgreement(items, self._percent(), self._kappa(own, answers, len(used)))

    def _percent(self) -> Figure:
        comparisons, agreed = int(self.others.sum()), int(self.agreeing.sum())
        ones = np.ones(len(self.codes), dtype=np.int64)
        low, high = wilson_of_units(self.agreeing.astype(float), self.others.astype(float), ones)
        found = figure(agreed / comparisons, low=low, high=high, n=comparisons, method=PERCENT)
        return add_doubts(found, few_items_doubt(len(self.codes)))

    def _kappa(self, own: Ints, answers: Ints, q: int) -> Figure:
        """``own``: of each item; ``answers``: of all raters, item after item; both below ``q``."""
        whole = float(self.others.sum())
        mine = np.bincount(own, weights=self.others, minlength=q) / whole
        theirs = (np.bincount(answers, minlength=q) - np.bincount(own, minlength=q)) / whole
        observed, chance = float(self.agreeing.sum()) / whole, float(mine @ theirs)
        if 1 - chance < 1e-9:
            return undefined(NO_VARIATION)
        value = (observed - chance) / (1 - chance)
        low, high = self._ends(value, own, answers, (mine, theirs))
        found = figure(value, low=low, high=high, n=len(own), method=KAPPA)
        return add_doubts(found, few_items_doubt(len(own)))

    def _ends(
        self, value: float, own: Ints, answers: Ints, shares: tuple[Floats, Floats]
    ) -> tuple[float, float]:
        mine, theirs = shares
        items, whole, chance = len(own), float(self.others.sum()), float(mine @ theirs)
        item = np.repeat(np.arange(items), self.others + 1)
        by_others = np.bincount(item, weights=mine[answers], minlength=items) - mine[own]
        expected = self.others * theirs[own] + by_others - 2 * chance * self.others
        observed = self.agreeing - float(self.agreeing.sum()) / whole * self.others
        added = observed / (1 - chance) - (1 - value) / (1 - chance) * expected
        error = float(np.sqrt(items / (items - 1) * (added**2).sum())) / whole
        away = student_t(items - 1) * error
        return max(-1.0, value - away), min(1.0, value + away)
