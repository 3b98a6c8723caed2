"""The items that divide annotators most: where to look first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.coefficients import sums
from labelhub.core.agreement.reports.sheet import KINDS, Sheet

PEOPLE = ("crowd", "expert", "author")


@dataclass(frozen=True, slots=True)
class Divided:
    """An item: the share of its pairs of labels that differ, over ``labels`` labels."""

    item_id: int
    disagreement: float
    labels: int


def divided(sheet: Sheet, kinds: Sequence[str] = PEOPLE, most: int = 20) -> list[Divided]:
    """The items with the highest share of differing pairs of labels by ``kinds``.

    Among equals those with more labels come first, then in the order of import. Items on which all
    agree are not among them.
    """
    wanted = np.isin(sheet.kind_of, [KINDS.index(kind) for kind in kinds])
    counts = sheet.ratings.of_raters(wanted).counts()
    parts = sums.parts(counts)
    labels = counts.sum(axis=1)
    apart = np.where(labels >= 2, 1 - parts[:, sums.Layout.agree], 0.0)
    order = np.lexsort((np.arange(len(apart)), -labels, -apart))[:most]
    return [
        Divided(int(sheet.item_ids[at]), float(apart[at]), int(labels[at]))
        for at in order
        if apart[at] > 0
    ]
