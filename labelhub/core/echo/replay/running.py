"""The replay as a whole: arms × orders, side by side on the processors there are."""

from typing import Any

from labelhub.core.echo.replay.figures import curves, figures
from labelhub.core.echo.replay.playing import ARMS, Order, play
from labelhub.core.echo.replay.reading import Labelled
from labelhub.core.echo.side_by_side import Told, side_by_side
from labelhub.core.errors import InvalidInput

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
