"""A change of a label schema worked out: the schema of afterwards, what becomes of each label."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from labelhub.core.schema.carrying import Fate, SchemaPlan
from labelhub.core.schema.definition import LabelDef, Schema, SchemaError, fold
from labelhub.core.schema.operations import (
    Add,
    Ask,
    Describe,
    InvalidChange,
    Merge,
    Operation,
    Rename,
    Reorder,
    Retire,
    Split,
)
from labelhub.core.schema.reading import parse_schema

Fated: TypeAlias = Rename | Merge | Split | Retire
WORDS = ("description", "include", "exclude", "examples_for", "examples_against")


def plan(old: Schema, operations: Sequence[Operation]) -> SchemaPlan:
    """Work a change out.

    Raises:
        InvalidChange: an operation does not fit the schema or another operation.
    """
    if not old.task.labelled and any(not isinstance(each, Ask) for each in operations):
        raise InvalidChange(
            f"This project has no labels of its own: {old.task.why_unlabelled}. Only the question "
            "can be changed."
        )
    fates = _fates(old, operations)
    labels = _ordered(_described(_added(_kept(old, fates), operations), operations), operations)
    asked = [each.question for each in operations if isinstance(each, Ask)]
    new = _schema(old, labels, asked[-1] if asked else old.question)
    targets = {name: _target(old, new, name, fates.get(name)) for name in old.names}
    return SchemaPlan(old, new, targets, _origins(old, new, fates))


def _fates(old: Schema, operations: Sequence[Operation]) -> dict[str, Fated]:
    """Old label → the one operation that does something to it."""
    found: dict[str, Fated] = {}
    for each in operations:
        for said in _touched(each):
            label = _known(old, said)
            if label.name in found:
                raise InvalidChange(f"Two operations change the label '{label.name}'; one can.")
            found[label.name] = each  # type: ignore[assignment]  # only those touch labels
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
    places = [each for label in old.labels for each in _instead(label, fates.get(label.name))]
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
    names = Counter(fold(each.name) for each in labels)
    for each in labels:
        if names[fold(each.name)] > 1:
            raise InvalidChange(
                f"There would be two labels '{each.name}'. If they mean the same, merge them."
            )


def _added(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    for each in operations:
        if isinstance(each, Add):
            labels.insert(_place(labels, each.before) if each.before else len(labels), each.label)
    _refuse_twice(labels)
    return labels


def _described(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    for each in operations:
        if isinstance(each, Describe):
            said = {name: getattr(each, name) for name in WORDS}
            at = _place(labels, each.label)
            labels[at] = replace(labels[at], **{k: v for k, v in said.items() if v is not None})
    return labels


def _ordered(labels: list[LabelDef], operations: Sequence[Operation]) -> list[LabelDef]:
    for each in operations:
        if isinstance(each, Reorder):
            places = [_place(labels, name) for name in each.labels]
            if sorted(places) != list(range(len(labels))):
                raise InvalidChange("A new order must name each label of afterwards once.")
            labels = [labels[at] for at in places]
    return labels


def _place(labels: Sequence[LabelDef], name: str) -> int:
    for at, label in enumerate(labels):
        if fold(label.name) == fold(name):
            return at
    raise InvalidChange(f"There is no label '{name}' after this change.")


def _schema(old: Schema, labels: Iterable[LabelDef], question: str) -> Schema:
    told = {
        "task": str(old.task),
        "question": question,
        "labels": [label.to_json() for label in labels],
    }
    try:
        return parse_schema(told)
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
