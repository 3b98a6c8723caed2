"""What the routing page draws: how a signal is spread, and what each of its bounds would do.

Positions are 0 to 100; colours and sizes come from the stylesheet.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.common.figures import draw_figure
from apps.debates.services.weighing import Signal, Step
from labelhub.core.agreement.figures import Figure
from labelhub.core.debate.routing import AT_MOST, Threshold

BINS = 20
#: An error curve needs so many different points to say anything.
FEWEST_POINTS = 2


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """Debates whose signal lies here; ``sent`` where that is beyond the bound."""

    x: str
    width: str
    y: str
    height: str
    sent: bool


@dataclass(frozen=True, slots=True)
class Point:
    """A bound on the curve: share sent to the right, error among the accepted upwards."""

    x: str
    y: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class SignalPicture:
    """One signal: histogram, the bound in it, and the curve of its bounds."""

    signal: Signal
    bars: Sequence[HistogramBar]
    bound_x: str
    bound_words: str
    beyond: int
    curve: Sequence[Point]
    top: float

    @property
    def name(self) -> str:
        """The signal's."""
        return self.signal.threshold.signal

    @property
    def debates(self) -> int:
        """How many debates have the signal."""
        return len(self.signal.values)

    @property
    def line(self) -> str:
        """The curve as the points of a polyline."""
        return " ".join(f"{point.x},{point.y}" for point in self.curve)


def signal_picture(signal: Signal, items: int) -> SignalPicture:
    """Draw ``signal`` of ``items`` debated items."""
    threshold, bound = signal.threshold, signal.bound
    beyond = sum(bound is not None and threshold.passed(value, bound) for value in signal.values)
    points, top = _curve(signal.steps, items)
    return SignalPicture(
        signal=signal,
        bars=_bars(signal),
        bound_x="" if bound is None else _x(threshold, _edge(threshold, bound)),
        bound_words=bound_words(threshold, bound),
        beyond=beyond,
        curve=points,
        top=top,
    )


def bound_words(threshold: Threshold, bound: float | None) -> str:
    """``at most 0.5``, or ``off``."""
    return "off" if bound is None else f"{threshold.side} {bound:g}"


def error_words(figure: Figure) -> str:
    """The error of what is accepted in a plain sentence; empty where it is not known."""
    drawn = draw_figure(figure, percent=True)
    if drawn.reason:
        return ""
    low = drawn.low.removesuffix(" %")
    if not figure["value"]:
        return (
            f"Of what is accepted without a person, nothing was found wrong "
            f"(95 % interval {low}–{drawn.high}, n = {drawn.n})."
        )
    return (
        f"Of what is accepted without a person, about {drawn.value} is wrong "
        f"(95 % interval {low}–{drawn.high}, n = {drawn.n})."
    )


def _bars(signal: Signal) -> list[HistogramBar]:
    """A bar for each whole number, or for each twentieth; the lowest holds the values below it."""
    threshold = signal.threshold
    bins = round(threshold.high - threshold.low) + 1 if threshold.whole else BINS
    counts = [0] * bins
    beyond = [0] * bins
    for value in signal.values:
        at = _bin(threshold, value, bins)
        counts[at] += 1
        if signal.bound is not None and threshold.passed(value, signal.bound):
            beyond[at] += 1
    most = max(counts, default=0)
    bars = []
    for at, count in enumerate(counts):
        for part, base, sent in ((beyond[at], 0, True), (count - beyond[at], beyond[at], False)):
            if part:
                low, size = 100 * base / most, 100 * part / most
                bars.append(
                    HistogramBar(
                        _n(100 * at / bins), _n(100 / bins), _n(100 - low - size), _n(size), sent
                    )
                )
    return bars


def _bin(threshold: Threshold, value: float, bins: int) -> int:
    share = (value - threshold.low) / (threshold.high - threshold.low)
    at = round(value - threshold.low) if threshold.whole else int(share * bins)
    return min(max(at, 0), bins - 1)


def _edge(threshold: Threshold, bound: float) -> float:
    """Where the mark stands: a whole number's bar reaches half a step to either side."""
    if not threshold.whole:
        return bound
    return bound + 0.5 if threshold.side == AT_MOST else bound - 0.5


def _x(threshold: Threshold, value: float) -> str:
    low, high = threshold.low, threshold.high
    if threshold.whole:
        low, high = low - 0.5, high + 0.5
    return _n(100 * (value - low) / (high - low))


def _curve(steps: Sequence[Step], items: int) -> tuple[list[Point], float]:
    """Points of the bounds whose error is known, and the error at the top of the picture."""
    told = [(step, step.error["value"]) for step in steps]
    known = [(step, error) for step, error in told if error is not None]
    if len({(step.sent, error) for step, error in known}) < FEWEST_POINTS:
        return [], 0.0
    top = max(0.05, *(error for _, error in known))
    return [
        Point(_n(100 * step.sent / items), _n(100 - 100 * error / top), step.chosen)
        for step, error in known
    ], top


def _n(number: float) -> str:
    return f"{number:.2f}"
