"""What can be done to a label schema that is in use, as frozen data that JSON carries unchanged.

Labels that there are already are named as they are called before the change; ``to``, ``into``,
``default``, ``replacement`` and everything about words and order use the names of afterwards. All
operations of a change happen at once, so two labels may swap their names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.schema.definition import LabelDef, SchemaError, number
from labelhub.core.schema.reading import read_label_def

MOST_OPERATIONS = 500


class InvalidChange(InvalidInput):
    """A change of a label schema cannot be made; the message says which part of it and why."""

    code = "invalid_schema_change"


@dataclass(frozen=True, slots=True)
class Add:
    """A new label, before another one or at the end."""

    label: LabelDef
    before: str = ""


@dataclass(frozen=True, slots=True)
class Rename:
    """Another name, on a scale another number too; the same label otherwise."""

    label: str
    to: str
    point: float | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """Several labels become one: one of them, another that there is, or a new one in the place of
    the first."""

    labels: tuple[str, ...]
    into: str
    point: float | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """One label becomes several. What carried it gets ``default``, or people are asked again."""

    label: str
    into: tuple[LabelDef, ...]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Retire:
    """A label goes. What carried it gets ``replacement``. Without one, a set of labels loses it; of
    a single label or a scale people are asked again, unless ``ask`` is False: it is taken back."""

    label: str
    replacement: str = ""
    ask: bool = True


@dataclass(frozen=True, slots=True)
class Describe:
    """Other words for a label; None leaves them as they are. No label that was given changes."""

    label: str
    description: str | None = None
    include: str | None = None
    exclude: str | None = None
    examples_for: tuple[str, ...] | None = None
    examples_against: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """Another question above each text."""

    question: str


@dataclass(frozen=True, slots=True)
class Reorder:
    """All labels of afterwards in their new order."""

    labels: tuple[str, ...]


Operation: TypeAlias = Add | Rename | Merge | Split | Retire | Describe | Ask | Reorder

#: As JSON names them.
OPERATIONS: Mapping[str, type[Operation]] = {
    "add": Add,
    "rename": Rename,
    "merge": Merge,
    "split": Split,
    "retire": Retire,
    "describe": Describe,
    "ask": Ask,
    "reorder": Reorder,
}
_NAME_OF = {kind: name for name, kind in OPERATIONS.items()}


def to_json(operations: Sequence[Operation]) -> list[dict[str, Any]]:
    """The operations as JSON; what says nothing is left out."""
    return [_one_to_json(each) for each in operations]


def parse_operations(raw: Any) -> tuple[Operation, ...]:
    """Operations from JSON: a list of ``{"op": "rename", "label": "A", "to": "B"}`` and the like.

    Raises:
        InvalidChange: with the number of the operation and the field that is wrong.
    """
    if not isinstance(raw, list) or not raw:
        raise InvalidChange("operations: must be a list with at least one operation.")
    if len(raw) > MOST_OPERATIONS:
        raise InvalidChange(f"operations: at most {MOST_OPERATIONS}.")
    return tuple(_parse(one, f"operations, number {at}") for at, one in enumerate(raw, start=1))


def _one_to_json(operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {"op": _NAME_OF[type(operation)]}
    for field in fields(operation):
        value = getattr(operation, field.name)
        if value == field.default:
            continue
        told[field.name] = _plain(value)
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, LabelDef):
        return value.to_json()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _parse(raw: Any, where: str) -> Operation:
    if not isinstance(raw, Mapping):
        raise InvalidChange(f"{where}: must be an object with the field 'op'.")
    kind = OPERATIONS.get(str(raw.get("op", "")))
    if kind is None:
        raise InvalidChange(f"{where}, op: must be one of {', '.join(OPERATIONS)}.")
    known = {field.name for field in fields(kind)}
    strange = [str(name) for name in raw if name != "op" and name not in known]
    if strange:
        raise InvalidChange(f"{where}: unknown field '{min(strange)}'.")
    missing = [name for name in _REQUIRED[kind] if name not in raw]
    if missing:
        raise InvalidChange(f"{where}, {missing[0]}: is missing.")
    given = {
        name: _READ[name](told, f"{where}, {name}", kind)
        for name, told in raw.items()
        if name != "op"
    }
    return kind(**given)


def _text(raw: Any, where: str, _kind: type[Operation]) -> str:
    if not isinstance(raw, str):
        raise InvalidChange(f"{where}: must be text.")
    return raw.strip()


def _texts(raw: Any, where: str, _kind: type[Operation]) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(one, str) for one in raw):
        raise InvalidChange(f"{where}: must be a list of texts.")
    return tuple(one.strip() for one in raw)


def _label(raw: Any, where: str, kind: type[Operation]) -> Any:
    return _definition(raw, where) if kind is Add else _text(raw, where, kind)


def _into(raw: Any, where: str, kind: type[Operation]) -> Any:
    if kind is Merge:
        return _text(raw, where, kind)
    if not isinstance(raw, list):
        raise InvalidChange(f"{where}: must be a list of labels.")
    return tuple(_definition(one, where) for one in raw)


def _definition(raw: Any, where: str) -> LabelDef:
    try:
        return read_label_def(raw, where)
    except SchemaError as error:
        raise InvalidChange(error.message) from None


def _point(raw: Any, where: str, _kind: type[Operation]) -> float | None:
    point = number(raw)
    if point is None and raw is not None:
        raise InvalidChange(f"{where}: must be a number.")
    return point


def _flag(raw: Any, where: str, _kind: type[Operation]) -> bool:
    if not isinstance(raw, bool):
        raise InvalidChange(f"{where}: must be true or false.")
    return raw


_READ: Mapping[str, Any] = {
    "label": _label,
    "labels": _texts,
    "into": _into,
    "point": _point,
    "ask": _flag,
    "examples_for": _texts,
    "examples_against": _texts,
    **dict.fromkeys(
        ("to", "before", "default", "replacement", "question", "description", "include", "exclude"),
        _text,
    ),
}
_REQUIRED: Mapping[type[Operation], tuple[str, ...]] = {
    Add: ("label",),
    Rename: ("label", "to"),
    Merge: ("labels", "into"),
    Split: ("label", "into"),
    Retire: ("label",),
    Describe: ("label",),
    Ask: ("question",),
    Reorder: ("labels",),
}
