"""Shared by the commands: reading a file, printing faults."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput

PIECE = 1024 * 1024
SHOWN = 20


def check_file(path: Path) -> Path:
    """``path`` if it is a file.

    Raises:
        InvalidInput: it is not.
    """
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    return path


def file_pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a file.

    Raises:
        InvalidInput: there is no such file.
    """
    with check_file(path).open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def print_faults(say: Callable[[str], None], faults: Sequence[Mapping[str, Any]]) -> None:
    """One line per fault, the first of them."""
    for fault in faults[:SHOWN]:
        where = f", {fault['field']}" if fault["field"] else ""
        say(f"  row {fault['row']}{where}: {fault['message']}")
    if len(faults) > SHOWN:
        say(f"  … and {len(faults) - SHOWN:,} more")
