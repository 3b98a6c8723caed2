"""Files, lists and DataFrames in parts: no row is lost, none is sent twice, numbers stay right."""

import json
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub_client import PandasMissing, WrongUse, exchange
from labelhub_client.exchange import split_source
from tests.cases import all_cases
from tests.client.helpers import scripted

CELLS = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text(), max_size=2)
ROWS = st.lists(st.dictionaries(st.text(), CELLS, max_size=3), max_size=12)


def bodies(given: Any, *, strict: bool = False) -> list[bytes]:
    """What is sent."""
    return [_bytes(part.body) for part in split_source(given, strict=strict).parts]


def _bytes(body: bytes | Path) -> bytes:
    return body if isinstance(body, bytes) else body.read_bytes()


def sent(given: Any) -> list[Any]:
    """The rows that are sent, decoded."""
    return [json.loads(line) for body in bodies(given) for line in body.splitlines() if line]


@given(made=ROWS, size=st.integers(1, 5), room=st.integers(1, 200))
def test_parts_hold_every_row_once_in_order(made: list[Any], size: int, room: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "ROWS_OF_PART", size)
        patch.setattr(exchange, "BYTES_OF_PART", room)
        source = split_source(made, strict=False)
        parts = list(source.parts)
    lines = [line for part in parts for line in _bytes(part.body).split(b"\n") if line]
    assert [json.loads(line) for line in lines] == made
    assert sum(part.rows or 0 for part in parts) == sum(part.weight for part in parts) == len(made)
    assert all((part.rows or 0) <= size for part in parts)
    assert source.total == len(made)


@given(made=ROWS)
def test_strict_rows_go_together(made: list[Any]) -> None:
    (body,) = bodies(made, strict=True)
    assert [json.loads(line) for line in body.split(b"\n") if line] == made


@given(content=st.binary(max_size=200), size=st.integers(1, 3))
def test_a_file_of_lines_is_cut_between_lines_alone(
    content: bytes, size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "ROWS_OF_PART", size)
        source = split_source(path, strict=False)
        parts = list(source.parts)
    joined = b"".join(_bytes(part.body) for part in parts)
    assert content.startswith(joined)
    assert not content[len(joined) :].strip()
    assert sum(part.weight for part in parts) == len(joined)
    assert source.total == len(content)
    assert not content.strip() or all(_bytes(part.body).strip() for part in parts)
    assert all(_bytes(part.body).endswith(b"\n") for part in parts[:-1])


@pytest.mark.parametrize("start", [b"\xff\xfe", b"\xfe\xff"])
def test_lines_of_utf_16_are_not_cut(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(start + b"\n\n\n")
    assert [part.rows for part in split_source(path, strict=False).parts] == [None]


def test_other_files_are_sent_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text\na\n")
    for given_path in (path, str(path)):
        (part,) = split_source(given_path, strict=False).parts
        assert (part.body, part.name, part.weight) == (path, "rows.csv", 7)
    lines = path.rename(tmp_path / "rows.jsonl")
    assert [part.body for part in split_source(lines, strict=True).parts] == [lines]


def test_rows_may_come_one_by_one() -> None:
    made = ({"text": f"t{number}"} for number in range(3))
    source = split_source(made, strict=False)
    assert source.total is None
    assert next(source.parts).rows == 3


def test_no_rows_are_sent_as_such() -> None:
    assert bodies([]) == [b""]


def test_values_of_other_kinds_become_json() -> None:
    row = {
        "n": np.int64(3), "x": np.float64(0.5), "a": np.array(["u", "v"]), "s": {"b", "a"},
        "at": datetime(2026, 11, 22, tzinfo=UTC), "m": {"k": np.bool_(True)},
        "d": Decimal("1.50"),
    }  # fmt: skip
    assert sent([row]) == [
        {"n": 3, "x": 0.5, "a": ["u", "v"], "s": ["a", "b"], "at": "2026-11-22T00:00:00+00:00",
         "m": {"k": True}, "d": "1.50"}
    ]  # fmt: skip


def test_half_a_character_pair_is_left_to_the_server() -> None:
    assert bodies([{"text": "a\ud800"}]) == [b'{"text": "a\\ud800"}\n']


@all_cases(
    ("made", "words"),
    [
        ([{"text": "a"}, {"x": float("nan")}], "Row 2 cannot be sent as JSON"),
        ([{"text": object()}], "Row 1 cannot be sent as JSON: object"),
        ([{"text": "a"}, "b"], "Row 2 is str"),
        ([{"text": "a"}, None], "Row 2 is NoneType"),
        ({"text": "a"}, "not dict"),
        (b"text", "not bytes"),
        (3, "not int"),
        (None, "not NoneType"),
        ("nowhere.jsonl", "no file 'nowhere.jsonl'"),
        (Path(), "no file"),
    ],
)
def test_what_cannot_be_sent_is_told_with_its_row(made: Any, words: str) -> None:
    with pytest.raises(WrongUse, match=words):
        bodies(made)


def test_a_dataframe_is_its_rows_without_empty_cells() -> None:
    frame = pd.DataFrame(
        {
            "text": ["a", None, "c"],
            "n": [1, 2, 3],
            "x": [0.5, float("nan"), 1.5],
            "at": pd.to_datetime(["2026-11-22", None, None]),
            "gold": [["Food"], None, []],
            7: ["k", "l", "m"],
        },
        index=[5, 6, 7],
    )
    first, second, third = sent(frame)
    assert first == {
        "text": "a", "n": 1, "x": 0.5, "at": "2026-11-22T00:00:00", "gold": ["Food"], "7": "k",
    }  # fmt: skip
    assert second == {"n": 2, "7": "l"}
    assert third["gold"] == []
    assert split_source(frame, strict=False).total == 3


def test_without_pandas_only_frames_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PandasMissing, match="install it") as raised:
        scripted(httpx.Response(200))[0].project("moods").export().to_dataframe()
    assert isinstance(raised.value, ImportError)
    assert sent([{"text": "a"}]) == [{"text": "a"}]


@given(made=st.lists(st.fixed_dictionaries({"id": st.text(), "text": st.text()}), max_size=3))
def test_an_export_without_labels_has_its_columns(made: list[dict[str, Any]]) -> None:
    body = "".join(f"{json.dumps(row)}\n" for row in made)
    client, _ = scripted(httpx.Response(200, content=body))
    export = client.project("moods").export()
    assert list(export.to_dataframe()["id"]) == [row["id"] for row in made]
    labels = export.to_dataframe(per="label")
    assert len(labels) == 0
    assert str(labels["created_at"].dtype).startswith("datetime64")
