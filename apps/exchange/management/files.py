"""Shared by the commands: finding a file, printing faults."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labelhub.core.errors import InvalidInput

SHOWN = 20


def check_file(path: Path) -> Path:
    """``path``; InvalidInput unless it is a file."""
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    return path


def print_faults(say: Callable[[str], None], faults: Sequence[Mapping[str, Any]]) -> None:
    """One line per fault, the first of them."""
    for fault in faults[:SHOWN]:
        where = f", {fault['field']}" if fault["field"] else ""
        say(f"  row {fault['row']}{where}: {fault['message']}")
    if len(faults) > SHOWN:
        say(f"  … and {len(faults) - SHOWN:,} more")
