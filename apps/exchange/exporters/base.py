"""What an export is made of: full rows, and a format that writes them."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from apps.projects.models import LabelSchema, Project
from apps.projects.selectors import current_schema
from labelhub.core.schema import Schema

#: One item as a JSON-ready object; see exporters.ledger for its fields.
Row = dict[str, Any]
#: Rows in bounded lists, in the order of the items' ids.
Chunks = Iterable[list[Row]]


@dataclass(frozen=True)
class Source:
    """What is exported, for formats that say more than the rows do."""

    project: Project
    only: str = ""

    @cached_property
    def version(self) -> LabelSchema:
        """The newest version of the schema."""
        return current_schema(self.project)

    @property
    def schema(self) -> Schema:
        """The schema that values are under."""
        return self.version.parsed


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One export format: ``write`` turns chunks of rows into pieces of the file, as they come.

    ``lossless`` formats make the same ledger when they are imported.
    """

    name: str
    title: str
    suffix: str
    content_type: str
    purpose: str
    write: Callable[[Chunks, Source], Iterator[bytes]]
    lossless: bool = True


def spans_of(label: Mapping[str, Any], text: str) -> Iterator[tuple[str, int, int]]:
    """(label, start, end) of the places of ``text`` that a label marks; imported provenance may
    hold anything under that name."""
    given = (label.get("provenance") or {}).get("spans")
    for span in given if isinstance(given, list) else ():
        if not isinstance(span, dict):
            continue
        name, start, end = span.get("label"), span.get("start"), span.get("end")
        if not (isinstance(name, str) and isinstance(start, int) and isinstance(end, int)):
            continue
        if 0 <= start <= end <= len(text):
            yield name, start, end


class Sink(io.RawIOBase):
    """A file that only grows and forgets what was taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: object) -> int:
        """Append; as many bytes as were given."""
        piece = bytes(data)  # type: ignore[call-overload]  # any buffer
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        """How much was written, taken or not."""
        return self._size

    def taken(self) -> bytes:
        """What was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
