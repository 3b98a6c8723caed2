"""What drawn pictures share: scales, axes and their ticks, in the units of a picture's own box."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    words: str


@dataclass(frozen=True, slots=True)
class Axes:
    """The plot's own box within the picture, and what stands along its two sides."""

    left: float
    right: float
    top: float
    bottom: float
    x_ticks: Sequence[Tick] = ()
    y_ticks: Sequence[Tick] = ()
    x_words: str = ""
    y_words: str = ""
    y_words_above: float = 10

    @property
    def y_ticks_x(self) -> float:
        """Where the words of the ticks at the side end."""
        return self.left - 6

    @property
    def x_ticks_y(self) -> float:
        """Where the words of the ticks below stand."""
        return self.bottom + 15

    @property
    def x_words_y(self) -> float:
        """Where the name of the axis below stands."""
        return self.bottom + 31

    @property
    def y_words_y(self) -> float:
        """Where the name of the axis at the side stands: above it, so that nobody turns a head."""
        return self.top - self.y_words_above


@dataclass(frozen=True, slots=True)
class Scale:
    """Values to places; ``log`` for values above 0."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of ``value``, which is held within the ends."""
        low, high, value = (self._of(number) for number in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return rounded(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start))

    def _of(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else value


def rounded(place: float) -> float:
    """One digit is finer than a screen."""
    return round(place, 1)


def round_values(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, at most about ``most``."""
    rough = (high - low) / most or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 2.5, 5, 10) if size * times >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * at, 10) for at in range(first, int(high / step + 1e-9) + 1)]


def ticks(scale: Scale, values: Sequence[float], say: Callable[[float], str]) -> list[Tick]:
    """A tick for each of ``values``, in the words of ``say``."""
    return [Tick(scale.at(value), say(value)) for value in values]


def down_to(values: Sequence[float], step: float = 0.1) -> float:
    """The round number below all ``values``, so that none stands on the axis."""
    least = min(values)
    below = round(math.floor((least - step / 20) / step) * step, 6)
    return max(below, 0.0) if least >= 0 else below
