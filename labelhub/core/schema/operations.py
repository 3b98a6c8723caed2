"""The operations that change a label schema in use, as frozen data with a JSON form.

``label`` and ``labels`` use the names before the change; ``to``, ``into``, ``default`` and
``replacement``, and all of ``Describe`` and ``Reorder``, use the names after it. All operations of
a change happen at once, so two labels may swap their names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.schema.definition import LabelDef, Schema, SchemaError, fold, number
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.parser import parse_schema, read_label_def

MOST_OPERATIONS = 500


class InvalidChange(InvalidInput):
    """A label schema cannot be changed in this way; the message names the part and the reason."""

    code = "invalid_schema_change"


@dataclass(frozen=True, slots=True)
class Add:
    """A new label, before another label or at the end."""

    label: LabelDef
    before: str = ""


@dataclass(frozen=True, slots=True)
class Rename:
    """Another name for a label, on a scale another number too."""

    label: str
    to: str
    point: float | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """Several labels become one: one of them, another existing label, or a new label in the place
    of the first."""

    labels: tuple[str, ...]
    into: str
    point: float | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """One label becomes several. Its values become ``default``, or people are asked again."""

    label: str
    into: tuple[LabelDef, ...]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Retire:
    """A label is removed. Its values become ``replacement``.

    Without a replacement a set of labels loses the label. A single label or a scale point is asked
    again of people; with ``ask`` False it is withdrawn.
    """

    label: str
    replacement: str = ""
    ask: bool = True


@dataclass(frozen=True, slots=True)
class Describe:
    """Other words for a label; None keeps the present ones. No value changes."""

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
    """All new labels in their new order."""

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
    """The operations as JSON, without fields at their defaults."""
    return [
        {"op": _NAME_OF[type(operation)]}
        | {
            field.name: _plain(value)
            for field in fields(operation)
            if (value := getattr(operation, field.name)) != field.default
        }
        for operation in operations
    ]


def parse_operations(raw: Any) -> tuple[Operation, ...]:
    """Operations from JSON: a list of ``{"op": "rename", "label": "A", "to": "B"}`` and the like.

    Raises:
        InvalidChange: with the number of the operation and the field that is wrong.
    """
    if not isinstance(raw, list) or not raw:
        raise InvalidChange("operations: must be a list with at least one operation.")
    if len(raw) > MOST_OPERATIONS:
        raise InvalidChange(
            "operations: at most %(most_operations)s.", most_operations=MOST_OPERATIONS
        )
    return tuple(
        _parse(entry, f"operations, number {number}") for number, entry in enumerate(raw, start=1)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, LabelDef):
        return value.to_json()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _parse(raw: Any, where: str) -> Operation:
    if not isinstance(raw, Mapping):
        raise InvalidChange("%(where)s: must be an object with the field 'op'.", where=where)
    kind = OPERATIONS.get(str(raw.get("op", "")))
    if kind is None:
        raise InvalidChange(
            "%(where)s, op: must be one of %(operations)s.",
            where=where,
            operations=", ".join(OPERATIONS),
        )
    types = {field.name: field.type for field in fields(kind)}
    strange = [str(name) for name in raw if name != "op" and name not in types]
    if strange:
        raise InvalidChange(
            "%(where)s: unknown field '%(strange)s'.", where=where, strange=min(strange)
        )
    missing = [
        field.name for field in fields(kind) if field.default is MISSING and field.name not in raw
    ]
    if missing:
        raise InvalidChange("%(where)s, %(missing)s: is missing.", where=where, missing=missing[0])
    given = {
        name: _READERS[types[name]](value, f"{where}, {name}")
        for name, value in raw.items()
        if name != "op"
    }
    return kind(**given)


def _text(raw: Any, where: str) -> str:
    if not isinstance(raw, str):
        raise InvalidChange("%(where)s: must be text.", where=where)
    return raw.strip()


def _texts(raw: Any, where: str) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(text, str) for text in raw):
        raise InvalidChange("%(where)s: must be a list of texts.", where=where)
    return tuple(text.strip() for text in raw)


def _label(raw: Any, where: str) -> LabelDef:
    try:
        return read_label_def(raw, where)
    except SchemaError as error:
        raise InvalidChange(error.message) from None


def _labels(raw: Any, where: str) -> tuple[LabelDef, ...]:
    if not isinstance(raw, list):
        raise InvalidChange("%(where)s: must be a list of labels.", where=where)
    return tuple(_label(label, where) for label in raw)


def _point(raw: Any, where: str) -> float | None:
    point = number(raw)
    if point is None and raw is not None:
        raise InvalidChange("%(where)s: must be a number.", where=where)
    return point


def _flag(raw: Any, where: str) -> bool:
    if not isinstance(raw, bool):
        raise InvalidChange("%(where)s: must be true or false.", where=where)
    return raw


#: By the type of a field.
_READERS: Mapping[Any, Callable[[Any, str], Any]] = {
    str: _text,
    str | None: _text,
    tuple[str, ...]: _texts,
    tuple[str, ...] | None: _texts,
    LabelDef: _label,
    tuple[LabelDef, ...]: _labels,
    float | None: _point,
    bool: _flag,
}


Fated: TypeAlias = Rename | Merge | Split | Retire
WORDS = ("description", "include", "exclude", "examples_for", "examples_against")


def plan(old: Schema, operations: Sequence[Operation]) -> SchemaPlan:
    """The plan of a change.

    Raises:
        InvalidChange: an operation does not fit the schema or another operation.
    """
    if not old.task.labelled and any(not isinstance(operation, Ask) for operation in operations):
        raise InvalidChange(
            "This project has no labels of its own: %(unlabelled_reason)s. Only the question "
            "can be changed.",
            unlabelled_reason=old.task.unlabelled_reason,
        )
    fates = _fates(old, operations)
    labels = _changed_labels(_kept_labels(old, fates), operations)
    questions = [operation.question for operation in operations if isinstance(operation, Ask)]
    definition = {
        "task": str(old.task),
        "question": questions[-1] if questions else old.question,
        "labels": [label.to_json() for label in labels],
    }
    try:
        new = parse_schema(definition)
    except SchemaError as error:
        raise InvalidChange("The new labels: %(message)s", message=error.message) from None
    targets = {name: _target(old, new, name, fates.get(name)) for name in old.names}
    return SchemaPlan(old, new, targets, _origins(old, new, fates))


def _fates(old: Schema, operations: Sequence[Operation]) -> dict[str, Fated]:
    """Old label → the only operation that changes it."""
    found: dict[str, Fated] = {}
    for operation in operations:
        for name in _changed_by(operation):
            label = old.label(name)
            if label is None:
                raise InvalidChange(
                    "There is no label '%(name)s'; there are: %(names)s.",
                    name=name,
                    names=", ".join(old.names),
                )
            if label.name in found:
                raise InvalidChange(
                    "Two operations change the label '%(name)s'; only one may.", name=label.name
                )
            found[label.name] = operation  # type: ignore[assignment]  # only those change labels
    return found


def _changed_by(operation: Operation) -> tuple[str, ...]:
    """The old labels that an operation renames, merges, splits or retires."""
    if isinstance(operation, Merge):
        if len({fold(name) for name in operation.labels}) < 2:
            raise InvalidChange("A merge needs at least two labels.")
        return operation.labels
    if isinstance(operation, Split) and len(operation.into) < 2:
        raise InvalidChange(
            "Name two or more labels into which '%(label)s' is split.", label=operation.label
        )
    return (operation.label,) if isinstance(operation, Rename | Split | Retire) else ()


def _kept_labels(old: Schema, fates: Mapping[str, Fated]) -> list[LabelDef]:
    """The labels in the old order, each with its successors in its place."""
    places = [place for label in old.labels for place in _successors(label, fates.get(label.name))]
    taken = {fold(label.name) for label, fixed in places if fixed}
    labels: list[LabelDef] = []
    for label, fixed in places:
        if fixed or fold(label.name) not in taken:
            labels.append(label)
            taken.add(fold(label.name))
    _refuse_twice(labels)
    return labels


def _successors(label: LabelDef, fate: Fated | None) -> list[tuple[LabelDef, bool]]:
    """The labels in the place of ``label``. True: its place is fixed; False: it is only needed if
    no other place has a label of that name."""
    match fate:
        case None:
            return [(label, True)]
        case Rename(to=to, point=point):
            return [(_called(label, to, point), True)]
        case Merge(labels=labels, into=into, point=point):
            if fold(into) == fold(label.name):
                return [(_called(label, into, point), True)]
            own = fold(into) in map(fold, labels)
            return [] if own else [(_called(LabelDef(into, point=label.point), into, point), False)]
        case Split(into=parts):
            return [_part(label, part) for part in parts]
    return []


def _called(label: LabelDef, name: str, point: float | None) -> LabelDef:
    return replace(label, name=name, point=label.point if point is None else point)


def _part(label: LabelDef, part: LabelDef) -> tuple[LabelDef, bool]:
    """A part may keep the name of the whole, and then its description if it has none."""
    narrower = fold(part.name) == fold(label.name)
    if narrower and part == LabelDef(part.name, point=part.point):
        part = _called(label, part.name, part.point)
    return part, narrower


def _refuse_twice(labels: Iterable[LabelDef]) -> None:
    names = Counter(fold(label.name) for label in labels)
    for label in labels:
        if names[fold(label.name)] > 1:
            raise InvalidChange(
                "There would be two labels '%(name)s'. If they mean the same, merge them.",
                name=label.name,
            )


def _changed_labels(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    """``labels`` after all that is added, described and put in another order."""
    for operation in operations:
        if isinstance(operation, Add):
            place = _place(labels, operation.before) if operation.before else len(labels)
            labels.insert(place, operation.label)
    _refuse_twice(labels)
    for operation in operations:
        if isinstance(operation, Describe):
            words = {name: getattr(operation, name) for name in WORDS}
            place = _place(labels, operation.label)
            labels[place] = replace(
                labels[place], **{name: word for name, word in words.items() if word is not None}
            )
    for operation in operations:
        if isinstance(operation, Reorder):
            places = [_place(labels, name) for name in operation.labels]
            if sorted(places) != list(range(len(labels))):
                raise InvalidChange("A new order must name each new label once.")
            labels = [labels[place] for place in places]
    return labels


def _place(labels: Sequence[LabelDef], name: str) -> int:
    for place, label in enumerate(labels):
        if fold(label.name) == fold(name):
            return place
    raise InvalidChange("There is no label '%(name)s' after this change.", name=name)


def _target(old: Schema, new: Schema, name: str, fate: Fated | None) -> str | Fate:
    match fate:
        case Rename(to=to):
            return _offered(new, to)
        case Merge(into=into):
            return _offered(new, into)
        case Split(into=parts, default=default):
            if default and fold(default) not in {fold(part.name) for part in parts}:
                raise InvalidChange(
                    "'%(default)s' is none of the labels that '%(name)s' is split into.",
                    default=default,
                    name=name,
                )
            return _offered(new, default) if default else Fate.NEEDS_PEOPLE
        case Retire(replacement=replacement, ask=ask):
            if replacement:
                return _offered(new, replacement)
            if old.task.several:
                return Fate.DROPPED
            return Fate.NEEDS_PEOPLE if ask else Fate.WITHDRAWN
        case _:
            return name


def _offered(new: Schema, name: str) -> str:
    found = new.label(name)
    if found is None:
        raise InvalidChange("There is no label '%(name)s' after this change.", name=name)
    return found.name


def _origins(old: Schema, new: Schema, fates: Mapping[str, Fated]) -> dict[str, str]:
    """New part → the label that was split into it; parts that have an old label's name left out."""
    found: dict[str, str] = {}
    for name, fate in fates.items():
        for part in fate.into if isinstance(fate, Split) else ():
            label = new.label(part.name)
            if label is not None and old.label(part.name) is None:
                found.setdefault(label.name, name)
    return found
