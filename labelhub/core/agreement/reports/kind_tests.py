"""Tests whether one kind is right more often than another, overall and on each label.

The kinds answer the same items, so they are compared item by item. Tied answers share their item:
an item's credit is 1, 0, or 1 / k where one of k tied answers is the truth. Cochran's Q tests
whether any kind differs. Every pair has a sign-flip permutation test, which is McNemar's exact test
where nothing ties, corrected for their number by Holm, and the difference with a paired interval: a
draw takes both kinds on the same items. Where items belong together, whole clusters are permuted,
and the p-value of items is given beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import scipy

from labelhub.core.agreement.coefficients.sums import first_over_second
from labelhub.core.agreement.estimation import estimate, estimate_share
from labelhub.core.agreement.figures import Figure, Record, undefined
from labelhub.core.agreement.ratings import Floats, Ints, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.accuracy import answer_confusion, own_decisions
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, mean_units
from labelhub.core.agreement.scores import ConfusionMatrix, label_scores
from labelhub.core.agreement.significance import (
    EXACT,
    FLIPPED,
    LEVEL,
    SHUFFLED,
    chi_square,
    cochran_q,
    column_shuffle,
    holm,
    sign_flip,
    sum_by_cluster,
)

TIES = "tied answers share their item"
COCHRAN = "Cochran's Q"
#: Divisible by every number of tied answers up to 16: credit in whole numbers.
WHOLE = 720_720
#: Smaller differences of credit are rounding.
NIL = 1e-9
#: Decimals of a lead in F1, and how far equal sums of those may be apart.
DIGITS, SAME_SUM = 12, 1e-7
#: Of leads with more different sums the distribution is taken as normal.
MOST_SUMS = 100_000


@dataclass(frozen=True, slots=True)
class KindPairTest(Record):
    """``difference``: accuracy of ``a`` less that of ``b`` on the ``items`` that both answered.

    ``only_a``, ``only_b``: discordant items, on which the one has more credit than the other.
    ``p_items``: p were the items independent, where they are not.
    """

    a: str
    b: str
    items: int
    only_a: int
    only_b: int
    p: float
    difference: Figure
    method: str
    p_items: float | None = None
    p_holm: float = nan

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; ``p_items`` only where it is known."""
        found = Record.to_json(self)
        if self.p_items is None:
            del found["p_items"]
        return found | {"reliable": self.p_holm < LEVEL}


@dataclass(frozen=True, slots=True)
class LabelComparison(Record):
    """F1 of every kind on one label; ``best`` is significantly better than every other one."""

    label: str
    f1: Mapping[str, Figure]
    best: str | None


