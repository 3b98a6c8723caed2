"""The report's main figures with intervals for other annotators like these.

Those are percent agreement and the coefficients within a kind, its accuracy and majority accuracy
against a truth, and the agreement of two kinds. Other figures of kinds keep their value and lose
their interval, as one over items would be too narrow; an intraclass correlation takes raters for a
sample anyway (Shrout and Fleiss 1979). Figures of single annotators are about these.

An interval over items says how far a figure would move on other items, labelled by the very same
annotators. Where the annotators are a sample too, as a crowd is, both are drawn. In a draw of
annotators a label counts as often as its annotator, and a pair of labels as often as both; an
annotator that is drawn twice is never compared with itself. The variances of the two bootstraps
add (Cameron, Gelbach and Miller 2011): what single labels add is in both, so the sum is rather too
large. The interval is the value, and Student's t times the root of the sum to either side; t has
one degree of freedom less than the effective number of annotators, (sum n)² / sum n² for n labels
each (Kish 1965).

How often it covers the value that is expected over annotators and items is measured in
``tests/core/agreement/test_two_way.py``. The pigeonhole bootstrap (Owen 2007), which draws both at
once, covers 82 to 93 % by its percentiles with three to five annotators, and with t up to 100 %
with twenty: it counts what single labels add three times.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import scipy

from labelhub.core.agreement.aggregation.majority import one_hot, single_winner, winners
from labelhub.core.agreement.coefficients import alpha, chance, sums
from labelhub.core.agreement.coefficients.sums import Value, first_over_second
from labelhub.core.agreement.estimation import limit_interval, withhold_interval
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.intervals import DRAWS, SEED, student_t
from labelhub.core.agreement.ratings import Floats, Ints, Ratings, divide
from labelhub.core.agreement.reports.kind_agreement import people_as_one
from labelhub.core.agreement.reports.label_matrix import LabelMatrix

BOTH = "two-way bootstrap"
METHOD = (
    f"{BOTH} over {{unit}} and over annotators, {DRAWS} draws each, seed {SEED}, variances added, "
    "Student's t"
)
THESE, OTHERS = "for these annotators", "for other annotators like these"
FEW_ANNOTATORS = "few_annotators: too few annotators for an interval"
ONLY_THESE = "these_annotators_only: no interval for other annotators"
ALIKE = "no_variation: no interval, as nothing varies between annotators or items"
#: Figures whose own interval is for other annotators.
KEPT = ("icc_2_1", "icc_2_k")
#: With more categories the table of their pairs takes long, and so do distances, or anything.
MOST_PAIRED, MOST_APART, MOST_CATEGORIES = 30, 150, 400
#: An author answers its own items: it is drawn with them.
OWN_ITEMS = "author"

#: Half of an interval by the name of its figure; None: fewer annotators than it takes.
Halves = Mapping[str, float] | None

#: With fewer annotators there is no interval.
FEWEST = 3
#: Items times categories; of more items a sample is drawn, which makes intervals rather too wide.
MOST_CELLS = 20_000
LEAST_ITEMS = 300
#: Numbers that are held at once.
BLOCK = 1 << 20
#: With a smaller share of defined draws there is no interval.
MOSTLY = 0.9
#: Variances and numbers of pairs below this are rounding.
NIL = 1e-12


def give_intervals(matrix: LabelMatrix, body: dict[str, Any]) -> None:
    """Replace the intervals in ``body``, which is ``Report.to_json()`` of the ``matrix``."""
    unit = matrix.unit
    kind, people = people_as_one(matrix)
    body["people"] = _replace(body["people"], within_halves(people, kind), unit)
    for kind, figures in body["within"].items():
        body["within"][kind] = _replace(figures, within_halves(matrix, kind), unit)
    comparisons = map(_rows_of_comparison, body["comparisons"].values())
    for rows in (*body["per_label"].values(), *comparisons):
        _withhold(rows)
    for pair in body["between"]:
        if pair["level"] == "kind":
            halves = between_halves(matrix, pair["a"], pair["b"])
            pair.update(_replace(pair, halves, unit))
    for name, truth in (("against_gold", matrix.gold), ("against_author", matrix.author)):
        for kind, found in body[name].items():
            found.update(_replace(found, against_halves(matrix, kind, truth), unit))
            for part in ("by_agreeing", "by_votes", "per_label"):
                _withhold(found[part])


def state_scope(part: Any, name: str = "") -> Any:
    """The part of a report, each interval's method saying which annotators it is for.

    Figures of fewer than ten, of whatever they count, lose their interval. ``name``: of the part.
    """
    if isinstance(part, list):
        return [state_scope(member) for member in part]
    if not isinstance(part, dict):
        return part
    if part.get("value") is None or "method" not in part:
        return {key: state_scope(member, key) for key, member in part.items()}
    shown = withhold_interval(cast(Figure, part))
    if shown.get("low") is None:
        return shown
    scope = OTHERS if name in KEPT or shown["method"].startswith(BOTH) else THESE
    return {**shown, "method": f"{shown['method']}; {scope}"}


def _replace(figures: Mapping[str, Any], halves: Halves, unit: str) -> dict[str, Any]:
    """Only the figures among the values, with their other intervals."""
    return {
        name: shown if name in KEPT else _other_interval(name, cast(Figure, shown), halves, unit)
        for name, shown in figures.items()
        if isinstance(shown, dict) and "value" in shown
    }


def _rows_of_comparison(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of single kinds in a comparison; a pair keeps its test and difference."""
    return [found.get("accuracy", {}), *(label["f1"] for label in found.get("labels", ()))]


