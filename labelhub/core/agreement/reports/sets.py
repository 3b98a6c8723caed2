"""Sets of labels against a truth: each label by itself, as whether it is in the set."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement import scores
from labelhub.core.agreement.evaluation import LabelScore
from labelhub.core.agreement.ratings import Ints

Bools = NDArray[np.bool_]


def members_of(sets: list[frozenset[str]]) -> tuple[list[str], Bools]:
    """The labels that occur, and which of them each set has: shape (sets, labels)."""
    names = list(dict.fromkeys(name for each in sets for name in sorted(each)))
    table = np.array([[name in each for name in names] for each in sets], dtype=bool)
    return names, table.reshape(len(sets), len(names))


def set_label_scores(sets: list[frozenset[str]], counts: Ints, truth: Ints) -> list[LabelScore]:
    """Scores of each label; said where more than half of an item's sets have it.

    ``counts``: how often each set was given, shape (items, sets); ``truth``: the true set's number,
    shape (items,).
    """
    names, members = members_of(sets)
    whole = counts.sum(axis=1)
    said = 2 * (counts @ members.astype(np.int64)) > whole[:, None]
    true = members[truth]
    found = []
    for at, name in enumerate(names):
        matrix = scores.tabulate(
            said[:, at].astype(np.int64), true[:, at].astype(np.int64), ("without", "with")
        )
        found.append(replace(scores.per_class(matrix)[1], label=name))
    return found
