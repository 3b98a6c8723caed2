"""What an export is made of: full rows, and a format that writes them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from labelhub.core.schema import Schema

#: One item as a JSON-ready object; see exporters.ledger for its fields.
Row = dict[str, Any]
#: Rows in bounded lists, in the order of the items' ids.
Chunks = Iterable[list[Row]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One export format: ``write`` turns chunks of rows into pieces of the file, as they come."""

    name: str
    title: str
    suffix: str
    content_type: str
    purpose: str
    write: Callable[[Chunks, Schema], Iterator[bytes]]
