"""How far annotators of one kind agree among themselves."""

from collections.abc import Sequence

import numpy as np

from labelhub.core.agreement.coefficients import alpha, chance, sums
from labelhub.core.agreement.coefficients.chance import conger_kappa, conger_parts
from labelhub.core.agreement.estimation import (
    Units,
    add_doubts,
    cluster_units,
    estimate,
    estimate_share,
    few_items_doubt,
    item_units,
    limit_interval,
    rare_categories_doubt,
)
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.icc import Icc, icc
from labelhub.core.agreement.ratings import Floats, Ratings, keep_latest
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.reasons import ignored_clusters_doubt
from labelhub.core.agreement.reports.sheet import LabelMatrix, units_of
from labelhub.core.agreement.reports.texts import text_agreement

#: Items by annotators by categories: of more the table takes longer than all else together.
MOST_CELLS = 400_000


def estimate_conger(sheet: LabelMatrix, kind: str) -> Figure:
    """Null where no item has two labels, nothing varies, or the table would be too large."""
    labels = sheet.of_kind(kind)
    present, items = np.unique(labels.items, return_inverse=True)
    who, raters = np.unique(labels.raters, return_inverse=True)
    q = labels.n_categories
    if len(present) * len(who) * q > MOST_CELLS:
        return undefined(reasons.TOO_MANY_LABELS)
    own = Ratings(items, raters, labels.codes, len(present), len(who), q)
    counts = own.counts()
    pairable = counts[counts.sum(axis=1) > 1]
    if not len(pairable):
        return undefined(reasons.NO_PAIR)
    parts, value = conger_parts(own), conger_kappa(len(who), q)
    found = units_of(sheet, parts, present)
    return add_doubts(estimate(found, value, n=len(pairable)), rare_categories_doubt(pairable))


SHROUT_FLEISS = "Shrout and Fleiss 1979"
#: Tables of more different answers say nothing and cost much.
MOST_CATEGORIES = 400

Figures = dict[str, Figure]


def kind_agreement(sheet: LabelMatrix, kind: str) -> Figures:
    """Percent agreement and every coefficient that means something for the project's task.

    The others are null with the reason. Items with fewer than two labels of the kind do not count
    for agreement; ``n`` is how many do. With abstentions as one more answer, where there are any,
    annotators that only abstain count too.
    """
    return _label_figures(sheet, kind) | _abstention_figures(sheet, kind)


def _label_figures(sheet: LabelMatrix, kind: str) -> Figures:
    ratings = sheet.of_kind(kind)
    refused = None
    if not len(ratings):
        refused = reasons.NO_LABELS
    elif sheet.raters_of(kind) < 2:
        refused = reasons.ONE_ANNOTATOR
    elif sheet.shares_categories and ratings.n_categories > MOST_CATEGORIES:
        refused = reasons.MANY_ANSWERS
    if refused:
        return dict.fromkeys(("percent", *sheet.task.coefficients), undefined(refused))
    found = _of_patterns(sheet, kind)
    if sheet.task.ordered and sheet.scores is not None:
        ignored = ignored_clusters_doubt(sheet)
        correlations = _intraclass_correlations(ratings, sheet.scores)
        found |= {
            name: add_doubts(correlation, ignored) for name, correlation in correlations.items()
        }
    return found


def _abstention_figures(sheet: LabelMatrix, kind: str) -> Figures:
    """Percent agreement for every task, alpha where items share categories; nothing without any."""
    unsure = sheet.with_abstentions(kind)
    if unsure is None:
        return {}
    names = ["percent_with_abstentions"]
    if sheet.shares_categories:
        names.append("alpha_with_abstentions")
    if len(np.unique(unsure.raters)) < 2:
        return dict.fromkeys(names, undefined(reasons.ONE_ANNOTATOR))
    if sheet.shares_categories and unsure.n_categories > MOST_CATEGORIES:
        return dict.fromkeys(names, undefined(reasons.MANY_ANSWERS))
    patterns = sums.find_patterns(unsure.counts())
    if not sheet.shares_categories:
        return {names[0]: _AgreementCounts(sheet, patterns, alike=False).percent()}
    nominal = _nominal_figures(_AgreementCounts(sheet, patterns))
    return dict(zip(names, (nominal["percent"], nominal["alpha_nominal"]), strict=True))


