"""Sets of labels against a truth: each label by itself, in the set or not.

An item has a label where more than half of its sets have it, and half of it in a tie.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labelhub.core.agreement.aggregation.majority import winners
from labelhub.core.agreement.estimation import estimate_share
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, units_of
from labelhub.core.agreement.scores import ConfusionMatrix, decision_scores, overall_scores


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


def majority_labels(ratings: Ratings, members: Bools) -> Floats:
    """How far the majority gives each label to an item: 0, 1, or a half in a tie.

    Shape (items, labels).
    """
    found = np.zeros((ratings.n_items, members.shape[1]))
    for column, votes in enumerate(split_by_label(ratings, members)):
        counts = votes.counts()
        found[:, column] = (1 + np.sign(counts[:, 1] - counts[:, 0])) / 2
    return found


def set_figures(found: ConfusionMatrix) -> dict[str, Figure]:
    """Exact match, Hamming loss, micro and macro F1 of sets, and the accuracy of single decisions.

    Macro F1 is the mean over the labels that are predicted or true of any item.
    """
    figures, macro = decision_scores(found), overall_scores(found)["macro_f1"]
    return {
        "label_majority_accuracy": figures.pop("accuracy"),
        **figures,
        "macro_f1": undefined(reasons.NEITHER) if macro["value"] is None else macro,
    }


def decision_accuracy(matrix: LabelMatrix, rows: Ints, likely: Floats, true: Bools) -> Figure:
    """Share of right decisions; ``likely``: the chance of each label; a tie counts half.

    Both of shape (rows, labels).
    """
    won = winners(np.stack([1 - likely, likely], axis=-1).reshape(-1, 2))
    credit = won[np.arange(len(won)), true.reshape(-1).astype(np.int64)] / won.sum(axis=1)
    whole = np.full(len(rows), true.shape[1])
    columns = np.column_stack([credit.reshape(true.shape).sum(axis=1), whole])
    return estimate_share(units_of(matrix, columns, rows), n=len(rows), missing=reasons.NEITHER)
