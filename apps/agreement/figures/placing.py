"""Names beside marks where nothing else stands; of the same marks always at the same places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.agreement.figures.wording import width_of

#: Left, top, right, bottom.
Box = tuple[float, float, float, float]
#: Height of a name; from an edge this far off it is plain whose it is, beyond NEAR by a line.
NAME, OFF, NEAR = 13, 3, 8
#: How far from the mark room is looked for, step by step.
STEPS = (OFF, 13, 23, 33, 43)
#: Marks up to so far apart share a name where there is no room for one each.
TOGETHER = (8, 16, 32, 64, 128, 1024)


@dataclass(frozen=True, slots=True)
class NamePosition:
    """Where a name stands, from its left end; ``leader`` is the line to its mark, if it is far."""

    x: float
    y: float
    leader: Box | None = None


def placed(
    marks: Sequence[Box], names: Sequence[str], taken: Sequence[Box], frame: Box
) -> list[NamePosition] | None:
    """A place in ``frame`` for each name beside its mark; None where not all find room.

    They keep clear of the marks, of what is ``taken``, and of each other.
    """
    full = [*taken, *marks]
    spots = []
    for mark, name in zip(marks, names, strict=True):
        width = width_of(name)
        free = next((box for box in _around(mark, width) if _fits(box, full, frame)), None)
        if free is None:
            return None
        full.append(free)
        spots.append(NamePosition(free[0], (free[1] + free[3]) / 2, _leader(mark, free)))
    return spots


def grouped(
    marks: Sequence[Box], taken: Sequence[Box], frame: Box
) -> list[tuple[Sequence[int], str, NamePosition]]:
    """Numbers instead of names: groups of marks, what stands beside each, and where.

    Marks are numbered from 1 in their order. The nearest share a place where there is no room for
    one each: ``2–4, 7``.
    """
    for near in TOGETHER:
        groups = _groups(marks, near)
        words = [ranges([at + 1 for at in group]) for group in groups]
        boxes = [_hull([marks[at] for at in group]) for group in groups]
        spots = placed(boxes, words, [*taken, *marks], frame)
        if spots is not None:
            return list(zip(groups, words, spots, strict=True))
    corner = NamePosition(frame[0] + OFF, frame[1] + NAME / 2)
    return [(range(len(marks)), ranges(range(1, len(marks) + 1)), corner)]


def ranges(numbers: Sequence[int]) -> str:
    """``1–3, 7`` for 1, 2, 3 and 7, which rise."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _around(mark: Box, width: float) -> Iterator[Box]:
    """Places beside a mark, best first: near ones before far ones, level ones before others."""
    left, top, right, bottom = mark
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    for off in STEPS:
        level, above, below = middle_y - NAME / 2, top - off - NAME, bottom + off
        yield _box(right + off, level, width)
        yield _box(middle_x - width / 2, above, width)
        yield _box(middle_x - width / 2, below, width)
        yield _box(left - off - width, level, width)
        for down in (above, below):
            yield _box(right + OFF, down, width)
            yield _box(left - OFF - width, down, width)


def _box(left: float, top: float, width: float) -> Box:
    return (left, top, left + width, top + NAME)


def _fits(box: Box, taken: Sequence[Box], frame: Box) -> bool:
    left, top, right, bottom = box
    inside = left >= frame[0] and top >= frame[1] and right <= frame[2] and bottom <= frame[3]
    return inside and not any(overlap(box, other) for other in taken)


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _leader(mark: Box, name: Box) -> Box | None:
    """From the nearest edge of the mark to that of the name, unless they stand side by side."""
    to_x = _between(name[0], name[2], (mark[0] + mark[2]) / 2)
    to_y = _between(name[1], name[3], (mark[1] + mark[3]) / 2)
    x, y = _between(mark[0], mark[2], to_x), _between(mark[1], mark[3], to_y)
    return (x, y, to_x, to_y) if max(abs(to_x - x), abs(to_y - y)) > NEAR else None


def _between(low: float, high: float, value: float) -> float:
    return min(max(value, low), high)


def _groups(marks: Sequence[Box], near: float) -> list[list[int]]:
    """Marks joined to any that stands nearer than ``near``, first to last."""
    groups: list[list[int]] = []
    for at, mark in enumerate(marks):
        left, top, right, bottom = mark
        wide = (left - near, top - near, right + near, bottom + near)
        joined = [group for group in groups if any(overlap(wide, marks[one]) for one in group)]
        groups = [group for group in groups if group not in joined]
        groups.append(sorted([at, *(one for group in joined for one in group)]))
    return sorted(groups)


def _hull(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return (min(lefts), min(tops), max(rights), max(bottoms))
