"""What every reader gives back, the limits they keep, and the errors of a whole file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput

#: A row longer than this is reported and skipped; it never enters memory.
MAX_ROW_BYTES = 10 * 1024 * 1024
MAX_TEXT_CHARS = 1_000_000
MAX_DEPTH = 32
MAX_COLUMNS = 1000
MAX_COLUMN_NAME = 1000

TOO_LONG = (
    f"The row is longer than {MAX_ROW_BYTES // 1024 // 1024} MB (or a quote is never closed); "
    "it was skipped."
)


def shortened(text: str, most: int) -> str:
    """``text``, cut off with an ellipsis where it exceeds ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class UnreadableFile(InvalidInput):
    """The file as a whole cannot be read; the message says what to do about it."""

    code = "unreadable_file"


class RowFault(ValueError):
    """One row cannot be used; ``field`` is empty when the row as a whole is at fault."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as the file has it.

    ``number`` is where a person finds it: the line of a JSONL file, the row of a sheet (the header
    is row 1), the place in a JSON list or Parquet file (from 1). ``position`` is how many bytes of
    the file were read so far. ``error`` set means that ``data`` is not to be used.
    """

    number: int
    data: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    field: str = ""
    position: int = 0


@dataclass(frozen=True, slots=True)
class Format:
    """One file format: ``read`` streams its rows in constant memory."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    content_types: tuple[str, ...]
    read: Callable[[Path], Iterator[RawRow]]
    sample: str
