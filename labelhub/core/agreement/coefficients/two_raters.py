"""Two raters by their table of counts: coefficients with standard errors, and what skews kappa.

Rows are the one rater's answers, columns the other's, in the same order of categories. The errors
are those published for two raters, which divide by items. Kappa falls where one category prevails
and rises where the raters' margins differ: the indices of Byrt, Bishop and Carlin (1993) say so.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from labelhub.core.agreement.coefficients import chance, errors, pairwise, sums
from labelhub.core.agreement.ratings import Floats, Ints, from_matrix


class Estimate(NamedTuple):
    """A coefficient and its standard error; None where undefined."""

    value: float | None
    error: float | None


def percent(table: ArrayLike, weights: Floats | None = None) -> Estimate:
    """Share of items on which both agree, by ``weights`` of agreement where given."""
    counts = _counts(table)
    columns = sums.parts(counts, weights)
    # Without chance agreement the formula is that of the percent agreement itself.
    error = errors.gwet_error(columns, lambda each: np.zeros(len(each)), corrected=False)
    return _estimate(_value(counts, chance.percent(counts.shape[1]), weights), error)


def cohen(table: ArrayLike, weights: Floats | None = None) -> Estimate:
    """Cohen's kappa (1960; weighted 1968); error of Fleiss, Cohen and Everitt (1969)."""
    counts = _table(table)
    value = float(pairwise.cohen_kappa(counts, weights))
    return _estimate(value, float(pairwise.kappa_error(counts, weights)))


def brennan_prediger(table: ArrayLike, weights: Floats | None = None) -> Estimate:
    """Brennan and Prediger's coefficient (1981); of two categories it is PABAK."""
    q = len(_table(table))
    return _by_chance(table, chance.brennan_prediger_chance(q, weights), weights)


def _by_chance(table: ArrayLike, expected: sums.Value, weights: Floats | None) -> Estimate:
    counts = _counts(table)
    value = _value(counts, chance.coefficient(counts.shape[1], expected), weights)
    error = errors.gwet_error(sums.parts(counts, weights), expected, corrected=False)
    return _estimate(value, error)


def _value(counts: Ints, value: sums.Value, weights: Floats | None) -> float:
    found = chance.estimate(counts, value, weights)
    return nan if found is None else found


def _estimate(value: float, error: float) -> Estimate:
    known = None if np.isnan(value) else value
    return Estimate(known, None if known is None or np.isnan(error) else error)


def _counts(table: ArrayLike) -> Ints:
    """Of each item of the table, shape (items, categories)."""
    return from_matrix(pairwise.expand(table), len(np.asarray(table))).counts()


def _table(table: ArrayLike) -> Ints:
    """Checked as ``expand`` checks."""
    pairwise.expand(table)
    return np.asarray(table, dtype=np.int64)
