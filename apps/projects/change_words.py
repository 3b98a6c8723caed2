"""Sentences about the operations of a schema change."""

from collections.abc import Sequence

from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import (
    Add,
    Ask,
    Describe,
    Merge,
    Operation,
    Rename,
    Retire,
    Split,
)


def operation_words(operation: Operation) -> str:
    """What an operation does: one sentence without a full stop."""
    match operation:
        case Rename(label=label, to=to, point=None):
            return f"“{label}” is renamed “{to}”"
        case Rename(label=label, to=to, point=point):
            return f"“{label}” is renamed “{to}” at point {point:g}"
        case Merge(labels=labels, into=into):
            return f"{_quoted(labels)} become “{into}”"
        case Split(label=label, into=parts, default=default):
            then = f"its labels become “{default}”" if default else "people choose again"
            return f"“{label}” is split into {_quoted(parts)}; {then}"
        case Retire():
            return _retire_words(operation)
        case _:
            return _schema_words(operation)


def _schema_words(operation: Operation) -> str:
    """The same for operations that leave existing labels alone."""
    match operation:
        case Add(label=label):
            return f"New label “{label.name}”"
        case Describe(label=label):
            return f"“{label}” has a new description"
        case Ask(question=question):
            return f"The question is “{question}”" if question else "The question is removed"
        case _:
            return "The labels have a new order"


def _retire_words(operation: Retire) -> str:
    retired = f"“{operation.label}” is retired"
    if operation.replacement:
        return f"{retired}; its labels become “{operation.replacement}”"
    return retired if operation.ask else f"{retired}; its labels are withdrawn"


def _quoted(labels: Sequence[str | LabelDef]) -> str:
    names = [f"“{label.name if isinstance(label, LabelDef) else label}”" for label in labels]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
