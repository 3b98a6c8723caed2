"""Reading catalogues: forms of files, what is told of bad rows, and that nothing else happens."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelhub.core.echo.recommending import catalogue
from labelhub.core.echo.recommending.catalogue import Catalogue, RowFault, read_catalogue
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

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
    assert [(f.row, f.field) for f in read.faults] == [
        (3, "id"), (3, "text"), (5, "link"), (6, "id"), (7, ""),
    ]  # fmt: skip
    assert read.faults[3] == RowFault(6, "id", "'k1' is that of row 2, too.")


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
