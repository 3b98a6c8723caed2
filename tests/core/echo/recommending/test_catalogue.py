"""Reading catalogues: forms of files, what is told of bad rows, and that nothing else happens."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelhub.core.echo.recommending import catalogue
from labelhub.core.echo.recommending.catalogue import Catalogue, RowFault, read_catalogue
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import starter_library
from tests.cases import all_cases
from tests.core.echo.recommending.wares import DEMO

HEADER = "id,title,text,link\n"
ROW = "k1,Kettle,Boils a litre.,/k1\n"


def faults(text: str | bytes) -> list[tuple[int, str]]:
    return [(fault.row, fault.field) for fault in read_catalogue(text).faults]


@all_cases("delimiter", [",", ";", "\t"])
@all_cases("end", ["\n", "\r\n", "\r"])
@all_cases("mark", ["", "\ufeff"])
def test_forms_of_csv(delimiter: str, end: str, mark: str) -> None:
    text = mark + (HEADER + ROW).replace(",", delimiter).replace("\n", end)
    read = read_catalogue(text.encode())
    assert read == read_catalogue(text)
    assert [item.title for item in read.items] == ["Kettle"]
    assert read.faults == ()


def test_other_names_for_columns_and_columns_that_mean_nothing() -> None:
    read = read_catalogue("SKU;Name;Description;URL;Colour;Image URL\n1;Kettle;Boils.;/k;red;k.png")
    assert read.items[0].picture == "k.png"
    assert read.ignored == ("Colour",)


def test_attributes_in_one_column_and_in_columns_of_their_own() -> None:
    text = (
        "id,title,text,link,attributes,suits.budget\n"
        "1,Kettle,Boils.,/k,urgency=soon|recipient=friend;family,lowest;middle\n"
        "2,Lamp,Shines.,/l,,\n"
    )
    first, second = read_catalogue(text).items
    assert dict(first.suits) == {
        "urgency": ("soon",),
        "recipient": ("friend", "family"),
        "budget": ("lowest", "middle"),
    }
    assert dict(second.suits) == {}


def test_json() -> None:
    row = {"id": "1", "name": "Kettle", "text": "Boils.", "link": "/k", "price": 22.5}
    row |= {"currency": "EUR", "tags": ["tea"], "attributes": {"budget": "lowest"}, "extra": 1}
    (item,) = read_catalogue(json.dumps([row])).items
    assert (str(item.price), item.tags, item.suits["budget"]) == ("22.5", ("tea",), ("lowest",))


def test_every_bad_row_is_told_with_its_number() -> None:
    text = HEADER + ROW + ",Lamp,,/l\n\nk3,Lamp,Shines.,javascript:x\n" + ROW + "k4,a,b,/c,more\n"
    read = read_catalogue(text)
    assert [item.id for item in read.items] == ["k1"]
    assert [(f.row, f.field) for f in read.faults] == [
        (3, "id"), (3, "text"), (5, "link"), (6, "id"), (7, ""),
    ]  # fmt: skip
    assert read.faults[3] == RowFault(6, "id", "'k1' is that of row 2, too.")


def test_bad_rows_of_json_are_told() -> None:
    good = {"id": "1", "title": "a", "text": "b", "link": "/"}
    data = [good, 7, good | {"id": 3}, good | {"id": "2", "name": "c"}]
    assert faults(json.dumps(data)) == [(2, ""), (3, "id"), (4, "")]


def test_a_wrong_quote_costs_its_row_alone() -> None:
    read = read_catalogue(HEADER + '"a"b,c,d,/e\n' + ROW)
    assert [item.id for item in read.items] == ["k1"]
    assert [fault.row for fault in read.faults] == [2]


def test_a_quote_that_is_never_closed_is_told() -> None:
    assert faults(HEADER + ROW + '"k2,Lamp,Shines.,/l\n' + ROW) == [(3, "")]


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
    names_what_is_wrong(refused.value)


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "MOST_ROWS", 1)
    with pytest.raises(InvalidInput, match="more than 1 rows"):
        read_catalogue(HEADER + ROW + ROW)
    monkeypatch.setattr(catalogue, "MOST_BYTES", 10)
    with pytest.raises(InvalidInput, match="larger"):
        read_catalogue(HEADER)


def names_what_is_wrong(refused: InvalidInput) -> None:
    """The file as a whole, or the column."""
    words = str(refused)
    words.encode()
    assert words.startswith(("The file ", "The first row ", "The JSON ")) or any(
        words.startswith(f"{name}: ") for name in catalogue.NAMES
    )


def harmless(read: Catalogue, first: int) -> None:
    """Whatever was read can be stored, shown and clicked, and reads the same when it is read again;
    what was not is named by its row, ``first`` or later, and its field."""
    for item in read.items:
        assert item.link.startswith(("http://", "https://", "/"))
        json.dumps(item.to_json(), ensure_ascii=False).encode()
    again = read_catalogue(json.dumps([item.to_json() for item in read.items]))
    assert again == Catalogue(read.items)
    for fault in read.faults:
        assert fault.row >= first
        assert fault.field.partition(", ")[0] in {"", *catalogue.NAMES}
        assert fault.reason.endswith(".")
        fault.reason.encode()
    for name in read.ignored:
        name.encode()


@pytest.mark.thorough
@given(st.binary(max_size=300) | st.text(max_size=200))
@example("[" * 3_000)
@example("id,title,text,link,\ud800\n\ud800,b,c,/d,e\nx,b,c,/d,e")
def test_any_bytes_are_read_or_refused(source: bytes | str) -> None:
    try:
        read = read_catalogue(source)
    except InvalidInput as refused:
        names_what_is_wrong(refused)
    else:
        harmless(read, first=1)


CELLS = st.text(st.sampled_from('abc/:;=!|,"\n\r\t <>é\ud800\0\u202e09.'), max_size=12)


@given(st.lists(st.lists(CELLS, max_size=7), max_size=5), st.sampled_from(",;\t"))
def test_any_cells_are_read_or_told(rows: list[list[str]], delimiter: str) -> None:
    header = delimiter.join(("id", "title", "text", "link", "price", "attributes", "suits.a"))
    text = "\n".join((header, *(delimiter.join(row) for row in rows)))
    harmless(read_catalogue(text), first=2)


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
def test_any_json_is_read_or_told(data: list[object]) -> None:
    text = json.dumps(data)
    read = read_catalogue(text)
    harmless(read, first=1)
    assert len(read.items) + len({fault.row for fault in read.faults}) == len(data)


def test_the_demos_catalogue_has_no_fault() -> None:
    read = read_catalogue(DEMO.read_bytes())
    assert (read.faults, read.ignored) == ((), ("source",))
    assert 55 <= len(read.items) <= 70


def test_the_demos_items_speak_of_features_of_the_library() -> None:
    features = {feature.key: feature for feature in starter_library()["shopping"]}
    for item in read_catalogue(DEMO.read_bytes()).items:
        for key, values in (*item.suits.items(), *item.avoids.items()):
            assert set(values) <= set(features[key].values or values)
        assert any(item.suits)
