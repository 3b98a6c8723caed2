"""Changes of labels in words for people."""

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
    """What an operation does, in one sentence without a full stop."""
    match operation:
        case Rename(label=label, to=to, point=None):
            return f"“{label}” is called “{to}”"
        case Rename(label=label, to=to, point=point):
            return f"“{label}” is called “{to}” and stands at {point:g}"
        case Merge(labels=labels, into=into):
            return f"{_quoted(labels)} become “{into}”"
        case Split(label=label, into=parts, default=default):
            then = f"what has it becomes “{default}”" if default else "people are asked which"
            return f"“{label}” is split into {_quoted(parts)}; {then}"
        case Retire():
            return _retired(operation)
        case _:
            return _said(operation)


def _said(operation: Operation) -> str:
    """What changes no label that was given."""
    match operation:
        case Add(label=label):
            return f"New label “{label.name}”"
        case Describe(label=label):
            return f"“{label}” is described anew"
        case Ask(question=question):
            return f"The question is “{question}”" if question else "There is no question any more"
        case _:
            return "The labels come in another order"


def _retired(operation: Retire) -> str:
    gone = f"“{operation.label}” is retired"
    if operation.replacement:
        return f"{gone}; what has it becomes “{operation.replacement}”"
    return gone if operation.ask else f"{gone}; labels that say so are taken back"


def _quoted(labels: Sequence[str | LabelDef]) -> str:
    names = [f"“{label.name if isinstance(label, LabelDef) else label}”" for label in labels]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
