"""What no row may contain, whatever file it came from."""

import math
from collections.abc import Mapping
from typing import Any

from apps.exchange.readers.base import (
    LEAST,
    MAX_COLUMN_NAME,
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_ROW_MEMORY,
    MAX_TEXT_CHARS,
    RowFault,
)

#: Readers decode with ``surrogateescape``: a byte b that is not UTF-8 arrives as this + b.
ESCAPED_BYTE = 0xDC00


def check_row(data: Mapping[str, Any]) -> None:
    """Refuse what a database or a JSON file cannot hold.

    Raises:
        RowFault: names the field.
    """
    if len(data) > MAX_COLUMNS:
        raise RowFault(f"The row has more than {MAX_COLUMNS:,} columns.")
    taken = 0
    for name, value in data.items():
        _check_name(name)
        taken += _check(value, name, 1)
    _check_memory(taken)


def _check_name(name: str) -> None:
    if len(name) > MAX_COLUMN_NAME:
        raise RowFault(
            f"Longer than {MAX_COLUMN_NAME:,} characters: '{name[:40]}…'.", field="a column name"
        )
    _check_text(name, "a column name")


def _check(value: Any, where: str, depth: int) -> int:
    """About how many bytes the value takes in memory."""
    taken = LEAST
    if isinstance(value, str):
        _check_text(value, where)
        taken += len(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RowFault("NaN and infinity are not values.", field=where)
    elif isinstance(value, dict):
        _check_depth(where, depth)
        for key, inner in value.items():
            _check_text(key, where)
            taken += LEAST + _check(inner, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        _check_depth(where, depth)
        _check_memory(LEAST * len(value))
        taken += sum(_check(inner, f"{where}[{at}]", depth + 1) for at, inner in enumerate(value))
    return taken


def _check_memory(taken: int) -> None:
    if taken > MAX_ROW_MEMORY:
        raise RowFault(
            f"The row takes more than {MAX_ROW_MEMORY // 1024**2} MB of memory; split it."
        )


def _check_depth(where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RowFault(
            f"Nested more than {MAX_DEPTH} levels deep.",
            field=where.partition(".")[0].partition("[")[0],
        )


def _check_text(text: str, where: str) -> None:
    if len(text) > MAX_TEXT_CHARS:
        raise RowFault(f"Longer than {MAX_TEXT_CHARS:,} characters; split the text.", field=where)
    if "\0" in text:
        raise RowFault("Contains a NUL character, which databases cannot store.", field=where)
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RowFault(_not_utf8(text[error.start], error.start), field=where) from None


def _not_utf8(char: str, at: int) -> str:
    byte = ord(char) - ESCAPED_BYTE
    if 0x80 <= byte <= 0xFF:
        return f"Not UTF-8 (byte 0x{byte:02X} after {at} characters); save the file as UTF-8."
    half = f"U+{ord(char):04X}"
    return f"Half of a character pair ({half} after {at} characters); save the file as UTF-8."
