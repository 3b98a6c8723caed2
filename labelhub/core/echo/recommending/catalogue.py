"""Read a catalogue from a file: CSV with a header, or a JSON list.

A file of another format is refused; else the good rows are returned and each bad one is reported
with its field and reason, so that the user may correct the file first.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from labelhub.core.echo.recommending.item_index import denied, normalise_value
from labelhub.core.echo.recommending.items import Item, read_item
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import fold

#: The most bytes (or characters) of a file, and the most rows, good and bad.
MOST_BYTES, MOST_ROWS = 64_000_000, 50_000
DELIMITERS = (",", ";", "\t")
#: A column of its own for one attribute: ``suits.experience_level``.
OWN_COLUMN = "suits."
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
class RowFault:
    """Why one row cannot be used.

    Args:
        row: its number: in CSV as a spreadsheet counts, the header being 1; in JSON from 1.
        field: which of its fields; "" for the row as a whole.
        reason: what is wrong with it, in words.
    """

    row: int
    field: str
    reason: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The contents of a file.

    Args:
        items: of the good rows, in order; with different ids.
        faults: of the bad rows, in order; a row may have several.
        ignored: unknown columns.
    """

    items: tuple[Item, ...]
    faults: tuple[RowFault, ...] = ()
    ignored: tuple[str, ...] = ()


def read_catalogue(source: bytes | str) -> Catalogue:
    """The items of a file: UTF-8, with or without a byte order mark.

    CSV is parted by commas, semicolons or tabs and begins with a row of names (:data:`NAMES`, in
    any case); a column ``suits.<key>`` holds one attribute alone. JSON is a list of objects with
    the same names. See :func:`.items.read_item` for the fields. Of rows with one id the first stays
    and the others are faults.

    Raises:
        InvalidInput: it is not UTF-8, too large, not such a table, or lacks a column.
    """
    if len(source) > MOST_BYTES:
        raise InvalidInput(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    text = _text(source)
    if text.lstrip()[:1] in ("[", "{"):
        rows, ignored = _json_rows(text)
    else:
        rows, ignored = _csv_rows(text)
    return _collect(rows, ignored)


def _text(source: bytes | str) -> str:
    if isinstance(source, str):
        return source.removeprefix("\ufeff")
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"The file is not UTF-8 (byte {error.start + 1:,}); save it as 'CSV UTF-8'."
        ) from None


def _collect(rows: Iterator[_Row], ignored: Sequence[str]) -> Catalogue:
    items: list[Item] = []
    faults: list[RowFault] = []
    seen: dict[str, int] = {}
    for count, (row, raw, problem) in enumerate(rows, start=1):
        if count > MOST_ROWS:
            raise InvalidInput(f"The file has more than {MOST_ROWS:,} rows.")
        if problem:
            faults.append(RowFault(row, "", problem))
            continue
        try:
            item = read_item(raw)
        except InvalidInput as error:
            faults += [RowFault(row, e["field"], e["message"]) for e in error.data["errors"]]
            continue
        if item.id in seen:
            faults.append(RowFault(row, "id", f"'{item.id}' is that of row {seen[item.id]}, too."))
            continue
        seen[item.id] = row
        items.append(item)
    return Catalogue(tuple(items), tuple(faults), tuple(ignored))


def _json_rows(text: str) -> tuple[Iterator[_Row], Sequence[str]]:
    try:
        data = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The file is not JSON: {error}.") from None
    if not isinstance(data, list):
        raise InvalidInput("The JSON must be a list of items.")
    return _objects(data), ()


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _objects(data: list[Any]) -> Iterator[_Row]:
    for row, given_row in enumerate(data, start=1):
        if not isinstance(given_row, dict):
            yield row, {}, "must be an object with 'id', 'title', 'text' and 'link'."
            continue
        named = [(_FIELDS.get(_plain(name), ""), value) for name, value in given_row.items()]
        given = [(field, value) for field, value in named if field]
        twice = len({field for field, _ in given}) < len(given)
        yield row, dict(given), "two of its names mean the same field." if twice else ""


def _csv_rows(text: str) -> tuple[Iterator[_Row], Sequence[str]]:
    first = next(io.StringIO(text, newline=""), "")
    delimiter = max(DELIMITERS, key=lambda delimiter: len(_known(_header(first, delimiter))))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise InvalidInput(f"The first row cannot be read: {error}.") from None
    columns = _known(header)
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise InvalidInput.at(missing[0], "there is no column of this name in the first row.")
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise InvalidInput.at(twice, "two columns have this meaning.")
    # As it is shown and kept: half of a character pair could be neither.
    names = [name.strip()[:60].encode(errors="replace").decode() for name in header]
    ignored = [name for name in names if name and not _column(name)]
    return _records(reader, [_column(name) for name in header]), ignored


def _header(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _known(header: Sequence[str]) -> list[str]:
    return [column for name in header if (column := _column(name))]


def _column(name: str) -> str:
    """The field of a column, or ``suits.<key>``; "" for an unknown column."""
    plain = _plain(name)
    if plain.startswith(OWN_COLUMN) and len(plain) > len(OWN_COLUMN):
        return plain
    return _FIELDS.get(plain, "")


def _plain(name: str) -> str:
    return fold(name).replace(" ", "_")


def _records(reader: Any, columns: Sequence[str]) -> Iterator[_Row]:
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
        if any(map(str.strip, cells)):
            yield _record(row, cells, columns)


def _record(row: int, cells: list[str], columns: Sequence[str]) -> _Row:
    if any(map(str.strip, cells[len(columns) :])):
        return row, {}, "has more cells than the first row."
    given = [pair for pair in zip(columns, cells, strict=False) if pair[0]]
    fields = {name: cell for name, cell in given if not name.startswith(OWN_COLUMN)}
    own = [
        f"{name.removeprefix(OWN_COLUMN)}={cell}"
        for name, cell in given
        if name.startswith(OWN_COLUMN) and cell.strip()
    ]
    fields["attributes"] = "|".join(filter(str.strip, (fields.get("attributes", ""), *own)))
    return row, fields, ""


@dataclass(frozen=True, slots=True)
class Unused:
    """An unused attribute.

    Args:
        key: of the feature.
        value: that the feature does not have; "" if there is no such feature.
        rows: number of items that name it.
    """

    key: str
    value: str
    rows: int

    @property
    def words(self) -> str:
        """The attribute, and why it is unused."""
        rows = "1 row names" if self.rows == 1 else f"{self.rows:,} rows name"
        if self.value:
            return (
                f"{rows} the value “{self.value}” of {self.key}, which that feature does not have: "
                "it is never expected of a message."
            )
        return f"{rows} the feature {self.key}, which this site does not ask about: it is not used."


def unused_attributes(items: Iterable[Item], features: Mapping[str, Sequence[str]]) -> list[Unused]:
    """The attributes of items that ``features`` (key → values, empty for an open feature) do not
    have; the most frequent first."""
    known = {
        key: {form for value in values for form in (normalise_value(value), denied(value)) if form}
        for key, values in features.items()
    }
    rows: Counter[tuple[str, str]] = Counter()
    for item in items:
        rows.update(set(_unknown_attributes(item, known)))
    ordered = sorted(rows, key=lambda attribute: (-rows[attribute], attribute))
    return [Unused(key, value, rows[key, value]) for key, value in ordered]


def _unknown_attributes(
    item: Item, known: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, str]]:
    for attributes in (item.suits, item.avoids):
        for key, values in attributes.items():
            if key not in known:
                yield key, ""
            elif known[key]:
                yield from (
                    (key, value) for value in values if normalise_value(value) not in known[key]
                )
