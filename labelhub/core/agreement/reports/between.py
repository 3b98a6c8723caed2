"""How far two kinds of annotators, or two annotators, agree with each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from labelhub.core.agreement.aggregation.majority import only, winners
from labelhub.core.agreement.coefficients import chance, metrics, own_options, pairwise
from labelhub.core.agreement.estimation import clustered, estimated, units
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import AUTHORS, Sheet
from labelhub.core.schema import Task

#: Pairs of the annotators with most labels; a table of more cannot be read.
MOST_RATERS = 40
LARGE_SAMPLE = "large-sample standard error (Fleiss, Cohen and Everitt 1969)"
#: Half of a 95 % interval in standard errors.
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: a kind, or an annotator (``id``)."""

    name: str
    kind: str
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """What two sides say of the ``items`` that both labelled.

    Kinds: ``figures`` are over all pairs of a label of the one and a label of the other on the same
    item; ``majority_*`` over the items on which each kind has a single most frequent answer.
    """

    a: Side
    b: Side
    items: int
    figures: dict[str, Figure]

    @property
    def level(self) -> str:
        """``kind`` or ``annotator``."""
        return "kind" if self.a.id is None else "annotator"

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        sides = {"a": self.a.name, "b": self.b.name, "level": self.level}
        if self.a.id is not None:
            sides |= {"a_kind": self.a.kind, "b_kind": self.b.kind}
            sides |= {"a_id": self.a.id, "b_id": self.b.id}  # type: ignore[dict-item]  # numbers too
        return {**sides, "items": self.items, **self.figures}


def between_kinds(sheet: Sheet) -> list[Pair]:
    """Every two kinds that labelled."""
    kinds = [kind for kind in sheet.kinds if len(sheet.of_kind(kind))]
    return [_kinds(sheet, one, other) for one, other in combinations(kinds, 2)]


def between_raters(sheet: Sheet, most: int = MOST_RATERS) -> list[Pair]:
    """Every two of the ``most`` annotators with most labels that share an item."""
    chosen = busiest(sheet, most)
    if len(chosen) < 2:
        return []
    tables = pairwise.all_pairs(_of(sheet.ratings, chosen))
    pairs = list(combinations(range(len(chosen)), 2))
    stacked = tables[[one for one, _ in pairs], [other for _, other in pairs]]
    figures = _of_tables(sheet, stacked)
    sides = [_side(sheet, rater) for rater in chosen]
    return [
        Pair(sides[one], sides[other], int(table.sum()), found)
        for (one, other), table, found in zip(pairs, stacked, figures, strict=True)
        if table.sum()
    ]


def busiest(sheet: Sheet, most: int) -> list[int]:
    """Numbers of the annotators with most labels, by kind and then in the ledger's order.

    Authors are not among them: each is the one authority on a few texts, and no name to be shown.
    """
    labelled = np.flatnonzero((sheet.labels_of > 0) & (sheet.kind_of != AUTHORS))
    kept = labelled[np.argsort(-sheet.labels_of[labelled], kind="stable")][:most]
    return sorted(kept.tolist(), key=lambda rater: (sheet.kind_of[rater], rater))


def _side(sheet: Sheet, rater: int) -> Side:
    known = sheet.raters[rater]
    return Side(known.name, known.kind, known.id)


def _of(ratings: Ratings, chosen: Sequence[int]) -> Ratings:
    """Only the chosen raters, numbered anew in that order."""
    number = np.full(ratings.n_raters, -1)
    number[list(chosen)] = np.arange(len(chosen))
    kept = number[ratings.raters] >= 0
    return Ratings(
        ratings.items[kept],
        number[ratings.raters[kept]],
        ratings.codes[kept],
        ratings.n_items,
        len(chosen),
        ratings.n_categories,
    )


def _of_tables(sheet: Sheet, tables: Ints) -> list[dict[str, Figure]]:
    refused = _refused(sheet)
    kappas = [("cohen_kappa", None)]
    if sheet.task is Task.ORDINAL and sheet.scores is not None:
        kappas.append(("weighted_kappa", metrics.quadratic(sheet.scores)))  # type: ignore[arg-type]  # of arrays
    found = [{"percent": _percent(table)} for table in tables]
    for name, weights in kappas:
        if refused:
            drawn = [undefined(refused)] * len(tables)
        else:
            values = pairwise.cohen_kappa(tables, weights)
            errors = pairwise.kappa_error(tables, weights)
            rows = zip(tables, values, errors, strict=True)
            drawn = [_kappa(table, value, error) for table, value, error in rows]
        for each, one in zip(found, drawn, strict=True):
            each[name] = one
    return found


