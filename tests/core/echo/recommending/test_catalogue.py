"""Items of a catalogue: what may stand in a field, and that all of it is read back."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelhub.core.echo.recommending import catalogue
from labelhub.core.echo.recommending.catalogue import (
    LONGEST,
    Catalogue,
    Item,
    read_catalogue,
    read_item,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

GOOD: dict[str, Any] = {
    "id": "kettle-small",
    "title": "Camping kettle",
    "text": "Boils a litre on anything that burns.",
    "link": "/demo/shop/#kettle-small",
}


def faulty_fields(raw: dict[str, Any]) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        read_item(raw)
    return [fault["field"] for fault in caught.value.data["errors"]]


@all_cases(
    "link",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,x",
        "ftp://shop.example/",
        "//evil.example/",
        "/\\evil.example/",
        "/ /evil.example",
        "\\\\evil.example",
        "https:evil.example",
        "https:///evil.example",
        "https://user:word@evil.example/",
        "https://[::1",
        "https://a.example:99999999/",
        "https://a.example/<b>",
        "shop/1",
        "/a/../../b",
        "",
        None,
        7,
    ],
)
def test_links_lead_nowhere_else(link: Any) -> None:
    assert faulty_fields(GOOD | {"link": link}) == ["link"]


@all_cases(
    ("picture", "fits"),
    [
        ("", True),
        ("demo-wares.svg#tent", True),
        ("/static/a.png", True),
        ("https://a.example/b.png", True),
        ("data:image/png;base64,xx", False),
        ("javascript:x", False),
        ("//a.example/b.png", False),
        ("../a.png", False),
        ("#tent", False),
    ],
)
def test_pictures(picture: str, *, fits: bool) -> None:
    raw = GOOD | {"picture": picture}
    if fits:
        assert read_item(raw).picture == picture
    else:
        assert faulty_fields(raw) == ["picture"]


@all_cases("price", ["1.299,00", "-1", "1e3", "NaN", "٣", True, [1], "1000000001"])
def test_prices_are_plain_numbers(price: Any) -> None:
    assert faulty_fields(GOOD | {"price": price, "currency": "EUR"}) == ["price"]


def test_a_price_needs_its_currency_and_the_other_way_round() -> None:
    assert faulty_fields(GOOD | {"price": 3}) == ["currency"]
    assert faulty_fields(GOOD | {"currency": "EUR"}) == ["currency"]
    assert faulty_fields(GOOD | {"price": 3, "currency": "€"}) == ["currency"]
    assert read_item(GOOD | {"price": 0, "currency": "EUR"}).price == 0


@all_cases("bad", ["\0", "\ud800", "\u202e", "\x07"])
@all_cases("name", ["id", "title", "text", "vertical", "tags"])
def test_what_cannot_be_stored_or_turns_text_round_is_refused(name: str, bad: str) -> None:
    assert faulty_fields(GOOD | {name: f"a{bad}b"}) == [name]


@pytest.mark.parametrize("name", ["id", "title", "text", "vertical"])
def test_lengths_are_bounded(name: str) -> None:
    read_item(GOOD | {name: "x" * LONGEST[name]})
    assert faulty_fields(GOOD | {name: "x" * (LONGEST[name] + 1)}) == [name]


@all_cases(
    "attributes",
    [
        "first_time",
        "Experience=some",
        "a=",
        "a=!",
        "a=b;!b",
        {"a": []},
        {"a": 3},
        {"a": ["b", 3]},
        {1: "b"},
        7,
        {f"k{n}": "x" for n in range(41)},
    ],
)
def test_attributes_that_say_nothing_certain_are_refused(attributes: Any) -> None:
    (field,) = faulty_fields(GOOD | {"attributes": attributes})
    assert field.startswith("attributes")


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)
KEYS = st.from_regex(r"\A[a-z][a-z0-9_]{0,9}\Z")


@given(
    title=WORDS,
    tags=st.lists(WORDS, max_size=4),
    attributes=st.dictionaries(KEYS, st.lists(WORDS, min_size=1, max_size=3), max_size=4),
    price=st.none() | st.decimals(0, 10**6, places=2),
)
def test_an_item_is_read_back_unchanged(
    title: str, tags: list[str], attributes: dict[str, list[str]], price: Decimal | None
) -> None:
    raw = GOOD | {"title": title, "tags": tags, "attributes": attributes}
    if price is not None:
        raw |= {"price": str(price), "currency": "EUR"}
    item: Item = read_item(raw)
    assert read_item(item.to_json()) == item


HEADER = "id,title,text,link\n"
ROW = "k1,Kettle,Boils a litre.,/k1\n"


@all_cases("delimiter", [",", ";", "\t"])
@all_cases("end", ["\n", "\r\n", "\r"])
@all_cases("mark", ["", "\ufeff"])
def test_forms_of_csv(delimiter: str, end: str, mark: str) -> None:
    text = mark + (HEADER + ROW).replace(",", delimiter).replace("\n", end)
    read = read_catalogue(text.encode())
    assert read == read_catalogue(text)
    assert [item.title for item in read.items] == ["Kettle"]
    assert read.faults == ()


def test_every_bad_row_is_told_with_its_number() -> None:
    text = HEADER + ROW + ",Lamp,,/l\n\nk3,Lamp,Shines.,javascript:x\n" + ROW + "k4,a,b,/c,more\n"
    read = read_catalogue(text)
    assert [item.id for item in read.items] == ["k1"]
    assert [(fault["row"], fault["field"]) for fault in read.faults] == [
        (3, "id"), (3, "text"), (5, "link"), (6, "id"), (7, ""),
    ]  # fmt: skip
    assert read.faults[3]["message"] == "'k1' is that of row 2, too."


@all_cases(
    "text",
    [
        b"",
        b"\xff\xfei\x00d\x00",
        b"id,title,text\n",
        b"id,sku,title,text,link\n",
        b"{}",
        b"[",
        b"[NaN]",
        b"[" * 100_000,
        b"[" + b"9" * 5_000 + b"]",
        b'"id,title',
    ],
)
def test_what_is_no_catalogue_is_refused(text: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_catalogue(text)
    assert names_what_is_wrong(refused.value)
    assert is_storable(str(refused.value))


def names_what_is_wrong(refused: InvalidInput) -> bool:
    """Whether the words begin with the file as a whole, or with the column."""
    return str(refused).startswith(
        ("The file ", "The first row ", "The JSON ", *(f"{name}: " for name in catalogue.NAMES))
    )


def foreign_links(read: Catalogue) -> list[str]:
    """The links that do not lead to a web address or a path of the site."""
    links = [item.link for item in read.items]
    return [link for link in links if not link.startswith(("http://", "https://", "/"))]


def vague_faults(read: Catalogue, first: int) -> list[dict[str, Any]]:
    """The faults without a row from ``first`` on, a known field and a sentence for the reason."""
    return [
        fault
        for fault in read.faults
        if fault["row"] < first
        or fault["field"].partition(", ")[0] not in {"", *catalogue.NAMES}
        or not fault["message"].endswith(".")
    ]


def is_storable(*texts: str) -> bool:
    """Whether the texts are UTF-8: half of a character pair is not."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def stored_texts(read: Catalogue) -> list[str]:
    """All texts of a reading, as they are stored and shown."""
    items = json.dumps([item.to_json() for item in read.items], ensure_ascii=False)
    return [items, *(fault["message"] for fault in read.faults), *read.ignored]


