"""The simulator, with the figures of ``echo.md``.

Arms are compared within a seed, which gives them the same messages and the same random numbers;
intervals are of the mean over seeds, by Student's t.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy
from joblib import Parallel, delayed
from numpy.typing import NDArray

from labelhub.core.echo.events import CLICK, HELPFUL
from labelhub.core.echo.models import OnlineClassifier, learn, probabilities
from labelhub.core.echo.question_choice import choose, select_features, worth
from labelhub.core.echo.relevance import draw_relevance, new_relevance
from labelhub.core.echo.state import EchoState, learn_name, learn_reward, trust_answer
from labelhub.core.echo.uncertainty import (
    BINS,
    bin_doubts,
    calibration_error,
    learn_mismatch,
    new_uncertainty,
    prediction_signs,
    sigma,
)
from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Figure: TypeAlias = dict[str, Any]

VALUES, PLACES, MATTER = 3, 32, 15
SURVEY_EVERY, SURVEY_SIZE, ANSWERED = 5, 4, 0.84
NOISE = 0.5
#: The probability of a click if no feature helps: log-odds of -3.5.
CLICK_RATE = 1 / (1 + math.exp(3.5))
#: Log-odds that an author rates an offer as helpful if no feature helps, and how much a feature's
#: weight counts in it.
HELPFUL_BASE, HELPFUL_SLOPE = -1.5, 2.0
#: How clearly an author knows which feature mattered most, and the odds of naming any other one.
NAMED_NOISE, ERRS = 0.1, 0.15
#: Where offers are rated, Echo asks in one of so many surveys what mattered most, in place of a
#: question about a feature.
NAMED_EVERY = 5
AUTHORS, SPAMMERS, MOVED = 400, 0.2, 5
#: Share of a message's vector that depends on its author, if authors differ.
AUTHOR_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the simulator.

    features: their number n. k: how many go downstream. messages: their number T. spam: a fifth of
    the authors answer and click at random. drift: half-way, five features that matter change places
    with five that do not. per_author: authors write differently. click_rate: the probability of a
    click if no feature helps, which is the density of rewards. helpfulness: the share of offers of
    which the author says whether they helped.

    Raises:
        InvalidInput: a number is out of its range.
    """

    features: int = 200
    k: int = 10
    messages: int = 20_000
    spam: bool = False
    drift: bool = False
    per_author: bool = False
    click_rate: float = CLICK_RATE
    helpfulness: float = 0.0

    def __post_init__(self) -> None:
        if not MATTER + MOVED <= self.features <= 5_000:
            raise InvalidInput.at("features", f"must be from {MATTER + MOVED} to 5000.")
        if not SURVEY_SIZE <= self.k <= self.features // 2:
            raise InvalidInput.at("k", f"must be from {SURVEY_SIZE} to half of the features.")
        if not 100 <= self.messages <= 1_000_000:
            raise InvalidInput.at("messages", "must be from 100 to 1000000.")
        if not 0.001 <= self.click_rate <= 0.9:
            raise InvalidInput.at("click_rate", "must be from 0.001 to 0.9.")
        if not 0 <= self.helpfulness <= 1:
            raise InvalidInput.at("helpfulness", "must be from 0 to 1.")


@dataclass(frozen=True, slots=True)
class Seen:
    """One message.

    vector: z, (places,). values: the author's true values, (features,). author: a pseudonym.
    random_author: whether the author answers and clicks at random. luck: decides the click, whether
    the offer is rated, and how, each 0 to 1. answers: those of a spammer, (features,). heard:
    whether each question of a survey is answered, (survey size,).
    """

    vector: Floats
    values: Ints
    author: str
    random_author: bool
    luck: Floats
    answers: Ints
    heard: Bools


