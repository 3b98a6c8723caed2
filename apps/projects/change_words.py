"""Sentences about the operations of a schema change."""

from collections.abc import Sequence

from django.utils.translation import gettext

from apps.common.figures import localise
from apps.common.values import join_names, quoted
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
            return gettext("“%(label)s” is renamed “%(to)s”") % {"label": label, "to": to}
        case Rename(label=label, to=to, point=point):
            words = gettext("“%(label)s” is renamed “%(to)s” at point %(point)s")
            return words % {"label": label, "to": to, "point": localise(f"{point:g}")}
        case Merge(labels=labels, into=into):
            words = gettext("%(labels)s become “%(into)s”")
            return words % {"labels": _quoted(labels), "into": into}
        case Split(label=label, into=parts, default=default):
            if default:
                words = gettext("“%(label)s” is split into %(parts)s; its labels become “%(into)s”")
            else:
                words = gettext("“%(label)s” is split into %(parts)s; people choose again")
            return words % {"label": label, "parts": _quoted(parts), "into": default}
        case Retire():
            return _retire_words(operation)
        case _:
            return _schema_words(operation)


def _schema_words(operation: Operation) -> str:
    """The same for operations that leave existing labels alone."""
    match operation:
        case Add(label=label):
            return gettext("New label “%(label)s”") % {"label": label.name}
        case Describe(label=label):
            return gettext("“%(label)s” has a new description") % {"label": label}
        case Ask(question=""):
            return gettext("The question is removed")
        case Ask(question=question):
            return gettext("The question is “%(question)s”") % {"question": question}
        case _:
            return gettext("The labels have a new order")


def _retire_words(operation: Retire) -> str:
    if operation.replacement:
        words = gettext("“%(label)s” is retired; its labels become “%(into)s”")
    elif operation.ask:
        words = gettext("“%(label)s” is retired")
    else:
        words = gettext("“%(label)s” is retired; its labels are withdrawn")
    return words % {"label": operation.label, "into": operation.replacement}


def _quoted(labels: Sequence[str | LabelDef]) -> str:
    names = [label.name if isinstance(label, LabelDef) else label for label in labels]
    return join_names([quoted(name) for name in names])