def read_or_refusal(source: bytes | str) -> Catalogue | InvalidInput:
    try:
        return read_catalogue(source)
    except InvalidInput as refused:
        return refused


def read_again(read: Catalogue) -> Catalogue:
    """The catalogue that the stored items give."""
    return read_catalogue(json.dumps([item.to_json() for item in read.items]))


@pytest.mark.thorough
@given(st.binary(max_size=300) | st.text(max_size=200))
@example("[" * 3_000)
@example("id,title,text,link,\ud800\n\ud800,b,c,/d,e\nx,b,c,/d,e")
def test_any_bytes_are_read_or_refused(source: bytes | str) -> None:
    read = read_or_refusal(source)
    if isinstance(read, InvalidInput):
        assert names_what_is_wrong(read)
        assert is_storable(str(read))
    else:
        assert foreign_links(read) == []
        assert vague_faults(read, first=1) == []
        assert is_storable(*stored_texts(read))
        assert read_again(read) == Catalogue(read.items)


CELLS = st.text(st.sampled_from('abc/:;=!|,"\n\r\t <>é\ud800\0\u202e09.'), max_size=12)


@given(st.lists(st.lists(CELLS, max_size=7), max_size=5), st.sampled_from(",;\t"))
def test_any_cells_are_read_or_reported(rows: list[list[str]], delimiter: str) -> None:
    header = delimiter.join(("id", "title", "text", "link", "price", "attributes", "tags"))
    text = "\n".join((header, *(delimiter.join(row) for row in rows)))
    read = read_catalogue(text)
    assert foreign_links(read) == []
    assert vague_faults(read, first=2) == []
    assert is_storable(*stored_texts(read))
    assert read_again(read) == Catalogue(read.items)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | CELLS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CELLS, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from([name for names in catalogue.NAMES.values() for name in names])


@given(st.lists(st.dictionaries(FIELDS, VALUES, max_size=6) | VALUES, max_size=4))
def test_any_json_is_read_or_reported(data: list[object]) -> None:
    text = json.dumps(data)
    read = read_catalogue(text)
    assert foreign_links(read) == []
    assert vague_faults(read, first=1) == []
    assert is_storable(*stored_texts(read))
    assert read_again(read) == Catalogue(read.items)
    assert len(read.items) + len({fault["row"] for fault in read.faults}) == len(data)


def test_every_field_is_read() -> None:
    item = read_item(
        GOOD
        | {
            "picture": "demo-wares.svg#kettle",
            "vertical": " cooking ",
            "price": "22,50",
            "currency": "eur",
            "tags": "tea; water,tea",
            "attributes": "experience_level=first_time;some|budget=!no_limit;lowest\nurgency=soon",
        }
    )
    assert (item.vertical, item.price, item.currency) == ("cooking", Decimal("22.50"), "EUR")
    assert item.tags == ("tea", "water")
    assert item.suits == {
        "experience_level": ("first_time", "some"),
        "budget": ("lowest",),
        "urgency": ("soon",),
    }
    assert item.avoids == {"budget": ("no_limit",)}
