"""The whole report of a label matrix, in the shape that page, command and REST share.

Also the agreement on each label, and the position bias of a kind among the options of an item.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from labelhub.core.agreement.aggregation.majority import single_winner, winners
from labelhub.core.agreement.coefficients import alpha, chance, sums
from labelhub.core.agreement.coefficients.sums import Patterns
from labelhub.core.agreement.estimation import (
    Units,
    add_doubts,
    estimate,
    estimate_share,
    item_units,
    rare_categories_doubt,
)
from labelhub.core.agreement.figures import Figure, Record, share, undefined
from labelhub.core.agreement.ratings import Bools, Floats, Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.accuracy import KindAccuracy, measure_accuracy
from labelhub.core.agreement.reports.aggregated_labels import AggregatedLabels
from labelhub.core.agreement.reports.kind_agreement import kind_agreement, people_agreement
from labelhub.core.agreement.reports.kind_tests import KindTests, compare_kinds
from labelhub.core.agreement.reports.label_matrix import KINDS, LabelMatrix, units_of
from labelhub.core.agreement.reports.pair_agreement import Pair, annotator_pairs, kind_pairs
from labelhub.core.agreement.reports.replacement import Replacement, run_alt_tests
from labelhub.core.agreement.significance import ChiSquare, chi_square
from labelhub.core.errors import InvalidInput

#: Items with different answers, times labels: tables of more take some hundred MB.
MOST_CELLS = 25_000_000


@dataclass(frozen=True, slots=True)
class LabelAgreement(Record):
    """One label against all others; ``share`` of the kind's labels name it."""

    label: str
    share: float
    figures: dict[str, Figure]


def label_agreement(matrix: LabelMatrix, kind: str) -> list[LabelAgreement]:
    """Percent agreement, alpha and AC1 of each label as yes or no, in the order of the schema."""
    ratings = matrix.of_kind(kind)
    if not matrix.shares_categories or not len(ratings) or matrix.raters_of(kind) < 2:
        return []
    patterns = matrix.patterns_of(kind)
    names, yes = list(matrix.categories), patterns.counts
    if matrix.sets is not None:
        names, members = alpha.set_members(matrix.sets)
        if len(names) * len(yes) > MOST_CELLS:
            return []
        # Whole numbers as floats: NumPy multiplies those many times faster.
        yes = (yes.astype(np.float64) @ members).astype(np.int64)
    whole = patterns.totals
    pairable = whole >= 2
    shares = patterns.items @ yes / len(ratings)
    return [
        LabelAgreement(
            name,
            float(shares[column]),
            _label_figures(
                matrix,
                patterns,
                np.column_stack([whole - yes[:, column], yes[:, column]]),
                pairable,
            ),
        )
        for column, name in enumerate(names)
    ]


def _label_figures(
    matrix: LabelMatrix, patterns: Patterns, counts: Ints, pairable: Bools
) -> dict[str, Figure]:
    """``counts``: without and with the label, shape (patterns, 2); ``pairable``: (patterns,)."""
    values = {"alpha_nominal": chance.alpha_nominal(2), "gwet_ac1": chance.gwet_ac(2)}
    kept, often = counts[pairable], patterns.items[pairable]
    items = int(often.sum())
    if not items:
        return dict.fromkeys(("percent", *values), undefined(reasons.NO_PAIR))
    found = _label_units(matrix, patterns, counts, pairable)
    figures = {"percent": estimate_share(found, n=items)}
    if (kept.sum(axis=0) > 0).all():
        figures |= {name: estimate(found, value, n=items) for name, value in values.items()}
    else:
        figures |= dict.fromkeys(values, undefined(reasons.NO_VARIATION))
    doubt = rare_categories_doubt(kept, often)
    return {name: add_doubts(figure, doubt) for name, figure in figures.items()}


def _label_units(matrix: LabelMatrix, patterns: Patterns, counts: Ints, pairable: Bools) -> Units:
    """The items with two labels or more, ready to be estimated from."""
    if matrix.clusters is None:
        rows = sums.find_patterns(counts[pairable])
        often = np.bincount(rows.of_item, patterns.items[pairable]).astype(np.int64)
        return item_units(sums.agreement_parts(rows.counts), often)
    of_kept = np.flatnonzero(pairable[patterns.of_item])
    return units_of(matrix, sums.agreement_parts(counts)[patterns.of_item[of_kept]], of_kept)


