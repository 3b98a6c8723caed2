"""How far the voters of a debate agree: percent agreement, and Fleiss' kappa.

Any number of voters for each debate (Fleiss 1971; for unequal numbers as Gwet 2014, section 2.4:
shares of categories are means over debates). Debates with fewer than two answers are left out.
Judges who hear each other agree the more for it: the figure tells of conformity as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP
from labelhub.core.agreement.resampling import CLUSTERED, Floats, Ints, Resample, divided, ends

TOO_FEW = "no debate has two answers to compare"
NO_VARIATION = "no_variation: everybody always says the same, so chance cannot be told apart"
OPTIONS_DIFFER = "the options differ from item to item, so there is no chance agreement to remove"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of the voters of some debates; ``debates`` is how many count."""

    debates: int
    percent: Figure
    fleiss: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"debates": self.debates, "percent": self.percent, "fleiss": self.fleiss}


def agreement(sample: Resample, rows: Ints, votes: Ints, *, same_options: bool = True) -> Agreement:
    """Of ``votes``, shape (debates, categories), about the items at ``rows``.

    ``same_options``: a category means the same in every debate; else there is no kappa.
    """
    voters = votes.sum(axis=1)
    kept = voters >= 2
    rows, votes, voters = rows[kept], votes[kept], voters[kept]
    if not len(rows):
        return Agreement(0, undefined(TOO_FEW), undefined(TOO_FEW))
    alike = (votes * (votes - 1)).sum(axis=1) / (voters * (voters - 1))
    parts = np.column_stack([alike, np.ones(len(rows)), votes / voters[:, None]])
    by_item = np.zeros((sample.items, parts.shape[1]))
    np.add.at(by_item, rows, parts)
    drawn, whole = sample.sums(by_item), by_item.sum(axis=0, keepdims=True)
    n = len(np.unique(rows))
    method = CLUSTERED if n < len(rows) else BOOTSTRAP
    low, high = ends(_percent(drawn))
    percent = figure(float(_percent(whole)[0]), low=low, high=high, n=n, method=method)
    kappa = _kappa_figure(drawn, whole, n, method) if same_options else undefined(OPTIONS_DIFFER)
    return Agreement(len(rows), percent, kappa)


def fleiss(votes: Sequence[Sequence[int]]) -> float | None:
    """Fleiss' kappa of a table (debates by categories); None where nothing varies."""
    table = np.asarray(votes, dtype=np.int64)
    sample = Resample(len(table), np.ones((1, len(table))))
    found = agreement(sample, np.arange(len(table)), table).fleiss
    return found["value"]


def _percent(sums: Floats) -> Floats:
    return divided(sums[:, 0], sums[:, 1])


def _kappa(sums: Floats) -> Floats:
    shares = divided(sums[:, 2:], np.broadcast_to(sums[:, 1:2], sums[:, 2:].shape))
    chance = (shares**2).sum(axis=1)
    rest = 1 - chance
    return divided(_percent(sums) - chance, np.where(rest > 1e-12, rest, 0.0))


def _kappa_figure(drawn: Floats, whole: Floats, n: int, method: str) -> Figure:
    value = float(_kappa(whole)[0])
    if np.isnan(value):
        return undefined(NO_VARIATION)
    low, high = ends(_kappa(drawn))
    return figure(value, low=low, high=high, n=n, method=method)
