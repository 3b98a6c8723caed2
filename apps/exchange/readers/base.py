"""The rows that readers return, the limits they keep, and the errors of a whole file."""

import json
import logging
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase

logger = logging.getLogger(__name__)

#: A row longer than this is reported and skipped; it never enters memory.
MAX_ROW_BYTES = 10 * 1024 * 1024
MAX_TEXT_CHARS = 1_000_000
MAX_DEPTH = 32
#: Bytes that a row may take in memory. An empty list or number takes ``LEAST``, though it may be
#: two bytes in the file.
MAX_ROW_MEMORY, LEAST = 32 * 1024 * 1024, 64
MAX_COLUMNS = 1000
MAX_COLUMN_NAME = 1000

TOO_LONG = Phrase(
    "The row is longer than %(megabytes)s MB (or a quote is never closed); it was skipped.",
    megabytes=MAX_ROW_BYTES // 1024 // 1024,
)


def shortened(text: str, most: int) -> str:
    """``text``, cut off with an ellipsis where it exceeds ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class UnreadableFile(InvalidInput):
    """The file as a whole cannot be read; the message says what to do about it."""

    code = "unreadable_file"


class ReadingFault(UnreadableFile):
    """The server failed to read a file that may be in order; the log has the reason."""

    code = "internal"
    http_status = 500

    def __init__(self, what: str) -> None:
        super().__init__(
            Phrase(
                "Reading this file stopped by a fault of the server (%(name)s). It has been "
                "logged; saved as CSV or JSON Lines, the file may still be read.",
                name=what,
            )
        )


class RowFault(ValueError):
    """One row cannot be used; ``field`` is empty when the row as a whole is at fault."""

    def __init__(
        self, message: str, plural: str = "", /, *, field: str = "", **values: Any
    ) -> None:
        self.message = Phrase(message, plural, **values)
        super().__init__(self.message)
        self.field = field


@contextmanager
def isolate_row(number: int) -> Iterator[None]:
    """Turn an unexpected error into a fault of its row: the rows of a file never depend on each
    other.

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
            "Cannot be read because of a fault of the server (%(name)s); the other rows are "
            "not affected.",
            name=type(error).__name__,
        ) from error


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row as the file has it.

    ``number`` is where a person finds it: the line of a JSONL file, the row of a sheet (the header
    is row 1), the place in a JSON list or Parquet file (from 1). ``position`` is how many bytes of
    the file were read so far, ``size`` how many bytes the row takes, where that may be more than
    the file has. If ``error`` is set, ``data`` must not be used.
    """

    number: int
    data: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    field: str = ""
    position: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Format:
    """One file format: ``read`` streams its rows in constant memory. A format that ``unpacks`` may
    hold far more than the size of its file."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    content_types: tuple[str, ...]
    read: Callable[[Path], Iterator[RawRow]]
    sample: str = ""
    unpacks: bool = False


#: Readers decode with ``surrogateescape``: a byte b that is not UTF-8 arrives as this + b.
ESCAPED_BYTE = 0xDC00


def check_row(data: Mapping[str, Any]) -> None:
    """Refuse what a database or a JSON file cannot hold.

    Raises:
        RowFault: names the field.
    """
    if len(data) > MAX_COLUMNS:
        raise RowFault("The row has more than %(max_columns)s columns.", max_columns=MAX_COLUMNS)
    memory = 0
    for name, value in data.items():
        if len(name) > MAX_COLUMN_NAME:
            raise RowFault(
                "Longer than %(max_column_name)s characters: '%(name)s…'.",
                max_column_name=MAX_COLUMN_NAME,
                name=name[:40],
                field="column",
            )
        _check_text(name, "column")
        memory += _check_value(value, name, 1)
    _check_memory(memory)


