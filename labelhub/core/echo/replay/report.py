"""What a replay says, over orders: how right each arm ends, what choosing wins, the curves.

Arms are compared within an order, where the same texts are held out; intervals are of the mean over
orders, by Student's t. Orders share their texts: an interval says what the chance of the order
does, not how other texts would fare.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.repeated_runs import Figure, Told, mean_figure, side_by_side
from labelhub.core.echo.replay.labelled_texts import Labelled
from labelhub.core.echo.replay.runs import ARMS, ECHO, Order, Trace, play
from labelhub.core.echo.uncertainty import calibration_error
from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Traces: TypeAlias = Mapping[str, Sequence[Trace]]

OVER = "orders"
#: What a comparison comes to: its interval is above nothing, below it, holds it; or there is none.
AHEAD, BEHIND, LEVEL, UNTOLD = "ahead", "behind", "level", "untold"


def figures(traces: Traces) -> dict[str, Any]:
    """All figures; ``traces`` by arm, of the same orders in the same order.

    accuracy, log_loss: by arm, on the held-out texts at the end. unasked: by arm, accuracy of what
    was predicted before any answer, on those texts of the second half of the stream that were never
    asked about: which these are differs by arm. area: by arm, mean height of the curve of
    ``accuracy``. gain, area_gain: Echo's accuracy and area less each other arm's. commonest: of
    naming the commonest value. over_commonest: Echo's accuracy less that. learnt: mean height of
    the last quarter of Echo's curve less that of the first. ece: by arm, of σ on all streamed
    texts, by order; few texts alone make it larger. ece_pooled: by arm, of all orders together.
    findings: what the comparisons come to, as words for programs.
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
            name: calibration_error(np.sum([trace.bins for trace in each], axis=0))
            for name, each in traces.items()
        },
    }
    return {**found, "findings": _findings(found)}


def curves(traces: Traces) -> list[dict[str, Any]]:
    """Points of the learning curves: rows of {"arm", "asked", "figure", "value", "low", "high"};
    ``figure`` is "accuracy" or "log_loss", both on the held-out texts."""
    return [
        point
        for name, each in traces.items()
        for figure, field in (("accuracy", "held_out"), ("log_loss", "log_loss"))
        for point in _curve(name, figure, each[0].asked, [getattr(one, field) for one in each])
    ]


def comes_to(figure: Figure) -> str:
    """Whether a difference is told from nothing."""
    if figure["low"] is None or figure["high"] is None:
        return UNTOLD
    if figure["low"] > 0:
        return AHEAD
    return BEHIND if figure["high"] < 0 else LEVEL


def _findings(found: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "learnt": comes_to(found["learnt"]),
        "over_commonest": comes_to(found["over_commonest"]),
        "area_gain": {name: comes_to(each) for name, each in found["area_gain"].items()},
    }


def _curve(
    name: str, figure: str, asked: Sequence[int] | NDArray[np.int64], heights: Sequence[Floats]
) -> list[dict[str, Any]]:
    points = []
    for at, count in enumerate(asked):
        told = _mean([float(each[at]) for each in heights])
        ends = {end: told[end] for end in ("value", "low", "high")}
        points.append({"arm": name, "figure": figure, "asked": int(count), **ends})
    return points


def _final(trace: Trace) -> float:
    return float(trace.held_out[-1])


def _rise(trace: Trace) -> float:
    quarter = max(1, len(trace.held_out) // 4)
    return float(trace.held_out[-quarter:].mean() - trace.held_out[:quarter].mean())


def _area(trace: Trace) -> float:
    """Between its first and its last point, by the trapezoidal rule."""
    span = trace.asked[-1] - trace.asked[0]
    if not span:
        return _final(trace)
    return float(np.trapezoid(trace.held_out, trace.asked) / span)


def _unasked(trace: Trace) -> float:
    half = len(trace.right) // 2
    return float(trace.right[half:][~trace.put[half:]].mean())


def _by_arm(traces: Traces, figure: Callable[[Trace], float]) -> dict[str, Figure]:
    return {name: _mean([figure(trace) for trace in each]) for name, each in traces.items()}


def _gain(
    echo: Sequence[Trace], other: Sequence[Trace], figure: Callable[[Trace], float]
) -> Figure:
    return _mean([figure(one) - figure(two) for one, two in zip(echo, other, strict=True)])


def _mean(values: Sequence[float]) -> Figure:
    return mean_figure(values, OVER)


MOST_ORDERS = 1_000
SHARE = 0.33


def replay(
    data: Labelled, orders: int = 20, share: float = SHARE, *, told: Told | None = None
) -> dict[str, Any]:
    """Play every arm on the orders 0, 1, …; the figures, the "counts" and "curves".

    Args:
        data: texts and labels.
        orders: how many.
        share: of the streamed texts that are asked about, at most.
        told: is told, now and then, how many of how many plays are done.

    Raises:
        InvalidInput: ``orders`` or ``share`` is out of its range.
    """
    if not 1 <= orders <= MOST_ORDERS:
        raise InvalidInput.at("orders", f"must be from 1 to {MOST_ORDERS}.")
    drawn = [Order(seed, share) for seed in range(orders)]
    plays = {(order.seed, arm): (data, order, arm) for order in drawn for arm in ARMS}
    found = side_by_side(play, plays, told)
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