def _withhold(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        row.update(_replace(row, {}, ""))


def _other_interval(name: str, shown: Figure, halves: Halves, unit: str) -> Figure:
    value = shown["value"]
    if value is None or shown.get("low") is None:
        return shown
    half = float("nan") if halves is None else halves.get(name, 0.0)
    if half > 0:
        lowest = 0.0 if name in SHARES else -1.0
        low, high = limit_interval(value, value - half, value + half, lowest=lowest)
        other: Figure = {**shown, "low": low, "high": high, "method": METHOD.format(unit=unit)}
        return other
    reason = FEW_ANNOTATORS if halves is None else ONLY_THESE if half == 0 else ALIKE
    return {**shown, "low": None, "high": None, "doubt": reason}


SHARES = (
    "percent",
    "percent_with_abstentions",
    "accuracy",
    "majority_accuracy",
    "majority_percent",
)


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The labels of each item in some draws of annotators, or in a single one for all draws.

    ``counts``: how often each category counts, shape (draws, items, categories). ``squares``: the
    sum of squares of what each single label counts, shape (draws, items).
    """

    counts: Floats
    squares: Floats

    @property
    def total(self) -> Floats:
        """Shape (draws, items)."""
        return np.asarray(self.counts.sum(axis=2))


#: What each item adds to the sums of a figure, shape (draws, items, columns).
Parts = Callable[..., Floats]


class DrawnLabels:
    """The labels of some annotators of the items at ``items``."""

    def __init__(self, ratings: Ratings, items: Ints, stream: int = 0) -> None:
        """``stream``: draws the annotators, independently of other streams; 0 never does."""
        self.q, self._n, self._stream = ratings.n_categories, len(items), stream
        place = np.full(ratings.n_items, -1)
        place[items] = np.arange(len(items))
        own = ratings.where(place[ratings.items] >= 0)
        present, raters = np.unique(own.raters, return_inverse=True)
        self._often = np.bincount(raters, minlength=len(present))
        ones, rows = np.ones(len(own)), place[own.items]
        self._answers, self._items = (
            scipy.sparse.csr_array((ones, (cells, raters)), shape=(size, len(present)))
            for cells, size in ((rows * self.q + own.codes, self._n * self.q), (rows, self._n))
        )

    @property
    def effective(self) -> float:
        """How many annotators with equally many labels say as much; infinite where none is drawn
        and 0 where they are too few."""
        if not self._stream:
            return np.inf
        if len(self._often) < FEWEST:
            return 0.0
        return float(self._often.sum()) ** 2 / float((self._often.astype(np.float64) ** 2).sum())

    def weights(self) -> Floats | None:
        """How often each annotator is drawn, shape (draws, annotators); None where none is."""
        return _draw(self._stream, len(self._often)) if self._stream else None

    def labels(self, weights: Floats | None = None) -> Labels:
        """Weighted as in these draws of annotators; every label once, in one draw, by default."""
        given = np.ones((1, len(self._often))) if weights is None else weights
        counts = (self._answers @ given.T).reshape(self._n, self.q, -1).transpose(2, 0, 1)
        return Labels(np.ascontiguousarray(counts), (self._items @ given.T**2).T)


def _draw(stream: int, size: int) -> Floats:
    generator = np.random.default_rng((SEED, stream))
    return generator.multinomial(size, np.full(size, 1 / size), DRAWS).astype(np.float64)


def _variance(drawn: Floats) -> float:
    known = drawn[~np.isnan(drawn)]
    return float(known.var(ddof=1)) if len(known) >= MOSTLY * len(drawn) else float("nan")


def sample_items(items: Ints, q: int) -> Ints:
    """The items, or as many of them by lot as their tables may have cells."""
    most = max(MOST_CELLS // max(q, 1), LEAST_ITEMS)
    if len(items) <= most:
        return items
    return np.sort(np.random.default_rng(SEED).choice(items, most, replace=False))


class _Draws:
    """Draws of the items that all sides labelled, and of the annotators of each side.

    ``sides``: their labels; where the flag is False annotators are not drawn. ``nothing``: the
    halves where there are not ``enough`` annotators, or too many categories.
    """

    def __init__(self, matrix: LabelMatrix, *sides: tuple[Ratings, bool]) -> None:
        labelled = [np.bincount(given.items, minlength=given.n_items) > 0 for given, _ in sides]
        shared = np.flatnonzero(np.logical_and.reduce(labelled))
        self.items = sample_items(shared, max(given.n_categories for given, _ in sides))
        self._sides = [
            DrawnLabels(given, self.items, stream if drawn else 0)
            for stream, (given, drawn) in enumerate(sides, 1)
        ]
        self.nothing: Halves = None
        if len(shared) and all(side.effective > 0 for side in self._sides):
            self.nothing = {}
        few = matrix.ratings.n_categories <= MOST_CATEGORIES
        self.enough = self.nothing is not None and few
        #: The share of all items that is drawn from.
        self._shrink = len(self.items) / max(len(shared), 1)
        self._clusters = matrix.clusters_of(self.items)

    def halves(self, parts: Parts, values: Mapping[str, Value]) -> dict[str, float]:
        """Half of the interval of each of ``values``; NaN where nothing varies or draws are
        undefined."""
        (once,) = parts(*(side.labels() for side in self._sides))
        together = once
        if self._clusters is not None:
            together = np.zeros((int(self._clusters.max(initial=-1)) + 1, once.shape[1]))
            np.add.at(together, self._clusters, once)
        by_items = _draw(0, len(together)) @ together
        by_annotators = self._draw_annotators(parts, once)
        # Of annotators, or where they are fewer of items or clusters.
        units = min(len(together), *(side.effective for side in self._sides))
        found = {}
        for name, value in values.items():
            variance = self._shrink * _variance(value(by_items)) + _variance(value(by_annotators))
            known = units > 1 and variance > NIL
            found[name] = student_t(units - 1) * float(np.sqrt(variance)) if known else np.nan
        return found

    def _draw_annotators(self, parts: Parts, once: Floats) -> Floats:
        """Sums of the parts in each draw, shape (draws, columns); ``once``: those of an item."""
        weights = [side.weights() for side in self._sides]
        step, found = max(BLOCK // max(once.size, 1), 1), np.empty((DRAWS, once.shape[1]))
        for some in (slice(start, start + step) for start in range(0, DRAWS, step)):
            drawn = (None if of_side is None else of_side[some] for of_side in weights)
            labels = (side.labels(given) for side, given in zip(self._sides, drawn, strict=True))
            found[some] = parts(*labels).sum(axis=1)
        return found


def within_halves(matrix: LabelMatrix, kind: str) -> Halves:
    """Of the agreement within a kind."""
    draws = _Draws(matrix, (matrix.of_kind(kind), True))
    if not draws.enough:
        return draws.nothing
    found = _within_options(matrix, draws) if not matrix.shares_categories else {}
    if matrix.shares_categories:
        found = _nominal(draws, matrix.ratings.n_categories) | _by_distance(matrix, draws)
    unsure = matrix.with_abstentions(kind)
    if unsure is not None:
        names = {"percent": "percent_with_abstentions", "alpha_nominal": "alpha_with_abstentions"}
        draws = _Draws(matrix, (unsure, True))
        with_unsure = _nominal(draws, unsure.n_categories)
        found |= {new: with_unsure[name] for name, new in names.items()}
    return found


def _nominal(draws: _Draws, q: int) -> dict[str, float]:
    values = {
        "percent": chance.percent(q),
        "alpha_nominal": chance.alpha_nominal(q),
        "fleiss_kappa": chance.fleiss_kappa(q),
        "gwet_ac1": chance.gwet_ac(q),
        "brennan_prediger": chance.brennan_prediger(q),
    }
    return draws.halves(_agreement_parts, values)


def _agreement_parts(found: Labels, weights: Floats | None = None) -> Floats:
    return sums.agreement_parts(found.counts, weights, found.squares)


def _by_distance(matrix: LabelMatrix, draws: _Draws) -> dict[str, float]:
    """The coefficients that count how far two answers are apart."""
    distances: dict[str, Floats] = {}
    found: dict[str, float] = {}
    if matrix.sets is not None and len(matrix.sets) <= MOST_APART:
        distances |= {
            "alpha_masi": alpha.set_distances(matrix.sets, masi=True),
            "alpha_jaccard": alpha.set_distances(matrix.sets, masi=False),
        }
    if matrix.scores is not None:
        q, weights = len(matrix.scores), alpha.quadratic_weights(matrix.scores)
        distances |= {
            "alpha_interval": alpha.interval_distance(matrix.scores),
            "alpha_ratio": alpha.ratio_distance(matrix.scores),
        }
        found = draws.halves(
            lambda labels: _agreement_parts(labels, weights),
            {"gwet_ac2": chance.gwet_ac(q, weights)},
        )
        if q <= MOST_PAIRED:
            found |= draws.halves(
                lambda labels: alpha.coincidences(labels.counts, labels.squares),
                {"alpha_ordinal": alpha.alpha_of_coincidences(q, alpha.ordinal_distance)},
            )
    for name, apart in distances.items():
        found |= draws.halves(
            lambda labels, apart=apart: alpha.distance_parts(labels.counts, apart, labels.squares),
            {name: alpha.alpha_by_distance(apart)},
        )
    return found


def _within_options(matrix: LabelMatrix, draws: _Draws) -> dict[str, float]:
    """Of items with their own options, or free texts."""
    if matrix.options is None:
        return draws.halves(_agreement_parts, {"percent": first_over_second})
    share = 1 / np.maximum(matrix.options[draws.items], 1)

    def parts(found: Labels) -> Floats:
        agreed = _agreement_parts(found)[..., :2]
        return np.concatenate([agreed, agreed[..., 1:] * share[:, None]], axis=2)

    values = {"percent": first_over_second, "s_q": chance.s_q, "brennan_prediger": chance.s_q}
    return draws.halves(parts, values)


def between_halves(matrix: LabelMatrix, first: str, second: str) -> Halves:
    """Of the agreement of two kinds."""
    sides = [(matrix.of_kind(kind), kind != OWN_ITEMS) for kind in (first, second)]
    draws = _Draws(matrix, *sides)
    if not draws.enough:
        return draws.nothing
    found = _pair_halves(matrix, draws, "percent")
    values: dict[str, Value] = {"majority_percent": first_over_second}
    if not matrix.chance_refusal:
        values["majority_kappa"] = chance.pooled_kappa
    return found | draws.halves(majority_pair_parts, values)


def _pair_halves(matrix: LabelMatrix, draws: _Draws, share: str) -> dict[str, float]:
    values: dict[str, Value] = {share: first_over_second}
    if not matrix.chance_refusal:
        values["cohen_kappa"] = chance.pooled_kappa
    elif matrix.options is not None:
        options = np.maximum(matrix.options[draws.items], 1)[:, None]

        def parts(first: Labels, second: Labels) -> Floats:
            pairs = pair_parts(first, second)[..., :2]
            return np.concatenate([pairs, pairs[..., 1:] / options], axis=2)

        values |= {
            "s_q": chance.s_q,
            "lift_over_guessing": lambda sums: divide(sums[:, 0] - sums[:, 2], sums[:, 1]),
        }
        return draws.halves(parts, values)
    return draws.halves(pair_parts, values)


def against_halves(matrix: LabelMatrix, kind: str, truth: Ints) -> Halves:
    """Of a kind against a truth, category numbers of shape (items,), -1 where unknown."""
    known = np.flatnonzero(truth >= 0)
    answers = replace(matrix.ratings, items=known, raters=np.zeros_like(known), codes=truth[known])
    draws = _Draws(matrix, (matrix.of_kind(kind), kind != OWN_ITEMS), (answers, False))
    if not draws.enough:
        return draws.nothing
    found = _pair_halves(matrix, draws, "accuracy")
    return found | draws.halves(majority_parts, {"majority_accuracy": first_over_second})


def pair_parts(first: Labels, second: Labels) -> Floats:
    """Agreeing pairs of a label of each side, pairs; how often either side has each category."""
    mine, theirs = first.total[..., None], second.total[..., None]
    alike = (first.counts * second.counts).sum(axis=2, keepdims=True)
    columns = [alike, mine * theirs, first.counts * theirs, second.counts * mine]
    return np.concatenate(columns, axis=2)


def majority_pair_parts(first: Labels, second: Labels) -> Floats:
    """The same of single most frequent answers, of the items on which both sides have one."""
    mine, theirs = (_majority(side.counts) for side in (first, second))
    both = mine.any(axis=2, keepdims=True) & theirs.any(axis=2, keepdims=True)
    alike = (mine * theirs).sum(axis=2, keepdims=True)
    return np.concatenate([alike, both, mine * both, theirs * both], axis=2)


def _majority(counts: Floats) -> Floats:
    """1 for the single most frequent answer, shape as ``counts``."""
    q = counts.shape[2]
    best = single_winner(winners(counts.reshape(-1, q)))
    return one_hot(best, q).reshape(counts.shape)


def majority_parts(found: Labels, truth: Labels) -> Floats:
    """How far the majority is right, a tie in part, and whether there is one."""
    won = winners(found.counts.reshape(-1, found.counts.shape[2])).reshape(found.counts.shape)
    right = (won * (truth.counts > 0)).sum(axis=2)
    credit = np.nan_to_num(divide(right, won.sum(axis=2)))
    return np.stack([credit, found.total > 0], axis=2)
