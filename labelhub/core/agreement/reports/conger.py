"""Conger's kappa of a kind: the chance of each annotator by what that annotator says."""

import numpy as np

from labelhub.core.agreement.coefficients.conger import conger_kappa, conger_parts
from labelhub.core.agreement.estimation import clustered, doubted, doubtful, estimated, units
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import Sheet

#: Items by annotators by categories: of more the table takes longer than all else together.
MOST_CELLS = 400_000


def conger(sheet: Sheet, kind: str) -> Figure:
    """Null where no item has two labels, nothing varies, or the table would be too large."""
    said = sheet.of_kind(kind)
    present, items = np.unique(said.items, return_inverse=True)
    who, raters = np.unique(said.raters, return_inverse=True)
    q = said.n_categories
    if len(present) * len(who) * q > MOST_CELLS:
        return undefined(reasons.TOO_MANY_LABELS)
    own = Ratings(items, raters, said.codes, len(present), len(who), q)
    counts = own.counts()
    pairable = counts[counts.sum(axis=1) > 1]
    if not len(pairable):
        return undefined(reasons.NO_PAIR)
    parts, value = conger_parts(own), conger_kappa(len(who), q)
    if sheet.clusters is None:
        found = units(parts, np.ones(len(parts), dtype=np.int64))
    else:
        _, numbers = np.unique(sheet.clusters[present], return_inverse=True)
        found = clustered(parts, numbers, sheet.unit)
    return doubted(estimated(found, value, n=len(pairable)), doubtful(pairable))
