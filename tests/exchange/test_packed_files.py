"""Parquet that unpacks to far more than it is: read in bounded memory, and read right."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.exchange.readers import parquet, read_here
from apps.exchange.readers.base import TOO_LONG, RawRow, UnreadableFile
from apps.exchange.readers.parquet import LEAST, row_sizes

LONG = "x" * 100_000


def read(path: Path) -> list[RawRow]:
    return list(read_here(path, "parquet"))


def repeated(often: int, rows: int) -> Any:
    """Lists that each hold one long text so often."""
    offsets = pa.array([often * row for row in range(rows + 1)], pa.int32())
    indices = pa.array([0] * (often * rows), pa.int32())
    texts = pa.DictionaryArray.from_arrays(indices, pa.array([LONG]))
    return pa.ListArray.from_arrays(offsets, texts)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows became Python's own at once."""
    found, real = list[int](), parquet._decode_rows

    def pieces(piece: Any, too_long: Any) -> Any:
        found.append(piece.num_rows)
        return real(piece, too_long)

    monkeypatch.setattr(parquet, "_decode_rows", pieces)
    return found


def test_a_row_that_repeats_a_long_text_is_skipped(tmp_path: Path, made: list[int]) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["a"] * 20, "tags": repeated(2000, 20)}), path)
    assert path.stat().st_size < 10_000
    rows = read(path)
    assert [(row.number, row.error) for row in rows] == [
        (number, TOO_LONG) for number in range(1, 21)
    ]
    assert made == []


def test_long_rows_are_made_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[int]
) -> None:
    monkeypatch.setattr(parquet, "DECODED", 1_000_000)
    monkeypatch.setattr(parquet, "MAX_ROW_BYTES", 2_000_000)
    path = tmp_path / "x.parquet"
    sized = pa.concat_arrays([repeated(4, 5), repeated(30, 1), repeated(4, 4)])
    pq.write_table(pa.table({"text": ["a"] * 10, "tags": sized}), path)
    rows = read(path)
    assert [row.number for row in rows if row.error] == [6]
    assert [len(row.data["tags"]) for row in rows if not row.error] == [4] * 9
    assert max(made) <= 2


def test_lists_of_too_many_parts_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MAX_PARTS", 30)
    path = tmp_path / "x.parquet"
    for numbers in ([[1] * 15] * 2, [[1] * 15] * 3):
        pq.write_table(pa.table({"text": ["a"] * len(numbers), "n": numbers}), path)
        if len(numbers) == 2:
            assert len(read(path)) == 2
    with pytest.raises(UnreadableFile, match="more than 30 parts"):
        read(path)


def rows_of(count: int) -> list[dict[str, Any]]:
    """Rows with texts at every depth, some of them missing."""
    draw = random.Random(7)  # noqa: S311 - test data

    def text() -> str | None:
        return draw.choice([None, "", "é" * draw.randint(1, 9), f"{draw.random()}" * 9])

    return [
        {
            "id": str(number), "text": f"text {number}", "a.b": text(),
            "tags": draw.choice([None, [], [text(), "p"]]),
            "labels": [{"by": text(), "n": 1, "quotes": [text()] * draw.randint(0, 2)}
                       for _ in range(draw.randint(0, 3))],
            "one": draw.choice([None, {"k": text()}]),
        }
        for number in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "how",
    [{}, {"row_group_size": 77}, {"use_dictionary": False}, {"dictionary_pagesize_limit": 500}],
)
def test_nested_texts_are_read_however_they_are_packed(tmp_path: Path, how: Any) -> None:
    table, path = pa.Table.from_pylist(rows_of(700)), tmp_path / "x.parquet"
    pq.write_table(table, path, **how)
    expected = [
        {name: cell for name, cell in row.items() if cell not in (None, "")}
        for row in table.to_pylist()
    ]
    assert [row.data for row in read(path)] == expected


def size_of(value: Any) -> int:
    """As told for a value; of nothing as of a number."""
    if isinstance(value, str):
        return LEAST + len(value.encode())
    if isinstance(value, list | dict):
        return LEAST + sum(map(size_of, value.values() if isinstance(value, dict) else value))
    return LEAST


def test_sizes_are_told_of_slices_as_of_the_whole() -> None:
    (batch,) = pa.Table.from_pylist(rows_of(60)).to_batches()
    whole = row_sizes(batch).tolist()
    assert row_sizes(batch.slice(7, 20)).tolist() == whole[7:27]
    for expected, row in zip(whole, batch.to_pylist(), strict=True):
        # What is missing in a structure counts as its parts would.
        assert 0 <= expected - (size_of(row) - LEAST) <= 2 * LEAST


def as_json(texts: Any) -> Any:
    """A column of JSON, which Arrow reads as values of a type of its own."""
    return pa.ExtensionArray.from_storage(pa.json_(pa.utf8()), texts)


@pytest.mark.parametrize(
    "column",
    [
        as_json(pa.array([LONG] * 20)),
        pa.ListArray.from_arrays(pa.array(range(21), pa.int32()), as_json(pa.array([LONG] * 20))),
        pa.array([[LONG]] * 20, pa.list_view(pa.string())),
        pa.array([[[LONG]]] * 20, pa.large_list(pa.large_list_view(pa.string()))),
    ],
    ids=["json", "lists of json", "views", "large views"],
)
def test_no_type_of_column_hides_how_long_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: Any
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": ["a"] * 20, "more": column}), path)
    assert [row.error for row in read(path)] == [None] * 20

    monkeypatch.setattr(parquet, "MAX_ROW_BYTES", len(LONG) - 1)
    assert [row.error for row in read(path)] == [TOO_LONG] * 20
