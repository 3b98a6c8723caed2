"""Read a catalogue from a file: CSV with a header, or a JSON list.

A file of another format is refused; else the good rows are returned and each bad one is reported
with its field and reason, so that the user may correct the file first.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from labelhub.core.echo.recommending.item_index import denied, normalise_value
from labelhub.core.echo.recommending.items import Item, read_item
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import fold

#: The most bytes (or characters) of a file, and the most rows, good and bad.
MOST_BYTES, MOST_ROWS = 64_000_000, 50_000
DELIMITERS = (",", ";", "\t")
NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "item_id", "product_id", "sku"),
    "title": ("title", "name", "product"),
    "text": ("text", "description", "words"),
    "link": ("link", "url", "href"),
    "picture": ("picture", "image", "image_url", "image_link"),
    "vertical": ("vertical", "category", "department"),
    "price": ("price",),
    "currency": ("currency",),
    "tags": ("tags", "keywords"),
    "attributes": ("attributes", "suits"),
}
REQUIRED = ("id", "title", "text", "link")

_FIELDS: Mapping[str, str] = {name: field for field, names in NAMES.items() for name in names}
#: One row: its number, its fields, and its fault, if known already.
_Row: TypeAlias = tuple[int, Mapping[str, Any], str]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The contents of a file.

    Args:
        items: of the good rows, in order; with different ids.
        faults: of the bad rows, in order; a row may have several: {"row", "field", "message"}, with
            the row in CSV as a spreadsheet counts, the header being 1; in JSON from 1.
        ignored: unknown columns.
    """

    items: tuple[Item, ...]
    faults: tuple[dict[str, Any], ...] = ()
    ignored: tuple[str, ...] = ()


def read_catalogue(source: bytes | str) -> Catalogue:
    """The items of a file: UTF-8, with or without a byte order mark.

    CSV is parted by commas, semicolons or tabs and begins with a row of names (:data:`NAMES`, in
    any case). JSON is a list of objects with the same names. See :func:`.items.read_item` for the
    fields. Of rows with one id the first stays and the others are faults.

    Raises:
        InvalidInput: it is not UTF-8, too large, not such a table, or lacks a column.
    """
    if len(source) > MOST_BYTES:
        raise InvalidInput(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    try:
        text = source if isinstance(source, str) else source.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"The file is not UTF-8 (byte {error.start + 1:,}); save it as 'CSV UTF-8'."
        ) from None
    text = text.removeprefix("\ufeff")
    is_json = text.lstrip()[:1] in ("[", "{")
    rows, ignored = (_json_rows(text), []) if is_json else _csv_rows(text)
    items: list[Item] = []
    faults: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for count, (row, raw, problem) in enumerate(rows, start=1):
        if count > MOST_ROWS:
            raise InvalidInput(f"The file has more than {MOST_ROWS:,} rows.")
        if problem:
            faults.append({"row": row, "field": "", "message": problem})
            continue
        try:
            item = read_item(raw)
        except InvalidInput as error:
            faults += [{"row": row, **fault} for fault in error.data["errors"]]
            continue
        if item.id in seen:
            message = f"'{item.id}' is that of row {seen[item.id]}, too."
            faults.append({"row": row, "field": "id", "message": message})
            continue
        seen[item.id] = row
        items.append(item)
    return Catalogue(tuple(items), tuple(faults), tuple(ignored))


def _json_rows(text: str) -> Iterator[_Row]:
    try:
        data = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The file is not JSON: {error}.") from None
    if not isinstance(data, list):
        raise InvalidInput("The JSON must be a list of items.")
    for row, given in enumerate(data, start=1):
        if not isinstance(given, dict):
            yield row, {}, "must be an object with 'id', 'title', 'text' and 'link'."
            continue
        named = [(_field(name), value) for name, value in given.items() if _field(name)]
        twice = len(dict(named)) < len(named)
        yield row, dict(named), "two of its names mean the same field." if twice else ""


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _csv_rows(text: str) -> tuple[Iterator[_Row], list[str]]:
    first = next(io.StringIO(text, newline=""), "")
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InvalidInput(f"The first row cannot be read: {error}.") from None
    columns = [_field(name) for name in header]
    for name in REQUIRED:
        if name not in columns:
            raise InvalidInput.at(name, "there is no column of this name in the first row.")
    twice = next((name for name in NAMES if columns.count(name) > 1), None)
    if twice:
        raise InvalidInput.at(twice, "two columns have this meaning.")
    # As it is shown and kept: half of a character pair could be neither.
    names = [name.strip()[:60].encode(errors="replace").decode() for name in header]
    ignored = [name for name, column in zip(names, columns, strict=True) if name and not column]
    return _records(reader, columns), ignored


def _field(name: str) -> str:
    """The field of that name; "" for an unknown one."""
    return _FIELDS.get(fold(name).replace(" ", "_"), "")


def _records(reader: Iterator[list[str]], columns: Sequence[str]) -> Iterator[_Row]:
    row = 1
    while True:
        row += 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            # The reader goes on with the next line, or is at the end if a quote was never closed.
            yield row, {}, f"cannot be read as separated values: {error}."
            continue
        if cells is None:
            return
        if any(map(str.strip, cells[len(columns) :])):
            yield row, {}, "has more cells than the first row."
        elif any(map(str.strip, cells)):
            given = zip(columns, cells, strict=False)
            yield row, {name: cell for name, cell in given if name}, ""


def unused_attributes(
    items: Iterable[Item], features: Mapping[str, Sequence[str]]
) -> list[tuple[str, str, int]]:
    """The attributes of items that ``features`` (key → values, empty for an open feature) do not
    have: key, value and number of items that name it; the most frequent first.

    The value is "" if there is no such feature.
    """
    known = {
        key: {form for value in values for form in (normalise_value(value), denied(value)) if form}
        for key, values in features.items()
    }
    rows: Counter[tuple[str, str]] = Counter()
    for item in items:
        named = {
            (key, value if key in known else "")
            for attributes in (item.suits, item.avoids)
            for key, values in attributes.items()
            for value in values
            if key not in known or (known[key] and normalise_value(value) not in known[key])
        }
        rows.update(named)
    return sorted(((*named, n) for named, n in rows.items()), key=lambda row: (-row[2], row))
