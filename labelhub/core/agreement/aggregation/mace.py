"""Competence of raters by the EM of MACE (Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013).

A rater either knows the answer and gives it, with a probability called competence, or spams: then
the answer is drawn from the rater's own strategy, whatever is true. That makes fewer parameters
than a confusion matrix, so it needs fewer ratings by each rater.

All categories that nobody gave an item are as likely as each other, so an iteration takes as long
as there are ratings, however many categories there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.aggregation.dawid_skene import (
    TOLERANCE,
    GivenAnswers,
    find_candidates,
)
from labelhub.core.agreement.aggregation.majority import SAME
from labelhub.core.agreement.intervals import SEED
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
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


@dataclass(frozen=True, slots=True, eq=False)
class _Posterior:
    """``given``: chance of each candidate, shape (candidates,); ``other``: of each category that
    nobody gave a rated item, shape (rated,)."""

    given: Floats
    other: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """``answers``: rater and category of each rating as one number; ``counts``: how often each
    rater gave each answer, shape (raters, categories)."""

    ratings: Ratings
    candidates: GivenAnswers
    answers: Ints
    counts: Floats

    @property
    def others(self) -> Ints:
        """How many categories nobody gave each rated item."""
        return self.ratings.n_categories - self.candidates.sizes


def _sum_answers(ratings: Ratings, answers: Ints, weights: Floats | None = None) -> Floats:
    """Of each answer by each rater, with ``weights`` of the ratings: (raters, categories)."""
    shape = (ratings.n_raters, ratings.n_categories)
    summed = np.bincount(answers, weights, shape[0] * shape[1])
    return summed.astype(np.float64).reshape(shape)


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
    candidates = find_candidates(ratings)
    n, q = ratings.n_raters, ratings.n_categories
    answers = ratings.raters * q + ratings.codes
    evidence = _Evidence(ratings, candidates, answers, _sum_answers(ratings, answers))
    generator = np.random.default_rng(SEED)
    # All raters know as often as not, and spam evenly.
    start = _Habits(np.full(n, 0.5), np.full((n, q), 1 / max(q, 1)))
    runs = []
    for _ in range(restarts):
        runs.append(_run_em(evidence, start, iterations))
        drawn = generator.exponential(size=(n, q))
        start = _Habits(generator.random(n), drawn / drawn.sum(axis=1, keepdims=True))
    log_likelihood = max(likelihood for _, likelihood in runs)
    least = log_likelihood - max(SAME_SHARE * abs(log_likelihood), SAME_AT_LEAST)
    habits = [ended for ended, likelihood in runs if likelihood >= least]
    mean = _mean_posterior(evidence, habits)
    competence = np.mean([habit.competence for habit in habits], axis=0)
    competence[evidence.counts.sum(axis=1) == 0] = np.nan
    return Mace(candidates.table(mean.given, mean.other), competence, log_likelihood)


def _mean_posterior(evidence: _Evidence, habits: Sequence[_Habits]) -> _Posterior:
    """Mean posterior of the starts; the same for all categories that win in any of them."""
    candidates, others = evidence.candidates, evidence.others
    found = [_expectation_step(evidence, habit)[0] for habit in habits]
    given = np.mean([posterior.given for posterior in found], axis=0)
    other = np.mean([posterior.other for posterior in found], axis=0)
    won, others_won = np.zeros(len(given), dtype=bool), np.zeros(len(other), dtype=bool)
    for posterior in found:
        # Knowledge only ever speaks for an answer, so no other category is likelier than it.
        least = candidates.highest(posterior.given) * (1 - SAME)
        won |= posterior.given >= candidates.of_items(least)
        others_won |= (posterior.other >= least) & (others > 0)
    count = candidates.sum_by_item(won.astype(np.float64)) + others_won * others
    level = candidates.sum_by_item(np.where(won, given, 0)) + others_won * others * other
    level /= count
    several = count > 1
    return _Posterior(
        np.where(won & candidates.of_items(several), candidates.of_items(level), given),
        np.where(others_won & several, level, other),
    )


def _run_em(evidence: _Evidence, habits: _Habits, iterations: int) -> tuple[_Habits, float]:
    """EM from one start: the habits it ends with and their log likelihood."""
    posterior, log_likelihood = _expectation_step(evidence, habits)
    for _ in range(iterations):
        before = log_likelihood
        habits = _maximisation_step(evidence, posterior, habits)
        posterior, log_likelihood = _expectation_step(evidence, habits)
        if abs(log_likelihood - before) <= TOLERANCE * len(evidence.candidates.rated):
            break
    return habits, log_likelihood


def _expectation_step(evidence: _Evidence, habits: _Habits) -> tuple[_Posterior, float]:
    """The E-step: chance of each category for each item, and the log likelihood of the whole.

    An answer given by spamming says nothing of the category; by how much likelier knowledge makes
    it is what speaks for its own category.
    """
    candidates = evidence.candidates
    spams = habits.spams()
    speaks = np.log1p(habits.competence[:, None] / spams).ravel()
    logs = np.zeros(len(candidates.items))
    logs += np.bincount(candidates.own, speaks[evidence.answers], len(logs))
    highest = candidates.highest(logs)
    given, other = np.exp(logs - candidates.of_items(highest)), np.exp(-highest)
    sums = candidates.sum_by_item(given) + evidence.others * other
    by_spam = float((evidence.counts * np.log(spams)).sum())
    even = len(sums) * np.log(max(evidence.ratings.n_categories, 1))
    log_likelihood = by_spam + float((highest + np.log(sums)).sum() - even)
    return _Posterior(given / candidates.of_items(sums), other / sums), log_likelihood


def _maximisation_step(evidence: _Evidence, posterior: _Posterior, habits: _Habits) -> _Habits:
    """The M-step: only an answer that is right may come from knowledge, and then in the proportion
    in which the present habits produce it."""
    q = evidence.ratings.n_categories
    # With none, a competence near 1 is rounded to 1, and then one slip would be impossible.
    added = SMOOTHING / max(q, 1)
    right = _sum_answers(
        evidence.ratings, evidence.answers, posterior.given[evidence.candidates.own]
    )
    competent = habits.competence[:, None]
    known = right * competent / (competent + habits.spams())
    spammed = evidence.counts - known
    knows, spams = known.sum(axis=1) + added, spammed.sum(axis=1) + added
    return _Habits(
        knows / (knows + spams),
        (spammed + added) / (spammed.sum(axis=1, keepdims=True) + q * added),
    )
