"""How far annotators of one kind agree, and the items on which people disagree most."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.agreement.coefficients import alpha, chance, sums
from labelhub.core.agreement.coefficients.chance import conger_kappa, conger_parts, linear_conger
from labelhub.core.agreement.estimation import (
    Units,
    add_doubts,
    cluster_units,
    estimate,
    estimate_share,
    item_units,
    limit_interval,
    rare_categories_doubt,
    withhold_interval,
)
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import UPPER
from labelhub.core.agreement.ratings import Floats, Ratings, keep_latest
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, units_of
from labelhub.core.agreement.reports.reasons import ignored_clusters_doubt
from labelhub.core.agreement.reports.texts import text_agreement
from labelhub.core.errors import InvalidInput

#: Items by annotators by categories: up to so many each draw has a chance of its own.
MOST_CELLS = 400_000


def estimate_conger(matrix: LabelMatrix, kind: str) -> Figure:
    """Conger's kappa; null without two labels of an item or variation."""
    labels, patterns = matrix.of_kind(kind), matrix.patterns_of(kind)
    two = patterns.totals >= 2
    pairable, often = patterns.counts[two], patterns.items[two]
    if not len(pairable):
        return undefined(reasons.NO_PAIR)
    present, items = np.unique(labels.items, return_inverse=True)
    present_raters, raters = np.unique(labels.raters, return_inverse=True)
    q = labels.n_categories
    own = Ratings(items, raters, labels.codes, len(present), len(present_raters), q)
    if len(present) * len(present_raters) * q <= MOST_CELLS:
        parts, value = conger_parts(own), conger_kappa(len(present_raters), q)
    else:
        parts, value = linear_conger(own)
    found = estimate(units_of(matrix, parts, present), value, n=int(often.sum()))
    return add_doubts(found, rare_categories_doubt(pairable, often))


SHROUT_FLEISS = "Shrout and Fleiss 1979"
#: Tables of more different answers are slow and of no use.
MOST_CATEGORIES = 400
#: Distances of every two different sets: some seconds.
MOST_SETS = 10_000

Figures = dict[str, Figure]


def kind_agreement(matrix: LabelMatrix, kind: str) -> Figures:
    """Percent agreement and every coefficient that suits the project's task.

    The others are null with the reason. Items with fewer than two labels of the kind do not count
    for agreement; ``n`` is how many do. The figures with abstentions take them as one more answer,
    so annotators that only abstain count too. The keys are those of ``figure_names``.
    """
    ratings = matrix.of_kind(kind)
    refused = None
    if not len(ratings):
        refused = reasons.NO_LABELS
    elif matrix.raters_of(kind) < 2:
        refused = reasons.ONE_ANNOTATOR
    elif matrix.shares_categories and ratings.n_categories > MOST_CATEGORIES:
        refused = reasons.MANY_ANSWERS
    if refused:
        found = dict.fromkeys(("percent", *matrix.task.coefficients), undefined(refused))
        if refused == reasons.MANY_ANSWERS and matrix.sets is not None:
            found |= _many_sets_figures(matrix, kind)
    elif matrix.shares_categories:
        found = _categorised_figures(matrix, kind)
    else:
        found = _uncategorised_figures(matrix, kind)
    return found | _abstention_figures(matrix, kind)


def figure_names(matrix: LabelMatrix) -> tuple[str, ...]:
    """The figures of a kind within itself, whatever its labels are."""
    return ("percent", *matrix.task.coefficients, *_abstention_names(matrix))


def _abstention_names(matrix: LabelMatrix) -> tuple[str, ...]:
    names = ("percent_with_abstentions", "alpha_with_abstentions")
    return names if matrix.shares_categories else names[:1]


#: The kinds whose labels make a label set of people; authors are measured against, not with, them.
REVIEWERS = ("crowd", "expert")


def people_agreement(matrix: LabelMatrix) -> Figures:
    """The recommended coefficient and percent agreement of crowd and experts taken together.

    ``n`` is the number of items with two labels or more of people, of whichever kind.
    """
    kind, matrix = people_as_one(matrix)
    found = kind_agreement(matrix, kind)
    return {name: found[name] for name in (matrix.task.coefficients[0], "percent")}


def people_as_one(matrix: LabelMatrix) -> tuple[str, LabelMatrix]:
    """The labels of crowd and experts under one kind, and that kind."""
    kind, *more = [kind for kind in REVIEWERS if len(matrix.of_kind(kind))] or REVIEWERS[:1]
    if not more:
        return kind, matrix
    alike = [replace(rater, kind=kind) if rater.kind in more else rater for rater in matrix.raters]
    return kind, replace(matrix, raters=alike)


