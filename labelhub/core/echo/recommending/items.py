"""An item of a catalogue: the checks of its fields, read from one row of a file."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlsplit

from labelhub.core.errors import InvalidInput
from labelhub.core.schema import fold, unstorable

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

_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"\d{1,12}(?:[.,]\d{1,4})?")
_BETWEEN_TAGS = re.compile(r"[,;|\n]")
_BETWEEN_VALUES = re.compile(r"[;|\n]")
_SCHEMES = ("http", "https")
#: Characters that browsers drop or replace in an address.
_NOT_IN_ADDRESS = re.compile(r"[\s\\<>\"'`{}|^]")
#: Characters that change the display of their neighbours.
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


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
    suits: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    avoids: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form that :func:`read_item` reads back unchanged."""
        attributes = {key: list(values) for key, values in self.suits.items()}
        for key, values in self.avoids.items():
            attributes.setdefault(key, []).extend(NOT + value for value in values)
        return {
            "id": self.id,
            "title": self.title,
            "text": self.text,
            "link": self.link,
            "picture": self.picture,
            "vertical": self.vertical,
            "price": None if self.price is None else str(self.price),
            "currency": self.currency,
            "tags": list(self.tags),
            "attributes": attributes,
        }


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
    for name, reader in _READERS.items():
        try:
            read[name] = reader(raw.get(name))
        except InvalidInput as problem:
            faults += problem.data["errors"]
    if (read.get("price") is None) == bool(read.get("currency")) and not faults:
        faults.append({"field": "currency", "message": "a price and its currency belong together."})
    if faults:
        problems = " ".join(f"{fault['field']}: {fault['message']}" for fault in faults)
        raise InvalidInput(problems, data={"errors": faults})
    suits, avoids = read.pop("attributes")
    return Item(**read, suits=suits, avoids=avoids)


def _line(name: str, *, required: bool = False) -> Callable[[Any], str]:
    def read(raw: Any) -> str:
        text = _check_text(raw, name, LONGEST[name])
        if required and not text:
            raise InvalidInput.at(name, "must not be empty.")
        return text

    return read


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
    strange = next(
        (char for char in text if char in _TURNING or unicodedata.category(char) == "Cc"), ""
    )
    if strange:
        raise InvalidInput.at(name, f"must not contain the character U+{ord(strange):04X}.")
    return text


def _link(raw: Any) -> str:
    link = _line("link", required=True)(raw)
    if not (_is_web_address(link) or _is_path(link, rooted=True)):
        raise InvalidInput.at(
            "link", "must begin with https:// or http://, or with / for a page of the same site."
        )
    return link


def _picture(raw: Any) -> str:
    picture = _line("picture")(raw)
    if picture and not (_is_web_address(picture) or _is_path(picture, rooted=False)):
        raise InvalidInput.at(
            "picture", "must begin with https:// or http://, or be a path without '..' and ':'."
        )
    return picture


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        return False
    named = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.username is None
    return named and not _NOT_IN_ADDRESS.search(address)


def _is_path(path: str, *, rooted: bool) -> bool:
    """Whether all browsers read it as a path of this site."""
    place = re.split(r"[?#]", path, maxsplit=1)[0]
    if _NOT_IN_ADDRESS.search(path) or path.startswith("//") or ".." in place.split("/"):
        return False
    return path.startswith("/") if rooted else bool(place) and ":" not in place


def _price(raw: Any) -> Decimal | None:
    if raw is None or raw == "":
        return None
    # Through its text: as a float 19.9 is not exact.
    text = str(raw).strip() if isinstance(raw, int | float | str) else ""
    if isinstance(raw, bool) or not _AMOUNT.fullmatch(text) or not text.isascii():
        raise InvalidInput.at("price", "must be a number such as 129 or 129.90.")
    try:
        price = Decimal(text.replace(",", "."))
    except InvalidOperation:
        raise InvalidInput.at("price", "must be a number such as 129 or 129.90.") from None
    if price > HIGHEST_PRICE:
        raise InvalidInput.at("price", f"must be at most {HIGHEST_PRICE:,}.")
    return price


def _currency(raw: Any) -> str:
    currency = _line("currency")(raw).upper()
    if currency and not _CURRENCY.fullmatch(currency):
        raise InvalidInput.at("currency", "must be three letters such as EUR.")
    return currency


def _tags(raw: Any) -> tuple[str, ...]:
    listed = _BETWEEN_TAGS.split(raw) if isinstance(raw, str) else raw
    if listed is None:
        return ()
    if not isinstance(listed, list | tuple):
        raise InvalidInput.at("tags", "must be words, parted by commas.")
    tags = [_check_text(tag, "tags", LONGEST["tag"]) for tag in listed]
    kept = tuple(dict.fromkeys(filter(None, tags)))
    if len(kept) > MOST_TAGS:
        raise InvalidInput.at("tags", f"must be at most {MOST_TAGS}.")
    return kept


def _attributes(raw: Any) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    """The values that are suited, and those that are not, by key."""
    attributes = _pairs(raw) if isinstance(raw, str) else raw
    if attributes is None:
        return {}, {}
    if not isinstance(attributes, Mapping):
        raise InvalidInput.at("attributes", "must be given as key=value;value|key=value.")
    if len(attributes) > MOST_KEYS:
        raise InvalidInput.at("attributes", f"must be at most {MOST_KEYS}.")
    suits, avoids = {}, {}
    for key, values in attributes.items():
        for_, against = _values(key, values)
        if for_:
            suits[key] = for_
        if against:
            avoids[key] = against
    return suits, avoids


def _pairs(text: str) -> dict[str, list[str]]:
    attributes: dict[str, list[str]] = {}
    key = ""
    for piece in filter(str.strip, _BETWEEN_VALUES.split(text)):
        name, equals, value = piece.partition("=")
        if equals:
            key = name.strip()
        elif not key:
            raise InvalidInput.at("attributes", "must be given as key=value;value|key=value.")
        attributes.setdefault(key, []).append(value if equals else piece)
    return attributes


def _values(key: Any, raw: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise InvalidInput.at(
            "attributes", "a key must be small letters, digits and underscores, a letter first."
        )
    where = f"attributes, {key}"
    listed = [raw] if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple) or len(listed) > MOST_VALUES:
        raise InvalidInput.at(where, f"must be one value, or up to {MOST_VALUES}.")
    values = [_check_text(value, where, LONGEST["value"]) for value in listed]
    against = tuple(dict.fromkeys(v[1:].strip() for v in values if v.startswith(NOT)))
    for_ = tuple(dict.fromkeys(v for v in values if not v.startswith(NOT)))
    if not all(for_) or not all(against) or not values:
        raise InvalidInput.at(where, "must not hold an empty value.")
    if set(map(fold, for_)) & set(map(fold, against)):
        raise InvalidInput.at(where, "the same value is suited and not suited.")
    return for_, against


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "id": _line("id", required=True),
    "title": _line("title", required=True),
    "text": _line("text", required=True),
    "link": _link,
    "picture": _picture,
    "vertical": _line("vertical"),
    "price": _price,
    "currency": _currency,
    "tags": _tags,
    "attributes": _attributes,
}
