"""What the simulator says, over seeds: the figures of ``echo.md`` and the learning curves.

Arms are compared within a seed, where they saw the same messages and had the same luck; intervals
are of the mean over seeds, by Student's t.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.echo.repeated_runs import CONFIDENCE, Figure, Told, mean_figure, side_by_side
from labelhub.core.echo.simulation.runs import ARMS, ECHO, NO_ASKING, RANDOM, Arm, Trace, play
from labelhub.core.echo.simulation.world import Settings
from labelhub.core.echo.uncertainty import calibration_error
from labelhub.core.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]

#: Messages of a running mean, and points of a curve.
WINDOW, POINTS = 1_000, 40
MEDIAN = "median over seeds, order statistics, 95 %"
#: Means of the same values, summed in another order, differ by less.
_ROUNDING = 1e-9


def final(values: Floats) -> float:
    """The mean of the last :data:`WINDOW` messages."""
    return float(values[-WINDOW:].mean())


def question_share(echo: Trace, random: Trace) -> float | None:
    """Share of its questions with which Echo reaches what random asking ends with; None: never."""
    running = _running(echo.accuracy)
    reached = np.flatnonzero(running >= final(random.accuracy) - _ROUNDING)
    if not len(reached) or not echo.asked[-1]:
        return None
    last = min(int(reached[0]) + WINDOW, len(echo.accuracy)) - 1
    return float(echo.asked[last] / echo.asked[-1])


def figures(traces: Mapping[str, Sequence[Trace]]) -> dict[str, Any]:
    """All figures; ``traces`` by the arm's name, of the same seeds in the same order.

    Each is {"value", "low", "high", "n", "method"}, n counting seeds, or {"value": None, "reason"}.
    """
    echo = traces[ECHO.name]
    others = [name for name in traces if name != ECHO.name]
    asking = [name for name in others if traces[name][0].asked[-1]]
    return {
        "question_share": _share_figure(echo, traces[RANDOM.name]),
        "accuracy_gain": _gain(echo, traces[RANDOM.name]),
        "accuracy_gain_over": {
            name: _gain(echo, traces[name]) for name in (*asking, NO_ASKING.name)
        },
        "regret_ratio": {name: _regret_ratio(echo, traces[name]) for name in others},
        "ece": mean_figure([calibration_error(trace.bins) for trace in echo]),
        "accuracy": {
            name: mean_figure([final(t.accuracy) for t in each]) for name, each in traces.items()
        },
        "found": {
            name: mean_figure([final(t.found) for t in each]) for name, each in traces.items()
        },
    }


def curves(traces: Mapping[str, Sequence[Trace]]) -> list[dict[str, Any]]:
    """Points of the learning curves: rows of {"arm", "messages", "asked", "figure", "value", "low",
    "high"}; ``figure`` is "accuracy", "found" or "regret" (per message)."""
    return [
        point
        for name, each in traces.items()
        for figure in ("accuracy", "found", "regret")
        for point in _curve(name, figure, each)
    ]


def _gain(echo: Sequence[Trace], other: Sequence[Trace]) -> Figure:
    pairs = zip(echo, other, strict=True)
    return mean_figure([final(one.accuracy) - final(two.accuracy) for one, two in pairs])


def _regret_ratio(echo: Sequence[Trace], other: Sequence[Trace]) -> Figure:
    pairs = zip(echo, other, strict=True)
    return mean_figure([float(one.regret.sum() / two.regret.sum()) for one, two in pairs])


def _share_figure(echo: Sequence[Trace], random: Sequence[Trace]) -> Figure:
    """The median; a seed that never gets there counts as more than all of its questions."""
    shares = sorted(
        math.inf if share is None else share for share in map(question_share, echo, random)
    )
    count = len(shares)
    median = float(np.median(shares))
    if math.isinf(median) or math.isnan(median):
        return {"value": None, "reason": "never_reached"}
    # Ranks that hold the median in 95 of 100 samples; of fewer than six not even the ends do.
    rank = int(stats.binom.ppf((1 - CONFIDENCE) / 2, count, 0.5))
    low, high = (shares[rank - 1], shares[count - rank]) if rank else (math.inf, math.inf)
    return {
        "value": median,
        "low": low if math.isfinite(low) else None,
        "high": high if math.isfinite(high) else None,
        "n": count,
        "method": MEDIAN,
    }


def _running(values: Floats) -> Floats:
    """Means of each :data:`WINDOW` messages in a row; of all where there are fewer."""
    window = min(WINDOW, len(values))
    sums = np.cumsum(np.concatenate([[0.0], values]))
    means: Floats = (sums[window:] - sums[:-window]) / window
    return means


def _curve(name: str, figure: str, traces: Sequence[Trace]) -> list[dict[str, Any]]:
    length = len(traces[0].asked)
    ends = np.unique(np.linspace(0, length, POINTS + 1).astype(int))
    points = []
    for start, end in pairwise(ends.tolist()):
        values = [float(getattr(trace, figure)[start:end].mean()) for trace in traces]
        told = mean_figure(values)
        points.append(
            {
                "arm": name,
                "figure": figure,
                "messages": int(end),
                "asked": int(traces[0].asked[end - 1]),
                "value": told["value"],
                "low": told["low"],
                "high": told["high"],
            }
        )
    return points


MOST_SEEDS = 1_000


def simulate(
    settings: Settings,
    seeds: int = 20,
    *,
    arms: Sequence[Arm] = ARMS,
    told: Told | None = None,
) -> dict[str, Any]:
    """Play every arm in the worlds of seeds 0, 1, …; the figures, and "curves".

    Args:
        settings: of the world.
        seeds: how many.
        arms: must hold Echo, random asking and no asking.
        told: is told, now and then, how many of how many plays are done.

    Raises:
        InvalidInput: ``seeds`` is out of its range.
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise InvalidInput.at("seeds", f"must be from 1 to {MOST_SEEDS}.")
    plays = {(seed, arm.name): (settings, seed, arm) for seed in range(seeds) for arm in arms}
    found = side_by_side(play, plays, told)
    traces = {arm.name: [found[seed, arm.name] for seed in range(seeds)] for arm in arms}
    return {**figures(traces), "curves": curves(traces)}
