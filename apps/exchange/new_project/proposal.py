"""A label schema for the values that a file has in its label column. No I/O."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
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
#: A shorter word is another one when a letter differs; a misspelling is at most half as frequent.
MISSPELT_CHARS, RARE = 5, 2
#: What joins two words of a value: "very good" and "very_good" are one.
JOINTS = re.compile(r"(?<=[^\W\d_])[\s_-]+(?=[^\W\d_])")
BETWEEN_WORDS = re.compile(r"[\W_]+")
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
    """A label; ``values`` are those of the file that it stands for, with the number of rows."""

    name: str
    values: Mapping[str, int] = field(default_factory=dict)
    point: float | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A label type with labels. ``too_many`` is how many different values were too many."""

    task: str
    labels: tuple[ProposedLabel, ...] = ()
    too_many: int = 0


def propose_schema(head: FileHead, cells: Sequence[Any], *, apart: bool = False) -> Proposal:
    """The type and labels that fit the ``cells`` with labels in the head of a file; ``apart``:
    values that differ by more than case are different labels."""
    if head.items and sum(len(item.options) > 1 for item in head.items) * 2 > len(head.items):
        return Proposal("per_item")
    read = [found for cell in cells if (found := _read_cell(cell)) is not None]
    several = any(isinstance(cell, list) for cell in read)
    wholes = Counter(name for cell in read for name in (cell if isinstance(cell, list) else [cell]))
    parts = Counter(part for whole in wholes.elements() for part in _parts(whole))
    if several or len(parts) < len(wholes):
        counts = parts if len(parts) < len(wholes) else wholes
        return _plain("multi", _groups(counts, apart=apart), len(read))
    groups = _groups(wholes, apart=apart)
    return _scale(groups) or _plain("single", groups, len(read))


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


def _groups(counts: Counter[str], *, apart: bool) -> list[Counter[str]]:
    """The values with the number of their rows, those of one label together, the most frequent
    first."""
    by_key: dict[str, Counter[str]] = {}
    for name, rows in counts.most_common():
        by_key.setdefault(fold(name), Counter())[name] = rows
    groups: dict[str, Counter[str]] = {}
    apart |= len(by_key) > MOST_LABELS or any(len(key) > MAX_NAME for key in by_key)
    for key, values in sorted(by_key.items(), key=lambda pair: -pair[1].total()):
        likely = () if apart else groups
        same = (known for known in likely if _is_spelling(key, values, known, groups[known]))
        groups.setdefault(next(same, key), Counter()).update(values)
    return sorted(groups.values(), key=Counter.total, reverse=True)


def _is_spelling(key: str, rare: Counter[str], known: str, frequent: Counter[str]) -> bool:
    """Whether the folded value ``key`` probably is ``known``: joined in another way, or a rare
    value with one long word misspelt."""
    if JOINTS.sub("", key) == JOINTS.sub("", known):
        return True
    words, others = BETWEEN_WORDS.split(key), BETWEEN_WORDS.split(known)
    if rare.total() * RARE > frequent.total() or len(words) != len(others):
        return False
    unlike = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
    return len(unlike) == 1 and not re.search(r"\d", key + known) and _is_misspelt(*unlike[0])


def _is_misspelt(first: str, second: str) -> bool:
    """Whether two words differ by one letter less, more, other or exchanged, though not the
    first."""
    if min(len(first), len(second)) < MISSPELT_CHARS:
        return False
    pairs = enumerate(zip(first, second, strict=False))
    start = next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))
    first, second = first[start:], second[start:]
    one_letter = first[1:] == second[1:] or first == second[1:] or first[1:] == second
    exchanged = first[1::-1] == second[:2] and first[2:] == second[2:]
    return start > 0 and (one_letter or exchanged)


def _plain(task: str, groups: list[Counter[str]], cells: int) -> Proposal:
    """The values as labels, if they can be labels."""
    usual = all(
        len(name) <= MAX_NAME and not set(FORBIDDEN_IN_NAMES).intersection(name)
        for name in chain.from_iterable(groups)
    )
    few = len(groups) <= FEW or (len(groups) <= MOST_LABELS and len(groups) * 3 <= cells)
    if not (usual and few):
        return Proposal(task, too_many=len(groups))
    return Proposal(task, tuple(ProposedLabel(next(iter(values)), values) for values in groups))


def _scale(groups: list[Counter[str]]) -> Proposal | None:
    """The values as points of a scale, gaps filled; None if they are none."""
    keys = {fold(next(iter(values))): values for values in groups}
    for scale in SCALES:
        if len(keys) >= LEAST_POINTS and {scale[0], scale[-1]} <= keys.keys() <= set(scale):
            return _points((name.capitalize(), keys.get(name)) for name in scale)
    points: dict[float, Counter[str]] = {}
    for values in groups:
        point = number(next(iter(values)))
        if point is None or point != int(point):
            return None
        points.setdefault(point, Counter()).update(values)
    if len(points) < LEAST_POINTS or max(points) - min(points) > MOST_SPAN:
        return None
    first, last = int(min(points)), int(max(points))
    return _points(((str(point), points.get(point)) for point in range(first, last + 1)), first)


def _points(named: Iterable[tuple[str, Counter[str] | None]], first: int = 1) -> Proposal:
    """A scale of these points; those of the file have their values."""
    points = enumerate(named, first)
    return Proposal(
        "ordinal",
        tuple(
            ProposedLabel(next(iter(values or [name])), values or {}, point)
            for point, (name, values) in points
        ),
    )
