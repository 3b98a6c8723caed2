"""Items of a catalogue: what may stand in a field, and that all of it is read back."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.items import LONGEST, Item, read_item
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
    "told",
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
def test_attributes_that_say_nothing_certain_are_refused(told: Any) -> None:
    (field,) = faulty_fields(GOOD | {"attributes": told})
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
