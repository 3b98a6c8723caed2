"""One way to choose what is asked, on one order of the texts: the stored labels answer.

A fifth of the texts is held out: never asked about, the same for every arm. The others come in
order, a window at a time; every text of a window is predicted before any of its answers is learnt.
Models, uncertainty and asking are those that ship, driven by the events that a site's log has.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.events import Answered
from labelhub.core.echo.models import Prediction, predict
from labelhub.core.echo.question_choice import choose, worth
from labelhub.core.echo.replay.labelled_texts import Labelled
from labelhub.core.echo.state import EchoState, learn, signs_of
from labelhub.core.echo.uncertainty import bin_doubts, new_bins, sigma
from labelhub.core.echo.vectors import Sparse, vector_of
from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

#: How the texts to ask about are chosen: by Echo, by chance, or where the two likeliest values are
#: nearest to each other (margin sampling, Scheffer et al. 2001).
ECHO, RANDOM, MARGIN = "echo", "random", "margin"
ARMS = (ECHO, RANDOM, MARGIN)
#: Texts that lie open to be asked about together.
WINDOW = 12
#: One text of so many is held out.
HELD_OUT = 5
#: Points of a curve, at most.
POINTS = 20
FEATURE = "replayed"
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Order:
    """One order of the texts, by its seed, and the share of the streamed ones that is asked about.

    Raises:
        InvalidInput: the share is out of range.
    """

    seed: int
    share: float = 1 / 3

    def __post_init__(self) -> None:
        if not 0.05 <= self.share <= 0.9:
            raise InvalidInput.at("share", "must be from 0.05 to 0.9.")


@dataclass(slots=True)
class Trace:
    """What an arm did on one order.

    The curve's points, (points,): asked: questions put so far; held_out: accuracy on the texts that
    are held out; log_loss: there, in nats. Of the streamed texts, (streamed,), in their order:
    right: whether the prediction before any answer to it was right; put: whether it was asked.
    bins: of the σ of all streamed texts, see :mod:`..calibration`.
    commonest: accuracy on the held-out texts of naming the value that is commonest among the
    streamed ones.
    """

    asked: Ints
    held_out: Floats
    log_loss: Floats
    right: Bools
    put: Bools
    bins: Floats
    commonest: float


@dataclass(frozen=True, slots=True)
class Said:
    """What was predicted of one text: what it is doubted by, and how much."""

    prediction: Prediction
    signs: Floats
    sigma: float


class Replayed:
    """What an arm has learnt, and the texts it learns from."""

    def __init__(self, data: Labelled, arm: str, draws: np.random.Generator) -> None:
        self.data, self.arm, self.draws = data, arm, draws
        self.vectors: list[Sparse] = [vector_of(text) for text in data.texts]
        self.state = EchoState()
        self.state.index(FEATURE)

    def predict(self, text: int) -> Said:
        """What is expected of a text, and how likely that is wrong."""
        model = self.state.model(FEATURE)
        prediction = predict(model, self.vectors[text], self.data.values)
        signs = signs_of(self.state, FEATURE, prediction)
        return Said(prediction, signs, float(sigma(self.state.uncertainty, signs[None, :])[0]))

    def choose(self, said: Sequence[Said], most: int) -> Ints:
        """Places in a window of the texts to ask about."""
        if self.arm == RANDOM:
            return self.draws.choice(len(said), most, replace=False)
        if self.arm == MARGIN:
            margins = [each.prediction.margin for each in said]
            return np.argsort(margins, kind="stable")[:most]
        relevance, doubt = self.state.relevance, self.state.uncertainty
        optimistic = relevance.expected + relevance.deviation
        values = worth(
            optimistic.repeat(len(said)),
            np.array([each.sigma for each in said]),
            doubt.answers.repeat(len(said)),
        )
        return choose(values, most, self.draws).chosen

    def answered(self, text: int, said: Said) -> None:
        """Learn from the stored label of a text, as a site learns from its log."""
        value, top = self.data.values[self.data.labels[text]], said.prediction.top
        lesson = Answered(
            id=str(text),
            author=str(text),
            trusted=True,
            feature=FEATURE,
            value=value,
            predicted=top,
            loss=float(value != top),
            signs=tuple(said.signs.tolist()),
            vector=self.vectors[text],
            values=self.data.values,
        )
        learn(self.state, lesson)


def parts_of(data: Labelled, order: Order) -> tuple[Ints, Ints]:
    """The texts that are held out, and the streamed ones in their order; the same for every arm."""
    drawn = np.random.default_rng([order.seed, 1]).permutation(len(data.texts))
    held = len(drawn) // HELD_OUT
    return drawn[:held], drawn[held:]


def play(data: Labelled, order: Order, arm: str) -> Trace:
    """Let an arm go through one order of the texts."""
    held, streamed = parts_of(data, order)
    learner = Replayed(data, arm, np.random.default_rng([order.seed, 2]))
    count = len(streamed)
    right, put, bins = np.zeros(count, bool), np.zeros(count, bool), new_bins()
    points = []
    for start, end, is_point in _windows(count):
        window = streamed[start:end]
        said = [learner.predict(text) for text in window]
        right[start:end] = [_is_right(data, *pair) for pair in zip(window, said, strict=True)]
        bin_doubts(bins, np.array([each.sigma for each in said]), ~right[start:end])
        most = min(len(window), math.floor(order.share * end) - int(put.sum()))
        for at in learner.choose(said, most):
            put[start + at] = True
            learner.answered(window[at], said[at])
        if is_point:
            points.append((int(put.sum()), *_tested(learner, held)))
    asked, accuracy, loss = (np.array(each) for each in zip(*points, strict=True))
    commonest = _commonest(np.array(data.labels), held, streamed)
    return Trace(asked, accuracy, loss, right, put, bins, commonest)


def _windows(count: int) -> Iterator[tuple[int, int, bool]]:
    """Where each window begins and ends, and whether the curve has a point at its end."""
    ends = [*range(WINDOW, count, WINDOW), count]
    points = set(np.linspace(0, len(ends) - 1, POINTS).astype(int).tolist())
    for at, end in enumerate(ends):
        yield at * WINDOW, end, at in points


def _is_right(data: Labelled, text: int, said: Said) -> bool:
    return said.prediction.top == data.values[data.labels[text]]


def _tested(learner: Replayed, held: Ints) -> tuple[float, float]:
    """Accuracy and log-loss on the held-out texts."""
    said = [learner.predict(text).prediction for text in held]
    labels = [learner.data.labels[text] for text in held]
    chances = [max(float(p.likely[at]), _LEAST) for p, at in zip(said, labels, strict=True)]
    right = [int(p.likely.argmax()) == at for p, at in zip(said, labels, strict=True)]
    return float(np.mean(right)), float(-np.log(chances).mean())


def _commonest(labels: Ints, held: Ints, streamed: Ints) -> float:
    named = np.bincount(labels[streamed]).argmax()
    return float((labels[held] == named).mean())
