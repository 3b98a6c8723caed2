"""Replays of labelled texts, with accuracy and gain of each arm over random orders.

Arms are compared within an order, with the same held-out texts; intervals are of the mean over
orders, by Student's t. Orders share their texts, so an interval covers the randomness of the order,
not of the texts.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.events import Answered
from labelhub.core.echo.models import Prediction, predict
from labelhub.core.echo.question_choice import choose, worth
from labelhub.core.echo.repeated_runs import Figure, Report, mean_figure, side_by_side
from labelhub.core.echo.replay.labelled_texts import Labelled
from labelhub.core.echo.state import EchoState, learn, signs_of
from labelhub.core.echo.uncertainty import bin_doubts, calibration_error, new_bins, sigma
from labelhub.core.echo.vectors import Sparse, vector_of
from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

#: The arms choose texts to ask about by Echo, at random, or by the smallest margin between the two
#: likeliest values (margin sampling, Scheffer et al. 2001).
ECHO, RANDOM, MARGIN = "echo", "random", "margin"
ARMS = (ECHO, RANDOM, MARGIN)
#: The texts of a window, from which questions are chosen together.
WINDOW = 12
#: One in so many texts is held out.
HELD_OUT = 5
#: The most points of a curve.
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
class ReplayTrace:
    """The trace of an arm on one order.

    The curve's points, (points,): asked: questions so far; held_out: accuracy on the held-out
    texts; log_loss: on the same, in nats. Of the streamed texts, (streamed,), in order: right:
    whether the prediction before any answer was right; put: whether the text was asked about.
    bins: of the σ of all streamed texts, see :func:`~.uncertainty.bin_doubts`. commonest: accuracy
    on the held-out texts of the commonest value of the streamed ones.
    """

    asked: Ints
    held_out: Floats
    log_loss: Floats
    right: Bools
    put: Bools
    bins: Floats
    commonest: float


@dataclass(frozen=True, slots=True)
class ReplayedPrediction:
    """The prediction for one text, with its signs and σ."""

    prediction: Prediction
    signs: Floats
    sigma: float


class Replayed:
    """An arm: its state, and the texts that it learns from."""

    def __init__(self, data: Labelled, arm: str, draws: np.random.Generator) -> None:
        self.data, self.arm, self.draws = data, arm, draws
        self.vectors: list[Sparse] = [vector_of(text) for text in data.texts]
        self.state = EchoState()
        self.state.index(FEATURE)

    def predict(self, text: int) -> ReplayedPrediction:
        """The prediction for a text, with the probability that it is wrong."""
        model = self.state.model(FEATURE)
        prediction = predict(model, self.vectors[text], self.data.values)
        signs = signs_of(self.state, FEATURE, prediction)
        return ReplayedPrediction(
            prediction, signs, float(sigma(self.state.uncertainty, signs[None, :])[0])
        )

    def choose(self, predicted: Sequence[ReplayedPrediction], most: int) -> Ints:
        """The places in a window of the texts to ask about, (at most ``most``,)."""
        if self.arm == RANDOM:
            return self.draws.choice(len(predicted), most, replace=False)
        if self.arm == MARGIN:
            margins = [text.prediction.margin for text in predicted]
            return np.argsort(margins, kind="stable")[:most]
        relevance, doubt = self.state.relevance, self.state.uncertainty
        optimistic = relevance.expected + relevance.deviation
        values = worth(
            optimistic.repeat(len(predicted)),
            np.array([text.sigma for text in predicted]),
            doubt.answers.repeat(len(predicted)),
        )
        return choose(values, most, self.draws).chosen

    def answered(self, text: int, predicted: ReplayedPrediction) -> None:
        """Learn from the stored label of a text, as a site learns from its log."""
        value, top = self.data.values[self.data.labels[text]], predicted.prediction.top
        lesson = Answered(
            id=str(text),
            author=str(text),
            trusted=True,
            feature=FEATURE,
            value=value,
            predicted=top,
            loss=float(value != top),
            signs=tuple(predicted.signs.tolist()),
            vector=self.vectors[text],
            values=self.data.values,
        )
        learn(self.state, lesson)


def split_texts(data: Labelled, order: Order) -> tuple[Ints, Ints]:
    """The held-out texts, and the streamed ones in order; the same for every arm."""
    drawn = np.random.default_rng([order.seed, 1]).permutation(len(data.texts))
    held = len(drawn) // HELD_OUT
    return drawn[:held], drawn[held:]


def play(data: Labelled, order: Order, arm: str) -> ReplayTrace:
    """Run an arm through one order of the texts."""
    held, streamed = split_texts(data, order)
    learner = Replayed(data, arm, np.random.default_rng([order.seed, 2]))
    count = len(streamed)
    right, put, bins = np.zeros(count, bool), np.zeros(count, bool), new_bins()
    points = []
    for start, end, is_point in _windows(count):
        window = streamed[start:end]
        predicted = [learner.predict(text) for text in window]
        right[start:end] = [_is_right(data, *pair) for pair in zip(window, predicted, strict=True)]
        bin_doubts(bins, np.array([text.sigma for text in predicted]), ~right[start:end])
        most = min(len(window), math.floor(order.share * end) - int(put.sum()))
        for place in learner.choose(predicted, most):
            put[start + place] = True
            learner.answered(window[place], predicted[place])
        if is_point:
            points.append((int(put.sum()), *_test_held_out(learner, held)))
    asked, accuracy, loss = (np.array(column) for column in zip(*points, strict=True))
    labels = np.array(data.labels)
    named = np.bincount(labels[streamed]).argmax()
    commonest = float((labels[held] == named).mean())
    return ReplayTrace(asked, accuracy, loss, right, put, bins, commonest)


def _windows(count: int) -> Iterator[tuple[int, int, bool]]:
    """The start and end of each window, and whether the curve has a point at its end."""
    ends = [*range(WINDOW, count, WINDOW), count]
    points = set(np.linspace(0, len(ends) - 1, POINTS).astype(int).tolist())
    for number, end in enumerate(ends):
        yield number * WINDOW, end, number in points


def _is_right(data: Labelled, text: int, predicted: ReplayedPrediction) -> bool:
    return predicted.prediction.top == data.values[data.labels[text]]


def _test_held_out(learner: Replayed, held: Ints) -> tuple[float, float]:
    """Accuracy and log-loss on the held-out texts."""
    predictions = [learner.predict(text).prediction for text in held]
    labels = [learner.data.labels[text] for text in held]
    chances = [
        max(float(p.likely[label]), _LEAST) for p, label in zip(predictions, labels, strict=True)
    ]
    right = [int(p.likely.argmax()) == label for p, label in zip(predictions, labels, strict=True)]
    return float(np.mean(right)), float(-np.log(chances).mean())


Traces: TypeAlias = Mapping[str, Sequence[ReplayTrace]]

OVER = "orders"
#: The findings of a comparison: its interval is above 0, below it, contains it, or is missing.
AHEAD, BEHIND, LEVEL, UNTOLD = "ahead", "behind", "level", "untold"


def figures(traces: Traces) -> dict[str, Any]:
    """All figures; ``traces`` by arm, of the same orders in the same order.

    accuracy, log_loss: by arm, on the held-out texts at the end. unasked: by arm, accuracy of the
    first predictions, on the texts of the second half of the stream without a question, which
    differ by arm. area: by arm, mean height of the curve of
    ``accuracy``. gain, area_gain: Echo's accuracy and area less each other arm's. commonest: of the
    commonest value. over_commonest: Echo's accuracy less that. learnt: mean height of
    the last quarter of Echo's curve less that of the first. ece: by arm, of σ on all streamed
    texts, by order; few texts alone make it larger. ece_pooled: by arm, of all orders together.
    findings: results of the comparisons, as codes.
    """
    echo, others = traces[ECHO], [name for name in traces if name != ECHO]
    found = {
        "accuracy": _by_arm(traces, _final),
        "log_loss": _by_arm(traces, lambda trace: float(trace.log_loss[-1])),
        "unasked": _by_arm(traces, _unasked),
        "area": _by_arm(traces, _area),
        "gain": {name: _gain(echo, traces[name], _final) for name in others},
        "area_gain": {name: _gain(echo, traces[name], _area) for name in others},
        "commonest": _mean([trace.commonest for trace in echo]),
        "over_commonest": _mean([_final(trace) - trace.commonest for trace in echo]),
        "learnt": _mean([_rise(trace) for trace in echo]),
        "ece": _by_arm(traces, lambda trace: calibration_error(trace.bins)),
        "ece_pooled": {
            name: calibration_error(np.sum([trace.bins for trace in arm_traces], axis=0))
            for name, arm_traces in traces.items()
        },
    }
    return {
        **found,
        "findings": {
            "learnt": finding_of(found["learnt"]),
            "over_commonest": finding_of(found["over_commonest"]),
            "area_gain": {name: finding_of(gain) for name, gain in found["area_gain"].items()},
        },
    }


def curves(traces: Traces) -> list[dict[str, Any]]:
    """Points of the learning curves: rows of {"arm", "asked", "figure", "value", "low", "high"};
    ``figure`` is "accuracy" or "log_loss", both on the held-out texts."""
    return [
        point
        for name, arm_traces in traces.items()
        for figure, field in (("accuracy", "held_out"), ("log_loss", "log_loss"))
        for point in _curve(
            name, figure, arm_traces[0].asked, [getattr(trace, field) for trace in arm_traces]
        )
    ]


def finding_of(figure: Figure) -> str:
    """Whether a difference is significant: one of the four findings."""
    if figure["low"] is None or figure["high"] is None:
        return UNTOLD
    if figure["low"] > 0:
        return AHEAD
    return BEHIND if figure["high"] < 0 else LEVEL


def _curve(
    name: str, figure: str, asked: Sequence[int] | NDArray[np.int64], heights: Sequence[Floats]
) -> list[dict[str, Any]]:
    points = []
    for place, count in enumerate(asked):
        mean = _mean([float(height[place]) for height in heights])
        ends = {end: mean[end] for end in ("value", "low", "high")}
        points.append({"arm": name, "figure": figure, "asked": int(count), **ends})
    return points


def _final(trace: ReplayTrace) -> float:
    return float(trace.held_out[-1])


def _rise(trace: ReplayTrace) -> float:
    quarter = max(1, len(trace.held_out) // 4)
    return float(trace.held_out[-quarter:].mean() - trace.held_out[:quarter].mean())


def _area(trace: ReplayTrace) -> float:
    """The mean height between the first and the last point, by the trapezoidal rule."""
    span = trace.asked[-1] - trace.asked[0]
    if not span:
        return _final(trace)
    return float(np.trapezoid(trace.held_out, trace.asked) / span)


def _unasked(trace: ReplayTrace) -> float:
    half = len(trace.right) // 2
    return float(trace.right[half:][~trace.put[half:]].mean())


def _by_arm(traces: Traces, figure: Callable[[ReplayTrace], float]) -> dict[str, Figure]:
    return {
        name: _mean([figure(trace) for trace in arm_traces]) for name, arm_traces in traces.items()
    }


def _gain(
    echo: Sequence[ReplayTrace],
    other: Sequence[ReplayTrace],
    figure: Callable[[ReplayTrace], float],
) -> Figure:
    return _mean([figure(trace) - figure(two) for trace, two in zip(echo, other, strict=True)])


def _mean(values: Sequence[float]) -> Figure:
    return mean_figure(values, OVER)


MOST_ORDERS = 1_000
SHARE = 0.33


def replay(
    data: Labelled, orders: int = 20, share: float = SHARE, *, report: Report | None = None
) -> dict[str, Any]:
    """Run every arm on the orders 0, 1, …; the figures, the "counts" and "curves".

    Args:
        data: texts and labels.
        orders: their number.
        share: the most streamed texts with a question, as a share.
        report: called after each play with the number of finished and of all plays.

    Raises:
        InvalidInput: ``orders`` or ``share`` is out of its range.
    """
    if not 1 <= orders <= MOST_ORDERS:
        raise InvalidInput.at("orders", f"must be from 1 to {MOST_ORDERS}.")
    drawn = [Order(seed, share) for seed in range(orders)]
    plays = {(order.seed, arm): (data, order, arm) for order in drawn for arm in ARMS}
    found = side_by_side(play, plays, report)
    traces = {arm: [found[order.seed, arm] for order in drawn] for arm in ARMS}
    first = traces[ARMS[0]][0]
    counts = {
        "texts": len(data.texts),
        "repeated": data.repeated,
        "streamed": len(first.put),
        "held_out": len(data.texts) - len(first.put),
        "asked": int(first.asked[-1]),
    }
    return {
        "counts": counts, "values": dict(data.shares), **figures(traces), "curves": curves(traces),
    }  # fmt: skip