def check_columns(names: Sequence[str]) -> None:
    """Refuse too many columns, and two of one name.

    Raises:
        UnreadableFile: says which.
    """
    if len(names) > MAX_COLUMNS:
        raise UnreadableFile(
            "The file has more than %(max_columns)s columns.", max_columns=MAX_COLUMNS
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnreadableFile(
            "Two columns are named '%(twice)s'; give each its own name.", twice=shortened(twice, 80)
        )


def _check_value(value: Any, where: str, depth: int) -> int:
    """About how many bytes the value takes in memory."""
    memory = LEAST
    if isinstance(value, str):
        _check_text(value, where)
        memory += len(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise RowFault("NaN and infinity are not values.", field=where)
    elif isinstance(value, dict):
        _check_depth(where, depth)
        for key, inner in value.items():
            _check_text(key, where)
            memory += LEAST + _check_value(inner, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        _check_depth(where, depth)
        _check_memory(LEAST * len(value))
        memory += sum(
            _check_value(inner, f"{where}[{index}]", depth + 1) for index, inner in enumerate(value)
        )
    return memory


def _check_memory(memory: int) -> None:
    if memory > MAX_ROW_MEMORY:
        raise RowFault(
            "The row takes more than %(value)s MB of memory; split it.",
            value=MAX_ROW_MEMORY // 1024**2,
        )


def _check_depth(where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise RowFault(
            "Nested more than %(max_depth)s levels deep.",
            max_depth=MAX_DEPTH,
            field=where.partition(".")[0].partition("[")[0],
        )


def _check_text(text: str, where: str) -> None:
    if len(text) > MAX_TEXT_CHARS:
        raise RowFault(
            "Longer than %(max_text_chars)s characters; split the text.",
            max_text_chars=MAX_TEXT_CHARS,
            field=where,
        )
    if "\0" in text:
        raise RowFault("Contains a NUL character, which databases cannot store.", field=where)
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code, place = ord(text[error.start]), error.start
        byte = code - ESCAPED_BYTE
        if 0x80 <= byte <= 0xFF:
            found = f"0x{byte:02X}"
            what = Phrase(
                "Not UTF-8 (byte %(byte)s after %(place)s characters)", byte=found, place=place
            )
        else:
            what = Phrase(
                "Half of a character pair (%(code)s after %(place)s characters)",
                code=f"U+{code:04X}",
                place=place,
            )
        raise RowFault("%(what)s; save the file as UTF-8.", what=what, field=where) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class DuplicateKey(ValueError):
    """An object has a key twice, so that its value is ambiguous."""

    def __init__(self, key: str) -> None:
        super().__init__("the key is there twice")
        self.key = key


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = Counter(key for key, _ in pairs)
        raise DuplicateKey(keys.most_common(1)[0][0])
    return found


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


#: No file needs longer numbers, and Python refuses them from 4,300 digits on.
MAX_DIGITS = 1000
DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_parse_integer, object_pairs_hook=_unique_keys
)


def parse_object(text: str, number: int, position: int) -> RawRow:
    """The row that ``text`` holds as JSON, or a row with the reason why it cannot be read."""
    field = ""
    try:
        return object_row(DECODER.decode(text), number, position)
    except json.JSONDecodeError as error:
        message = Phrase(
            "Not valid JSON: %(error)s, at character %(place)s.",
            error=error.msg,
            place=error.pos + 1,
        )
    except DuplicateKey as error:
        message = Phrase("The key is there twice in one object; give it once.")
        field = error.key
    except ValueError as error:
        message = Phrase("Not valid JSON: %(error)s.", error=error)
    except RecursionError:
        message = Phrase("Nested too deep to be read.")
    return RawRow(number, error=message, field=field, position=position)


def object_row(value: Any, number: int, position: int) -> RawRow:
    """A row of an already decoded value; anything but an object is an error."""
    if isinstance(value, dict):
        return RawRow(number, value, position=position)
    kinds = {
        list: Phrase("a list"), str: Phrase("a text"), bool: Phrase("true or false"),
        type(None): Phrase("null"),
    }  # fmt: skip
    found = kinds.get(type(value), Phrase("a number"))
    message = Phrase('Expected an object such as {"text": "…"}, found %(kind)s.', kind=found)
    return RawRow(number, error=message, position=position)
