"""REST: the audit of tables, and the tests of significance."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db

TABLE, TESTS = "/api/v1/audit/table/", "/api/v1/audit/tests/"
ROWS = [
    {"model": "a", "precision": "80.0%", "recall": "88.9%", "TP": 80, "FP": 10, "FN": 20, "TN": 90},
    {"model": "b", "precision": "75.0%", "recall": "83.3%", "TP": 75, "FP": 15, "FN": 25, "TN": 85},
]


@pytest.fixture
def api() -> APIClient:
    """A client that acts for somebody who is a member of no project."""
    client = APIClient()
    client.force_authenticate(UserFactory.create())
    return client


def test_a_list_of_rows_is_audited(api: APIClient) -> None:
    body = api.post(TABLE, {"table": ROWS}).json()
    assert body["orientation"] == ["swapped", "swapped"]
    assert body["faults"] == 1
    finding = body["findings"][0]
    assert (finding["code"], finding["severity"]) == ("columns_swapped", "fault")
    assert finding["columns"] == ["FP", "FN"]
    assert finding["row"] is None


def test_what_was_checked_is_told(api: APIClient) -> None:
    assert api.post(TABLE, {"table": ROWS}).json()["checked"] == {"range": 12, "counts": 4}
    assert api.post(TABLE, {"table": "a,b\nx,y\n"}).json()["checked"] == {}


@pytest.mark.parametrize(
    "table",
    [
        "a,b\0\n1,2",
        ",".join(f"c{n}" for n in range(5_000)) + "\n" + "1," * 5_000,
        "x" * 10_000_000,
        [{f"c{n}": n for n in range(5_000)}],
        [{"a": {"b": {"c": [1] * 10_000}}}],
        [{"TP": float("1e308"), "FP": -1, "precision": "<td>1</td>"}],
        "=1+1,@x,-2\n=cmd|' /C calc'!A0,1,2\n",
        "<table><tr><td>1</td></tr></table>",
    ],
    ids=range(8),
)
def test_hostile_tables_are_refused_or_audited(api: APIClient, table: object) -> None:
    assert api.post(TABLE, {"table": table}).status_code in {200, 400, 413, 422}


def test_a_text_is_audited_with_what_is_known(api: APIClient) -> None:
    sent = {"table": "model,accuracy\na,0.6030\n", "items": 500}
    (finding,) = api.post(TABLE, sent).json()["findings"]
    assert finding["code"] == "grim"
    assert finding["row"] == {"number": 1, "cells": {"model": "a"}}


def test_the_runs_may_come_as_rows_or_text(api: APIClient) -> None:
    table = [{"model": "a", "accuracy": "90.0"}]
    rows = [{"run": n, "model": "a", "accuracy": value} for n, value in enumerate((80.0, 90.0))]
    for runs in (rows, "run,model,accuracy\n1,a,80.0\n2,a,90.0\n"):
        (finding,) = api.post(TABLE, {"table": table, "runs": runs}).json()["findings"]
        assert finding["follows"] == {"accuracy": 85.0}


def test_a_text_with_many_tables_gives_an_audit_for_each(api: APIClient) -> None:
    body = api.post(TABLE, {"table": json.dumps({"x": ROWS, "y": ROWS})}).json()
    assert [each["name"] for each in body["tables"]] == ["x", "y"]
    assert body["faults"] == 2


@pytest.mark.parametrize("row", [{"a": 1, "b": 2}, {"p": 0.5, "diff items": 1}])
def test_many_tables_have_limits_together(api: APIClient, row: dict[str, Any]) -> None:
    tables = {f"t{n}": [row] * 101 for n in range(4 if "p" in row else 10)}
    response = api.post(TABLE, {"table": json.dumps(tables)})
    assert response.status_code == 422
    assert "more than" in response.json()["detail"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "table"),
        ({"table": 5}, "table"),
        ({"table": ""}, "table"),
        ({"table": [1]}, "table"),
        ({"table": []}, "table"),
        ({"table": "a" * 200_001}, "table"),
        ({"table": [{"a": 1}] * 2_001}, "table"),
        ({"table": ROWS, "items": 0}, "items"),
        ({"table": ROWS, "items": 1.5}, "items"),
        ({"table": ROWS, "calls": 101}, "calls"),
        ({"table": ROWS, "runs": "x"}, "runs"),
    ],
)
def test_faults_are_problems_that_name_the_field(
    api: APIClient, sent: dict[str, Any], field: str
) -> None:
    response = api.post(TABLE, sent)
    assert response.status_code in {400, 422}
    assert response["Content-Type"] == "application/problem+json"
    assert [fault["field"] for fault in response.json()["errors"]] == [field]


def test_strangers_are_refused() -> None:
    assert APIClient().post(TABLE, {"table": ROWS}).status_code == 401
    assert APIClient().post(TESTS, {"p_values": [0.1]}).status_code == 401


def test_paired_and_welch_t_of_two_lists(api: APIClient) -> None:
    body = api.post(TESTS, {"paired": [[1.0, 2.0, 3.0, 5.0], [1.5, 2.0, 4.0, 7.0]]}).json()
    paired, welch = body["paired"]["paired"], body["paired"]["welch"]
    assert paired["t"] == pytest.approx(-2.049390, abs=1e-6)
    assert paired["df"] == 3
    assert paired["p"] == pytest.approx(0.132842, abs=1e-6)
    assert welch["t"] == pytest.approx(-0.578664, abs=1e-6)
    assert welch["df"] == pytest.approx(5.304199, abs=1e-6)
    assert set(paired) >= {"difference", "low", "high", "n", "method", "reason"}


def test_lists_of_different_length_have_welch_only(api: APIClient) -> None:
    body = api.post(TESTS, {"paired": [[1, 2, 3], [1, 5]]}).json()["paired"]
    assert body["paired"] == {"t": None, "p": None, "reason": "lists_of_different_length"}
    assert body["welch"]["t"] is not None


def test_what_does_not_vary_is_null_with_the_reason(api: APIClient) -> None:
    body = api.post(TESTS, {"paired": [[1, 1], [2, 2]]}).json()["paired"]
    assert (body["paired"]["t"], body["paired"]["reason"]) == (None, "no_variation")


def test_mcnemar_in_all_its_forms(api: APIClient) -> None:
    body = api.post(TESTS, {"mcnemar": {"b": 21, "c": 9}}).json()["mcnemar"]
    assert body["exact"] == pytest.approx(0.042774, abs=1e-6)
    assert body["mid_p"] == pytest.approx(0.029449, abs=1e-5)
    assert body["chi_square"]["statistic"] == pytest.approx(4.8)
    assert body["chi_square_corrected"]["statistic"] == pytest.approx(121 / 30)


def test_no_discordant_item_has_no_chi_square(api: APIClient) -> None:
    body = api.post(TESTS, {"mcnemar": {"b": 0, "c": 0}}).json()["mcnemar"]
    assert body["exact"] == 1
    assert body["chi_square"] == {"statistic": None, "df": 1, "p": None}


def test_p_values_are_adjusted_for_their_number(api: APIClient) -> None:
    body = api.post(TESTS, {"p_values": [0.01, 0.04, None, 0.03]}).json()["p_values"]
    assert body["holm"] == pytest.approx([0.03, 0.06, None, 0.06], nan_ok=True)
    assert body["benjamini_hochberg"] == pytest.approx([0.03, 0.04, None, 0.04])
    assert body["benjamini_yekutieli"][0] == pytest.approx(0.03 * 11 / 6)
    assert body["below_level"] == {
        "unadjusted": 3,
        "holm": 1,
        "benjamini_hochberg": 3,
        "benjamini_yekutieli": 0,
    }


@pytest.mark.parametrize("p", [".043", 0.043])
def test_the_pairs_behind_a_printed_p_value(api: APIClient, p: object) -> None:
    sent = {"discordant": {"p": p, "difference": 12, "items": 200}}
    body = api.post(TESTS, sent).json()["discordant"]
    assert [21, 9] in body["exact"]
    assert body["reached"] is True


def test_all_parts_are_answered_at_once(api: APIClient) -> None:
    sent = {"mcnemar": {"b": 1, "c": 2}, "p_values": [0.5]}
    assert set(api.post(TESTS, sent).json()) == {"mcnemar", "p_values"}


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"paired": [[1, 2]]},
        {"paired": [[1, "x"], [1, 2]]},
        {"mcnemar": {"b": -1, "c": 2}},
        {"mcnemar": {"b": 1}},
        {"p_values": [1.2]},
        {"p_values": []},
        {"discordant": {"p": "high", "difference": 1, "items": 9}},
        {"discordant": {"p": "0.1", "difference": 10, "items": 9}},
        {"discordant": {"p": "0.1", "difference": 1, "items": 10**9}},
    ],
)
def test_tests_that_cannot_be_done_are_problems(api: APIClient, sent: dict[str, Any]) -> None:
    response = api.post(TESTS, sent)
    assert response.status_code in {400, 422}
    assert response["Content-Type"] == "application/problem+json"


def test_what_is_beyond_floats_is_null_with_the_reason(api: APIClient) -> None:
    sent = {"paired": [[1e308, -1e308, 2], [-1e308, 1e308, 3]]}
    response = api.post(TESTS, sent)
    assert response.status_code == 200
    for each in response.json()["paired"].values():
        assert (each["t"], each["p"], each["reason"]) == (None, None, "not_finite")