class World:
    """The world of one seed. ``next_message`` draws the messages in order."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        fixed = np.random.default_rng([seed, 1])
        count = settings.features
        shape = (count, VALUES, PLACES)
        self.truth: Floats = fixed.normal(0, 3 / np.sqrt(PLACES), shape)
        unevenness = fixed.uniform(0.1, 1.2, count)
        noise = fixed.normal(size=shape)
        #: The initial means of the feature models, (features, values, places).
        self.begun: Floats = self.truth + unevenness[:, None, None] * noise
        self.weights: Floats = np.zeros(count)
        matter = fixed.choice(count, MATTER, replace=False)
        self.weights[matter] = fixed.uniform(0.2, 0.6, MATTER)
        idle = np.setdiff1d(np.arange(count), matter)
        # The features that change places, with drift.
        self._swaps = [fixed.choice(some, MOVED, replace=False) for some in (matter, idle)]
        self._authors: Floats = fixed.normal(size=(AUTHORS, PLACES))
        self._spammers = fixed.random(AUTHORS) < SPAMMERS
        self._draws = np.random.default_rng([seed, 2])
        self._ratings = np.random.default_rng([seed, 4])
        self._names = np.random.default_rng([seed, 5])
        self._at = 0

    @property
    def best(self) -> Ints:
        """The k features of largest weight."""
        return np.argsort(-self.weights, kind="stable")[: self.settings.k]

    def success(self, shown: Ints, right: Bools) -> float:
        """Probability of a click with the ``shown`` features, of which some are ``right``."""
        rate = self.settings.click_rate
        return _sigmoid(math.log(rate / (1 - rate)) + float(self.weights[shown] @ right))

    def helpful(self, shown: Ints, right: Bools) -> float:
        """Probability that a rated offer is rated as helpful."""
        return _sigmoid(HELPFUL_BASE + HELPFUL_SLOPE * float(self.weights[shown] @ right))

    def optimum(self) -> float:
        """Probability of a click with the best k features, all predicted rightly."""
        return self.success(self.best, np.ones(self.settings.k, bool))

    def next_message(self) -> Seen:
        """The next message; with drift, the world changes half-way."""
        if self.settings.drift and self._at == self.settings.messages // 2:
            relevant, other = self._swaps
            self.weights[relevant], self.weights[other] = 0.0, self.weights[relevant]
        self._at += 1
        draws, count = self._draws, self.settings.features
        vector, author = draws.normal(size=PLACES), int(draws.integers(AUTHORS))
        if self.settings.per_author:
            vector = np.sqrt(1 - AUTHOR_SHARE) * vector
            vector += np.sqrt(AUTHOR_SHARE) * self._authors[author]
        scores = self.truth @ vector + draws.normal(0, NOISE, (count, VALUES))
        return Seen(
            vector=vector,
            values=scores.argmax(axis=1),
            author=str(author),
            random_author=self.settings.spam and bool(self._spammers[author]),
            luck=np.array([draws.random(), *self._ratings.random(2)]),
            answers=draws.integers(VALUES, size=count),
            heard=draws.random(SURVEY_SIZE) < ANSWERED,
        )

    def named(self, message: Seen, shown: Ints, right: Bools) -> int | None:
        """The place in ``shown`` of the feature that the author says mattered most, or None.

        Those of large weight and right value are named most often; an author may also err.
        """
        draws = self._names
        if message.random_author:
            return int(draws.integers(len(shown)))
        help_ = self.weights[shown] * right
        odds = np.where(help_ > 0, np.exp(help_ / NAMED_NOISE), ERRS)
        odds = np.append(odds, math.e)
        place = int(draws.choice(len(odds), p=odds / odds.sum()))
        return place if place < len(shown) else None


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


#: The shrinkage of a feature model's initial weights, and the variance of each.
BELIEVED, BEGIN_VARIANCE = 0.5, 0.25


@dataclass(frozen=True, slots=True)
class SimulatedArm:
    """An arm: how it asks and selects.

    asks: "echo", "random" (any features), "shown" (any that go downstream), or "nothing".
    selects: whether it learns what to show; else it shows k features drawn once.
    """

    name: str
    asks: str
    selects: bool = True


ECHO = SimulatedArm("echo", "echo")
RANDOM = SimulatedArm("random", "random")
RANDOM_SHOWN = SimulatedArm("random_shown", "shown")
NO_ASKING = SimulatedArm("no_asking", "nothing")
NO_LEARNING = SimulatedArm("no_learning", "nothing", selects=False)
ARMS = (ECHO, RANDOM, RANDOM_SHOWN, NO_ASKING, NO_LEARNING)


@dataclass(slots=True)
class SimulationTrace:
    """The trace of an arm over the messages; the arrays are (messages,).

    regret: the best probability of a click minus the arm's. accuracy: of the models of the k
    features that matter most. found: share of the shown features that matter. asked: questions so
    far. bins: of the σ of shown predictions in the second half, see
    :func:`~.uncertainty.bin_doubts`.
    """

    regret: Floats
    accuracy: Floats
    found: Floats
    asked: Ints
    bins: Floats


class Predicted(NamedTuple):
    """The predictions for one message; the arrays begin with (features,)."""

    value: Ints
    signs: Floats
    sigma: Floats


class Learner:
    """The models and beliefs of an arm."""

    def __init__(self, world: World, arm: SimulatedArm, draws: np.random.Generator) -> None:
        count = world.settings.features
        self.arm, self.k, self.draws = arm, world.settings.k, draws
        mean = BELIEVED * world.begun
        self.heads = OnlineClassifier(mean, np.full(mean.shape, BEGIN_VARIANCE))
        #: Without models, which the heads are.
        self.state = EchoState(relevance=new_relevance(count), uncertainty=new_uncertainty(count))
        self.fixed = draws.choice(count, self.k, replace=False)

    def predict(self, vector: Floats) -> Predicted:
        """The likeliest value of every feature, with the probability that it is wrong."""
        likely = probabilities(self.heads, vector)
        ordered = np.sort(likely, axis=1)
        top, known = ordered[:, -1], self.state.uncertainty
        signs = prediction_signs(known, slice(None), top, top - ordered[:, -2])
        return Predicted(likely.argmax(axis=1), signs, sigma(known, signs))

    def select(self, predicted: Predicted) -> tuple[Ints, Ints]:
        """The k features that go downstream, those with the largest expected help, (k,); and the
        candidates for questions, which are these and the most relevant others."""
        if not self.arm.selects:
            return self.fixed, self.fixed
        drawn = draw_relevance(self.state.relevance, self.draws)
        return select_features(drawn, 1 - predicted.sigma, self.k)

    def questions(self, predicted: Predicted, shown: Ints, candidates: Ints) -> Ints:
        """The features to ask about, (at most the survey size,)."""
        if self.arm.asks == "random":
            return self.draws.choice(len(predicted.value), SURVEY_SIZE, replace=False)
        if self.arm.asks == "shown":
            return self.draws.choice(shown, SURVEY_SIZE, replace=False)
        magnitude = self.state.relevance.magnitude[candidates]
        values = worth(magnitude, predicted.sigma[candidates])
        chosen, _ = choose(values, SURVEY_SIZE, self.draws)
        return candidates[chosen]

    def answered(self, message: Seen, predicted: Predicted, feature: int) -> bool:
        """Learn from one answer: the feature's model, its uncertainty and the author's trust.

        Returns whether the prediction was right.
        """
        answer = message.answers if message.random_author else message.values
        matched = bool(predicted.value[feature] == answer[feature])
        weight = trust_answer(
            self.state,
            message.author,
            sigma=float(predicted.sigma[feature]),
            matched=matched,
            values=VALUES,
        )
        if weight:
            head = OnlineClassifier(self.heads.mean[feature], self.heads.var[feature])
            learn(head, message.vector, int(answer[feature]), weight)
            signs, loss = predicted.signs[feature], float(not matched)
            learn_mismatch(self.state.uncertainty, feature, signs, loss, weight)
        return matched


def play(settings: Settings, seed: int, arm: SimulatedArm) -> SimulationTrace:
    """Run an arm through all messages of one seed."""
    world = World(settings, seed)
    learner = Learner(world, arm, np.random.default_rng([seed, 3]))
    count = settings.messages
    regret, accuracy, found = np.zeros((3, count))
    asked, bins = np.zeros(count, np.int64), np.zeros((3, BINS))
    trace = SimulationTrace(regret, accuracy, found, asked, bins)
    for number in range(count):
        message = world.next_message()
        predicted = learner.predict(message.vector)
        shown, candidates = learner.select(predicted)
        right, believed = predicted.value == message.values, 1 - predicted.sigma
        trace.regret[number] = world.optimum() - world.success(shown, right[shown])
        trace.accuracy[number] = right[world.best].mean()
        trace.found[number] = (world.weights[shown] > 0).mean()
        if 2 * number >= count:
            bin_doubts(trace.bins, predicted.sigma[shown], ~right[shown])
        asks_named = arm.asks == "echo" and settings.helpfulness > 0
        asks_named = asks_named and number % (SURVEY_EVERY * NAMED_EVERY) == 0
        if arm.asks != "nothing" and number % SURVEY_EVERY == 0:
            questions = learner.questions(predicted, shown, candidates)
            trace.asked[number] = len(questions)
            for feature, heard in zip(questions[asks_named:], message.heard, strict=False):
                if heard:
                    believed[feature] = learner.answered(message, predicted, int(feature))
        right, believed = right[shown], believed[shown]
        if arm.selects:
            _reward(world, learner.state, message, shown, right=right, believed=believed)
        if asks_named and message.heard[-1]:
            named = world.named(message, shown, right)
            learn_name(learner.state, message.author, shown, believed, named)
    np.cumsum(trace.asked, out=trace.asked)
    return trace


def _reward(
    world: World, state: EchoState, message: Seen, shown: Ints, *, right: Bools, believed: Floats
) -> None:
    """Learn from the click, or its absence, and from a rating."""
    clicks, rated, helped = message.luck
    rewards = [(CLICK, clicks, world.success)]
    if rated < world.settings.helpfulness:
        rewards.append((HELPFUL, helped, world.helpful))
    for signal, luck, probability in rewards:
        chance = 0.5 if message.random_author else probability(shown, right)
        value = float(luck < chance)
        learn_reward(state, message.author, shown, believed, value=value, signal=signal)


#: Messages of a running mean.
WINDOW = 1_000
#: Means of the same values, summed in another order, differ by less.
_ROUNDING = 1e-9
CONFIDENCE, MEDIAN = 0.95, "median over seeds, order statistics, 95 %"


def final(values: Floats) -> float:
    """The mean of the last :data:`WINDOW` messages."""
    return float(values[-WINDOW:].mean())


def question_share(echo: SimulationTrace, random: SimulationTrace) -> float:
    """Share of its questions after which Echo reaches the final accuracy of random asking; infinite
    if it never does."""
    window = min(WINDOW, len(echo.accuracy))
    sums = np.cumsum(np.concatenate([[0.0], echo.accuracy]))
    running: Floats = (sums[window:] - sums[:-window]) / window
    reached = np.flatnonzero(running >= final(random.accuracy) - _ROUNDING)
    if not len(reached) or not echo.asked[-1]:
        return math.inf
    last = min(int(reached[0]) + WINDOW, len(echo.accuracy)) - 1
    return float(echo.asked[last] / echo.asked[-1])


def figures(traces: Mapping[str, Sequence[SimulationTrace]]) -> dict[str, Any]:
    """All figures; ``traces`` by the arm's name, of the same seeds in the same order.

    Each is {"value", "low", "high", "n", "method"} with n seeds, or {"value": None, "reason"}.
    """
    own, others = ECHO.name, [name for name in traces if name != ECHO.name]
    silent = [name for name in others if name != NO_ASKING.name and not traces[name][0].asked[-1]]
    accuracy, found, regret = (
        {name: np.array([of(trace) for trace in traces[name]]) for name in traces}
        for of in (
            lambda trace: final(trace.accuracy),
            lambda trace: final(trace.found),
            lambda trace: trace.regret.sum(),
        )
    )
    gains = {name: mean_figure(accuracy[own] - accuracy[name]) for name in others}
    return {
        "question_share": _share_figure(traces[own], traces[RANDOM.name]),
        "accuracy_gain": gains[RANDOM.name],
        "accuracy_gain_over": {name: gains[name] for name in others if name not in silent},
        "regret_ratio": {name: mean_figure(regret[own] / regret[name]) for name in others},
        "ece": mean_figure([calibration_error(trace.bins) for trace in traces[own]]),
        "accuracy": {name: mean_figure(values) for name, values in accuracy.items()},
        "found": {name: mean_figure(values) for name, values in found.items()},
    }


def mean_figure(values: Sequence[float] | Floats, over: str = "seeds") -> Figure:
    """The mean of one number per play; the interval is None for fewer than two.

    Returns {"value", "low", "high", "n", "method"}; ``over`` names what was repeated.
    """
    count, mean = len(values), float(np.mean(values))
    low = high = None
    if count > 1:
        error = float(np.std(values, ddof=1)) / math.sqrt(count)
        reach = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error
        low, high = mean - reach, mean + reach
    method = f"mean over {over}, Student's t, 95 %"
    return {"value": mean, "low": low, "high": high, "n": count, "method": method}


def _share_figure(echo: Sequence[SimulationTrace], random: Sequence[SimulationTrace]) -> Figure:
    """The median; a seed that never reaches the accuracy counts as more than all its questions."""
    shares = list(map(question_share, echo, random))
    median = float(np.median(shares))
    if not math.isfinite(median):
        return {"value": None, "reason": "never_reached"}
    # With fewer than six seeds no two of them hold the median in 95 % of samples.
    bounds = scipy.stats.quantile_test(shares, q=median).confidence_interval(CONFIDENCE)
    low, high = (float(end) if math.isfinite(end) else None for end in bounds)
    return {"value": median, "low": low, "high": high, "n": len(shares), "method": MEDIAN}


MOST_SEEDS = 1_000


def simulate(
    settings: Settings,
    seeds: int = 20,
    first_seed: int = 0,
    *,
    arms: Sequence[SimulatedArm] = ARMS,
    verbose: int = 0,
) -> dict[str, Any]:
    """Run every arm in the worlds of some seeds, on all processors; the figures.

    Args:
        settings: of the world.
        seeds: their number.
        first_seed: the first of them.
        arms: must include Echo, random asking and no asking.
        verbose: how often joblib tells the progress, 0 (never) to 49.

    Raises:
        InvalidInput: ``seeds`` or ``first_seed`` is out of its range.
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise InvalidInput.at("seeds", f"must be from 1 to {MOST_SEEDS}.")
    if first_seed < 0:
        raise InvalidInput.at("first_seed", "must not be negative.")
    played = Parallel(n_jobs=-1, verbose=verbose)(
        [delayed(play)(settings, first_seed + seed, arm) for seed in range(seeds) for arm in arms]
    )
    return figures({arm.name: played[place :: len(arms)] for place, arm in enumerate(arms)})
