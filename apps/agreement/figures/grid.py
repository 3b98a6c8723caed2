"""Where the cells of a heatmap stand, and how large they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.agreement.figures.drawing import WIDTH
from apps.agreement.figures.wording import clean, width_of

#: Up to so many sources every cell has room for its number and its n.
ROOMY = 5
GAP, GROUP_GAP = 2, 8


@dataclass(frozen=True, slots=True)
class Grid:
    """Sizes of cells, and where the columns (``xs``) and the rows (``ys``) begin."""

    xs: Sequence[float]
    ys: Sequence[float]
    top: float
    left: float
    width: float
    height: float
    roomy: bool

    @property
    def right(self) -> float:
        """Where the last column ends."""
        return self.xs[-1] + self.width

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return self.ys[-1] + self.height


@dataclass(frozen=True, slots=True)
class Square:
    """One cell: ``step`` 1 to 5 from little to full agreement, 0 without a number.

    ``own``: within one source.
    """

    x: float
    y: float
    width: float
    height: float
    middle: float
    base: float
    n_base: float
    step: int
    value: str
    n: str
    own: bool
    words: str


@dataclass(frozen=True, slots=True)
class Layer:
    """All cells of a shade as one shape, and where their numbers stand: x, y and words."""

    step: int
    shape: str
    numbers: Sequence[tuple[str, str, str]]


def grid_of(names: Sequence[str], kinds: Sequence[str]) -> Grid:
    """The largest cells that leave room for ``names``; gaps between ``kinds`` where they are small.

    Both are of the same sources, at least one, in the same order.
    """
    count = len(names)
    across = min(92.0, (WIDTH - 78 - GAP * count) / count)
    short = all(width_of(clean(name)) <= min(across, 60) for name in names)
    roomy = count <= ROOMY and short
    left, top, width, height = (78, 26, across, 42) if roomy else (128, 104, 32, 22)
    starts = _starts(kinds, grouped=not roomy)
    xs = [left + at * (width + GAP) + gap for at, gap in enumerate(starts)]
    ys = [top + at * (height + GAP) + gap for at, gap in enumerate(starts)]
    return Grid(xs, ys, top=top, left=left, width=width, height=height, roomy=roomy)


def _starts(kinds: Sequence[str], *, grouped: bool) -> list[float]:
    """How far each source is moved on by the gaps between the kinds before it."""
    moved, starts = 0.0, []
    for before, kind in zip([None, *kinds], kinds, strict=False):
        moved += GROUP_GAP if grouped and before is not None and before != kind else 0
        starts.append(moved)
    return starts


def layer_of(step: int, squares: Sequence[Square]) -> Layer:
    """The squares of a step as one shape."""
    shape = "".join(
        f"M{one.x:g} {one.y:g}h{one.width:g}v{one.height:g}h-{one.width:g}z" for one in squares
    )
    return Layer(step, shape, [(f"{one.middle:g}", f"{one.base:g}", one.value) for one in squares])
