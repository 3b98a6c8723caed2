"""The median of an item's labels on a scale against a truth.

Of an even number of labels the two in the middle may differ; nothing on an ordinal scale lies
between them, so each of both counts half.
"""

from collections.abc import Callable

import numpy as np

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import middle
from labelhub.core.agreement.coefficients.sums import Value
from labelhub.core.agreement.estimation import (
    Units,
    clustered,
    doubted,
    estimated,
    few,
    few_clusters,
    interval,
    method_of,
    units,
)
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.ratings import Floats, Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import Sheet

HALVES = "of two labels in the middle each counts half"
#: Items (or different ones) times cells of the table of median and truth, and cells of the tables
#: of draws that are held at once: 32 MB.
MOST_CELLS = 1 << 22

Metric = Callable[[Floats], Floats]


def medians(sheet: Sheet, kind: str, truth: Ints, rows: Ints) -> dict[str, Figure]:
    """Accuracy, mean absolute and root mean squared error (in points), Spearman and weighted kappa.

    ``truth``: category numbers of the items ``rows``, both of shape (rows,); all have labels of the
    kind. Nothing where answers lie on no scale.
    """
    if sheet.scores is None:
        return {}
    points = np.asarray(sheet.scores, dtype=np.float64)
    shares: dict[str, Metric] = {
        "median_accuracy": scores.accuracy,
        "median_spearman": scores.rank_correlation,
        "median_quadratic_kappa": lambda tables: scores.quadratic_kappa(tables, points),
    }
    errors: dict[str, Metric] = {
        "median_mean_absolute_error": lambda each: scores.mean_absolute_error(each, points),
        "median_root_mean_squared_error": lambda each: scores.root_mean_squared_error(each, points),
    }
    found = _units(sheet, *_cells(sheet, kind, truth, rows), rows)
    if found is None:
        return dict.fromkeys((*shares, *errors), undefined(reasons.MANY_ANSWERS))
    drawn, used = found
    q, n = len(points), len(rows)
    told = {name: _share(drawn, _of(each, used, q), name, n) for name, each in shares.items()}
    told |= {name: _error(drawn, _of(each, used, q), n) for name, each in errors.items()}
    return {name: _halves(each) for name, each in told.items()}


def _cells(sheet: Sheet, kind: str, truth: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The places of lower and upper median and truth in a table of both: each of shape (rows,)."""
    patterns = sheet.patterns_of(kind)
    low, high = (side[patterns.of_item[rows]] for side in middle(patterns.counts))
    q = patterns.counts.shape[1]
    return low * q + truth, high * q + truth


def _units(sheet: Sheet, low: Ints, high: Ints, rows: Ints) -> tuple[Units, Ints] | None:
    """What is drawn, its columns the cells that occur, and which these are; None if too large."""
    used, place = np.unique(np.concatenate([low, high]), return_inverse=True)
    pairs, place = len(low), place.reshape(2, -1)
    keys, of_pair, often = np.unique(
        place[0] * len(used) + place[1], return_inverse=True, return_counts=True
    )
    many = len(keys) if sheet.clusters is None else pairs
    if many * len(used) > MOST_CELLS:
        return None
    ones = np.eye(len(used)) / 2
    table = ones[keys // len(used)] + ones[keys % len(used)]
    if sheet.clusters is None:
        return units(table, often), used
    _, numbers = np.unique(sheet.clusters[rows], return_inverse=True)
    return clustered(table[of_pair], numbers, sheet.unit), used


def _of(metric: Metric, used: Ints, q: int) -> Value:
    """The metric of sums of the cells ``used`` of a table of q times q, some draws at a time."""

    step = max(MOST_CELLS // q**2, 1)

    def value(sums: Floats) -> Floats:
        found = []
        for at in range(0, len(sums), step):
            some = sums[at : at + step]
            tables = np.zeros((len(some), q * q))
            tables[:, used] = some
            found.append(metric(tables.reshape(-1, q, q)))
        return np.concatenate(found)

    return value


def _share(found: Units, value: Value, name: str, n: int) -> Figure:
    return estimated(found, value, n=n, lowest=0.0 if name == "median_accuracy" else -1.0)


def _error(found: Units, value: Value, n: int) -> Figure:
    """In points of the scale: no upper bound."""
    number = float(value(found.sums)[0])
    low, high = interval(found, value, number)
    low, high = max(min(low, number), 0.0), max(high, number)
    told = figure(number, low=low, high=high, n=n, method=method_of(found))
    return doubted(told, few(n), few_clusters(found))


def _halves(shown: Figure) -> Figure:
    return shown if shown["value"] is None else {**shown, "method": f"{shown['method']}; {HALVES}"}
