"""Competence of raters by the EM of MACE (Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013).

A rater either knows the answer and gives it, with a probability called competence, or spams: then
the answer is drawn from the rater's own strategy, whatever is true. That makes fewer parameters
than a confusion matrix, so it needs fewer ratings by each rater.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.aggregation.dawid_skene import (
    TOLERANCE,
    Evidence,
    expectation_step,
    gather_evidence,
)
from labelhub.core.agreement.aggregation.majority import winners
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ratings
from labelhub.core.errors import InvalidInput

RESTARTS = 10
ITERATIONS = 50
#: Spread over the categories and added to the expected counts.
SMOOTHING = 0.1
#: Starts are as likely as the best within this share of its log likelihood, or within that much:
#: a likelihood a hundredth higher decides nothing, and EM stops a little short of its end.
SAME_SHARE = 1e-6
SAME_AT_LEAST = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Mace:
    """The result of the best start, or the mean of the starts that were as good.

    ``posterior``: chance of each category, shape (items, categories); a row of NaN for an item that
    has no ratings.
    ``competence``: how often a rater answers from knowledge, shape (raters,); NaN for a rater who
    rated nothing.
    ``log_likelihood``: natural logarithm.
    """

    posterior: Floats
    competence: Floats
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class _Habits:
    """``competence``, shape (raters,), and ``strategy``, shape (raters, categories)."""

    competence: Floats
    strategy: Floats

    def spams(self) -> Floats:
        """Chance to spam, and with this answer: shape (raters, categories)."""
        return (1 - self.competence)[:, None] * self.strategy

    def chances(self) -> Floats:
        """Chance of each answer by class: [rater, answer, true class]."""
        knows = self.competence[:, None, None] * np.eye(self.strategy.shape[1])
        return np.asarray(knows + self.spams()[:, :, None])


def mace(
    ratings: Ratings,
    *,
    restarts: int = RESTARTS,
    iterations: int = ITERATIONS,
) -> Mace:
    """Maximum likelihood of the model of Hovy et al. (2013) by EM; the best of several starts.

    The first start takes all raters for equal, which is the majority vote; the others are random.
    All categories are as likely beforehand. Of the starts, that of the highest likelihood counts;
    where others are as likely (two raters who never agree: each may be the one who knows), their
    mean. Categories between which such starts are divided are equally likely, the item undecided.

    Args:
        ratings: missing ratings are no evidence; repeated ratings all count.
        restarts: how many starts.
        iterations: of EM in each start; fewer where the likelihood no longer changes.
    """
    if restarts < 1 or iterations < 1:
        raise InvalidInput("restarts and iterations must be 1 or more")
    evidence = gather_evidence(ratings)
    generator = np.random.default_rng(SEED)
    # With none, a competence near 1 is rounded to 1, and then one slip would be impossible.
    added = SMOOTHING / max(ratings.n_categories, 1)
    n, q = evidence.n_raters, evidence.n_categories
    # All raters know as often as not, and spam evenly.
    start = _Habits(np.full(n, 0.5), np.full((n, q), 1 / max(q, 1)))
    runs = []
    for _ in range(restarts):
        runs.append(_run_em(evidence, start, iterations, added))
        drawn = generator.exponential(size=(n, q))
        start = _Habits(generator.random(n), drawn / drawn.sum(axis=1, keepdims=True))
    log_likelihood = max(likelihood for _, likelihood in runs)
    least = log_likelihood - max(SAME_SHARE * abs(log_likelihood), SAME_AT_LEAST)
    habits = [ended for ended, likelihood in runs if likelihood >= least]
    posterior = evidence.of_all_items(_mean_posterior(evidence, habits))
    silent = np.bincount(ratings.raters, minlength=ratings.n_raters) == 0
    competence = np.mean([habit.competence for habit in habits], axis=0)
    competence[silent] = np.nan
    return Mace(posterior, competence, log_likelihood)


def _mean_posterior(evidence: Evidence, habits: Sequence[_Habits]) -> Floats:
    """Mean posterior of the starts; the same for all categories that win in any of them."""
    found = [expectation_step(evidence, habit.chances(), _even(evidence))[0] for habit in habits]
    mean = np.asarray(np.mean(found, axis=0))
    won = np.any([winners(posterior) for posterior in found], axis=0)
    count = won.sum(axis=1, keepdims=True)
    level = np.where(won, mean, 0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    return np.where(won & (count > 1), level, mean)


def _run_em(
    evidence: Evidence, habits: _Habits, iterations: int, added: float
) -> tuple[_Habits, float]:
    """EM from one start: the habits it ends with and their log likelihood."""
    even = _even(evidence)
    posterior, log_likelihood = expectation_step(evidence, habits.chances(), even)
    for _ in range(iterations):
        before = log_likelihood
        habits = _maximisation_step(evidence.heard(posterior), habits, added)
        posterior, log_likelihood = expectation_step(evidence, habits.chances(), even)
        if abs(log_likelihood - before) <= TOLERANCE * len(posterior):
            break
    return habits, log_likelihood


def _maximisation_step(heard: Floats, habits: _Habits, added: float) -> _Habits:
    """The M-step, from the expected number of answers [rater, answer, true class].

    Only an answer that is right may come from knowledge, and then in the proportion in which the
    present habits produce it.
    """
    q = heard.shape[1]
    right = heard.diagonal(axis1=1, axis2=2)
    competent = habits.competence[:, None]
    known = right * competent / (competent + habits.spams())
    spammed = heard.sum(axis=2) - known
    knows, spams = known.sum(axis=1) + added, spammed.sum(axis=1) + added
    return _Habits(
        knows / (knows + spams),
        (spammed + added) / (spammed.sum(axis=1, keepdims=True) + q * added),
    )


def _even(evidence: Evidence) -> Floats:
    return np.full(evidence.n_categories, 1 / max(evidence.n_categories, 1))