def _abstention_figures(matrix: LabelMatrix, kind: str) -> Figures:
    """Percent agreement, and alpha where items share categories; null without abstentions."""
    unsure, names = matrix.with_abstentions(kind), _abstention_names(matrix)
    if unsure is None:
        return dict.fromkeys(names, undefined(reasons.NO_ABSTENTIONS))
    if len(np.unique(unsure.raters)) < 2:
        return dict.fromkeys(names, undefined(reasons.ONE_ANNOTATOR))
    if matrix.shares_categories and unsure.n_categories > MOST_CATEGORIES:
        return dict.fromkeys(names, undefined(reasons.MANY_ANSWERS))
    patterns = sums.find_patterns(unsure.counts())
    if not matrix.shares_categories:
        return {names[0]: _AgreementCounts(matrix, patterns, alike=False).percent()}
    nominal = _nominal_figures(_AgreementCounts(matrix, patterns))
    return dict(zip(names, (nominal["percent"], nominal["alpha_nominal"]), strict=True))


def _categorised_figures(matrix: LabelMatrix, kind: str) -> Figures:
    """Figures of answers that mean the same in every item."""
    counts = _AgreementCounts(matrix, matrix.patterns_of(kind))
    found = _nominal_figures(counts) | {"conger_kappa": estimate_conger(matrix, kind)}
    if matrix.scores is not None:
        found |= _ordinal_figures(counts, matrix.scores)
        ignored = ignored_clusters_doubt(matrix)
        for name, figure in _intraclass_correlations(matrix.of_kind(kind), matrix.scores).items():
            found[name] = add_doubts(figure, ignored)
    if matrix.sets is not None:
        found["alpha_masi"] = counts.alpha(alpha.set_distances(matrix.sets, masi=True))
        found["alpha_jaccard"] = counts.alpha(alpha.set_distances(matrix.sets, masi=False))
    return found


def _many_sets_figures(matrix: LabelMatrix, kind: str) -> Figures:
    """Percent agreement and alpha of more different sets than tables of them can hold."""
    ratings, patterns = matrix.of_kind(kind), matrix.patterns_of(kind)
    ratings = ratings.where((patterns.totals >= 2)[patterns.of_item][ratings.items])
    if not len(ratings) or len(matrix.sets or ()) > MOST_SETS:
        return {}
    rows, items = np.unique(ratings.items, return_inverse=True)
    own, n = replace(ratings, items=items, n_items=len(rows)), len(rows)
    found = {"percent": estimate_share(units_of(matrix, chance.shared_parts(own), rows), n=n)}
    members = alpha.set_members(matrix.sets or ())[1]
    for name, masi in (("alpha_masi", True), ("alpha_jaccard", False)):
        parts, value = alpha.linear_set_alpha(own, members, masi=masi)
        found[name] = estimate(units_of(matrix, parts, rows), value, n=n)
    return found


class _AgreementCounts:
    """Counts of a kind, ready to be estimated from; draws are shared by all its coefficients.

    ``alike``: items with the same counts are the same, so they are one row.
    """

    def __init__(self, matrix: LabelMatrix, patterns: sums.Patterns, *, alike: bool = True) -> None:
        self.clusters, self.unit = matrix.clusters, matrix.unit
        self.q = patterns.counts.shape[1]
        two = patterns.totals >= 2
        pairable, often = patterns.counts[two], patterns.items[two]
        self.pairable = int(often.sum())
        self.varies = int((pairable.sum(axis=0) > 0).sum()) > 1
        self.doubt = rare_categories_doubt(pairable, often) if alike else None
        if alike and self.clusters is None:
            rated = patterns.totals > 0
            self.counts, self.often = patterns.counts[rated], patterns.items[rated]
        else:
            self.counts = patterns.table()
            self.often = np.ones(len(self.counts), dtype=np.int64)
        self._first: Units | None = None

    def percent(self) -> Figure:
        """Share of pairs of labels that agree, mean over items."""
        if not self.pairable:
            return undefined(reasons.NO_PAIR)
        found = self._units(sums.agreement_parts(self.counts))
        return add_doubts(estimate_share(found, n=self.pairable), self.doubt)

    def estimate(self, parts: Floats, value: sums.Value, *, beyond_chance: bool = True) -> Figure:
        """A figure; chance-corrected ones are null where nothing varies."""
        if not self.pairable:
            return undefined(reasons.NO_PAIR)
        if beyond_chance and not self.varies:
            return undefined(reasons.NO_VARIATION)
        return add_doubts(estimate(self._units(parts), value, n=self.pairable), self.doubt)

    def alpha(self, distances: Floats) -> Figure:
        """Krippendorff's alpha by the distances of the categories."""
        parts = alpha.distance_parts(self.counts, distances)
        return self.estimate(parts, alpha.alpha_by_distance(distances))

    def _units(self, parts: Floats) -> Units:
        if self.clusters is not None:
            return cluster_units(parts, self.clusters, self.unit)
        if self._first is None:
            self._first = item_units(parts, self.often)
        return self._first.with_parts(parts)


