"""What can be done to a label schema that is in use, as frozen data that JSON carries unchanged.

Labels that there are already are named as they are called before the change; ``to``, ``into``,
``default``, ``replacement`` and everything about words and order use the names of afterwards. All
operations of a change happen at once, so two labels may swap their names.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.schema.carrying import Fate, SchemaPlan
from labelhub.core.schema.definition import LabelDef, Schema, SchemaError, fold, number
from labelhub.core.schema.reading import parse_schema, read_label_def

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
    return [_one_to_json(operation) for operation in operations]


def parse_operations(raw: Any) -> tuple[Operation, ...]:
    """Operations from JSON: a list of ``{"op": "rename", "label": "A", "to": "B"}`` and the like.

    Raises:
        InvalidChange: with the number of the operation and the field that is wrong.
    """
    if not isinstance(raw, list) or not raw:
        raise InvalidChange("operations: must be a list with at least one operation.")
    if len(raw) > MOST_OPERATIONS:
        raise InvalidChange(f"operations: at most {MOST_OPERATIONS}.")
    return tuple(
        _parse(entry, f"operations, number {number}") for number, entry in enumerate(raw, start=1)
    )


def _one_to_json(operation: Operation) -> dict[str, Any]:
    written: dict[str, Any] = {"op": _NAME_OF[type(operation)]}
    for field in fields(operation):
        value = getattr(operation, field.name)
        if value == field.default:
            continue
        written[field.name] = _plain(value)
    return written


def _plain(value: Any) -> Any:
    if isinstance(value, LabelDef):
        return value.to_json()
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


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
        name: _READ[name](value, f"{where}, {name}", kind)
        for name, value in raw.items()
        if name != "op"
    }
    return kind(**given)


def _text(raw: Any, where: str, _kind: type[Operation]) -> str:
    if not isinstance(raw, str):
        raise InvalidChange(f"{where}: must be text.")
    return raw.strip()


def _texts(raw: Any, where: str, _kind: type[Operation]) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(text, str) for text in raw):
        raise InvalidChange(f"{where}: must be a list of texts.")
    return tuple(text.strip() for text in raw)


def _label(raw: Any, where: str, kind: type[Operation]) -> Any:
    return _definition(raw, where) if kind is Add else _text(raw, where, kind)


def _into(raw: Any, where: str, kind: type[Operation]) -> Any:
    if kind is Merge:
        return _text(raw, where, kind)
    if not isinstance(raw, list):
        raise InvalidChange(f"{where}: must be a list of labels.")
    return tuple(_definition(label, where) for label in raw)


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


Fated: TypeAlias = Rename | Merge | Split | Retire
WORDS = ("description", "include", "exclude", "examples_for", "examples_against")


def plan(old: Schema, operations: Sequence[Operation]) -> SchemaPlan:
    """Work a change out.

    Raises:
        InvalidChange: an operation does not fit the schema or another operation.
    """
    if not old.task.labelled and any(not isinstance(operation, Ask) for operation in operations):
        raise InvalidChange(
            f"This project has no labels of its own: {old.task.why_unlabelled}. Only the question "
            "can be changed."
        )
    fates = _fates(old, operations)
    labels = _ordered(_described(_added(_kept(old, fates), operations), operations), operations)
    asked = [operation.question for operation in operations if isinstance(operation, Ask)]
    new = _schema(old, labels, asked[-1] if asked else old.question)
    targets = {name: _target(old, new, name, fates.get(name)) for name in old.names}
    return SchemaPlan(old, new, targets, _origins(old, new, fates))


def _fates(old: Schema, operations: Sequence[Operation]) -> dict[str, Fated]:
    """Old label → the one operation that does something to it."""
    found: dict[str, Fated] = {}
    for operation in operations:
        for name in _touched(operation):
            label = _known(old, name)
            if label.name in found:
                raise InvalidChange(f"Two operations change the label '{label.name}'; one can.")
            found[label.name] = operation  # type: ignore[assignment]  # only those touch labels
    return found


def _touched(operation: Operation) -> tuple[str, ...]:
    if isinstance(operation, Merge):
        if len({fold(name) for name in operation.labels}) < 2:
            raise InvalidChange("A merge needs at least two labels.")
        return operation.labels
    if isinstance(operation, Split) and len(operation.into) < 2:
        raise InvalidChange(f"Say into which labels '{operation.label}' is split: two or more.")
    return (operation.label,) if isinstance(operation, Rename | Split | Retire) else ()


def _known(old: Schema, name: str) -> LabelDef:
    found = old.label(name)
    if found is None:
        raise InvalidChange(f"There is no label '{name}'; there are: {', '.join(old.names)}.")
    return found


def _kept(old: Schema, fates: Mapping[str, Fated]) -> list[LabelDef]:
    """The labels in the old order, with what comes of each in its place."""
    places = [place for label in old.labels for place in _instead(label, fates.get(label.name))]
    taken = {fold(label.name) for label, fixed in places if fixed}
    labels: list[LabelDef] = []
    for label, fixed in places:
        if fixed or fold(label.name) not in taken:
            labels.append(label)
            taken.add(fold(label.name))
    _refuse_twice(labels)
    return labels


def _instead(label: LabelDef, fate: Fated | None) -> list[tuple[LabelDef, bool]]:
    """What stands where ``label`` stood; True where it must stand there, False where it is only
    needed if the name stands nowhere else."""
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
    """A part may keep the name of the whole, and its description if it says none of its own."""
    narrower = fold(part.name) == fold(label.name)
    if narrower and part == LabelDef(part.name, point=part.point):
        part = _called(label, part.name, part.point)
    return part, narrower


def _refuse_twice(labels: Iterable[LabelDef]) -> None:
    names = Counter(fold(label.name) for label in labels)
    for label in labels:
        if names[fold(label.name)] > 1:
            raise InvalidChange(
                f"There would be two labels '{label.name}'. If they mean the same, merge them."
            )


def _added(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    for operation in operations:
        if isinstance(operation, Add):
            labels.insert(
                _place(labels, operation.before) if operation.before else len(labels),
                operation.label,
            )
    _refuse_twice(labels)
    return labels


def _described(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    for operation in operations:
        if isinstance(operation, Describe):
            words = {name: getattr(operation, name) for name in WORDS}
            place = _place(labels, operation.label)
            labels[place] = replace(
                labels[place], **{k: v for k, v in words.items() if v is not None}
            )
    return labels


def _ordered(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    for operation in operations:
        if isinstance(operation, Reorder):
            places = [_place(labels, name) for name in operation.labels]
            if sorted(places) != list(range(len(labels))):
                raise InvalidChange("A new order must name each label of afterwards once.")
            labels = [labels[place] for place in places]
    return labels


def _place(labels: Sequence[LabelDef], name: str) -> int:
    for place, label in enumerate(labels):
        if fold(label.name) == fold(name):
            return place
    raise InvalidChange(f"There is no label '{name}' after this change.")


def _schema(old: Schema, labels: Iterable[LabelDef], question: str) -> Schema:
    definition = {
        "task": str(old.task),
        "question": question,
        "labels": [label.to_json() for label in labels],
    }
    try:
        return parse_schema(definition)
    except SchemaError as error:
        raise InvalidChange(f"The labels of afterwards: {error.message}") from None


def _target(old: Schema, new: Schema, name: str, fate: Fated | None) -> str | Fate:
    match fate:
        case Rename(to=to):
            return _offered(new, to)
        case Merge(into=into):
            return _offered(new, into)
        case Split(into=parts, default=default):
            if default and fold(default) not in {fold(part.name) for part in parts}:
                raise InvalidChange(
                    f"'{default}' is none of the labels that '{name}' is split into."
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
        raise InvalidChange(f"There is no label '{name}' after this change.")
    return found.name


def _origins(old: Schema, new: Schema, fates: Mapping[str, Fated]) -> dict[str, str]:
    """Parts that are no old label under another operation's hand."""
    found: dict[str, str] = {}
    for name, fate in fates.items():
        for part in fate.into if isinstance(fate, Split) else ():
            label = new.label(part.name)
            if label is not None and old.label(part.name) is None:
                found.setdefault(label.name, name)
    return found
