"""The report's main figures with intervals for other annotators like these (``two_way``).

Those are percent agreement and the coefficients within a kind, its accuracy and majority accuracy
against a truth, and the agreement of two kinds. Other figures of kinds keep their value and lose
their interval, as one over items would be too narrow; an intraclass correlation takes raters for a
sample anyway (Shrout and Fleiss 1979). Figures of single annotators are about these.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from labelhub.core.agreement import two_way
from labelhub.core.agreement.coefficients import alpha, chance
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.estimation import limit_interval, withhold_interval
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.intervals import DRAWS, SEED
from labelhub.core.agreement.ratings import Floats, Ints, Ratings, divide
from labelhub.core.agreement.reports.kind_agreement import people_as_one
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.two_way import Parts, Side, draw_both

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


class _Draws:
    """Draws of the items that all sides labelled, and of the annotators of each side.

    ``sides``: their labels; where the flag is False annotators are not drawn. ``nothing``: the
    halves where there are not ``enough`` annotators, or too many categories.
    """

    def __init__(self, matrix: LabelMatrix, *sides: tuple[Ratings, bool]) -> None:
        labelled = [np.bincount(given.items, minlength=given.n_items) > 0 for given, _ in sides]
        shared = np.flatnonzero(np.logical_and.reduce(labelled))
        self.items = two_way.sample_items(shared, max(given.n_categories for given, _ in sides))
        self._sides = [
            Side(given, self.items, stream if drawn else 0)
            for stream, (given, drawn) in enumerate(sides, 1)
        ]
        self.nothing: Halves = None
        if len(shared) and all(side.effective > 0 for side in self._sides):
            self.nothing = {}
        few = matrix.ratings.n_categories <= MOST_CATEGORIES
        self.enough = self.nothing is not None and few
        self._shrink = len(self.items) / max(len(shared), 1)
        self._clusters = matrix.clusters_of(self.items)

    def halves(self, parts: Parts, values: Mapping[str, Value]) -> dict[str, float]:
        found = draw_both(self._sides, parts, self._clusters, self._shrink)
        return {name: found.half(value) for name, value in values.items()}


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
    return draws.halves(two_way.agreement_parts, values)


def _by_distance(matrix: LabelMatrix, draws: _Draws) -> dict[str, float]:
    """The coefficients that count how far two answers are apart."""
    distances: dict[str, Floats] = {}
    found: dict[str, float] = {}
    if matrix.sets is not None and len(matrix.sets) <= MOST_APART:
        distances |= {
            "alpha_masi": alpha.masi_distance(matrix.sets),
            "alpha_jaccard": alpha.jaccard_distance(matrix.sets),
        }
    if matrix.scores is not None:
        q, weights = len(matrix.scores), alpha.quadratic_weights(matrix.scores)
        distances |= {
            "alpha_interval": alpha.interval_distance(matrix.scores),
            "alpha_ratio": alpha.ratio_distance(matrix.scores),
        }
        weighted = partial(two_way.agreement_parts, weights=weights)
        found = draws.halves(weighted, {"gwet_ac2": chance.gwet_ac(q, weights)})
        if q <= MOST_PAIRED:
            value = alpha.alpha_of_coincidences(q, alpha.ordinal())
            found |= draws.halves(two_way.coincidence_parts, {"alpha_ordinal": value})
    for name, apart in distances.items():
        parts = partial(two_way.distance_parts, distances=apart)
        found |= draws.halves(parts, {name: alpha.alpha_by_distance(apart)})
    return found


def _within_options(matrix: LabelMatrix, draws: _Draws) -> dict[str, float]:
    """Of items with their own options, or free texts."""
    if matrix.options is None:
        return draws.halves(two_way.agreement_parts, {"percent": two_way.ratio})
    share = 1 / np.maximum(matrix.options[draws.items], 1)

    def parts(found: two_way.Labels) -> Floats:
        agreed = two_way.agreement_parts(found)[..., :2]
        return np.concatenate([agreed, agreed[..., 1:] * share[:, None]], axis=2)

    values = {"percent": two_way.ratio, "s_q": chance.s_q, "brennan_prediger": chance.s_q}
    return draws.halves(parts, values)


def between_halves(matrix: LabelMatrix, first: str, second: str) -> Halves:
    """Of the agreement of two kinds."""
    sides = [(matrix.of_kind(kind), kind != OWN_ITEMS) for kind in (first, second)]
    draws = _Draws(matrix, *sides)
    if not draws.enough:
        return draws.nothing
    found = _pair_halves(matrix, draws, "percent")
    values: dict[str, Value] = {"majority_percent": two_way.ratio}
    if not matrix.chance_refusal:
        values["majority_kappa"] = chance.pooled_kappa
    return found | draws.halves(two_way.majority_pair_parts, values)


def _pair_halves(matrix: LabelMatrix, draws: _Draws, share: str) -> dict[str, float]:
    values: dict[str, Value] = {share: two_way.ratio}
    if not matrix.chance_refusal:
        values["cohen_kappa"] = chance.pooled_kappa
    elif matrix.options is not None:
        options = np.maximum(matrix.options[draws.items], 1)[:, None]

        def parts(first: two_way.Labels, second: two_way.Labels) -> Floats:
            pairs = two_way.pair_parts(first, second)[..., :2]
            return np.concatenate([pairs, pairs[..., 1:] / options], axis=2)

        values |= {
            "s_q": chance.s_q,
            "lift_over_guessing": lambda sums: divide(sums[:, 0] - sums[:, 2], sums[:, 1]),
        }
        return draws.halves(parts, values)
    return draws.halves(two_way.pair_parts, values)


def against_halves(matrix: LabelMatrix, kind: str, truth: Ints) -> Halves:
    """Of a kind against a truth, category numbers of shape (items,), -1 where unknown."""
    known = np.flatnonzero(truth >= 0)
    answers = replace(matrix.ratings, items=known, raters=np.zeros_like(known), codes=truth[known])
    draws = _Draws(matrix, (matrix.of_kind(kind), kind != OWN_ITEMS), (answers, False))
    if not draws.enough:
        return draws.nothing
    found = _pair_halves(matrix, draws, "accuracy")
    return found | draws.halves(two_way.majority_parts, {"majority_accuracy": two_way.ratio})
