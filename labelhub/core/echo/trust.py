"""Whether what an author says and clicks means anything.

Somebody who answers at random matches one of three options one time in three, however sure the
prediction was; others match as often as σ says. Somebody who clicks at random clicks at a rate
that has nothing to do with what is offered; others click about as often as is expected, each with a
rate of their own. Each answer and each offer moves the log-odds by how much better the one explains
it than the other, and teaches as much as it is likely to have been meant: who clicks at random is
not known yet when they click first. Clicks are judged apart: they never decide whose answers teach
(paper 004, section 3.4). This guards what is learnt here alone: whose labels count as labels is
judged elsewhere, by other signs.
"""

import math
from typing import NamedTuple

#: Before anything: nine of ten are in earnest.
BEGIN = math.log(9)
#: Nobody is so trusted that twenty answers at random would not be noticed, or so distrusted that
#: sixty in earnest would not.
MOST = 5.0
#: One answer or offer says at most so much.
MOST_STEP = 1.5
#: Below this what they do is logged and teaches nothing.
LEAST = 0.0
#: A question has so many options at most, and of an open feature so many, the expected value always
#: among them: who takes any of them matches that often, however many values there are.
OPTIONS = 4
#: How firmly one in earnest is expected to click as often as others would, in clicks; and the
#: surest that a click is ever expected to be.
_LIKE_OTHERS, _SUREST = 1.0, 0.98
#: Beta prior of the rate of one who clicks at random: any rate, soonest a half.
_AT_RANDOM = 2.0


class AuthorBelief(NamedTuple):
    """What speaks for an author.

    answers, clicks: log-odds that these are meant. offers: how many they were shown. expected: how
    many of these others would have clicked. clicked: how many they did.
    """

    answers: float = BEGIN
    clicks: float = BEGIN
    offers: float = 0.0
    expected: float = 0.0
    clicked: float = 0.0

    @property
    def answers_teach(self) -> bool:
        """Whether their answers are learnt from."""
        return self.answers >= LEAST

    @property
    def clicks_teach(self) -> bool:
        """Whether their clicks are: nobody's who answers at random."""
        return min(self.answers, self.clicks) >= LEAST

    @property
    def answers_weigh(self) -> float:
        """How likely the last answer was meant, 0 to 1: how much it teaches."""
        return _chance(self.answers)

    @property
    def clicks_weigh(self) -> float:
        """How likely what came of the last offer was meant."""
        return _chance(min(self.answers, self.clicks))


#: Of an author nobody has seen yet.
NEW = AuthorBelief()


def answered(before: AuthorBelief, *, sigma: float, matched: bool, values: int) -> AuthorBelief:
    """The trust after one more answer.

    Args:
        before: the trust so far.
        sigma: the chance that the prediction was wrong, as calibrated before the answer.
        matched: whether it was right.
        values: how many values the feature has; 0 where it is open.
    """
    by_chance = 1 / min(max(values or OPTIONS, 2), OPTIONS)
    evidence = math.log((1 - sigma) / by_chance) if matched else math.log(sigma / (1 - by_chance))
    return before._replace(answers=_shift(before.answers, evidence))


def offered(before: AuthorBelief, *, chance: float, value: float) -> AuthorBelief:
    """The trust after one more offer.

    Args:
        before: the trust so far.
        chance: of a click, as expected of anybody before it; strictly between 0 and 1.
        value: what came of it, 0 to 1.
    """
    clicked = before.clicked
    often = (_LIKE_OTHERS + clicked) / (_LIKE_OTHERS + before.expected)
    earnest = min(chance * often, _SUREST)
    random = (_AT_RANDOM + clicked) / (2 * _AT_RANDOM + before.offers)
    evidence = value * math.log(earnest / random) + (1 - value) * math.log(
        (1 - earnest) / (1 - random)
    )
    return before._replace(
        clicks=_shift(before.clicks, evidence),
        offers=before.offers + 1,
        expected=before.expected + chance,
        clicked=clicked + value,
    )


def _chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def _shift(trust: float, evidence: float) -> float:
    step = max(-MOST_STEP, min(MOST_STEP, evidence))
    return max(-MOST, min(MOST, trust + step))
