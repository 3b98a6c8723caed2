"""From what was pasted, uploaded or sent to a table and its audit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.agreement.audit import Audit, Table, audit, read_table
from labelhub.core.agreement.audit.tables import LONGEST_TEXT, table_of
from labelhub.core.errors import InvalidInput

LARGEST_FILE = LONGEST_TEXT
#: As a person or a program gives a table: its text, or rows of cells by column name.
Given = str | Sequence[Mapping[str, object]]

_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A table to audit, and what is known besides; ``runs`` are the single runs it averages."""

    table: Given
    items: int | None = None
    positives: int | None = None
    calls: int | None = None
    runs: Given | None = None


def audited(asked: Asked) -> tuple[Table, Audit]:
    """The table as it was read, and what is wrong with it.

    Raises:
        InvalidInput: no table, too large a table, or a known number that cannot be; names the
            field ("table", "runs") where one is at fault.
    """
    table = _read(asked.table, "table")
    runs = _read(asked.runs, "runs") if asked.runs else None
    found = audit(table, items=asked.items, positives=asked.positives, calls=asked.calls, runs=runs)
    return table, found


def read_bytes(raw: bytes, field: str = "file", most: int = LARGEST_FILE) -> str:
    """The text of a file: UTF-8, or UTF-16 with its mark; ``most`` bytes, as a rule 200 KB.

    Raises:
        InvalidInput: it is larger, or no text.
    """
    if len(raw) > most:
        raise InvalidInput.at(field, f"The file is larger than {most // 1000:,} KB.")
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8-sig")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InvalidInput.at(
            field, "This is no text file. Save the table as CSV, TSV, Markdown or JSON, in UTF-8."
        )
    return text


def _read(given: Given, field: str) -> Table:
    try:
        return read_table(given) if isinstance(given, str) else table_of(given)
    except InvalidInput as error:
        raise InvalidInput.at(field, error.message) from error
