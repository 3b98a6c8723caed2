"""Confusion counts and metrics: right tables are left alone, one wrong cell is found."""

from math import floor
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from labelhub.core.agreement.audit import Audit, audit, read_table
from labelhub.core.agreement.audit.confusion import COUNTS, Four, metric

METRICS = ("accuracy", "precision", "recall", "f1")
FOUR = st.tuples(st.integers(1, 400), *[st.integers(0, 400)] * 3)
TABLES = st.lists(FOUR, min_size=1, max_size=8)
PRINTING = st.sampled_from([(scale, cut) for scale in (1, 100) for cut in (True, False)])

TABLE_10 = """Iteration\tModel\tAccuracy\tPrecision\tRecall\tF1\tTP\tFP\tFN\tTN
1\tgpt-4o-mini\t91.14%\t90%\t88.11%\t89.04%\t126\t17\t14\t193
2\tgpt-4o-mini\t92.57%\t90.34%\t91.6%\t90.97%\t131\t12\t14\t193
3\tgpt-4o-mini\t93.71%\t91.15%\t93.7%\t92.41%\t134\t9\t13\t194
4\tgpt-4o-mini\t90.28%\t88.11%\t88.11%\t88.11%\t126\t17\t17\t190
5\tgpt-4.1-mini\t84.28%\t98.88\t62.23%\t76.39%\t89\t54\t1\t206"""


def printed(value: float, scale: int, *, cut: bool) -> str:
    value *= scale
    return f"{floor(value * 100 + 1e-9) / 100 if cut else value:.2f}"


def rows_of(tables: list[Any], scale: int, *, cut: bool) -> list[dict[str, Any]]:
    rows = []
    for counts in tables:
        row: dict[str, Any] = {"model": "m"}
        for name in METRICS:
            row[name] = printed(metric(name, counts) or 0.0, scale, cut=cut)
        rows.append(row | dict(zip(COUNTS, counts, strict=True)))
    return rows


def codes(found: Audit) -> list[str]:
    return [finding.code for finding in found.findings]


@given(TABLES, PRINTING)
def test_metrics_that_follow_are_never_named(tables: list[Any], how: tuple[int, bool]) -> None:
    assert audit(rows_of(tables, how[0], cut=how[1])).findings == ()


@given(TABLES, st.sampled_from(METRICS), st.floats(1, 40), st.data())
def test_one_wrong_metric_is_found(
    tables: list[Any], name: str, off: float, data: st.DataObject
) -> None:
    rows = rows_of(tables, 100, cut=False)
    at = data.draw(st.integers(0, len(rows) - 1))
    value = float(rows[at][name])
    rows[at][name] = f"{value + off if value + off <= 100 else value - off:.2f}"
    found = audit(rows)
    named = {finding.row.number for finding in found.findings if finding.row}
    assert at + 1 in named or "columns_swapped" in codes(found)


@pytest.mark.thorough
@given(TABLES, st.sampled_from(COUNTS), st.integers(20, 900), st.data())
def test_one_wrong_count_is_found(
    tables: list[Any], name: str, off: int, data: st.DataObject
) -> None:
    rows = rows_of(tables, 100, cut=False)
    at = data.draw(st.integers(0, len(rows) - 1))
    before: Four = tuple(rows[at][each] for each in COUNTS)
    rows[at][name] += off
    after: Four = tuple(rows[at][each] for each in COUNTS)
    moved = [abs((metric(each, before) or 0) - (metric(each, after) or 0)) for each in METRICS]
    assume(max(moved) > 0.0003)  # beyond rounding
    found = audit(rows)
    named = {finding.row.number for finding in found.findings if finding.row}
    assert at + 1 in named or "columns_swapped" in codes(found)


def test_swapped_columns_are_said_once_and_a_missing_mark_is_a_note() -> None:
    found = audit(read_table(TABLE_10))
    assert codes(found) == ["columns_swapped", "missing_percent"]
    assert found.orientation == ("swapped", "swapped", "swapped", "undecidable", "swapped")
    assert found.findings[0].follows["rows_undecidable"] == [4]


