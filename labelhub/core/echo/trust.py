"""The probability that an author's answers and clicks are serious, not random.

Random answers match one of three options one time in three, however sure the prediction was;
serious ones match as often as σ predicts. Random clicks come at a rate that does not depend on the
offer; serious ones come about as often as expected, at each author's own rate. Each answer and each
offer changes the log-odds by its likelihood ratio, and is learnt from with the weight of its
probability of being serious: the first random clicks are not recognised yet. Clicks are judged
separately and never decide whether answers are learnt from (paper 004, section 3.4). This protects
Echo only; :mod:`labelhub.core.interview.trust` decides which labels count.
"""

import math
from typing import NamedTuple

#: The prior: nine of ten authors are serious.
BEGIN = math.log(9)
#: The largest absolute log-odds: twenty random answers are noticed, and so are sixty serious ones.
MOST = 5.0
#: The largest change of the log-odds by one answer or offer.
MOST_STEP = 1.5
#: Events of authors below this probability are logged but not learnt from.
LEAST = 0.0
#: The most options of a question (and those of an open feature). The expected value is one of them,
#: so a random answer matches one time in so many, however many values there are.
OPTIONS = 4
#: The prior weight, in clicks, of the expected rate for a serious author; and the largest expected
#: probability of a click.
_LIKE_OTHERS, _SUREST = 1.0, 0.98
#: Beta prior of the rate of random clicks: any rate, with a mean of a half.
_AT_RANDOM = 2.0


class AuthorBelief(NamedTuple):
    """The belief about an author.

    answers, clicks: log-odds that these are serious. offers: number shown. expected: number of
    clicks expected of any author. clicked: number of clicks.
    """

    answers: float = BEGIN
    clicks: float = BEGIN
    offers: float = 0.0
    expected: float = 0.0
    clicked: float = 0.0

    @property
    def answer_weight(self) -> float:
        """How much Echo learns from an answer: the probability that it is serious, or 0."""
        return _weight(self.answers)

    @property
    def click_weight(self) -> float:
        """How much Echo learns from a reward, likewise; nothing if answers are random."""
        return _weight(min(self.answers, self.clicks))


#: The belief about a new author.
NEW = AuthorBelief()


def answered(before: AuthorBelief, *, sigma: float, matched: bool, values: int) -> AuthorBelief:
    """The belief after one more answer.

    Args:
        before: the belief so far.
        sigma: calibrated probability, before the answer, that the prediction was wrong.
        matched: whether the prediction was right.
        values: number of values of the feature; 0 for an open one.
    """
    by_chance = 1 / min(max(values or OPTIONS, 2), OPTIONS)
    evidence = math.log((1 - sigma) / by_chance) if matched else math.log(sigma / (1 - by_chance))
    return before._replace(answers=_shift(before.answers, evidence))


def offered(before: AuthorBelief, *, chance: float, value: float) -> AuthorBelief:
    """The belief after one more offer.

    Args:
        before: the belief so far.
        chance: probability of a click expected of any author; strictly between 0 and 1.
        value: the reward, 0 to 1.
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


def _weight(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds)) if log_odds >= LEAST else 0.0


def _shift(trust: float, evidence: float) -> float:
    step = max(-MOST_STEP, min(MOST_STEP, evidence))
    return max(-MOST, min(MOST, trust + step))
