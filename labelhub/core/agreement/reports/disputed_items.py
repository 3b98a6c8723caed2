"""The items that divide annotators most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.coefficients import sums
from labelhub.core.agreement.reports.label_matrix import LabelMatrix

PEOPLE = ("crowd", "expert", "author")


@dataclass(frozen=True, slots=True)
class DisputedItem:
    """An item: the share of its pairs of labels that differ, over ``labels`` labels."""

    item_id: int
    disagreement: float
    labels: int


def disputed_items(
    matrix: LabelMatrix, kinds: Sequence[str] = PEOPLE, most: int = 20
) -> list[DisputedItem]:
    """The items with the highest share of differing pairs of labels by ``kinds``.

    Among equals those with more labels come first, then in the order of import. Items on which all
    agree are not among them.
    """
    labelled = [kind for kind in kinds if len(matrix.of_kind(kind))]
    if not labelled or most < 1:
        return []
    found = matrix.patterns_of(labelled[0])
    if len(labelled) > 1:
        table = found.table()
        for kind in labelled[1:]:
            table += matrix.patterns_of(kind).table()
        found = sums.find_patterns(table)
    labels = found.totals
    apart = np.where(labels >= 2, 1 - sums.agreement_parts(found.counts)[:, sums.Layout.agree], 0.0)
    # Only patterns among whose items the first ``most`` are.
    patterns = np.lexsort((-labels, -apart))
    reached = np.searchsorted(np.cumsum(found.items[patterns]), most)
    last = patterns[reached.clip(max=len(patterns) - 1)]
    first = (apart > apart[last]) | ((apart == apart[last]) & (labels >= labels[last]))
    items = np.flatnonzero((first & (apart > 0))[found.of_item])
    of = found.of_item[items]
    order = np.lexsort((items, -labels[of], -apart[of]))[:most]
    return [
        DisputedItem(int(matrix.item_ids[item]), float(apart[pattern]), int(labels[pattern]))
        for item, pattern in zip(items[order], of[order], strict=True)
    ]
