"""What comes out of files, good and bad, format by format."""

import contextlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from apps.exchange.readers import format_of, open_rows
from apps.exchange.readers import text as text_module
from apps.exchange.readers.base import MAX_ROW_BYTES, MAX_TEXT_CHARS, RawRow, UnreadableFile
from tests.exchange.helpers import lines, written


def read(folder: Path, content: bytes, name: str) -> list[RawRow]:
    path = written(folder, content, name)
    return list(open_rows(path, format_of(name, path)))


def texts(rows: list[RawRow]) -> list[Any]:
    return [row.data.get("text") for row in rows if row.error is None]


def test_json_lines_are_numbered_by_line_and_blank_ones_skipped(tmp_path: Path) -> None:
    rows = read(tmp_path, b'{"text": "a"}\n\n{"text": "b"}', "x.jsonl")
    assert [(row.number, row.data["text"]) for row in rows] == [(1, "a"), (3, "b")]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"not json", "Not valid JSON"),
        (b" [1]", "found a list"),
        (b'"text"', "found a text"),
        (b"7", "found a number"),
        (b"null", "found null"),
        (b'{"text": NaN}', "NaN is not JSON"),
        (b'{"text": "a", "x": 1e999}', "NaN and infinity"),
        (b'{"text": "a\\u0000b"}', "NUL"),
        (b'{"text": "caf\xe9"}', "byte 0xE9"),
        (b'{"text": "\\ud800"}', "Half of a character pair"),
        (b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "Nested"),
        (b'{"text": "a", "x": ' + b"[" * 40 + b"]" * 40 + b"}", "Nested more than 32"),
        (b'{"text": "a", "n": ' + b"9" * 5000 + b"}", "Not valid JSON"),
    ],
)
def test_a_bad_line_is_told_and_the_next_is_read(tmp_path: Path, line: bytes, why: str) -> None:
    rows = read(tmp_path, b'{"text": "1"}\n' + line + b'\n{"text": "3"}\n', "x.jsonl")
    assert rows[1].number == 2
    assert why in str(rows[1].error)
    assert texts(rows) == ["1", "3"]


def test_a_fault_names_its_field(tmp_path: Path) -> None:
    rows = read(tmp_path, lines({"text": "a", "meta": {"note": ["x", "y\0"]}}), "x.jsonl")
    assert rows[0].field == "meta.note[1]"


def test_a_text_over_the_limit_is_a_fault(tmp_path: Path) -> None:
    rows = read(tmp_path, lines({"text": "x" * (MAX_TEXT_CHARS + 1)}), "x.jsonl")
    assert (rows[0].field, "Longer than" in str(rows[0].error)) == ("text", True)


@pytest.mark.parametrize(("name", "start", "end"), [
    ("x.jsonl", b'{"text": "', b'"}\n{"text": "good"}\n'),
    ("x.json", b'[{"text": "', b'"}, {"text": "good"}]'),
    ("x.csv", b"id,text\n1,", b"\n2,good\n"),
])  # fmt: skip
def test_a_row_of_any_length_is_passed_over_in_bounded_memory(
    tmp_path: Path, name: str, start: bytes, end: bytes
) -> None:
    def pieces() -> Iterator[bytes]:
        yield start
        for _ in range(2 * MAX_ROW_BYTES // 65_536):
            yield b"x" * 65_536
        yield end

    path = written(tmp_path, pieces(), name)
    rows = list(open_rows(path, format_of(name, path)))
    assert "longer than 10 MB" in str(rows[0].error)
    assert texts(rows) == ["good"]


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.json"])
def test_unicode_encodings_are_told_apart(tmp_path: Path, codec: str, name: str) -> None:
    text = "שלום 👩‍👩‍👧 naïve café"
    content = {
        "x.jsonl": lines({"text": text}).decode(),
        "x.csv": f"id,text\n1,{text}\n",
        "x.json": json.dumps([{"text": text}], ensure_ascii=False),
    }[name]
    assert texts(read(tmp_path, content.encode(codec), name)) == [text]


def test_latin_1_is_never_guessed(tmp_path: Path) -> None:
    rows = read(tmp_path, "id,text\n1,café\n2,tea\n".encode("latin-1"), "x.csv")
    assert (rows[0].number, rows[0].field) == (2, "text")
    assert "save the file as UTF-8" in str(rows[0].error)
    assert texts(rows) == ["tea"]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, mark: str) -> None:
    rows = read(tmp_path, f'id{mark}text\n1{mark}"a, b; c"\n'.encode(), "x.csv")
    assert rows[0].data == {"id": "1", "text": "a, b; c"}


def test_csv_rows_are_numbered_as_in_a_spreadsheet(tmp_path: Path) -> None:
    rows = read(tmp_path, b'text\n"a\nb"\n\nc\n', "x.csv")
    assert [(row.number, row.data["text"]) for row in rows] == [(2, "a\nb"), (4, "c")]


def test_old_mac_line_ends_are_lines(tmp_path: Path) -> None:
    assert texts(read(tmp_path, b"id,text\r1,a\r2,b\r", "x.csv")) == ["a", "b"]


@pytest.mark.parametrize(
    ("row", "why"),
    [(b"1,a,b", "3 cells, the header 2"), (b'1,"a"b', "quotes"), (b'1,"a', "quotes")],
)
def test_a_malformed_csv_row_is_told(tmp_path: Path, row: bytes, why: str) -> None:
    rows = read(tmp_path, b"id,text\n" + row + b"\n", "x.csv")
    assert why in str(rows[0].error)