@dataclass(frozen=True, slots=True)
class KindTests(Record):
    """All pairs of kinds, and the rest on the ``items`` that all answered.

    ``cochran_q``: None where the kinds never differ. ``p_items`` as of a pair. ``accuracy``: of
    the most frequent answers; ``best``: the kind that is significantly more often right than every
    other one, among those that decided none of the truth themselves.
    """

    kinds: Sequence[str]
    items: int
    cochran_q: float | None
    p: float | None
    pairs: Sequence[KindPairTest]
    method: str
    accuracy: Mapping[str, Figure]
    best: str | None
    labels: Sequence[LabelComparison] = field(default_factory=list)
    p_items: float | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; ``p_items`` and ``reason`` only where there is one."""
        optional = [name for name in ("p_items", "reason") if getattr(self, name) is None]
        return {name: part for name, part in Record.to_json(self).items() if name not in optional}


def compare_kinds(matrix: LabelMatrix, kinds: Sequence[str], truth: Ints) -> KindTests:
    """Compare the most frequent answers of ``kinds``; without pairs where they are below two."""
    if len(kinds) < 2:
        return KindTests((), 0, None, None, (), "", {}, None, reason=reasons.ONE_KIND)
    rows = np.flatnonzero(truth >= 0)
    credit = np.column_stack([matrix.votes_of(kind).credit(truth[rows], rows) for kind in kinds])
    clusters = matrix.clusters_of(rows)
    pairs = [
        _compare_pair(matrix, (kinds[a], kinds[b]), rows, credit[:, (a, b)])
        for a, b in combinations(range(len(kinds)), 2)
    ]
    adjusted = holm([pair.p for pair in pairs])
    found = [replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)]
    fair = [kind for kind in kinds if not own_decisions(matrix, kind, truth, rows)]
    all_answered = ~np.isnan(credit).any(axis=1)
    shared, complete = rows[all_answered], credit[all_answered]
    q, method, p, p_items = _test_all(
        complete, None if clusters is None else clusters[all_answered], matrix.unit
    )
    leads = {(pair.a, pair.b): (pair.difference["value"] or 0, pair.p_holm) for pair in found}
    return KindTests(
        kinds,
        len(shared),
        q,
        p,
        found,
        method,
        accuracy={
            kind: _accuracy(matrix, shared, column)
            for kind, column in zip(kinds, complete.T, strict=True)
        },
        best=_find_best(fair, leads),
        labels=_compare_labels(matrix, kinds, fair, truth, shared),
        p_items=p_items,
    )


def _compare_pair(
    matrix: LabelMatrix, kinds: tuple[str, str], rows: Ints, credit: Floats
) -> KindPairTest:
    """Two kinds on the items that both answered, before the adjustment for other pairs.

    ``credit``: on the items ``rows``, shape (rows, 2), NaN without an answer.
    """
    answered = ~np.isnan(credit).any(axis=1)
    lead, both = credit[answered, 0] - credit[answered, 1], rows[answered]
    whole, discordant = _in_whole_numbers(lead), np.abs(lead) > NIL
    clusters = matrix.clusters_of(both)
    by_item = tested = sign_flip(whole)
    method = EXACT
    if clusters is not None:
        tested = sign_flip(sum_by_cluster(whole, clusters))
    if clusters is not None or np.abs(whole).max(initial=0) > 1:
        unit = "items" if clusters is None else matrix.unit
        method = f"{FLIPPED.format(unit=unit)}{tested.how}"
    return KindPairTest(
        *kinds,
        items=len(both),
        only_a=int((discordant & (lead > 0)).sum()),
        only_b=int((discordant & (lead < 0)).sum()),
        p=tested.p,
        difference=_difference(matrix, both, lead),
        method=f"{method}; {TIES}",
        p_items=None if clusters is None else by_item.p,
    )


def _in_whole_numbers(credit: Floats) -> Ints:
    """``credit`` times as little as makes it whole, of the same shape."""
    scaled = np.rint(credit * WHOLE).astype(np.int64)
    return np.asarray(scaled // max(int(np.gcd.reduce(scaled, axis=None)), 1))


def _test_all(
    credit: Floats, clusters: Ints | None, unit: str
) -> tuple[float | None, str, float | None, float | None]:
    """Q, how it was tested, p, and p of items where clusters were permuted; ``credit`` of all."""
    by_item = cochran_q(credit)
    if clusters is None or by_item.p is None:
        return by_item.statistic, f"{COCHRAN}; {TIES}", by_item.p, None
    found = column_shuffle(sum_by_cluster(_in_whole_numbers(credit), clusters))
    method = f"{COCHRAN} by {SHUFFLED.format(unit=unit)}{found.how}; {TIES}"
    return by_item.statistic, method, found.p, by_item.p


def _accuracy(matrix: LabelMatrix, rows: Ints, credit: Floats) -> Figure:
    if not len(rows):
        return undefined(reasons.NO_SHARED_ITEMS)
    return estimate_share(mean_units(matrix, credit, rows), n=len(rows))


def _difference(matrix: LabelMatrix, rows: Ints, differences: Floats) -> Figure:
    """Mean of ``differences`` of credit on the items ``rows``, both of shape (rows,)."""
    if not len(rows):
        return undefined(reasons.NO_SHARED_ITEMS)
    found = mean_units(matrix, differences, rows)
    return estimate(found, first_over_second, n=len(rows))


#: By how much the first kind of a pair is better, and the corrected p-value of that.
_Leads = Mapping[tuple[str, str], tuple[float, float]]


def _find_best(kinds: Sequence[str], leads: _Leads) -> str | None:
    """The one of ``kinds`` that is significantly better than every other one."""

    def beats(kind: str, other: str) -> bool:
        lead, p = leads[kind, other] if (kind, other) in leads else leads[other, kind]
        return p < LEVEL and (lead > 0) == ((kind, other) in leads)

    return next(
        (
            kind
            for kind in kinds
            if len(kinds) > 1 and all(beats(kind, other) for other in kinds if other != kind)
        ),
        None,
    )


def _compare_labels(
    matrix: LabelMatrix, kinds: Sequence[str], fair: Sequence[str], truth: Ints, rows: Ints
) -> list[LabelComparison]:
    """F1 of each label on the items ``rows``; Holm's correction is over all labels and pairs."""
    found = {kind: answer_confusion(matrix, kind, truth[rows], rows) for kind in kinds}
    tables = {kind: table for kind, table in found.items() if table is not None}
    if not len(rows) or len(tables) < len(kinds):
        return []
    f1 = {kind: [score.f1 for score in label_scores(table)] for kind, table in tables.items()}
    pairs, clusters = list(combinations(fair, 2)), matrix.clusters_of(rows)
    leads = [
        lead
        for first, second in pairs
        for lead in label_leads(tables[first], tables[second], clusters)
    ]
    adjusted = holm([p for _, p in leads])
    labels = next(iter(tables.values())).labels
    return [
        LabelComparison(
            label,
            {kind: figures[place] for kind, figures in f1.items()},
            _find_best(
                fair,
                {
                    pair: (leads[test][0], adjusted[test])
                    for pair, test in zip(pairs, range(place, len(leads), len(labels)), strict=True)
                },
            ),
        )
        for place, label in enumerate(labels)
    ]


