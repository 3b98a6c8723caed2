"""What every reader gives back, the limits they keep, and the errors of a whole file."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput

logger = logging.getLogger(__name__)

#: A row longer than this is reported and skipped; it never enters memory.
MAX_ROW_BYTES = 10 * 1024 * 1024
MAX_TEXT_CHARS = 1_000_000
MAX_DEPTH = 32
#: What a row may take in memory, where an empty list or number takes ``LEAST``: it may be two bytes
#: of a file.
MAX_ROW_MEMORY, LEAST = 32 * 1024 * 1024, 64
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


class ReadingFault(UnreadableFile):
    """The server failed at the file, which may be in order; its log has how."""

    code = "internal"
    http_status = 500

    def __init__(self, what: str) -> None:
        super().__init__(
            f"Reading this file stopped by a fault of the server ({what}). It has been logged; "
            "saved as CSV or JSON Lines, the file may still be read."
        )


class RowFault(ValueError):
    """One row cannot be used; ``field`` is empty when the row as a whole is at fault."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


@contextmanager
def one_row(number: int) -> Iterator[None]:
    """What goes wrong with one row is that row's fault, even where nobody thought of it: the rows
    of a file never depend on each other.

    Raises:
        RowFault: for any exception but the end of memory.
    """
    try:
        yield
    except (RowFault, MemoryError):
        raise
    except Exception as error:
        logger.exception("row %s could not be translated", number)
        raise RowFault(
            f"Cannot be read because of a fault of the server ({type(error).__name__}); the other "
            "rows do not depend on it."
        ) from error


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as the file has it.

    ``number`` is where a person finds it: the line of a JSONL file, the row of a sheet (the header
    is row 1), the place in a JSON list or Parquet file (from 1). ``position`` is how many bytes of
    the file were read so far, ``size`` how many bytes the row takes, where that may be more than
    the file has. ``error`` set means that ``data`` is not to be used.
    """

    number: int
    data: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    field: str = ""
    position: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Format:
    """One file format: ``read`` streams its rows in constant memory. One that ``unpacks`` may hold
    far more than its size tells."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    content_types: tuple[str, ...]
    read: Callable[[Path], Iterator[RawRow]]
    sample: str
    unpacks: bool = False