POSITIONS = "chi-square; the single most frequent answer of each item"
POSITIONS_CLUSTERED = (
    "chi-square corrected for whole {unit} (Rao and Scott), F; the single most frequent answer of "
    "each item"
)


@dataclass(frozen=True, slots=True)
class PositionBias(Record):
    """How often each position was chosen, how often it is expected by chance, and the test, over
    ``items`` that were answered and offered a choice."""

    chosen: list[int]
    expected: list[float]
    chi_square: float | None
    p: float | None
    items: int
    method: str


def position_bias(
    chosen: ArrayLike, offered: ArrayLike, clusters: ArrayLike | None = None, unit: str = "items"
) -> PositionBias:
    """Position bias of one source: chi-square of its choices against equal chances.

    ``chosen``: shape (items,), the place from 0, negative where missing; ``offered``: how many
    options the item had, q_i. A place is expected sum 1 / q_i times over the items that had it.
    With unequal q_i the p-value is a little too large, never too small (the choices then vary less
    than one multinomial's); below 5 expected choices at a place it is rough. One source at a time.

    ``clusters``: number of the cluster of each item, shape (items,). The statistic is then divided
    by how much more the choices vary between clusters than they would by items, on average over
    the places (Rao and Scott 1981, first order), and p is that of F (Thomas and Rao 1987).
    """
    places, sizes = np.asarray(chosen, dtype=np.int64), np.asarray(offered, dtype=np.int64)
    if places.ndim != 1 or places.shape != sizes.shape or (places >= sizes).any():
        raise InvalidInput("Each chosen position must be among the options of its item.")
    usable = (places >= 0) & (sizes > 1)
    groups = None
    if clusters is not None:
        given = np.asarray(clusters)
        if given.shape != usable.shape:
            raise InvalidInput("Every item needs the number of its cluster.")
        groups = np.unique(given[usable], return_inverse=True)[1].astype(np.int64)
    places, sizes = places[usable], sizes[usable]
    by_size = np.bincount(sizes, minlength=1)[1:]
    expected = np.cumsum((by_size / np.arange(1, len(by_size) + 1))[::-1])[::-1]
    observed = np.bincount(places, minlength=len(expected))
    statistic = float(((observed - expected) ** 2 / expected).sum()) if len(places) else None
    test, method = chi_square(statistic, max(len(expected) - 1, 0)), POSITIONS
    if groups is not None:
        test = _clustered_test(test, _influence(places, sizes, groups), expected)
        method = POSITIONS_CLUSTERED.format(unit=unit)
    found = observed.tolist(), expected.tolist(), test.statistic, test.p, len(places)
    return PositionBias(*found, method)


def _influence(places: Ints, sizes: Ints, groups: Ints) -> Floats:
    """Each cluster's part of observed less expected, beyond its share: (clusters, places)."""
    n, most, count = len(places), int(sizes.max(initial=0)), int(groups.max(initial=-1)) + 1
    chosen = np.bincount(groups * most + places, minlength=count * most)
    by_size = np.bincount(groups * (most + 1) + sizes, minlength=count * (most + 1))
    chances = by_size.reshape(count, most + 1)[:, 1:] / np.arange(1, most + 1)
    apart = chosen.reshape(count, most) - np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    per_item = apart.sum(axis=0, keepdims=True) / max(n, 1)
    return np.asarray(apart - np.bincount(groups, minlength=count)[:, None] * per_item)


def _clustered_test(plain: ChiSquare, influence: Floats, expected: Floats) -> ChiSquare:
    clusters, df = len(influence), plain.df
    if plain.statistic is None or clusters < 2:
        return ChiSquare(None, df, None)
    varied = clusters / (clusters - 1) * (influence**2).sum(axis=0)
    effect = float((varied / expected).sum()) / df
    if effect <= 0:
        return ChiSquare(None, df, None)
    statistic = plain.statistic / effect
    return ChiSquare(
        statistic, df, float(scipy.special.fdtrc(df, df * (clusters - 1), statistic / df))
    )


