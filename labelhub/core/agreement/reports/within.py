"""How far annotators of one kind agree among themselves."""

from collections.abc import Sequence

import numpy as np

from labelhub.core.agreement.coefficients import alpha, chance, sums
from labelhub.core.agreement.coefficients.chance import conger_kappa, conger_parts
from labelhub.core.agreement.estimation import (
    Units,
    bounded,
    clustered,
    doubted,
    doubtful,
    estimated,
    estimated_share,
    few,
    units,
)
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.icc import Icc, icc
from labelhub.core.agreement.ratings import Floats, Ratings, latest
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.reasons import clusters_ignored
from labelhub.core.agreement.reports.sheet import Sheet, units_of
from labelhub.core.agreement.reports.texts import within_texts

#: Items by annotators by categories: of more the table takes longer than all else together.
MOST_CELLS = 400_000


def conger(sheet: Sheet, kind: str) -> Figure:
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
    return doubted(estimated(found, value, n=len(pairable)), doubtful(pairable))


SHROUT_FLEISS = "Shrout and Fleiss 1979"
#: Tables of more different answers say nothing and cost much.
MOST_CATEGORIES = 400

Figures = dict[str, Figure]


def within(sheet: Sheet, kind: str) -> Figures:
    """Percent agreement and every coefficient that means something for the project's task.

    The others are null with the reason. Items with fewer than two labels of the kind do not count
    for agreement; ``n`` is how many do. With abstentions as one more answer, where there are any,
    annotators that only abstain count too.
    """
    return _by_labels(sheet, kind) | _with_abstentions(sheet, kind)


def _by_labels(sheet: Sheet, kind: str) -> Figures:
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
        ignored = clusters_ignored(sheet)
        correlations = _intraclass(ratings, sheet.scores)
        found |= {name: doubted(correlation, ignored) for name, correlation in correlations.items()}
    return found


def _with_abstentions(sheet: Sheet, kind: str) -> Figures:
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
    patterns = sums.patterns(unsure.counts())
    if not sheet.shares_categories:
        return {names[0]: _Counts(sheet, patterns, alike=False).percent()}
    nominal = _nominal(_Counts(sheet, patterns))
    return dict(zip(names, (nominal["percent"], nominal["alpha_nominal"]), strict=True))


def _of_patterns(sheet: Sheet, kind: str) -> Figures:
    if not sheet.shares_categories:
        return _own_options(sheet, kind)
    counts = _Counts(sheet, sheet.patterns_of(kind))
    found = _nominal(counts) | {"conger_kappa": conger(sheet, kind)}
    if sheet.task.ordered and sheet.scores is not None:
        found |= _ordinal(counts, sheet.scores)
    if sheet.task.several and sheet.sets is not None:
        found |= _of_sets(counts, sheet.sets)
    return found


class _Counts:
    """Counts of a kind, ready to be estimated from; draws are shared by all its coefficients.

    ``alike``: items with the same counts are the same, so they are one row.
    """

    def __init__(self, sheet: Sheet, patterns: sums.Patterns, *, alike: bool = True) -> None:
        self.clusters, self.unit = sheet.clusters, sheet.unit
        self.q = patterns.counts.shape[1]
        two = patterns.totals >= 2
        pairable, often = patterns.counts[two], patterns.items[two]
        self.pairable = int(often.sum())
        self.varies = int((pairable.sum(axis=0) > 0).sum()) > 1
        self.doubt = doubtful(pairable, often) if alike else None
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
        found = self._units(sums.parts(self.counts))
        return doubted(estimated_share(found, n=self.pairable), self.doubt)

    def estimate(self, parts: Floats, value: sums.Value, *, beyond_chance: bool = True) -> Figure:
        """A figure; what corrects for chance is null where nothing varies."""
        if not self.pairable:
            return undefined(reasons.NO_PAIR)
        if beyond_chance and not self.varies:
            return undefined(reasons.NO_VARIATION)
        return doubted(estimated(self._units(parts), value, n=self.pairable), self.doubt)

    def _units(self, parts: Floats) -> Units:
        if self.clusters is not None:
            return clustered(parts, self.clusters, self.unit)
        if self._first is None:
            self._first = units(parts, self.often)
        return self._first.with_parts(parts)


def _nominal(counts: _Counts) -> Figures:
    parts = sums.parts(counts.counts)
    values = {
        "alpha_nominal": chance.alpha_nominal(counts.q),
        "gwet_ac1": chance.gwet_ac(counts.q),
        "brennan_prediger": chance.brennan_prediger(counts.q),
        "fleiss_kappa": chance.fleiss_kappa(counts.q),
    }
    return {"percent": counts.percent()} | {
        name: counts.estimate(parts, value) for name, value in values.items()
    }


def _ordinal(counts: _Counts, points: Sequence[float]) -> Figures:
    weights = alpha.quadratic(points)
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
            sums.parts(counts.counts, weights), chance.gwet_ac(counts.q, weights)
        ),
    }


def _intraclass(ratings: Ratings, points: Sequence[float]) -> Figures:
    """Raters taken for a sample, on the items that all raters of the kind rated.

    Only these are laid out as a table, so it has no more cells than there are ratings.
    """
    rated = latest(ratings)
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
    low, high = bounded(form.value, *ends)
    estimate = figure(float(form.value), low=low, high=high, n=items, method=SHROUT_FLEISS)
    return doubted(estimate, few(items))


def _of_sets(counts: _Counts, sets: Sequence[frozenset[str]]) -> Figures:
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


def _own_options(sheet: Sheet, kind: str) -> Figures:
    """Percent agreement and S_q; everything that mixes the options of items is refused."""
    counts = _Counts(sheet, sheet.patterns_of(kind), alike=False)
    reason = reasons.OWN_OPTIONS if sheet.options is not None else reasons.FREE_TEXT
    found = dict.fromkeys(("percent", *sheet.task.coefficients), undefined(reason))
    found["percent"] = counts.percent()
    if sheet.options is not None:
        own = chance.own_options_parts(counts.counts, sheet.options)
        found["s_q"] = counts.estimate(own, chance.s_q, beyond_chance=False)
        found["brennan_prediger"] = found["s_q"]
    if sheet.task.written:
        found |= within_texts(sheet, kind)
    return found