def _of_patterns(sheet: LabelMatrix, kind: str) -> Figures:
    if not sheet.shares_categories:
        return _uncategorised_figures(sheet, kind)
    counts = _AgreementCounts(sheet, sheet.patterns_of(kind))
    found = _nominal_figures(counts) | {"conger_kappa": estimate_conger(sheet, kind)}
    if sheet.task.ordered and sheet.scores is not None:
        found |= _ordinal_figures(counts, sheet.scores)
    if sheet.task.several and sheet.sets is not None:
        found |= _set_alphas(counts, sheet.sets)
    return found


class _AgreementCounts:
    """Counts of a kind, ready to be estimated from; draws are shared by all its coefficients.

    ``alike``: items with the same counts are the same, so they are one row.
    """

    def __init__(self, sheet: LabelMatrix, patterns: sums.Patterns, *, alike: bool = True) -> None:
        self.clusters, self.unit = sheet.clusters, sheet.unit
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
        """A figure; what corrects for chance is null where nothing varies."""
        if not self.pairable:
            return undefined(reasons.NO_PAIR)
        if beyond_chance and not self.varies:
            return undefined(reasons.NO_VARIATION)
        return add_doubts(estimate(self._units(parts), value, n=self.pairable), self.doubt)

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
    interval = alpha.interval_distance(points)
    if min(points) < 0:
        ratio = undefined(reasons.BELOW_ZERO)
    else:
        apart = alpha.ratio_distance(points)
        parts = alpha.distance_parts(counts.counts, apart)
        ratio = counts.estimate(parts, alpha.alpha_by_distance(apart))
    return {
        "alpha_ratio": ratio,
        "alpha_ordinal": counts.estimate(*alpha.ordinal_alpha(counts.counts, counts.often)),
        "alpha_interval": counts.estimate(
            alpha.distance_parts(counts.counts, interval), alpha.alpha_by_distance(interval)
        ),
        "gwet_ac2": counts.estimate(
            sums.agreement_parts(counts.counts, weights), chance.gwet_ac(counts.q, weights)
        ),
    }


def _intraclass_correlations(ratings: Ratings, points: Sequence[float]) -> Figures:
    """Raters taken for a sample, on the items that all raters of the kind rated.

    Only these are laid out as a table, so it has no more cells than there are ratings.
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


def _correlation(form: Icc, items: int, reason: str) -> Figure:
    if form.value is None:
        return undefined(reason)
    ends = (float("nan") if end is None else end for end in (form.low, form.high))
    low, high = limit_interval(form.value, *ends)
    result = figure(float(form.value), low=low, high=high, n=items, method=SHROUT_FLEISS)
    return add_doubts(result, few_items_doubt(items))


def _set_alphas(counts: _AgreementCounts, sets: Sequence[frozenset[str]]) -> Figures:
    found = {}
    for name, metric in (
        ("alpha_masi", alpha.masi_distance),
        ("alpha_jaccard", alpha.jaccard_distance),
    ):
        distances = metric(sets)
        found[name] = counts.estimate(
            alpha.distance_parts(counts.counts, distances), alpha.alpha_by_distance(distances)
        )
    return found


def _uncategorised_figures(sheet: LabelMatrix, kind: str) -> Figures:
    """Percent agreement and S_q; everything that mixes the options of items is refused."""
    counts = _AgreementCounts(sheet, sheet.patterns_of(kind), alike=False)
    reason = reasons.OWN_OPTIONS if sheet.options is not None else reasons.FREE_TEXT
    found = dict.fromkeys(("percent", *sheet.task.coefficients), undefined(reason))
    found["percent"] = counts.percent()
    if sheet.options is not None:
        own = chance.own_options_parts(counts.counts, sheet.options)
        found["s_q"] = counts.estimate(own, chance.s_q, beyond_chance=False)
        found["brennan_prediger"] = found["s_q"]
    if sheet.task.written:
        found |= text_agreement(sheet, kind)
    return found
