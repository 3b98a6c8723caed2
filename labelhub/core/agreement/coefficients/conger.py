"""Conger's kappa: chance with a margin for each rater; of two raters it is Cohen's.

Conger 1980; with missing ratings and weights as Gwet 2014, section 2.5. Called multi-rater kappa
of Davies and Fleiss 1982 elsewhere.
"""

import numpy as np

from labelhub.core.agreement.coefficients.chance import corrected, divided
from labelhub.core.agreement.coefficients.sums import Layout, Value, parts
from labelhub.core.agreement.ratings import Floats, Ratings


def conger_parts(ratings: Ratings) -> Floats:
    """Shape (items, 2 + raters * categories): agreement, pairable, what each rater said.

    For raters in the dozens: the table is dense.
    """
    shared = parts(ratings.counts())
    said = np.zeros((ratings.n_items, ratings.n_raters * ratings.n_categories))
    said[ratings.items, ratings.raters * ratings.n_categories + ratings.codes] = 1
    return np.hstack([shared[:, [Layout.agree, Layout.pairable]], said])


def conger_kappa(n_raters: int, q: int) -> Value:
    """Of sums in the order of ``conger_parts``; raters without ratings are left out."""
    chance = conger_chance(n_raters, q)
    return lambda sums: corrected(divided(sums[:, 0], sums[:, 1]), chance(sums))


def conger_chance(n_raters: int, q: int) -> Value:
    """A rating by one rater and one by another, each from that rater's own shares."""

    def value(sums: Floats) -> Floats:
        said = sums[:, 2:].reshape(len(sums), n_raters, q)
        each = said.sum(axis=2, keepdims=True)
        shares = np.divide(said, each, out=np.zeros_like(said), where=each > 0)
        raters = (each > 0).sum(axis=(1, 2))
        summed = shares.sum(axis=1)
        all_pairs = (summed**2).sum(axis=1)
        own_pairs = (shares**2).sum(axis=(1, 2))
        return divided(all_pairs - own_pairs, (raters * (raters - 1)).astype(float))

    return value
