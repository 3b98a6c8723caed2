"""A catalogue: its items, the checks of their fields, and the file they are read from.

A file is CSV with a header, or a JSON list. One of another format is refused; else the good rows
are returned and each bad one is reported with its field and reason, so that the user may correct
the file first.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import Any, NoReturn, TypeAlias
from urllib.parse import urlsplit

from labelhub.core.errors import InvalidInput
from labelhub.core.schema import fold, unstorable

#: The most bytes (or characters) of a file, and the most rows, good and bad.
MOST_BYTES, MOST_ROWS = 64_000_000, 50_000
DELIMITERS = (",", ";", "\t")
#: The fields of an item, each with the names that a file may call it by.
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
LONGEST: Mapping[str, int] = {
    "id": 100,
    "title": 120,
    "text": 2_000,
    "link": 2_000,
    "picture": 2_000,
    "vertical": 60,
    "currency": 3,
    "tag": 40,
    "value": 60,
}
MOST_TAGS, MOST_KEYS, MOST_VALUES = 30, 40, 20
HIGHEST_PRICE = Decimal(10) ** 9
#: The sign before a value that the item does not suit.
NOT = "!"

_FIELDS: Mapping[str, str] = {name: field for field, names in NAMES.items() for name in names}
_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"[0-9]{1,12}(?:[.,][0-9]{1,4})?")
_BETWEEN_TAGS = re.compile(r"[,;|\n]")
_BETWEEN_VALUES = re.compile(r"[;|\n]")
#: Characters that browsers drop or replace in an address.
_NOT_IN_ADDRESS = re.compile(r"[\s\\<>\"'`{}|^]")
#: Characters that change the display of their neighbours, and control characters.
_STRANGE = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\x00-\x1f\x7f-\x9f]")
_PAIRS = "must be given as key=value;value|key=value."
#: Values by the key of their feature.
_Attributes: TypeAlias = Mapping[str, tuple[str, ...]]
#: One row: its number, its fields, and its fault, if known already.
_Row: TypeAlias = tuple[int, Mapping[str, Any], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that can be offered.

    Args:
        id: the site's id, compared exactly.
        title: one line.
        text: what it is, in plain words.
        link: where a click leads: an http(s) address, or a path on the same site ("/shop/1").
        picture: an http(s) address, or a path; "" without one.
        vertical: the part of the assortment it belongs to.
        price: never negative; None if unknown.
        currency: of the price, as ISO 4217 writes it ("EUR").
        tags: further words to find it by.
        suits: key of a feature → the values that it suits; a missing key says nothing.
        avoids: key of a feature → the values that it does not suit.
    """

    id: str
    title: str
    text: str
    link: str
    picture: str = ""
    vertical: str = ""
    price: Decimal | None = None
    currency: str = ""
    tags: tuple[str, ...] = ()
    suits: _Attributes = field(default_factory=dict, hash=False)
    avoids: _Attributes = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form that :func:`read_item` reads back unchanged."""
        attributes = {key: list(values) for key, values in self.suits.items()}
        for key, values in self.avoids.items():
            attributes.setdefault(key, []).extend(NOT + value for value in values)
        plain = {name: getattr(self, name) for name in NAMES if name != "attributes"}
        price = None if self.price is None else str(self.price)
        return {**plain, "price": price, "tags": list(self.tags), "attributes": attributes}


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
    any case). JSON is a list of objects with the same names. See :func:`read_item` for the fields.
    Of rows with one id the first stays and the others are faults.

    Raises:
        InvalidInput: it is not UTF-8, too large, not such a table, or lacks a column.
    """
    text = _decode(source)
    is_json = text.lstrip()[:1] in ("[", "{")
    rows, ignored = (_json_rows(text), []) if is_json else _csv_rows(text)
    items: dict[str, Item] = {}
    faults: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for number, (row, raw, problem) in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise InvalidInput(f"The file has more than {MOST_ROWS:,} rows.")
        try:
            if problem:
                raise InvalidInput.at("", problem)
            item = read_item(raw)
            if item.id in seen:
                raise InvalidInput.at("id", f"'{item.id}' is that of row {seen[item.id]}, too.")
        except InvalidInput as error:
            faults += [{"row": row, **fault} for fault in error.data["errors"]]
        else:
            seen[item.id], items[item.id] = row, item
    return Catalogue(tuple(items.values()), tuple(faults), tuple(ignored))


