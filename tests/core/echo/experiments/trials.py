"""Simulated arms: authors of unequal diligence and unequal liking, with planted rates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelhub.core.echo.experiments.clusters import ClusteredRate, rate_of

Floats = NDArray[np.float64]
#: Of a clicked impression, how many clicks come on top of the first, on average.
AGAIN = 0.1


@dataclass(frozen=True, slots=True)
class Planted:
    """An arm: ``authors`` with ``messages`` each on average, every one followed by an impression.

    ``chance`` that an impression is clicked; ``alike``: correlation of two of one author's (the
    authors' own chances are Beta distributed).
    """

    authors: int
    messages: float
    chance: float
    alike: float


def impressions(rng: np.random.Generator, arm: Planted) -> NDArray[np.int64]:
    """Of each author; a few write very much."""
    shape = 0.7
    scale = (arm.messages - 1) / shape
    return np.asarray(1 + rng.poisson(rng.gamma(shape, scale, arm.authors)), dtype=np.int64)


def likings(rng: np.random.Generator, arm: Planted) -> Floats:
    """Each author's own chance to click."""
    if arm.alike == 0:
        return np.full(arm.authors, arm.chance)
    strength = 1 / arm.alike - 1
    return rng.beta(arm.chance * strength, (1 - arm.chance) * strength, arm.authors)


def drawn(
    rng: np.random.Generator, arm: Planted
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """One run of the arm: clicks, and clicked impressions, over impressions by author."""
    shown = impressions(rng, arm)
    clicked = rng.binomial(shown, likings(rng, arm))
    clicks = clicked + rng.poisson(clicked * AGAIN)
    exposure = shown.astype(np.float64)
    return (
        (clicks.astype(np.float64), exposure),
        (clicked.astype(np.float64), exposure),
    )


def rates(
    rng: np.random.Generator, arm: Planted, runs: int
) -> list[tuple[ClusteredRate, ClusteredRate]]:
    """``drawn`` again and again, as rates."""
    found = []
    for _ in range(runs):
        clicks, clicked = (rate_of(*part) for part in drawn(rng, arm))
        assert clicks is not None
        assert clicked is not None
        found.append((clicks, clicked))
    return found
