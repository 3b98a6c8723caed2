"""Reading pasted tables, and hostile text: a clear refusal or an audit, never anything else."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.agreement.audit import audit, read_table
from labelhub.core.agreement.audit.printed import Printed, parse
from labelhub.core.errors import InvalidInput

MARKS = st.text('0123456789.,%()+-±|\t\n eEnTPFN"[]{}:=<>*$', max_size=300)
HEADER = "TP\tFP\tFN\tTN\tacc\tprecision\tr\tf1\tn\tt\tdelta\tmean\tp value\n"


@pytest.mark.parametrize(
    "text",
    [
        "model,TP,F1\na b,12,81.0%\nc,9,70.0%",
        "model\tTP\tF1\na b\t12\t81.0%\nc\t9\t70.0%",
        "model;TP;F1\na b;12;81.0%\nc;9;70.0%",
        "| model | TP | F1 |\n|---|:-:|--:|\n| a b | **12** | 81.0% |\n| c | 9 | 70.0% |",
        "model   TP   F1\na b     12   81.0%\nc       9    70.0%",
        "model TP F1\na b 12 81.0%\nc 9 70.0%",
    ],
)
def test_the_same_table_in_every_form(text: str) -> None:
    table = read_table(text)
    assert table.columns == ("model", "TP", "F1")
    assert table.rows[0]["model"] == "a b"
    assert parse(table.rows[0]["TP"]) is not None
    assert table.rows[1]["F1"] == "70.0%"


def test_a_row_as_in_a_file_of_recomputed_tables_is_read_as_it_was_printed() -> None:
    row = {
        "ids": {"model": "a"},
        "stated": {"accuracy": 90.0},
        "printed_counts": {"TP": 139.0},
        "raw": ["90%", "139%"],
        "recomputed": {"accuracy": 1.0},
    }
    table = read_table(json.dumps([row]))
    assert dict(table.rows[0]) == {"model": "a", "accuracy": "90%", "TP": "139%"}


@pytest.mark.parametrize(
    ("cell", "value", "digits"),
    [
        ("41.10%", 41.1, 2),
        (".7000", 0.7, 4),
        ("<b>95.5</b>", 95.5, 1),
        ("10,378", 10378, 0),
        ("\u22120.5", -0.5, 1),
        ("1.2e-4", 0.00012, 5),
        ("43.1±0.44", 43.1, 1),
        (143.0, 143, 0),
        (41.43, 41.43, 2),
    ],
)
def test_numbers_in_cells(cell: object, value: float, digits: int) -> None:
    found = parse(cell)
    assert found is not None
    assert found.value == pytest.approx(value)
    assert found.digits == digits


@pytest.mark.parametrize("cell", ["gpt-4.1", "", "-", "1.2.3", "1,2", "nan", None, True, "1e999"])
def test_cells_without_a_number(cell: object) -> None:
    assert parse(cell) is None


def test_what_stands_beside_a_number() -> None:
    beside = [parse("0.76 (+0.35)"), parse("62.0 ($\\downarrow 2.0$)"), parse("50.5% (n=1,746)")]
    found = [(each.delta, each.n) for each in beside if isinstance(each, Printed)]
    assert found == [(0.35, None), (-2.0, None), (None, 1746)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n ",
        "one line",
        "a" * 200_001,
        "[" * 100_000,
        "[]",
        "[{}]",
        "[1, 2]",
        "a,b\n" + "1,2\n" * 2_001,
        ",".join(f"c{at}" for at in range(61)) + "\n" + "1," * 60 + "1",
        "|---|---|",
    ],
)
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_table(text)


@pytest.mark.parametrize("known", [{"items": 0}, {"items": 5, "positives": 6}, {"calls": True}])
def test_impossible_knowledge_is_refused(known: Any) -> None:
    with pytest.raises(InvalidInput):
        audit([{"a": 1}], **known)


@given(MARKS, st.sampled_from(["", HEADER, "| acc | n | before | after | increase | amb |\n"]))
@settings(deadline=None, max_examples=300)
def test_any_text_is_audited_or_refused(text: str, before: str) -> None:
    try:
        found = audit(read_table(before + text), items=100)
    except InvalidInput:
        return
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.thorough
@given(st.lists(st.dictionaries(st.sampled_from(HEADER.split()), st.none() | st.booleans()
                                | st.integers() | st.floats() | st.text(max_size=9)
                                | st.lists(st.floats(), max_size=3)), max_size=5))  # fmt: skip
@settings(deadline=None, max_examples=300)
def test_any_cells_are_audited_or_refused(rows: list[dict[str, object]]) -> None:
    try:
        found = audit(rows)
    except InvalidInput:
        return
    json.dumps(found.to_json(), allow_nan=False)
