"""What translators of other tools' rows share. No I/O."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from apps.exchange.columns import ColumnMap
from labelhub.core.schema import Schema

#: Names of labels that come without a UUID are made in here, from all that they say.
NAMESPACE = UUID("0c3c5a0e-8f0d-4d64-9f0a-6a1c1b1f7a11")

Data: TypeAlias = Mapping[str, Any]


class Translated(NamedTuple):
    """A row in our own fields, and what is worth a remark (field, message) once for the file."""

    row: dict[str, Any]
    remarks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """Rows of one tool: ``fits`` looks at the keys alone, ``read`` raises ``RowFault``.

    ``columns`` are those that may be chosen as text, id and so on; ``questions`` what the row
    answers, of which one can be the project's.
    """

    title: str
    fits: Callable[[Data], bool]
    read: Callable[[Data, ColumnMap, Schema], Translated]
    columns: Callable[[Data], Iterable[str]]
    questions: Callable[[Data], Iterable[str]]
