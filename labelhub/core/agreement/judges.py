"""How far the voters of a debate agree: percent agreement, and Fleiss' kappa.

Any number of voters for each debate (Fleiss 1971; for unequal numbers as Gwet 2014, section 2.4:
shares of categories are means over debates). A debate with one answer counts for how common a
category is, as in ``coefficients.chance``, but neither for agreement nor for the number of debates.
Judges who hear each other agree the more for it: the figure tells of conformity as well.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.coefficients.chance import fleiss_kappa, percent
from labelhub.core.agreement.coefficients.sums import Value, parts
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import BOOTSTRAP
from labelhub.core.agreement.resampling import CLUSTERED, Floats, Ints, Resample, ends

TOO_FEW = "no debate has two answers to compare"
NO_VARIATION = "no_variation: everybody always says the same, so chance cannot be told apart"
OPTIONS_DIFFER = "the options differ from item to item, so there is no chance agreement to remove"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of the voters of some debates; ``debates`` is how many have two answers."""

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
    if not kept.any():
        return Agreement(0, undefined(TOO_FEW), undefined(TOO_FEW))
    q, debates = votes.shape[1], int(kept.sum())
    columns = parts(votes)
    by_item = np.zeros((sample.items, columns.shape[1]))
    np.add.at(by_item, rows, columns)
    drawn, whole = sample.sums(by_item), by_item.sum(axis=0, keepdims=True)
    n = len(np.unique(rows[kept]))
    method = CLUSTERED if n < debates else BOOTSTRAP
    told = [_figure(value, drawn, whole, n, method) for value in (percent(q), fleiss_kappa(q))]
    return Agreement(debates, told[0], told[1] if same_options else undefined(OPTIONS_DIFFER))


def _figure(value: Value, drawn: Floats, whole: Floats, n: int, method: str) -> Figure:
    """With the interval of its draws; ``whole`` are the sums over all debates."""
    number = float(value(whole)[0])
    if np.isnan(number):
        return undefined(NO_VARIATION)
    low, high = ends(value(drawn))
    return figure(number, low=low, high=high, n=n, method=method)