def _decode(source: bytes | str) -> str:
    if len(source) > MOST_BYTES:
        raise InvalidInput(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    try:
        text = source if isinstance(source, str) else source.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"The file is not UTF-8 (byte {error.start + 1:,}); save it as 'CSV UTF-8'."
        ) from None
    return text.removeprefix("\ufeff")


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
    if missing := [name for name in REQUIRED if name not in columns]:
        raise InvalidInput.at(missing[0], "there is no column of this name in the first row.")
    if twice := [name for name in NAMES if columns.count(name) > 1]:
        raise InvalidInput.at(twice[0], "two columns have this meaning.")
    # As it is shown and kept: half of a character pair could be neither.
    names = [name.strip()[:60].encode(errors="replace").decode() for name in header]
    ignored = [name for name, column in zip(names, columns, strict=True) if name and not column]
    return _records(reader, columns), ignored


def _field(name: str) -> str:
    """The field of that name; "" for an unknown one."""
    return _FIELDS.get(fold(name).replace(" ", "_"), "")


def _records(reader: Iterator[list[str]], columns: Sequence[str]) -> Iterator[_Row]:
    for row in count(2):
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


def read_item(raw: Mapping[str, Any]) -> Item:
    """An item from the fields of a row; optional fields may be missing.

    ``tags`` is a list, or text parted by commas or semicolons; ``attributes`` maps keys of features
    to a value or a list of them, or is text such as ``experience_level=first_time;some|budget=!no``
    (``!`` before a value: the item does not suit it). Other fields are ignored.

    Raises:
        InvalidInput: with every fault of the row in ``data["errors"]``.
    """
    read: dict[str, Any] = {}
    faults: list[dict[str, str]] = []
    for name in NAMES:
        reader: Callable[[Any, str], Any] = _READERS.get(name, _line)
        try:
            read[name] = reader(raw.get(name), name)
        except InvalidInput as problem:
            faults += problem.data["errors"]
    if (read.get("price") is None) == bool(read.get("currency")) and not faults:
        faults.append({"field": "currency", "message": "a price and its currency belong together."})
    if faults:
        problems = " ".join(f"{fault['field']}: {fault['message']}" for fault in faults)
        raise InvalidInput(problems, data={"errors": faults})
    suits, avoids = read.pop("attributes")
    return Item(**read, suits=suits, avoids=avoids)


def _line(raw: Any, name: str) -> str:
    text = _check_text(raw, name, LONGEST[name])
    if name in REQUIRED and not text:
        raise InvalidInput.at(name, "must not be empty.")
    return text


def _check_text(raw: Any, name: str, longest: int) -> str:
    if raw is None:
        return ""
    if not isinstance(raw, str):
        raise InvalidInput.at(name, "must be text.")
    if bad := unstorable(raw):
        raise InvalidInput.at(name, f"must not contain {bad}.")
    text = " ".join(unicodedata.normalize("NFC", raw).split())
    if len(text) > longest:
        raise InvalidInput.at(name, f"must be at most {longest:,} characters.")
    if strange := _STRANGE.search(text):
        raise InvalidInput.at(name, f"must not contain the character U+{ord(strange[0]):04X}.")
    return text


def _link(raw: Any, name: str) -> str:
    link = _line(raw, name)
    if not (_is_web_address(link) or _is_path(link, rooted=True)):
        raise InvalidInput.at(
            name, "must begin with https:// or http://, or with / for a page of the same site."
        )
    return link


def _picture(raw: Any, name: str) -> str:
    picture = _line(raw, name)
    if picture and not (_is_web_address(picture) or _is_path(picture, rooted=False)):
        raise InvalidInput.at(
            name, "must begin with https:// or http://, or be a path without '..' and ':'."
        )
    return picture


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        return False
    named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    return named and not _NOT_IN_ADDRESS.search(address)


