"""The command on the papers' tables: what is known to be wrong there is found."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

REFERENCE = Path(__file__).resolve().parents[2].parent / "shared" / "reference"
CONFUSIONS = ("000.T2", "000.T3", "000.T5", "000.T9", "000.T10", "000.T11")


@pytest.fixture(scope="module")
def source() -> Any:
    """The file, as it is."""
    path = REFERENCE / "paper_tables.json"
    if not path.exists():
        pytest.skip(f"the papers' tables are not here: {path}")
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def told(source: Any) -> dict[str, Any]:
    """What the command tells of every table, by its name."""
    out = StringIO()
    call_command("audit_table", str(REFERENCE / "paper_tables.json"), "--json", stdout=out)
    return {table["name"]: table for table in json.loads(out.getvalue())["tables"]}


def of(table: dict[str, Any], *codes: str) -> list[dict[str, Any]]:
    """The findings of these codes."""
    return [finding for finding in table["findings"] if finding["code"] in codes]


@pytest.mark.parametrize("name", CONFUSIONS)
def test_fp_and_fn_are_swapped(told: dict[str, Any], name: str) -> None:
    assert len(of(told[f"tables.{name}"], "columns_swapped")) == 1


def test_rows_of_table_5_are_shifted(told: dict[str, Any], source: Any) -> None:
    expected = [
        row["ids"] for row in source["ecj_table5_column_shift"] if row["columns_shifted_left"]
    ]
    found = [each["row"]["cells"] for each in of(told["tables.000.T5"], "metrics_shifted")]
    assert found
    assert all(cells in expected for cells in found)


def test_a_row_whose_counts_sum_to_350_6(told: dict[str, Any]) -> None:
    (finding,) = of(told["tables.000.T3"], "counts_do_not_sum")
    assert "350.6, not 350" in finding["sentence"]


def test_the_t_values_of_table_4_within_a_hundredth(told: dict[str, Any], source: Any) -> None:
    found = told["ecj_table4"]["t_values"]
    stated = [row["stated"]["abs_t"] for row in source["ecj_table4"]]
    assert [each["paired"] for each in found] == pytest.approx(stated, abs=0.01)
    assert all(each["follows"] for each in found)
    assert all(each["welch"] is not None for each in found)


def test_the_discordant_pairs_of_every_p_value(told: dict[str, Any], source: Any) -> None:
    rows = source["p001"]["mcnemar_inversion"]
    found = told["p001.mcnemar_inversion"]["p_values"]
    assert len(found) == len(rows)
    for row, each in zip(rows, found, strict=True):
        known = row["discordant_pairs_reproducing"]
        assert all(pair in each["exact"] for pair in known["exact"])
        assert bool(each["exact"]) == bool(known["exact"])
    lost = of(told["p001.mcnemar_inversion"], "p_not_exact", "p_not_reached")
    assert [finding["row"]["number"] for finding in lost] == [1, 7]


def test_none_of_the_p_values_is_left_after_holm(told: dict[str, Any]) -> None:
    (finding,) = of(told["p001.mcnemar_inversion"], "after_holm")
    assert finding["follows"]["after_holm"] == 0


def test_shares_that_no_number_of_items_gives(told: dict[str, Any]) -> None:
    printed = {each["printed"]["accuracy"] for each in of(told["p002.grim.shares"], "grim")}
    assert printed == {"0.7000", "0.6600", "0.7100", "0.6030"}


def test_a_d_rate_that_five_calls_cannot_give(told: dict[str, Any]) -> None:
    (finding,) = of(told["p002.d_rate.d_rates_told"], "impossible_d_rate")
    assert finding["printed"] == {"d_rate": "0.04"}
    assert of(told["p002.d_rate.vectors"], "impossible_d_rate") == []


def test_groups_that_do_not_give_the_overall_accuracy(told: dict[str, Any], source: Any) -> None:
    rows = source["p002"]["table4_mixture_vs_table3"]
    wrong = [number for number, row in enumerate(rows, start=1) if not row["consistent"]]
    found = of(told["p002.table4_mixture_vs_table3"], "mixture_does_not_follow")
    assert [finding["row"]["number"] for finding in found] == wrong


def test_the_click_through_rate_and_its_increase(told: dict[str, Any]) -> None:
    rate, increase = told["p004.ctr.rates"]["findings"]
    assert (rate["code"], rate["printed"]) == ("rate_does_not_follow", {"rate": "7.52"})
    assert increase["code"] == "ratio_read_as_increase"


@pytest.mark.parametrize("name", ["ecj_table6_8", "p001.table1"])
def test_tables_that_follow_are_left_alone(told: dict[str, Any], name: str) -> None:
    assert told[name]["findings"] == []