def _nominal_figures(counts: _AgreementCounts) -> Figures:
    parts = sums.agreement_parts(counts.counts)
    values = {
        "alpha_nominal": chance.alpha_nominal(counts.q),
        "gwet_ac1": chance.gwet_ac(counts.q),
        "brennan_prediger": chance.brennan_prediger(counts.q),
        "fleiss_kappa": chance.fleiss_kappa(counts.q),
    }
    return {"percent": counts.percent()} | {
        name: counts.estimate(parts, value) for name, value in values.items()
    }


def _ordinal_figures(counts: _AgreementCounts, points: Sequence[float]) -> Figures:
    weights = alpha.quadratic_weights(points)
    below_zero = min(points) < 0
    return {
        "alpha_ratio": undefined(reasons.BELOW_ZERO)
        if below_zero
        else counts.alpha(alpha.ratio_distance(points)),
        "alpha_ordinal": counts.estimate(*alpha.ordinal_alpha(counts.counts, counts.often)),
        "alpha_interval": counts.alpha(alpha.interval_distance(points)),
        "gwet_ac2": counts.estimate(
            sums.agreement_parts(counts.counts, weights), chance.gwet_ac(counts.q, weights)
        ),
    }


def _intraclass_correlations(ratings: Ratings, points: Sequence[float]) -> Figures:
    """Correlations (2,1) and (2,k) on the items that all raters of the kind rated.

    Only these items make the table, so it has no more cells than there are ratings.
    """
    rated = keep_latest(ratings)
    raters, numbers = np.unique(rated.raters, return_inverse=True)
    complete = np.bincount(rated.items, minlength=rated.n_items) == len(raters)
    kept = np.flatnonzero(complete[rated.items])
    rows = (np.cumsum(complete) - 1)[rated.items[kept]]
    table = np.empty((int(complete.sum()), len(raters)))
    table[rows, numbers[kept]] = np.asarray(points)[rated.codes[kept]]
    found = icc(table)
    few_rated = [reasons.MISSING_RATINGS, reasons.ONE_RATED_BY_ALL]
    reason = (few_rated[found.items :] or [reasons.NO_VARIATION])[0]
    negative = reason if found.icc_2_1.value is None else reasons.MEANS_ALIKE
    return {
        "icc_2_1": _correlation(found.icc_2_1, found.items, reason),
        "icc_2_k": _correlation(found.icc_2_k, found.items, negative),
    }


#: A sum of squares below this part of the whole is a zero after rounding.
ROUNDING = 1e-12


class Icc(NamedTuple):
    """One form with its interval (95 %); None where undefined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class IntraclassCorrelations:
    """Both forms on the same ``items``, those that all raters rated."""

    icc_2_1: Icc
    icc_2_k: Icc
    items: int


class _Squares(NamedTuple):
    """Mean squares of the analysis of variance, as the paper names them, of n items, k raters."""

    n: int
    k: int
    between: float
    judges: float
    error: float


def icc(ratings: ArrayLike) -> IntraclassCorrelations:
    """Intraclass correlations (2,1) and (2,k) (Shrout and Fleiss 1979, table 4 and its intervals).

    They tell how far numbers depend on their rater. The raters are a sample of all possible raters,
    so a rater who is always higher lowers the value: (2,1) is how good one rating is, (2,k) the
    mean of all k.

    Args:
        ratings: shape (items, raters): numbers on a scale of equal steps; NaN where missing.

    The analysis needs complete rows: items with a missing rating are dropped. Undefined for fewer
    than two items or raters and where all ratings are the same; (2,k) also where the items' means
    vary less than by chance alone. The interval is undefined where nothing is left to chance and
    where its approximation fails (F near 0). Raises InvalidInput unless it is a table of numbers.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise InvalidInput("Intraclass correlations take a table of items by raters.")
    complete = table[~np.isnan(table).any(axis=1)]
    n, k = complete.shape
    single = _single(_mean_squares(complete)) if n > 1 and k > 1 else Icc(None, None, None)
    # By the formula of Spearman and Brown (1910), value and ends alike.
    # At -1 / (k - 1) the means do not vary at all; below, their spread is estimated as negative.
    mean = Icc(
        *(
            None if r is None or 1 + (k - 1) * r < ROUNDING else k * r / (1 + (k - 1) * r)
            for r in single
        )
    )
    return IntraclassCorrelations(icc_2_1=single, icc_2_k=mean, items=n)


