"""One arm in one world: selector, uncertainty and asking as they ship, message by message."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo import trust
from labelhub.core.echo.events import CLICK
from labelhub.core.echo.online_classifier import OnlineClassifier, learn, probabilities
from labelhub.core.echo.question_choice import choose, worth
from labelhub.core.echo.relevance import drawn, expected_success, new_relevance, reward
from labelhub.core.echo.simulation.world import (
    ANSWERED,
    AUTHORS,
    SURVEY_EVERY,
    SURVEY_SIZE,
    VALUES,
    Seen,
    Settings,
    World,
)
from labelhub.core.echo.uncertainty import (
    bin_doubts,
    inputs,
    mismatch,
    new_bins,
    new_uncertainty,
    sigma,
)

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

#: How far a feature model's weights are believed before any answer, and the doubt about each.
BELIEVED, BEGIN_VARIANCE = 0.5, 0.25


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to ask and to select.

    asks: "echo", "random" (any features), "shown" (any of those that go downstream), or "nothing".
    selects: whether it learns what to show; else k features drawn once.
    """

    name: str
    asks: str
    selects: bool = True


ECHO = Arm("echo", "echo")
RANDOM = Arm("random", "random")
RANDOM_SHOWN = Arm("random_shown", "shown")
NO_ASKING = Arm("no_asking", "nothing")
NO_LEARNING = Arm("no_learning", "nothing", selects=False)
ARMS = (ECHO, RANDOM, RANDOM_SHOWN, NO_ASKING, NO_LEARNING)


@dataclass(slots=True)
class Trace:
    """What an arm did, message by message; the arrays are (messages,).

    regret: the best chance of a click less the arm's. accuracy: of the models of the k features
    that matter most. found: how many of these were shown. asked: questions put so far. bins:
    of the σ of shown predictions in the second half, see :mod:`..calibration`.
    """

    regret: Floats
    accuracy: Floats
    found: Floats
    asked: Ints
    bins: Floats


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the models say of one message; the arrays begin with (features,)."""

    likely: Floats
    value: Ints
    signs: Floats
    sigma: Floats


class Learner:
    """All that an arm has learnt."""

    def __init__(self, world: World, arm: Arm, draws: np.random.Generator) -> None:
        count = world.settings.features
        self.arm, self.k, self.draws = arm, world.settings.k, draws
        mean = BELIEVED * world.begun
        self.heads = OnlineClassifier(mean, np.full(mean.shape, BEGIN_VARIANCE))
        self.relevance = new_relevance(count)
        self.uncertainty = new_uncertainty(count)
        self.trusts = [trust.NEW] * AUTHORS
        self.fixed = draws.choice(count, self.k, replace=False)

    def predict(self, vector: Floats) -> Predicted:
        """The likeliest value of every feature, and how likely it is wrong."""
        likely = probabilities(self.heads, vector)
        ordered = np.sort(likely, axis=1)
        top = ordered[:, -1]
        known = self.uncertainty
        signs = inputs(
            top, top - ordered[:, -2], np.zeros_like(top), known.mismatches, known.answers
        )
        return Predicted(likely, likely.argmax(axis=1), signs, sigma(known, signs))

    def select(self, said: Predicted) -> Ints:
        """The k features that go downstream: those expected to help most on this message."""
        if not self.arm.selects:
            return self.fixed
        score = drawn(self.relevance, self.draws) * (1 - said.sigma)
        return np.argpartition(-score, self.k)[: self.k]

    def questions(self, said: Predicted, shown: Ints) -> Ints:
        """The features to ask about."""
        if self.arm.asks == "random":
            return self.draws.choice(len(said.value), SURVEY_SIZE, replace=False)
        if self.arm.asks == "shown":
            return self.draws.choice(shown, SURVEY_SIZE, replace=False)
        optimistic = (self.relevance.expected + self.relevance.deviation)[shown]
        values = worth(
            optimistic, said.sigma[shown], self.uncertainty.answers[shown], answered=ANSWERED
        )
        return shown[choose(values, SURVEY_SIZE, self.draws).chosen]

    def rewarded(self, message: Seen, said: Predicted, shown: Ints, *, clicked: bool) -> None:
        """Learn from what became of what was shown."""
        if not self.arm.selects:
            return
        right, value = 1 - said.sigma[shown], float(clicked)
        chance = expected_success(self.relevance, shown, right, CLICK)
        known = trust.offered(self.trusts[message.author], chance=chance, value=value)
        self.trusts[message.author] = known
        if known.clicks_teach:
            reward(self.relevance, shown, right, value, CLICK, weight=known.clicks_weigh)

    def answered(self, message: Seen, said: Predicted, feature: int) -> None:
        """Learn from one answer: of the feature's model, and how far to trust it."""
        answer = message.answers if message.random_author else message.values
        matched = bool(said.value[feature] == answer[feature])
        known = trust.answered(
            self.trusts[message.author],
            sigma=float(said.sigma[feature]),
            matched=matched,
            values=VALUES,
        )
        self.trusts[message.author] = known
        if not known.answers_teach:
            return
        head = OnlineClassifier(self.heads.mean[feature], self.heads.var[feature])
        learn(head, message.vector, int(answer[feature]), known.answers_weigh)
        mismatch(
            self.uncertainty, feature, said.signs[feature], float(not matched), known.answers_weigh
        )


def play(settings: Settings, seed: int, arm: Arm) -> Trace:
    """Let an arm go through the whole of one seed's world."""
    world = World(settings, seed)
    learner = Learner(world, arm, np.random.default_rng([seed, 3]))
    count = settings.messages
    trace = _empty_trace(count)
    asked = 0
    for at in range(count):
        message = world.next_message()
        said = learner.predict(message.vector)
        shown = learner.select(said)
        right = said.value == message.values
        _write(trace, at, world, shown, right)
        if 2 * at >= count:
            bin_doubts(trace.bins, said.sigma[shown], ~right[shown])
        chance = 0.5 if message.random_author else world.success(shown, right[shown])
        learner.rewarded(message, said, shown, clicked=message.luck < chance)
        if arm.asks != "nothing" and at % SURVEY_EVERY == 0:
            asked += _survey(learner, message, said, shown)
        trace.asked[at] = asked
    return trace


def _empty_trace(count: int) -> Trace:
    return Trace(
        regret=np.zeros(count),
        accuracy=np.zeros(count),
        found=np.zeros(count),
        asked=np.zeros(count, np.int64),
        bins=new_bins(),
    )


def _survey(learner: Learner, message: Seen, said: Predicted, shown: Ints) -> int:
    """One survey; how many questions it had."""
    questions = learner.questions(said, shown)
    for feature, heard in zip(questions, message.heard, strict=False):
        if heard:
            learner.answered(message, said, int(feature))
    return len(questions)


def _write(trace: Trace, at: int, world: World, shown: Ints, right: Bools) -> None:
    best = world.best
    trace.regret[at] = world.optimum() - world.success(shown, right[shown])
    trace.accuracy[at] = right[best].mean()
    trace.found[at] = np.isin(shown, best).mean()