def _refused(sheet: Sheet) -> str | None:
    if sheet.shares_categories:
        return None
    return reasons.OWN_OPTIONS if sheet.task is Task.PER_ITEM else reasons.FREE_TEXT


def _percent(table: Ints) -> Figure:
    return share(int(np.trace(table)), int(table.sum()), reason=reasons.NO_SHARED_ITEMS)


def _kappa(table: Ints, value: float, error: float) -> Figure:
    n = int(table.sum())
    if np.isnan(value):
        return undefined(reasons.NO_VARIATION if n else reasons.NO_SHARED_ITEMS)
    half = Z * float(error)
    ends = (float("nan"), float("nan")) if half == 0 else (value - half, min(value + half, 1.0))
    return figure(float(value), low=ends[0], high=ends[1], n=n, method=LARGE_SAMPLE)


def _kinds(sheet: Sheet, one: str, other: str) -> Pair:
    mine, theirs = sheet.of_kind(one).counts(), sheet.of_kind(other).counts()
    both = (mine.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    items = int(both.sum())
    a, b = Side(one, one), Side(other, other)
    if not items:
        nothing = undefined(reasons.NO_SHARED_ITEMS)
        return Pair(a, b, 0, {"percent": nothing, "cohen_kappa": nothing})
    mine, theirs = mine[both], theirs[both]
    options = None if sheet.options is None else sheet.options[both]
    columns = _pooled(mine, theirs, options)
    if sheet.clusters is None:
        found = units(columns, np.ones(items, dtype=np.int64))
    else:
        _, numbers = np.unique(sheet.clusters[both], return_inverse=True)
        found = clustered(columns, numbers, sheet.unit)
    figures = {"percent": estimated(found, _pooled_percent, n=items)}
    refused = _refused(sheet)
    if refused:
        figures["cohen_kappa"] = undefined(refused)
        if options is not None:
            figures["s_q"] = estimated(found, own_options.s_q, n=items)
    else:
        figures["cohen_kappa"] = estimated(found, _pooled_kappa, n=items)
    return Pair(a, b, items, figures | _majorities(mine, theirs, refused))


def _majorities(mine: Ints, theirs: Ints, refused: str | None) -> dict[str, Figure]:
    one, other = only(winners(mine)), only(winners(theirs))
    table = pairwise.contingency(one, other, mine.shape[1])
    if refused:
        kappa = undefined(refused)
    else:
        value = pairwise.cohen_kappa(table[None])[0]
        kappa = _kappa(table, value, pairwise.kappa_error(table[None])[0])
    return {"majority_percent": _percent(table), "majority_kappa": kappa}


def _pooled(mine: Ints, theirs: Ints, options: Ints | None) -> Floats:
    """Agreeing pairs of labels, pairs; then of each category, how often either side says it.

    Of items with their own options the third column is what chance gives.
    """
    one, other = mine.astype(np.float64), theirs.astype(np.float64)
    per_one, per_other = one.sum(axis=1, keepdims=True), other.sum(axis=1, keepdims=True)
    pairs = per_one * per_other
    alike = (one * other).sum(axis=1, keepdims=True)
    if options is not None:
        return np.hstack([alike, pairs, pairs / np.maximum(options, 1)[:, None]])
    return np.hstack([alike, pairs, one * per_other, other * per_one])


def _pooled_percent(sums: Floats) -> Floats:
    return chance.divided(sums[:, 0], sums[:, 1])


def _pooled_kappa(sums: Floats) -> Floats:
    """Cohen's kappa of the table that all pairs of labels make."""
    q = (sums.shape[1] - 2) // 2
    margins = (sums[:, 2 : 2 + q] * sums[:, 2 + q :]).sum(axis=1)
    return chance.corrected(_pooled_percent(sums), chance.divided(margins, sums[:, 1] ** 2))
