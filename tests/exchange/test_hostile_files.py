"""Files that are broken, mistaken or made to do harm: told in words, in bounded memory."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import Workbook

from apps.exchange.readers import open_rows, read_here, xlsx
from apps.exchange.readers.base import MAX_COLUMNS, UnreadableFile
from tests.exchange.helpers import counts, imported, lines, written
from tests.exchange.test_readers import read, texts
from tests.factories.projects import ProjectFactory

CELL = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
#: The first bytes of a picture (PNG).
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x02\0\0\0\xfd\xd4\x9as"
HEADER = f'<row r="1">{CELL.format("A1", "text")}</row>'


def workbook_with(part: str, content: str) -> bytes:
    """A workbook of which one part was replaced."""
    good, made = io.BytesIO(), io.BytesIO()
    Workbook().save(good)
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in {*old.namelist(), part}:
            new.writestr(name, content if name == part else old.read(name))
    return made.getvalue()


def sheet(rows: str, *, before: str = "") -> bytes:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    content = (
        f'{before}<worksheet xmlns="{space}"><sheetData>{HEADER}{rows}</sheetData></worksheet>'
    )
    return workbook_with("xl/worksheets/sheet1.xml", content)


@pytest.mark.django_db
def test_a_workbook_is_imported_from_where_uploads_are_kept() -> None:
    """Uploads are stored under a name without an ending."""
    content = sheet(f'<row r="2">{CELL.format("A2", "clean room")}</row>')
    batch = imported(ProjectFactory.create(), content, "x.xlsx")
    assert (batch.status, counts(batch)) == ("done", (1, 0, 0, 0))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("row", "why"),
    [
        ('<row r="2000000000"/>', "Row 2,000,000,000 is beyond"),
        (f'<row r="2">{CELL.format("ZZZZZZ2", "far")}</row>', "Row 2: there is no cell 'ZZZZZZ2'"),
        (f'<row r="2">{"<c/>" * 100_001}</row>', "Row 2 of the sheet is too long"),
        (f'<row r="2">{CELL.format("A2", "x" * 11_000_000)}</row>', "Row 2 of the sheet is too"),
        ('<row r="two"/>', "not a readable Excel workbook"),
    ],
)
def test_a_sheet_that_would_fill_the_memory_is_refused(tmp_path: Path, row: str, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read(tmp_path, sheet(row), "x.xlsx")


def test_a_workbook_reads_no_other_file(tmp_path: Path) -> None:
    secret = written(tmp_path, b"secret", "secret.txt")
    before = f'<!DOCTYPE a [<!ENTITY e SYSTEM "file://{secret}">]>'
    with pytest.raises(UnreadableFile, match="not a readable Excel workbook"):
        read(
            tmp_path, sheet(f'<row r="2">{CELL.format("A2", "&e;")}</row>', before=before), "x.xlsx"
        )


@pytest.mark.parametrize(
    ("part", "limit"), [("xl/sharedStrings.xml", "MAX_STRINGS"), ("xl/styles.xml", "MAX_WHOLE")]
)
def test_parts_that_are_read_whole_have_a_limit(
    tmp_path: Path, part: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, limit, 30_000)
    with pytest.raises(UnreadableFile, match=f"'{part}' of the workbook is too large"):
        list(read_here(written(tmp_path, workbook_with(part, " " * 30_001), "x.xlsx"), "xlsx"))


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        (gzip.compress(b"id,text\n1,a\n", mtime=0), "x.csv", "compressed"),
        (gzip.compress(b'{"text": "a"}\n', mtime=0), "x.jsonl", "compressed"),
        (b"\xd0\xcf\x11\xe0 old or locked", "x.xlsx", "password"),
        (b"\xd0\xcf\x11\xe0 old or locked", "x.csv", "old Excel file"),
        (b"PK\x03\x04 some archive", "x.csv", "zip archive"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "x.csv", "a PDF"),
        (PICTURE, "x.csv", "not text; .* CSV"),
        (PICTURE, "x.jsonl", "not text; .* JSONL"),
        (PICTURE, "x.json", "not text"),
        (bytes(range(256)) * 40, "x.csv", "not text"),
        (bytes(64), "x.jsonl", "not text"),
    ],
)
def test_what_people_send_by_mistake_is_named(
    tmp_path: Path, content: bytes, name: str, why: str
) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read(tmp_path, content, name)


def test_a_quote_that_is_never_closed_costs_its_own_row_only(tmp_path: Path) -> None:
    rows = read(tmp_path, b'id,text\n1,"never closed\n2,good\n3,fine\n', "x.csv")
    assert [row.number for row in rows if row.error] == [2]
    assert "quotes of this row do not match" in str(rows[0].error)
    assert texts(rows) == ["good", "fine"]


@pytest.mark.parametrize("content", [b'[{"text": "a"}][{"text": "b"}]', b'[{"text": "a"}] b'])
def test_what_follows_a_json_list_is_told(tmp_path: Path, content: bytes) -> None:
    rows = read(tmp_path, content, "x.json")
    assert texts(rows) == ["a"]
    assert "after the end of the list" in str(rows[-1].error)


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_key_given_twice_is_a_fault_of_its_row(tmp_path: Path, name: str) -> None:
    twice, good = '{"text": "a", "meta": {"b": 1, "b": 2}}', '{"text": "good"}'
    content = f"[{twice}, {good}]" if name == "x.json" else f"{twice}\n{good}\n"
    rows = read(tmp_path, content.encode(), name)
    assert (rows[0].field, "twice" in str(rows[0].error)) == ("b", True)
    assert texts(rows) == ["good"]


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_row_has_as_many_columns_as_a_table_may_have(tmp_path: Path, name: str) -> None:
    wide = {"text": "a"} | {f"column {number}": number for number in range(MAX_COLUMNS)}
    content = json.dumps([wide]).encode() if name == "x.json" else lines(wide)
    assert "more than 1,000 columns" in str(read(tmp_path, content, name)[0].error)


@pytest.mark.parametrize(
    ("times", "spelled"),
    [
        (pa.array([1], pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
        (pa.array([2**62], pa.timestamp("us")), "<value out of range: 4611686018427387904>"),
        (pa.array([2**30], pa.date32()), "<value out of range: 1073741824>"),
        (pa.array([2**62 + 1], pa.duration("ns")), "4611686018427387905"),
    ],
)
def test_a_time_that_python_cannot_hold_is_spelled_out(
    tmp_path: Path, times: "pa.Array[Any]", spelled: str
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["a"], "when": times}), path)
    assert [row.data for row in open_rows(path, "parquet")] == [{"text": "a", "when": spelled}]


def test_two_parquet_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]), path)
    with pytest.raises(UnreadableFile, match="Two columns are named 'text'"):
        list(open_rows(path, "parquet"))


def test_one_long_text_for_every_row_is_decoded_a_few_rows_at_a_time(tmp_path: Path) -> None:
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 400, pa.int32()), ["y" * 900_000])
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": long}), path)
    assert sum(len(row.data["text"]) for row in open_rows(path, "parquet")) == 400 * 900_000