def _mean_squares(table: Floats) -> _Squares:
    n, k = table.shape
    centred = table - table.mean()
    whole = float((centred**2).sum())
    between = k * float((centred.mean(axis=1) ** 2).sum())
    judges = n * float((centred.mean(axis=0) ** 2).sum())
    sums = [between, judges, whole - between - judges]
    # Ratings far from 0 that are all the same leave squares of the size of their rounding.
    floor = ROUNDING * max(whole, float((table**2).sum()) * ROUNDING)
    between, judges, error = (square if square > floor else 0.0 for square in sums)
    free = (n - 1) * (k - 1)
    return _Squares(n, k, between / (n - 1), judges / (k - 1), error / free)


def _single(s: _Squares) -> Icc:
    """(2,1)."""
    n, k = s.n, s.k
    raters = k * (s.judges - s.error) / n
    value = _ratio(s.between - s.error, s.between + (k - 1) * s.error + raters)
    v = _freedom(s, value)
    f_low, f_high = (
        float(scipy.special.fdtri(n - 1, v, UPPER)),
        float(scipy.special.fdtri(v, n - 1, UPPER)),
    )
    # NaN without v; with v near 0 the approximation fails and its ends leave out the value itself.
    if not (isfinite(f_low) and min(f_low, f_high) >= 1):
        return Icc(value, None, None)
    rest = k * s.judges + (k * n - k - n) * s.error
    low = _ratio(n * (s.between - f_low * s.error), f_low * rest + n * s.between)
    high = _ratio(n * (f_high * s.between - s.error), rest + n * f_high * s.between)
    return Icc(value, low, high)


def _freedom(s: _Squares, value: float | None) -> float:
    """Satterthwaite's degrees of freedom of the noise of (2,1), the paper's v; NaN if undefined."""
    n, k = s.n, s.k
    if value is None or s.error == 0:
        return nan
    judges = k * value * s.judges / s.error
    items = n * (1 + (k - 1) * value) - k * value
    parts = judges**2 / (k - 1) + items**2 / ((n - 1) * (k - 1))
    return (judges + items) ** 2 / parts if parts else nan


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _correlation(form: Icc, items: int, reason: str) -> Figure:
    if form.value is None:
        return undefined(reason)
    ends = (float("nan") if end is None else end for end in (form.low, form.high))
    low, high = limit_interval(form.value, *ends)
    result = figure(float(form.value), low=low, high=high, n=items, method=SHROUT_FLEISS)
    return withhold_interval(result)


def _uncategorised_figures(matrix: LabelMatrix, kind: str) -> Figures:
    """Percent agreement and S_q; figures that would mix the options of items are null."""
    counts = _AgreementCounts(matrix, matrix.patterns_of(kind), alike=False)
    reason = undefined(matrix.task.chance_refusal)
    found = dict.fromkeys(("percent", *matrix.task.coefficients), reason)
    found["percent"] = counts.percent()
    if matrix.options is not None:
        own = chance.own_options_parts(counts.counts, matrix.options)
        found["s_q"] = counts.estimate(own, chance.s_q, beyond_chance=False)
        found["brennan_prediger"] = found["s_q"]
    if matrix.task.written:
        found |= text_agreement(matrix, kind)
    return found


PEOPLE = ("crowd", "expert", "author")


@dataclass(frozen=True, slots=True)
class DisputedItem:
    """An item: the share of its pairs of labels that differ, over ``labels`` labels."""

    item_id: int
    disagreement: float
    labels: int


def disputed_items(
    matrix: LabelMatrix, kinds: Sequence[str] = PEOPLE, most: int = 20
) -> list[DisputedItem]:
    """The items with the highest share of differing pairs of labels by ``kinds``.

    Among equals those with more labels come first, then in the order of import. Items on which all
    agree are not among them.
    """
    labelled = [kind for kind in kinds if len(matrix.of_kind(kind))]
    if not labelled or most < 1:
        return []
    found = matrix.patterns_of(labelled[0])
    if len(labelled) > 1:
        table = found.table()
        for kind in labelled[1:]:
            table += matrix.patterns_of(kind).table()
        found = sums.find_patterns(table)
    labels = found.totals
    apart = np.where(labels >= 2, 1 - sums.agreement_parts(found.counts)[:, sums.Layout.agree], 0.0)
    # Only patterns among whose items the first ``most`` are.
    patterns = np.lexsort((-labels, -apart))
    reached = np.searchsorted(np.cumsum(found.items[patterns]), most)
    last = patterns[reached.clip(max=len(patterns) - 1)]
    first = (apart > apart[last]) | ((apart == apart[last]) & (labels >= labels[last]))
    items = np.flatnonzero((first & (apart > 0))[found.of_item])
    of = found.of_item[items]
    order = np.lexsort((items, -labels[of], -apart[of]))[:most]
    return [
        DisputedItem(int(matrix.item_ids[item]), float(apart[pattern]), int(labels[pattern]))
        for item, pattern in zip(items[order], of[order], strict=True)
    ]
