"""How many more answers pay: when the learning curve flattens.

The model: the share of wrong predictions, tested on each answer before learning from it, falls as
``a + b · n^-c`` with the answers ``n`` (the usual learning curve: Cortes et al. 1994). The curve is
flat where 100 more answers gain less than half a point. The interval of that place is a parametric
bootstrap over the counts; a bound that the data do not give is None.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

#: The fewest answers, and stretches of them, for a curve.
LEAST_ANSWERS, LEAST_STRETCHES = 100, 5
#: A curve is flat where so many more answers gain less than this share.
STEP, LEAST_GAIN = 100.0, 0.005
#: The farthest forecast, as a multiple of the present answers.
FARTHEST = 10.0
#: The exponents ``c`` that are tried.
_STEEPNESS = np.linspace(0.1, 1.5, 29)
_DRAWS = 400
_BOUNDS = (2.5, 97.5)
#: Places at which the slope of a curve is checked.
_PLACES = 400


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive answers: their number, and that of wrong predictions (may be fractional)."""

    answers: int
    wrong: float


@dataclass(frozen=True, slots=True)
class Plateau:
    """The remaining gain.

    ``left``: answers until the curve is flat, 0 if it is; None beyond :data:`FARTHEST` times the
    present ones. ``low``, ``high``: 95 % interval, with the same meaning. ``gain``: the gain in
    accuracy until then. ``reason``: why there is no estimate; then the others are None.
    """

    answers: int
    left: int | None = None
    low: int | None = None
    high: int | None = None
    gain: float | None = None
    reason: str = ""


def answers_left(stretches: Sequence[Stretch], seed: int = 0) -> Plateau:
    """How many more answers there are until the gain flattens.

    Args:
        stretches: in the order of the answers.
        seed: of the draws; the same gives the same interval.
    """
    filled = [stretch for stretch in stretches if stretch.answers > 0]
    answers = sum(stretch.answers for stretch in filled)
    if answers < LEAST_ANSWERS:
        return Plateau(answers, reason=f"takes {LEAST_ANSWERS} answers; there are {answers}")
    if len(filled) < LEAST_STRETCHES:
        return Plateau(answers, reason="the answers came in too few stretches")
    counts = np.array([stretch.answers for stretch in filled], dtype=np.float64)
    wrong = np.array([stretch.wrong for stretch in filled])
    places = np.cumsum(counts) - counts / 2 + 0.5
    best = _fit_curves(places, counts, (wrong / counts)[None, :])
    flat = _flat_from(best, answers)[0]
    # The bootstrap: refit curves to counts drawn from the best one.
    draws = np.random.default_rng(seed)
    chance = np.clip(_curve(best, places)[0], 0.0, 1.0)
    size = (_DRAWS, len(counts))
    rates = draws.binomial(counts.astype(np.int64), chance, size=size) / counts
    ends = _flat_from(_fit_curves(places, counts, rates), float(counts.sum()))
    low, high = np.percentile(ends, _BOUNDS, method="nearest")
    now, then = _curve(best, np.array([answers, answers + flat]))[0]
    return Plateau(
        answers,
        left=_round_left(flat, answers),
        low=_round_left(low, answers),
        high=_round_left(high, answers),
        gain=None if _round_left(flat, answers) is None else float(now - then),
    )


def _fit_curves(places: Floats, counts: Floats, rates: Floats) -> Floats:
    """The curves nearest to ``rates``, (draws, places): a, b and c of each, (draws, 3).

    Weighted least squares, for each steepness in closed form with a and b not below 0.
    """
    pooled = np.clip((rates @ counts) / counts.sum(), 0.02, 0.98)
    weights = counts[None, :] / (pooled * (1 - pooled))[:, None]
    found = np.zeros((len(rates), 3))
    least = np.full(len(rates), np.inf)
    for steepness in _STEEPNESS:
        level, fall = _line(places**-steepness, weights, rates)
        away = rates - level[:, None] - fall[:, None] * (places**-steepness)[None, :]
        loss = (weights * away**2).sum(axis=1)
        better = loss < least
        least[better] = loss[better]
        fits = np.stack([level, fall, np.full(len(rates), steepness)], axis=1)
        found[better] = fits[better]
    return found


def _line(x: Floats, weights: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Level and slope of the weighted lines through (x, y), neither below 0: (draws,) each."""
    whole = weights.sum(axis=1)
    mean_x, mean_y = (weights @ x) / whole, (weights * y).sum(axis=1) / whole
    apart = x[None, :] - mean_x[:, None]
    slope = (weights * apart * y).sum(axis=1) / (weights * apart**2).sum(axis=1)
    through_0 = (weights * x * y).sum(axis=1) / (weights @ x**2)
    level = mean_y - slope * mean_x
    slope = np.where(level < 0, through_0, slope)
    level = np.maximum(level, 0.0)
    return np.where(slope < 0, mean_y, level), np.maximum(slope, 0.0)


def _flat_from(curves: Floats, answers: float) -> Floats:
    """How many answers after those there are each curve is flat; infinite beyond the farthest."""
    places = answers * np.geomspace(1.0, 1.0 + FARTHEST, _PLACES)
    gain = _curve(curves, places) - _curve(curves, places + STEP)
    flat = gain < LEAST_GAIN
    first: Floats = np.where(flat.any(axis=1), places[flat.argmax(axis=1)] - answers, np.inf)
    return first


def _curve(curves: Floats, places: Floats) -> Floats:
    """Share of wrong predictions at each place: (curves, places)."""
    level, fall, steepness = (curves[:, parameter, None] for parameter in range(3))
    errors: Floats = level + fall * places[None, :] ** -steepness
    return errors


def _round_left(left: float, answers: int) -> int | None:
    """Rounded to what can be known: two digits."""
    if not np.isfinite(left) or left > FARTHEST * answers:
        return None
    return int(float(f"{left:.1e}"))