def _is_path(path: str, *, rooted: bool) -> bool:
    """Whether all browsers read it as a path of this site."""
    place = re.split(r"[?#]", path, maxsplit=1)[0]
    if _NOT_IN_ADDRESS.search(path) or path.startswith("//") or ".." in place.split("/"):
        return False
    return path.startswith("/") if rooted else bool(place) and ":" not in place


def _price(raw: Any, name: str) -> Decimal | None:
    if raw is None or raw == "":
        return None
    # Through its text: as a float 19.9 is not exact.
    text = str(raw).strip()
    if not _AMOUNT.fullmatch(text):
        raise InvalidInput.at(name, "must be a number such as 129 or 129.90.")
    price = Decimal(text.replace(",", "."))
    if price > HIGHEST_PRICE:
        raise InvalidInput.at(name, f"must be at most {HIGHEST_PRICE:,}.")
    return price


def _currency(raw: Any, name: str) -> str:
    currency = _line(raw, name).upper()
    if currency and not _CURRENCY.fullmatch(currency):
        raise InvalidInput.at(name, "must be three letters such as EUR.")
    return currency


def _tags(raw: Any, name: str) -> tuple[str, ...]:
    listed = _BETWEEN_TAGS.split(raw) if isinstance(raw, str) else raw
    if listed is None:
        return ()
    if not isinstance(listed, list | tuple):
        raise InvalidInput.at(name, "must be words, parted by commas.")
    tags = [_check_text(tag, name, LONGEST["tag"]) for tag in listed]
    kept = tuple(dict.fromkeys(filter(None, tags)))
    if len(kept) > MOST_TAGS:
        raise InvalidInput.at(name, f"must be at most {MOST_TAGS}.")
    return kept


def _attributes(raw: Any, name: str) -> tuple[_Attributes, _Attributes]:
    """The values that are suited, and those that are not, by key."""
    attributes = _pairs(raw) if isinstance(raw, str) else raw
    if attributes is None:
        return {}, {}
    if not isinstance(attributes, Mapping):
        raise InvalidInput.at(name, _PAIRS)
    if len(attributes) > MOST_KEYS:
        raise InvalidInput.at(name, f"must be at most {MOST_KEYS}.")
    read = {key: _values(key, values) for key, values in attributes.items()}
    return (
        {key: suited for key, (suited, _) in read.items() if suited},
        {key: avoided for key, (_, avoided) in read.items() if avoided},
    )


def _pairs(text: str) -> dict[str, list[str]]:
    attributes: dict[str, list[str]] = {}
    key = ""
    for piece in filter(str.strip, _BETWEEN_VALUES.split(text)):
        name, equals, value = piece.partition("=")
        if equals:
            key = name.strip()
        elif not key:
            raise InvalidInput.at("attributes", _PAIRS)
        attributes.setdefault(key, []).append(value if equals else piece)
    return attributes


def _values(key: Any, raw: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values of one feature that are suited, and those that are not."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidInput.at(
            "attributes", "a key must be small letters, digits and underscores, a letter first."
        )
    where = f"attributes, {key}"
    listed = [raw] if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple) or len(listed) > MOST_VALUES:
        raise InvalidInput.at(where, f"must be one value, or up to {MOST_VALUES}.")
    values = [_check_text(value, where, LONGEST["value"]) for value in listed]
    suited = tuple(dict.fromkeys(value for value in values if not value.startswith(NOT)))
    avoided = tuple(dict.fromkeys(v[1:].strip() for v in values if v.startswith(NOT)))
    if not values or not all((*suited, *avoided)):
        raise InvalidInput.at(where, "must not hold an empty value.")
    if set(map(fold, suited)) & set(map(fold, avoided)):
        raise InvalidInput.at(where, "the same value is suited and not suited.")
    return suited, avoided


#: By field; the others are lines of text.
_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "link": _link,
    "picture": _picture,
    "price": _price,
    "currency": _currency,
    "tags": _tags,
    "attributes": _attributes,
}
