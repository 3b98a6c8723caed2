"""The world of the simulator: messages, what they mean, who writes them, and what a click takes.

All that chance decides is drawn for the world, not for an arm: every arm of one seed sees the same
messages, would get the same answers, and has the same luck with clicks.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

VALUES, PLACES, MATTER = 3, 32, 15
SURVEY_EVERY, SURVEY_SIZE, ANSWERED = 5, 4, 0.84
NOISE, BASE = 0.5, -3.5
AUTHORS, SPAMMERS, MOVED = 400, 0.2, 5
#: Share of a message's vector that its author explains, where authors differ.
AUTHOR_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Settings:
    """One set-up of the simulator.

    features: how many, n. k: how many go downstream. messages: T. spam: a fifth of the authors
    answer and click at random. drift: half-way, five features that matter change places with five
    that do not. per_author: authors differ in what they write.

    Raises:
        InvalidInput: a number is out of its range.
    """

    features: int = 200
    k: int = 10
    messages: int = 20_000
    spam: bool = False
    drift: bool = False
    per_author: bool = False

    def __post_init__(self) -> None:
        if not MATTER + MOVED <= self.features <= 5_000:
            raise InvalidInput.at("features", f"must be from {MATTER + MOVED} to 5000.")
        if not SURVEY_SIZE <= self.k <= self.features // 2:
            raise InvalidInput.at("k", f"must be from {SURVEY_SIZE} to half of the features.")
        if not 100 <= self.messages <= 1_000_000:
            raise InvalidInput.at("messages", "must be from 100 to 1000000.")


@dataclass(frozen=True, slots=True)
class Seen:
    """One message.

    vector: z, (places,). values: what its author meant, (features,). author: who wrote it.
    random_author: whether they answer and click at random. luck: decides the click, 0 to 1.
    answers: what a spammer would answer, (features,). heard: whether each of the questions of a
    survey is answered, (survey size,).
    """

    vector: Floats
    values: Ints
    author: int
    random_author: bool
    luck: float
    answers: Ints
    heard: NDArray[np.bool_]


class World:
    """One seed's world. ``next_message`` draws the messages in their order."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        fixed = np.random.default_rng([seed, 1])
        count = settings.features
        shape = (count, VALUES, PLACES)
        self.truth: Floats = fixed.normal(0, 3 / np.sqrt(PLACES), shape)
        unevenness = fixed.uniform(0.1, 1.2, count)
        noise = fixed.normal(size=shape)
        #: What the feature models begin with, (features, values, places).
        self.begun: Floats = self.truth + unevenness[:, None, None] * noise
        self.weights: Floats = np.zeros(count)
        matter = fixed.choice(count, MATTER, replace=False)
        self.weights[matter] = fixed.uniform(0.2, 0.6, MATTER)
        self._swaps = self._drawn_swaps(fixed, matter)
        self._authors: Floats = fixed.normal(size=(AUTHORS, PLACES))
        self._spammers = fixed.random(AUTHORS) < SPAMMERS
        self._draws = np.random.default_rng([seed, 2])
        self._at = 0

    @property
    def best(self) -> Ints:
        """The k features of largest weight."""
        return np.argsort(-self.weights, kind="stable")[: self.settings.k]

    def success(self, shown: Ints, right: NDArray[np.bool_]) -> float:
        """Chance of a click on what the ``shown`` features made, of which some are ``right``."""
        return float(1 / (1 + np.exp(-BASE - self.weights[shown] @ right)))

    def optimum(self) -> float:
        """Chance of a click with the best k features, all of them predicted rightly."""
        return self.success(self.best, np.ones(self.settings.k, bool))

    def next_message(self) -> Seen:
        """The next message; half-way the world changes where it is to drift."""
        if self.settings.drift and self._at == self.settings.messages // 2:
            one, other = self._swaps
            self.weights[one], self.weights[other] = 0.0, self.weights[one]
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
            author=author,
            random_author=self.settings.spam and bool(self._spammers[author]),
            luck=float(draws.random()),
            answers=draws.integers(VALUES, size=count),
            heard=draws.random(SURVEY_SIZE) < ANSWERED,
        )

    def _drawn_swaps(self, fixed: np.random.Generator, matter: Ints) -> tuple[Ints, Ints]:
        idle = np.setdiff1d(np.arange(self.settings.features), matter)
        moved = fixed.choice(matter, MOVED, replace=False)
        return moved, fixed.choice(idle, MOVED, replace=False)
