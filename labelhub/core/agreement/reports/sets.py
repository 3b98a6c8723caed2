"""Sets of labels against a truth: each label by itself, in the set or not.

An item has a label where more than half of its sets have it; a tie does not count.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.majority import winners
from labelhub.core.agreement.estimation import estimate, estimate_share
from labelhub.core.agreement.evaluation import LabelScore
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings, divide
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, units_of
from labelhub.core.agreement.scores import ItemClusters

WITH = ("without", "with")
#: The figures of sets against a truth.
OF_SETS = (
    "exact_match",
    "hamming_loss",
    "label_majority_accuracy",
    "label_dawid_skene_accuracy",
    "micro_precision",
    "micro_recall",
    "micro_f1",
    "macro_f1",
)


def set_members(sets: Sequence[frozenset[str]]) -> tuple[list[str], Bools]:
    """The labels that occur, and which of them each set has: shape (sets, labels)."""
    names = list(dict.fromkeys(name for labels in sets for name in sorted(labels)))
    table = np.array([[name in labels for name in names] for labels in sets], dtype=bool)
    return names, table.reshape(len(sets), len(names))


def split_by_label(ratings: Ratings, members: Bools) -> list[Ratings]:
    """The ratings of each label: 1 where the set has it, else 0. ``members``: (sets, labels)."""
    return [
        replace(ratings, codes=has[ratings.codes].astype(np.int64), n_categories=2)
        for has in members.T
    ]


def majority_labels(ratings: Ratings, members: Bools) -> Bools:
    """The labels that the majority gives each item: shape (items, labels)."""
    found = np.zeros((ratings.n_items, members.shape[1]), dtype=bool)
    for column, votes in enumerate(split_by_label(ratings, members)):
        counts = votes.counts()
        found[:, column] = counts[:, 1] > counts[:, 0]
    return found


def set_label_scores(
    names: Sequence[str], predicted: Bools, true: Bools, together: ItemClusters | None = None
) -> list[LabelScore]:
    """Scores of each label; ``predicted``, ``true``: whether it is in the set; (items, labels).

    ``together``: the clusters of the items.
    """
    found = []
    for column, name in enumerate(names):
        confusion = scores.tabulate(
            predicted[:, column].astype(np.int64), true[:, column].astype(np.int64), WITH, together
        )
        found.append(replace(scores.label_scores(confusion)[1], label=name))
    return found


def set_figures(
    matrix: LabelMatrix, rows: Ints, predicted: Bools, true: Bools
) -> dict[str, Figure]:
    """Exact match, Hamming loss, micro and macro F1 of sets, and the accuracy of single decisions.

    ``predicted``, ``true``: of the items ``rows``, shape (rows, labels). Micro scores pool the
    decisions of all labels; macro F1 is the mean over the labels that are predicted or true of any
    item. A decision is whether one label is in the set of one item: Hamming loss is the share of
    wrong ones (Schapire and Singer 1999).
    """
    hits, wrong = predicted & true, predicted != true
    columns = {
        "exact_match": (~wrong.any(axis=1), np.ones(len(rows))),
        "hamming_loss": (wrong.sum(axis=1), np.full(len(rows), predicted.shape[1])),
        "label_majority_accuracy": ((~wrong).sum(axis=1), np.full(len(rows), predicted.shape[1])),
        "micro_precision": (hits.sum(axis=1), predicted.sum(axis=1)),
        "micro_recall": (hits.sum(axis=1), true.sum(axis=1)),
        "micro_f1": (2 * hits.sum(axis=1), predicted.sum(axis=1) + true.sum(axis=1)),
    }
    missing = {"micro_precision": reasons.NEVER_PREDICTED, "micro_recall": reasons.NEVER_TRUE}
    found = {
        name: estimate_share(
            units_of(matrix, np.column_stack(both), rows),
            n=len(rows),
            missing=missing.get(name, reasons.NEITHER),
        )
        for name, both in columns.items()
    }
    drawn = units_of(matrix, np.hstack([2 * hits, predicted.astype(np.int64) + true]), rows)

    def macro_f1(sums: Floats) -> Floats:
        doubled_hits, whole = np.split(sums, 2, axis=1)
        return scores.macro_mean(divide(doubled_hits, whole))

    macro = estimate(drawn, macro_f1, n=len(rows), missing=reasons.NEITHER, lowest=0.0)
    return {**found, "macro_f1": macro}


def decision_accuracy(matrix: LabelMatrix, rows: Ints, likely: Floats, true: Bools) -> Figure:
    """Share of right decisions; ``likely``: the chance of each label; a tie counts half.

    Both of shape (rows, labels).
    """
    won = winners(np.stack([1 - likely, likely], axis=-1).reshape(-1, 2))
    credit = won[np.arange(len(won)), true.reshape(-1).astype(np.int64)] / won.sum(axis=1)
    whole = np.full(len(rows), true.shape[1])
    columns = np.column_stack([credit.reshape(true.shape).sum(axis=1), whole])
    return estimate_share(units_of(matrix, columns, rows), n=len(rows), missing=reasons.NEITHER)