def label_leads(
    first: ConfusionMatrix, second: ConfusionMatrix, clusters: Ints | None
) -> list[tuple[float, float]]:
    """The lead of ``first`` over ``second`` in F1 on each label, in no unit, and its p-value.

    F1 is compared through a sum over items that has its sign: twice the difference of hits less
    the F1 of both together times the difference of predictions. The F1 of both together stays when
    two kinds exchange their answers to an item, so the sign-flip test over these leads is one of
    the difference in F1 (as the approximate randomisation of Yeh 2000).
    """
    gold = first.gold[first.of_item]
    predicted = [table.predicted[table.of_item] for table in (first, second)]
    apart = (predicted[0] - predicted[1]).tocsc()
    together = predicted[0] + predicted[1]
    hits, occurring = (
        together.multiply(gold).sum(axis=0),
        together.sum(axis=0) + 2 * gold.sum(axis=0),
    )
    both, true, found = divide(2 * hits, occurring), gold.tocsc(), []
    for label, mean in enumerate(both.tolist()):
        rows = apart.indices[apart.indptr[label] : apart.indptr[label + 1]]
        sizes = apart.data[apart.indptr[label] : apart.indptr[label + 1]]
        is_true = true[:, [label]].toarray().ravel()[rows]
        leads = (2 * is_true - mean) * sizes
        if clusters is not None:
            leads = np.bincount(clusters[rows], leads)
        found.append((float(leads.sum()), _flip_p(leads)))
    return found


def _flip_p(leads: Floats) -> float:
    """Two-sided p-value of the sum of ``leads``, shape (units,), among all ways to give them signs.

    Exact where leads of few sizes have few different sums, else by the normal distribution. For
    whole numbers alone ``sign_flip`` is exact with more.
    """
    # Before the sum: else that of the leads as they are may differ from the rounded one's.
    rounded = np.round(leads, DIGITS)
    sizes, often = np.unique(np.abs(rounded[rounded != 0]), return_counts=True)
    seen = abs(float(rounded.sum()))
    if np.prod(often + 1.0) > MOST_SUMS:
        return chi_square(seen**2 / float(often @ sizes**2), 1).p or 0.0
    sums, chances = np.zeros(1), np.ones(1)
    for size, times in zip(sizes, often, strict=True):
        positive = np.arange(times + 1)
        sums = np.add.outer(sums, size * (2 * positive - times)).ravel()
        chances = np.multiply.outer(chances, scipy.stats.binom.pmf(positive, times, 0.5)).ravel()
    return min(1.0, float(chances[np.abs(sums) >= seen - SAME_SUM].sum()))
