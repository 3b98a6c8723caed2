"""The audit on the published tables: what is wrong there is found, right rows are left alone."""

import json
from typing import Any

import pytest

from labelhub.core.agreement.audit import Audit, Finding, audit, read_table
from tests.core.agreement.published import paper_tables

CONFUSIONS = ("000.T2", "000.T3", "000.T5", "000.T9", "000.T10", "000.T11")


@pytest.fixture(scope="module")
def paper() -> Any:
    return paper_tables()


def audited(
    rows: list[Any], *keys: str, items: int | None = None, positives: int | None = None
) -> Audit:
    kept = [{key: row[key] for key in keys} if keys else row for row in rows]
    return audit(read_table(json.dumps(kept)), items=items, positives=positives)


def of(found: Audit, code: str) -> list[Finding]:
    return [finding for finding in found.findings if finding.code == code]


def rows_named(found: Audit, *codes: str) -> set[int]:
    return {each.row.number for each in found.findings if each.row and each.code in codes}


@pytest.mark.parametrize("name", CONFUSIONS)
def test_every_confusion_table_of_that_paper_has_fp_and_fn_swapped(paper: Any, name: str) -> None:
    found = audited(paper["tables"][name])
    swapped = of(found, "columns_swapped")
    assert len(swapped) == 1
    assert swapped[0].columns == ("FP", "FN")
    assert "as_printed" not in found.orientation


def test_rows_with_fp_equal_to_fn_cannot_tell(paper: Any) -> None:
    sides = [
        side
        for rows in map(paper["tables"].get, CONFUSIONS)
        for row, side in zip(rows, audited(rows).orientation, strict=True)
        if row["printed_counts"]["FP"] == row["printed_counts"]["FN"]
    ]
    assert set(sides) == {"undecidable"}


@pytest.mark.parametrize("name", CONFUSIONS)
@pytest.mark.parametrize("known", [{}, {"items": 350, "positives": 143}])
def test_only_wrong_rows_are_named(paper: Any, name: str, known: Any) -> None:
    rows = paper["tables"][name]
    wrong = {number for number, row in enumerate(rows, start=1) if row["problems"]}
    found = audited(rows, **known)
    named = {finding.row.number for finding in found.findings if finding.row}
    shifted = rows_named(found, "metrics_shifted")
    assert wrong <= named
    assert named - wrong <= shifted


def test_the_first_rows_of_table_5_have_their_metrics_one_column_to_the_left(paper: Any) -> None:
    expected = {
        tuple(row["ids"].values()): row["per_run_means"]["accuracy"]
        for row in paper["ecj_table5_column_shift"]
        if row["columns_shifted_left"]
    }
    shifted = of(audited(paper["tables"]["000.T5"]), "metrics_shifted")
    assert len(shifted) == 2
    for finding in shifted:
        assert finding.row is not None
        assert finding.repair is not None
        place = tuple(finding.row.cells.values())
        assert finding.repair["accuracy"] == pytest.approx(expected[place], abs=0.02)


def test_a_digit_too_many_is_repaired(paper: Any) -> None:
    (finding,) = of(audited(paper["tables"]["000.T11"]), "counts_do_not_sum")
    assert finding.printed == {"TP": "1345"}
    assert finding.repair == {"TP": 135, "FP": 9, "FN": 8, "TN": 198}


def test_counts_that_sum_to_353_are_repaired_in_the_one_count(paper: Any) -> None:
    (finding,) = of(audited(paper["tables"]["000.T10"]), "counts_do_not_sum")
    assert "353, not 350" in finding.sentence
    assert finding.repair == {"TP": 126, "FP": 14, "FN": 17, "TN": 193}


def test_counts_copied_from_another_row_are_named_with_that_row(paper: Any) -> None:
    (finding,) = of(audited(paper["tables"]["000.T9"]), "copied_from_row")
    assert finding.printed == {"FN": "193", "TN": "14"}
    assert finding.repair == {"TP": 143, "FP": 190, "FN": 0, "TN": 17}
    assert "of row 7" in finding.sentence


def test_a_mean_of_counts_that_sum_to_too_much(paper: Any) -> None:
    (finding,) = of(audited(paper["tables"]["000.T3"]), "counts_do_not_sum")
    assert "350.6, not 350" in finding.sentence


def test_the_t_values_follow_from_the_runs_and_welch_is_hinted_at(paper: Any) -> None:
    found = audited(paper["ecj_table4"], "model", "stated", "f1_baseline", "f1_ecj")
    assert [finding.code for finding in found.findings] == ["runs_paired"]


def test_a_wrong_t_value_and_a_wrong_mean_are_found(paper: Any) -> None:
    row = json.loads(json.dumps(paper["ecj_table4"][1]))
    row["stated"]["abs_t"], row["stated"]["ecj_mean"] = 4.53, 93.2
    found = audited([row], "model", "stated", "f1_baseline", "f1_ecj")
    codes = {finding.code for finding in found.findings}
    assert codes == {"t_does_not_follow", "mean_does_not_follow"}


def test_means_of_runs_that_follow_are_left_alone(paper: Any) -> None:
    found = audited(paper["ecj_table6_8"], "aspect", "acc", "f1", "stated_T6", items=350)
    assert found.findings == ()


def test_averages_of_rows_that_follow_are_left_alone(paper: Any) -> None:
    found = audited(paper["p001"]["table1"], "model", "acc", "stated_avg", items=200)
    assert found.findings == ()


def test_two_p_values_are_not_reached_exactly_and_none_is_left_after_holm(paper: Any) -> None:
    rows = paper["p001"]["mcnemar_inversion"]
    found = audited(rows, "a", "b", "dataset", "stated_p", "diff_items", items=200)
    assert rows_named(found, "p_not_exact", "p_not_reached") == {1, 7}
    (holm,) = of(found, "after_holm")
    assert holm.follows["after_holm"] == 0
    assert holm.follows["smallest"] == pytest.approx(0.26)


def test_the_groups_that_do_not_give_the_overall_accuracy(paper: Any) -> None:
    rows = paper["p002"]["table4_mixture_vs_table3"]
    wrong = {number for number, row in enumerate(rows, start=1) if not row["consistent"]}
    keys = ("dataset", "structure", "ratio_amb", "acc_amb", "acc_nor", "table3_1shot")
    assert rows_named(audited(rows, *keys), "mixture_does_not_follow") == wrong