@dataclass(frozen=True, slots=True)
class SourceCounts(Record):
    """Counts of a kind: annotators with a label or an abstention, labels, abstentions, and
    suggestions that were rejected without a label."""

    annotators: int
    labels: int
    abstentions: int
    rejections: int
    items: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, with the share of abstentions among labels and abstentions."""
        asked = self.labels + self.abstentions
        rate = share(self.abstentions, asked, reason=reasons.NO_LABELS)
        return Record.to_json(self) | {"abstention_rate": rate}


@dataclass(frozen=True, slots=True)
class Report(Record):
    """The whole report; each part is described where it is made.

    The caller adds what needs more than labels (costs).
    """

    items: int
    sources: Mapping[str, SourceCounts]
    people: Mapping[str, Figure]
    within: Mapping[str, Mapping[str, Figure]]
    per_label: Mapping[str, Sequence[LabelAgreement]]
    between: Sequence[Pair]
    against_gold: Mapping[str, KindAccuracy]
    against_author: Mapping[str, KindAccuracy]
    alt_test: Mapping[str, Replacement]
    alt_test_by_author: Mapping[str, Replacement]
    comparisons: Mapping[str, KindTests]
    truths: Mapping[str, Mapping[str, int]]
    position_bias: Mapping[str, PositionBias]
    left_out: Mapping[str, int]
    reasons: Mapping[str, str]


def _count_truths(matrix: LabelMatrix) -> dict[str, dict[str, int]]:
    """Truth → how many items have each answer; empty where items share no answers."""
    if not matrix.shares_categories or matrix.sets is not None:
        return {}
    q = len(matrix.categories)
    return {
        name: dict(
            zip(
                matrix.categories, np.bincount(codes[codes >= 0], minlength=q).tolist(), strict=True
            )
        )
        for name, codes in (("gold", matrix.gold), ("author", matrix.author))
        if (codes >= 0).any()
    }


def _by_machine_name(found: Sequence[Replacement]) -> dict[str, Replacement]:
    """Machine → its test; a name that occurs again gets its kind added."""
    named: dict[str, Replacement] = {}
    for replacement in found:
        name, kind = replacement.machine.name, replacement.machine.kind
        named[f"{name} ({kind})" if name in named else name] = replacement
    return named


def build_report(matrix: LabelMatrix) -> Report:
    """Measure everything that the labels of ``matrix`` can tell."""
    aggregated, accuracies, tests = AggregatedLabels(matrix), {}, {}
    for truth, answers, missing in (
        ("gold", matrix.gold, reasons.NO_GOLD),
        ("author", matrix.author, reasons.NO_AUTHOR),
    ):
        accuracies[truth] = {
            kind: measure_accuracy(matrix, kind, answers, aggregated, missing=missing)
            for kind in matrix.labelled_kinds
            if kind != truth
        }
        compared = [kind for kind, accuracy in accuracies[truth].items() if accuracy.items]
        tests[truth] = compare_kinds(matrix, compared, answers)
    return Report(
        items=matrix.ratings.n_items,
        sources={kind: _count_source(matrix, kind) for kind in matrix.kinds},
        people=people_agreement(matrix),
        within={kind: kind_agreement(matrix, kind) for kind in matrix.kinds},
        per_label={kind: label_agreement(matrix, kind) for kind in matrix.kinds},
        between=[*kind_pairs(matrix), *annotator_pairs(matrix)],
        against_gold=accuracies["gold"],
        against_author=accuracies["author"],
        alt_test=_by_machine_name(run_alt_tests(matrix)),
        alt_test_by_author=_by_machine_name(run_alt_tests(matrix, by_author=True)),
        comparisons=tests,
        truths=_count_truths(matrix),
        position_bias=_position_biases(matrix),
        left_out=matrix.left_out,
        reasons=reasons.WORDS,
    )


def _position_biases(matrix: LabelMatrix) -> dict[str, PositionBias]:
    """The position bias of each kind among the options that items bring.

    Only the most frequent choice of an item counts: labels of the same item are not independent.
    Ties are left out. Where items belong together, whole clusters are the evidence.
    """
    if matrix.options is None:
        return {}
    found = {}
    for kind in matrix.labelled_kinds:
        patterns = matrix.patterns_of(kind)
        places = single_winner(winners(patterns.counts))[patterns.of_item]
        found[kind] = position_bias(places, matrix.options, matrix.clusters, matrix.unit)
    return found


def _count_source(matrix: LabelMatrix, kind: str) -> SourceCounts:
    of_kind = matrix.kind_of == KINDS.index(kind)
    active = of_kind & ((matrix.labels_of + matrix.abstentions) > 0)
    return SourceCounts(
        annotators=int(active.sum()),
        labels=int(matrix.labels_of[of_kind].sum()),
        abstentions=int(matrix.abstentions[of_kind].sum()),
        rejections=matrix.rejections.get(kind, 0),
        items=int(np.count_nonzero(np.bincount(matrix.of_kind(kind).items))),
    )
