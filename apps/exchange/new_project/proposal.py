"""A label schema for the values that a file has in its label column. No I/O."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from apps.exchange.file_head import FileHead
from apps.exchange.readers.base import RowFault
from apps.exchange.values import ImportSchema, LabelLeftOut, json_cell
from labelhub.core.schema import TASKS, Schema, ValueNotOffered, fold
from labelhub.core.schema.definition import number
from labelhub.core.schema.parser import FORBIDDEN_IN_NAMES, MAX_NAME

#: More different values than this are no labels; nor are more than FEW, unless each recurs.
MOST_LABELS, FEW = 100, 20
#: The span of whole numbers that are points of a scale, and the least number of points.
MOST_SPAN, LEAST_POINTS = 10, 3
#: Scales that need no numbers to be recognised, from their low end.
SCALES = (
    ("low", "medium", "high"),
    ("none", "mild", "moderate", "severe"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very negative", "negative", "neutral", "positive", "very positive"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)


@dataclass(frozen=True, slots=True)
class OpenSchema(ImportSchema):
    """A schema without labels that collects the cells with labels and leaves them out."""

    cells: list[Any] = field(default_factory=list, compare=False)

    @classmethod
    def new(cls) -> "OpenSchema":
        """With nothing collected yet."""
        return cls(TASKS["single"], leave_out=True)

    def settle(self, cell: Any, where: str) -> Any:
        """Collect the cell.

        Raises:
            LabelLeftOut: always.
        """
        self.cells.append(cell)
        raise LabelLeftOut("The value is left out.", field=where)


@dataclass(frozen=True, slots=True)
class ProposedLabel:
    """A label; ``source`` is its spelling in the file, empty if no row has it."""

    name: str
    source: str = ""
    point: float | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A label type with labels. ``too_many`` is how many different values were too many."""

    task: str
    labels: tuple[ProposedLabel, ...] = ()
    too_many: int = 0


def propose_schema(head: FileHead, cells: Sequence[Any]) -> Proposal:
    """The type and labels that fit the ``cells`` with labels in the head of a file."""
    if head.items and sum(len(item.options) > 1 for item in head.items) * 2 > len(head.items):
        return Proposal("per_item")
    read = [found for cell in cells if (found := _read_cell(cell)) is not None]
    several = any(isinstance(cell, list) for cell in read)
    wholes = Counter(name for cell in read for name in (cell if isinstance(cell, list) else [cell]))
    parts = Counter(part for whole in wholes.elements() for part in _parts(whole))
    if several or len(parts) < len(wholes):
        return _plain("multi", parts if len(parts) < len(wholes) else wholes, len(read))
    return _scale(wholes) or _plain("single", wholes, len(read))


def _read_cell(cell: Any) -> str | list[str] | None:
    """One name, or a list of names; None for an empty cell or one of another shape."""
    with suppress(RowFault):  # it may be a text with a bracket
        cell = json_cell(cell, "")
    if isinstance(cell, dict):
        return [str(name).strip() for name, there in cell.items() if isinstance(there, bool)]
    if isinstance(cell, list):
        return [name.strip() for name in cell if isinstance(name, str) and name.strip()]
    name = f"{cell:g}" if isinstance(cell, float) else str(cell).strip()
    return name or None


def _parts(text: str) -> list[str]:
    """The names in a cell, if it is a list of several labels."""
    task = TASKS["multi"]
    try:
        return list(task.from_cell(Schema(task), text))
    except ValueNotOffered:  # only separators
        return []


def _plain(task: str, counts: Counter[str], cells: int) -> Proposal:
    """The values as labels, the most frequent first, if they can be labels."""
    by_key: dict[str, str] = {}
    for name, _ in counts.most_common():
        by_key.setdefault(fold(name), name)
    usual = all(
        len(name) <= MAX_NAME and not set(FORBIDDEN_IN_NAMES).intersection(name)
        for name in by_key.values()
    )
    few = len(by_key) <= FEW or (len(by_key) <= MOST_LABELS and len(by_key) * 3 <= cells)
    if not (usual and few):
        return Proposal(task, too_many=len(by_key))
    return Proposal(task, tuple(ProposedLabel(name, name) for name in by_key.values()))


def _scale(counts: Counter[str]) -> Proposal | None:
    """The values as points of a scale, gaps filled; None if they are none."""
    keys = {fold(name): name for name in counts}
    for scale in SCALES:
        if len(keys) >= LEAST_POINTS and {scale[0], scale[-1]} <= keys.keys() <= set(scale):
            return _points((keys.get(name, name.capitalize()), name in keys) for name in scale)
    numbers = [number(name) for name in counts]
    whole = [int(point) for point in numbers if point is not None and point == int(point)]
    if len(whole) < len(counts) or len(set(whole)) < LEAST_POINTS:
        return None
    if max(whole) - min(whole) > MOST_SPAN:
        return None
    points = range(min(whole), max(whole) + 1)
    return _points(((str(point), point in whole) for point in points), points[0])


def _points(names: Iterable[tuple[str, bool]], first: int = 1) -> Proposal:
    """A scale of these points; the file has those with True."""
    return Proposal(
        "ordinal",
        tuple(
            ProposedLabel(name, name if there else "", point)
            for point, (name, there) in enumerate(names, first)
        ),
    )
