"""The simulator as a whole: arms × seeds, side by side on the processors there are."""

from collections.abc import Sequence
from typing import Any

from labelhub.core.echo.side_by_side import Told, side_by_side
from labelhub.core.echo.simulation.figures import curves, figures
from labelhub.core.echo.simulation.playing import ARMS, Arm, play
from labelhub.core.echo.simulation.world import Settings
from labelhub.core.errors import InvalidInput

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
