"""Cutting examples into folds: each label spread evenly, the same text never on both sides."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from labelhub.core.learning.heads import Marks

FOLDS = 5


def fold_of(
    marks: Marks, groups: Sequence[int], *, folds: int = FOLDS, seed: int = 0
) -> NDArray[np.intp]:
    """The fold, from 0, of each example; the same for the same ``seed``.

    Examples with the same labels are dealt out in turn, in random order, and each kind goes on
    where the last one ended; those of one group go where its first one goes.
    """
    rng = np.random.default_rng(seed)
    first: dict[int, int] = {}
    for at, group in enumerate(groups):
        first.setdefault(group, at)
    order = rng.permutation(len(first))
    leaders = np.array(list(first.values()), np.intp)[order]
    alike = sorted(leaders.tolist(), key=lambda at: marks[at].tobytes())
    dealt = {groups[at]: turn % folds for turn, at in enumerate(alike)}
    return np.array([dealt[group] for group in groups], np.intp)


def splits(of: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """(what is learnt from, what is kept back) for each fold that has anything in it."""
    for fold in np.unique(of):
        yield np.flatnonzero(of != fold), np.flatnonzero(of == fold)