@pytest.mark.parametrize("content", [
    '[{"text": "a"}, {"text": "b"}]',
    ' {"count": 2, "note": {"x": [1]}, "items": [{"text": "a"},\n{"text": "b"}], "more": 1}',
])  # fmt: skip
def test_a_json_list_may_be_inside_an_object(tmp_path: Path, content: str) -> None:
    assert texts(read(tmp_path, content.encode(), "x.json")) == ["a", "b"]


def test_a_broken_element_does_not_stop_the_list(tmp_path: Path) -> None:
    content = b'[{"text": "a"}, {"text": oops, "x": "]"}, 7, {"text": "b"}]'
    rows = read(tmp_path, content, "x.json")
    assert [row.error is None for row in rows] == [True, False, False, True]
    assert texts(rows) == ["a", "b"]


@pytest.mark.parametrize("content", [b'[{"text": "a"}, {"text": "b', b'[{"text": "a"},'])
def test_a_list_cut_off_is_told(tmp_path: Path, content: bytes) -> None:
    rows = read(tmp_path, content, "x.json")
    assert texts(rows) == ["a"]
    assert rows[-1].error


@pytest.mark.parametrize("content", [b'{"name": 7}', b'"text"', b'{"items": 7}', b"{"])
def test_json_without_a_list_is_refused_as_a_whole(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content, "x.json")
    with pytest.raises(UnreadableFile, match="list of objects"):
        list(open_rows(path, "json"))


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["x.csv", "x.json", "x.jsonl", "x.xlsx", "x.parquet"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes, name: str) -> None:
    with pytest.raises(UnreadableFile):
        read(tmp_path, content, name)


@pytest.mark.parametrize("name", ["x.pdf", "noending", "x.csv.gz"])
def test_an_unknown_ending_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableFile, match=r"\.jsonl"):
        read(tmp_path, b"a,b", name)


def test_json_lines_with_the_wrong_ending_are_recognised(tmp_path: Path) -> None:
    assert texts(read(tmp_path, b'{"text": "a"}\n{"text": "b"}\n', "x.json")) == ["a", "b"]
    assert texts(read(tmp_path, b'[{"text": "a"}]', "x.jsonl")) == ["a"]


def workbook(folder: Path, *rows: tuple[Any, ...]) -> bytes:
    book = Workbook()
    for row in rows:
        book.active.append(row)  # type: ignore[union-attr]  # a new book has a sheet
    path = folder / "made.xlsx"
    book.save(path)
    return path.read_bytes()


def test_a_workbook_is_read_from_its_first_sheet(tmp_path: Path) -> None:
    content = workbook(tmp_path, ("id", "text", None), (1, "a", 2.5), (None, None, None), (2, "ü"))
    rows = read(tmp_path, content, "x.xlsx")
    assert [(row.number, row.data) for row in rows] == [
        (2, {"id": 1, "text": "a", "column 3": 2.5}),
        (4, {"id": 2, "text": "ü"}),
    ]


def test_a_zip_bomb_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w") as part,
    ):
        for _ in range(40):
            part.write(b" " * 1024 * 1024)
    with pytest.raises(UnreadableFile, match="would unpack"):
        list(open_rows(path, "xlsx"))


@pytest.mark.parametrize("content", [b"PK\x03\x04 broken", b"no zip at all"])
def test_a_broken_workbook_is_told(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match="Excel workbook"):
        read(tmp_path, content, "x.xlsx")


def test_an_entity_bomb_in_a_workbook_is_refused(tmp_path: Path) -> None:
    good = workbook(tmp_path, ("text",), ("a",))
    source, path = written(tmp_path, good, "good.xlsx"), tmp_path / "x.xlsx"
    bomb = b'<!DOCTYPE a [<!ENTITY b "bbbb">]><worksheet><sheetData/>&b;</worksheet>'
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
        for part in old.namelist():
            new.writestr(part, bomb if part.endswith("sheet1.xml") else old.read(part))
    with pytest.raises(UnreadableFile):
        list(open_rows(path, "xlsx"))


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1", b"nothing"])
def test_a_broken_parquet_file_is_told(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableFile, match="Parquet"):
        read(tmp_path, content, "x.parquet")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@pytest.mark.thorough
@given(
    rows=st.lists(st.dictionaries(st.text(max_size=8), JSON, max_size=4), min_size=1, max_size=12),
    piece=st.integers(1, 40),
    indent=st.sampled_from([None, 1]),
)
def test_a_list_reads_the_same_whatever_the_window(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], piece: int, indent: int | None
) -> None:
    content = json.dumps(rows, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    path = written(tmp_path_factory.mktemp("json"), content, "x.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "CHUNK", piece)
        found = list(open_rows(path, "json"))
    plain = [row.data for row in found if row.error is None]
    faulty = sum(
        "\0" in json.dumps(row, ensure_ascii=False) or "\\u0000" in json.dumps(row) for row in rows
    )
    assert len(found) == len(rows)
    assert len(plain) >= len(rows) - faulty
    assert all(row in json.loads(content) for row in plain)


@given(
    content=st.binary(min_size=1, max_size=300),
    name=st.sampled_from(["x.csv", "x.json", "x.jsonl"]),
)
def test_no_bytes_whatever_crash_a_reader(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = written(tmp_path_factory.mktemp("fuzz"), content, name)
    with contextlib.suppress(UnreadableFile):
        for row in open_rows(path, format_of(name, path)):
            assert row.error is not None or isinstance(row.data, dict)
