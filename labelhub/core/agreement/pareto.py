"""Which set-ups nobody beats: no other is better at the same cost, or as good for less."""

from collections.abc import Sequence


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Places of the (cost, quality) points that no other dominates, by rising cost.

    A point dominates another when it costs no more and is no worse, and differs in one of both;
    equal points are all on the front.
    """
    best: list[int] = []
    highest: float | None = None
    order = sorted(range(len(points)), key=lambda at: (points[at][0], -points[at][1]))
    for at in order:
        quality = points[at][1]
        equal = best and points[at] == points[best[-1]]
        if highest is None or quality > highest or equal:
            best.append(at)
            highest = quality
    return best
