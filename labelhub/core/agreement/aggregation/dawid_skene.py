"""Answers and raters' faults at once, by the EM of Dawid and Skene (1979).

Each rater has a confusion matrix: how often they give each answer to items of each true class. The
E-step finds the chance of each class for each item from the matrices, the M-step the matrices from
those chances. Both are one product of a sparse table of ratings with a dense one.

With fewer ratings than the matrices have free numbers the likelihood decides almost nothing: each
matrix is then drawn towards a simpler one, and only answers that an item got may be its true class.
That also serves tables of items by categories that would not fit.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from labelhub.core.agreement.aggregation.majority import row_shares
from labelhub.core.agreement.ratings import Bools, Floats, Ints, Ratings
from labelhub.core.errors import InvalidInput

#: Added to every expected count. So small that published figures are reproduced, yet no answer is
#: impossible for a rater who never gave it: one impossible answer would overrule all other raters.
SMOOTHING = 1e-6
#: EM has converged when an iteration gains less log likelihood than this an item.
TOLERANCE = 1e-7
ITERATIONS = 500
#: A rater's answers to a class are drawn towards the simpler matrix as if by so many more, the
#: accuracy of a rater or class towards that of all as if by so many more ratings, and the errors
#: of all raters about a class towards the answers they give at all as if by so many more errors.
SHRINKAGE, SHRINKAGE_OF_ACCURACY, SHRINKAGE_OF_ERRORS = 20.0, 5.0, 1.0
#: The shrunken EM has converged when the chances of an item change by less than this, on average.
STEADY = 1e-5
SHRUNKEN_ITERATIONS = 100
#: Items by categories: an iteration over more takes half a second.
MOST_CELLS = 5_000_000

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class GivenAnswers:
    """Every different pair of an item and an answer to it, item by item.

    Models of many categories keep a number for each of these in place of a table of items by
    categories: only an answer that was given can be the true one.

    ``items``, ``categories``: of each candidate, shape (candidates,).
    ``own``: the candidate that each rating names, shape (ratings,).
    ``rated``: the items with ratings, shape (rated,); ``starts``: the first candidate of each;
    ``sizes``: how many it has.
    """

    items: Ints
    categories: Ints
    own: Ints
    rated: Ints
    starts: Ints
    sizes: Ints
    n_items: int
    n_categories: int

    def sum_by_item(self, values: Floats) -> Floats:
        """``values`` of the candidates, summed over those of a rated item: shape (rated,)."""
        return np.add.reduceat(values, self.starts) if len(values) else np.empty(0)

    def highest(self, values: Floats) -> Floats:
        """The highest of ``values`` among the candidates of a rated item: shape (rated,)."""
        return np.maximum.reduceat(values, self.starts) if len(values) else np.empty(0)

    def of_items(self, values: NDArray[T]) -> NDArray[T]:
        """``values`` of the rated items for each of their candidates: shape (candidates,)."""
        return np.repeat(values, self.sizes)

    def table(self, values: Floats, others: Floats | float = 0.0) -> Floats:
        """Shape (items, categories): ``values`` of the candidates, ``others`` for the rest.

        ``others``: of the rated items, shape (rated,), or of all. NaN for an item without ratings.
        """
        found = np.full((self.n_items, self.n_categories), np.nan)
        found[self.rated] = np.broadcast_to(others, len(self.rated))[:, None]
        found[self.items, self.categories] = values
        return found


def find_candidates(ratings: Ratings) -> GivenAnswers:
    """The candidates of all items."""
    q = ratings.n_categories
    found, own = np.unique(ratings.items * q + ratings.codes, return_inverse=True)
    items, categories = np.divmod(found, max(q, 1))
    rated, starts, sizes = np.unique(items, return_index=True, return_counts=True)
    return GivenAnswers(items, categories, own, rated, starts, sizes, ratings.n_items, q)


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
    shrunken: bool | None = None,
) -> DawidSkene:
    """Maximum likelihood of the model of Dawid and Skene, or shrunken.

    EM starts from the vote shares (Dawid and Skene 1979, section 3); repeated ratings by one rater
    all count. It may end in a local maximum.

    Args:
        ratings: missing ratings are no evidence.
        tolerance: gain in log likelihood an item below which EM has converged.
        shrunken: draw the raters' matrices towards a simpler one; by default where
            ``takes_shrinkage`` says so.
    """
    if iterations < 1:
        raise InvalidInput("iterations must be 1 or more")
    if shrunken is None:
        shrunken = takes_shrinkage(ratings)
    if shrunken and len(ratings):
        return _run_shrunken_em(ratings, min(iterations, SHRUNKEN_ITERATIONS))
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


def takes_shrinkage(ratings: Ratings) -> bool:
    """Whether there are fewer ratings than free numbers, or tables of more than ``MOST_CELLS``."""
    q = ratings.n_categories
    return len(ratings) < ratings.n_raters * q * (q - 1) or ratings.n_items * q > MOST_CELLS


def gather_evidence(ratings: Ratings) -> Evidence:
    """The ratings as EM reads them."""
    q = ratings.n_categories
    cells = (ratings.items, ratings.raters * q + ratings.codes)
    shape = (ratings.n_items, ratings.n_raters * q)
    answers = scipy.sparse.csr_array((np.ones(len(ratings)), cells), shape=shape)
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


def _run_shrunken_em(ratings: Ratings, iterations: int) -> DawidSkene:
    """EM in which the matrix of a rater is drawn towards that of one who differs in accuracy alone.

    How often that simpler rater is right depends on how good the rater and how hard the class is
    (logits add up); the errors are those of all raters together about the class. These are means of
    Dirichlet priors, estimated along. The work of an iteration grows with the ratings times the
    candidates of their items, not with the categories.
    """
    candidates = find_candidates(ratings)
    answers = _pair_answers(ratings, candidates)
    votes = np.bincount(candidates.own, minlength=len(candidates.items)).astype(np.float64)
    before = votes / candidates.of_items(candidates.sum_by_item(votes))
    found, done = _run_shrunken_iteration(candidates, answers, before), 1
    enough = STEADY * len(candidates.rated)
    while np.abs(found.posterior - before).sum() > enough and done < iterations:
        before, done = found.posterior, done + 1
        found = _run_shrunken_iteration(candidates, answers, before)
    posterior = candidates.table(found.posterior)
    return DawidSkene(posterior, found.shares, found.log_likelihood, done)


def _run_shrunken_iteration(
    candidates: GivenAnswers, answers: "_PairedAnswers", posterior: Floats
) -> _Step:
    """M-step, then E-step; ``posterior``: of the candidates, shape (candidates,)."""
    counts = np.bincount(candidates.categories, posterior, candidates.n_categories) + SMOOTHING
    shares = np.asarray(counts / counts.sum())
    logs = np.log(answers.shrunken_chances(posterior))[answers.cell]
    joint = np.log(shares)[candidates.categories]
    joint += np.bincount(answers.candidate, logs, len(posterior))
    highest = candidates.highest(joint)
    joint = np.exp(joint - candidates.of_items(highest))
    sums = candidates.sum_by_item(joint)
    log_likelihood = float(highest.sum() + np.log(sums).sum())
    return _Step(shares, joint / candidates.of_items(sums), log_likelihood, log_likelihood)


@dataclass(frozen=True, slots=True, eq=False)
class _PairedAnswers:
    """Every rating with every candidate of its item, and the cells of the raters' matrices so met.

    ``candidate``, ``cell``: of each such pair, shape (pairs,). ``raters``, ``answers``,
    ``classes``: of each cell, shape (cells,); ``of_all``: the same number for cells of one answer
    and class, ``of_class``: for cells of one rater and class. ``given``: how many ratings each
    rater gave, shape (raters,); ``popular``: the share of each answer, shape (categories,).
    """

    candidate: Ints
    cell: Ints
    raters: Ints
    answers: Ints
    classes: Ints
    of_all: Ints
    of_class: Ints
    given: Ints
    popular: Floats

    def shrunken_chances(self, posterior: Floats) -> Floats:
        """The M-step: chance of the answer of each cell, given its class; shape (cells,).

        ``posterior``: of the candidates, shape (candidates,).
        """
        right = self.answers == self.classes
        heard = np.bincount(self.cell, posterior[self.candidate], len(self.raters))
        hits = np.bincount(self.raters[right], heard[right], len(self.given))
        hits_of_class, errors = (
            np.bincount(self.classes[these], heard[these], len(self.popular))
            for these in (right, ~right)
        )
        # Half a rating more on either side: no accuracy is 0 or 1.
        mean = (hits.sum() + 0.5) / (self.given.sum() + 1)
        of_rater, of_class = (
            scipy.special.logit(
                (some + SHRINKAGE_OF_ACCURACY * mean) / (whole + SHRINKAGE_OF_ACCURACY)
            )
            for some, whole in ((hits, self.given), (hits_of_class, hits_of_class + errors))
        )
        knows = scipy.special.expit(
            of_rater[self.raters] + of_class[self.classes] - scipy.special.logit(mean)
        )
        # Of all raters together: for which answer a class is mistaken.
        mistaken = np.bincount(self.of_all, heard)[self.of_all]
        wrong = (mistaken + SHRINKAGE_OF_ERRORS * self.popular[self.answers]) / (
            errors[self.classes] + SHRINKAGE_OF_ERRORS * (1 - self.popular[self.classes])
        )
        simple = np.where(right, knows, (1 - knows) * wrong)
        met = np.bincount(self.of_class, heard)[self.of_class]
        return np.asarray((heard + SHRINKAGE * simple) / (met + SHRINKAGE))


def _pair_answers(ratings: Ratings, candidates: GivenAnswers) -> _PairedAnswers:
    q = ratings.n_categories
    place = np.searchsorted(candidates.rated, ratings.items)
    sizes, starts = candidates.sizes[place], candidates.starts[place]
    rating = np.repeat(np.arange(len(ratings)), sizes)
    within = np.arange(len(rating)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    candidate = starts[rating] + within
    keys = ratings.raters[rating] * q + ratings.codes[rating]
    cells, cell = np.unique(keys * q + candidates.categories[candidate], return_inverse=True)
    keys, classes = np.divmod(cells, q)
    raters, answers = np.divmod(keys, q)
    _, of_all = np.unique(answers * q + classes, return_inverse=True)
    _, of_class = np.unique(raters * q + classes, return_inverse=True)
    given = np.bincount(ratings.raters, minlength=ratings.n_raters)
    # No answer has none: that of an error would be impossible.
    popular = (np.bincount(ratings.codes, minlength=q) + 1) / (len(ratings) + q)
    return _PairedAnswers(
        candidate, cell, raters, answers, classes, of_all, of_class, given, popular
    )