def test_a_single_row_can_be_the_only_one_that_is_swapped() -> None:
    rows = rows_of([(50, 10, 30, 110), (60, 5, 20, 115), (55, 9, 25, 111)], 100, cut=False)
    rows[1]["FP"], rows[1]["FN"] = rows[1]["FN"], rows[1]["FP"]
    (finding,) = audit(rows).findings
    assert finding.code == "row_swapped"
    assert finding.repair == {"TP": 60, "FP": 5, "FN": 20, "TN": 115}


@pytest.mark.parametrize(("by", "side"), [(1, "left"), (-1, "right")])
def test_metrics_in_the_wrong_columns(by: int, side: str) -> None:
    rows = rows_of([(50, 10, 30, 110), (60, 5, 20, 115), (55, 9, 25, 111)], 100, cut=False)
    values = [rows[2][name] for name in METRICS]
    moved = [*values[1:], values[-1]] if by == 1 else [values[0], *values[:-1]]
    rows[2] |= dict(zip(METRICS, moved, strict=True))
    (finding,) = audit(rows).findings
    assert finding.code == "metrics_shifted"
    assert side in finding.sentence


@pytest.mark.parametrize(
    ("name", "wrong"), [("TP", "1345"), ("TP", "13"), ("FP", "80"), ("FN", "90")]
)
def test_a_slip_in_one_count_is_repaired(name: str, wrong: str) -> None:
    right = {"TP": 135, "FP": 8, "FN": 9, "TN": 198}
    (row,) = rows_of([tuple(right.values())], 100, cut=False)
    row[name] = wrong
    (finding,) = audit([row]).findings
    assert finding.code == "count_wrong"
    assert finding.repair == right


def test_a_known_number_of_items_finds_counts_that_agree_with_every_metric() -> None:
    rows = rows_of([(50, 10, 30, 110)], 100, cut=False)
    assert audit(rows, items=200).findings == ()
    assert codes(audit(rows, items=210)) == ["counts_do_not_sum"]


def test_one_metric_that_does_not_follow_is_not_blamed_on_the_counts() -> None:
    rows = rows_of([(141, 86, 2, 121)], 100, cut=True)
    rows[0]["f1"] = "76.81"
    (finding,) = audit(rows).findings
    assert finding.code == "metric_does_not_follow"
    assert finding.repair == {"f1": 76.2162}


def test_a_per_cent_sign_at_a_count_is_a_note() -> None:
    rows = rows_of([(139, 40, 4, 167)], 100, cut=True)
    rows[0]["TP"] = "139%"
    (finding,) = audit(rows).findings
    assert (finding.code, finding.severity) == ("stray_percent", "note")


def test_without_true_negatives_the_rest_is_still_checked() -> None:
    rows = [{"P": "0.80", "R": "0.70", "F1": "0.73", "TP": 40, "FP": 10, "FN": 10}]
    (finding,) = audit(rows).findings
    assert finding.code == "count_wrong"
    assert finding.repair is not None
    assert (finding.repair["TP"], finding.repair["FP"]) == (40, 10)


def test_means_are_compared_with_the_table_of_their_runs() -> None:
    runs = "run,model,accuracy\n1,a,80.0\n2,a,82.0\n1,b,70.0\n2,b,71.0"
    means = "model,accuracy\na,81.0\nb,72.5"
    (finding,) = audit(read_table(means), runs=read_table(runs)).findings
    assert finding.code == "mean_does_not_follow"
    assert finding.follows == {"accuracy": 70.5}


def test_of_a_negative_count_nothing_follows() -> None:
    found = audit([{"TP": 1, "FP": -2, "FN": 3, "precision": "4", "f1": "600"}])
    assert "metric_does_not_follow" not in codes(found)
    assert codes(found).count("impossible_value") == 2


def test_a_sign_that_is_one_too_many_is_repaired() -> None:
    row = {"TP": 80, "FP": -20, "FN": 10, "precision": "80.00", "recall": "88.89", "f1": "84.21"}
    (wrong,) = [each for each in audit([row]).findings if each.code == "count_wrong"]
    assert (wrong.columns, wrong.follows) == (("FP",), {"FP": 20.0})
