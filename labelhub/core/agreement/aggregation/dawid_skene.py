"""Answers and raters' faults at once, by the EM of Dawid and Skene (1979).

Each rater has a confusion matrix: how often they give each answer to items of each true class. The
E-step finds the chance of each class for each item from the matrices, the M-step the matrices from
those chances. Both are one product of a sparse table of ratings with a dense one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelhub.core.agreement.aggregation.majority import row_shares
from labelhub.core.agreement.ratings import Bools, Floats, Ratings
from labelhub.core.errors import InvalidInput

#: Added to every expected count. So small that published figures are reproduced, yet no answer is
#: impossible for a rater who never gave it: one impossible answer would overrule all other raters.
SMOOTHING = 1e-6
#: EM has converged when an iteration gains less log likelihood than this an item.
TOLERANCE = 1e-7
ITERATIONS = 500


@dataclass(frozen=True, slots=True, eq=False)
class DawidSkene:
    """The result of EM.

    ``posterior``: chance of each class, shape (items, categories); a row of NaN for an item without
    ratings.
    ``shares``: of the classes among the items, shape (categories,).
    ``log_likelihood``: natural logarithm.
    """

    posterior: Floats
    shares: Floats
    log_likelihood: float
    iterations: int


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The ratings of the items that have any; all others are left out.

    ``present``: which items those are, shape (all items,).
    ``answers``: how often each item got each answer from each rater, sparse, shape (items, raters *
    categories).
    """

    present: Bools
    answers: Any
    n_raters: int
    n_categories: int

    def heard(self, posterior: Floats) -> Floats:
        """Expected number of each answer by class: [rater, answer, true class]."""
        counts = self.answers.T @ posterior
        return np.asarray(counts).reshape(self.n_raters, self.n_categories, self.n_categories)

    def of_all_items(self, posterior: Floats) -> Floats:
        """Rows for the items left out as well, filled with NaN."""
        if self.present.all():
            return posterior
        rows = np.full((len(self.present), self.n_categories), np.nan)
        rows[self.present] = posterior
        return rows


def dawid_skene(
    ratings: Ratings,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> DawidSkene:
    """Maximum likelihood of the model of Dawid and Skene.

    EM starts from the vote shares (Dawid and Skene 1979, section 3); repeated ratings by one rater
    all count. It may end in a local maximum, and with few ratings per rater do worse than the
    majority.

    Args:
        ratings: missing ratings are no evidence.
        tolerance: gain in log likelihood an item below which EM has converged.
    """
    if iterations < 1:
        raise InvalidInput("iterations must be 1 or more")
    evidence = gather_evidence(ratings)
    posterior = row_shares(ratings.counts())[evidence.present]
    found = _run_iteration(evidence, posterior)
    done, gain, enough = 1, np.inf, tolerance * len(posterior)
    while gain > enough and done < iterations:
        before, done = found.objective, done + 1
        found = _run_iteration(evidence, found.posterior)
        gain = found.objective - before
    posterior = evidence.of_all_items(found.posterior)
    return DawidSkene(posterior, found.shares, found.log_likelihood, done)


def gather_evidence(ratings: Ratings) -> Evidence:
    """The ratings as EM reads them."""
    q = ratings.n_categories
    cells = (ratings.items, ratings.raters * q + ratings.codes)
    shape = (ratings.n_items, ratings.n_raters * q)
    answers = sparse.csr_array((np.ones(len(ratings)), cells), shape=shape)
    present = np.diff(answers.indptr) > 0
    if not present.all():
        answers = answers[present]
    return Evidence(present, answers, ratings.n_raters, q)


def expectation_step(
    evidence: Evidence, chances: Floats, class_shares: Floats
) -> tuple[Floats, float]:
    """The E-step: chance of each class for each item, and the log likelihood of the whole.

    ``chances``: of each answer by class, [rater, answer, true class], all above 0.
    """
    q = evidence.n_categories
    log_chances = np.log(chances).reshape(evidence.n_raters * q, q)
    # A row for each class from here: NumPy is slow along an axis as short as the classes'.
    joint = np.ascontiguousarray((evidence.answers @ log_chances).T)
    joint += np.log(class_shares)[:, None]
    # The highest is taken out first: the product of many small chances is 0 in floating point.
    highest = joint.max(axis=0, initial=-np.inf)
    joint -= highest
    np.exp(joint, out=joint)
    sums = joint.sum(axis=0)
    joint /= sums
    return np.ascontiguousarray(joint.T), float(highest.sum() + np.log(sums).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """One iteration: the parameters, the posterior of the items, and the fit of both."""

    shares: Floats
    posterior: Floats
    log_likelihood: float
    objective: float


def _run_iteration(evidence: Evidence, posterior: Floats) -> _Step:
    """M-step, then E-step."""
    # The sum over items; as a product it takes a sixth of the time.
    class_counts = np.ones(len(posterior)) @ posterior + SMOOTHING
    class_shares = class_counts / class_counts.sum()
    counts = evidence.heard(posterior) + SMOOTHING
    chances = counts / counts.sum(axis=1, keepdims=True)
    posterior, log_likelihood = expectation_step(evidence, chances, class_shares)
    # EM never lowers the likelihood with the smoothing counted in.
    prior = SMOOTHING * (np.log(chances).sum() + np.log(class_shares).sum())
    return _Step(class_shares, posterior, log_likelihood, log_likelihood + float(prior))
