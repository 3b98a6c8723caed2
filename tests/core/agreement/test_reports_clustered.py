"""Tests and errors of a report where items belong together: whole clusters are the evidence."""

from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.alt_test import MeanLeads, mean_leads
from labelhub.core.agreement.estimation import clustered, estimated_share
from labelhub.core.agreement.reports.against import against
from labelhub.core.agreement.reports.comparisons import Comparisons, comparisons
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.replacing import replacements
from labelhub.core.agreement.reports.report import report
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.agreement.significance import mcnemar
from tests.core.agreement.sheets import NOTHING, sheet

#: 30 authors of 4 messages each.
CLUSTERS = np.repeat(np.arange(30), 4)


def three_kinds(items: int = 120, seed: int = 1) -> dict[str, list[int]]:
    generator = np.random.default_rng(seed)
    right = generator.random((items, 3)) < [0.9, 0.7, 0.6]
    said = np.where(right, 0, 1).T.tolist()
    return dict(zip(("llm:m", "crowd:a", "expert:e"), said, strict=True))


def compared(given: Sheet) -> Comparisons:
    found = comparisons(given, ["llm", "crowd", "expert"], given.gold)
    assert found is not None
    return found


def sheet_of(said: dict[str, list[int]], **others: Any) -> Sheet:
    return sheet(said, gold=[0] * len(next(iter(said.values()))), **others)


def test_without_clusters_kinds_are_compared_by_items() -> None:
    told = compared(sheet_of(three_kinds())).to_json()
    assert told["method"].startswith("Cochran's Q; ")
    for pair in told["pairs"]:
        assert pair["method"].startswith("exact McNemar test, two-sided; ")
        assert pair["p"] == mcnemar(pair["only_a"], pair["only_b"])
    assert not any("p_items" in each for each in (told, *told["pairs"]))


def test_with_clusters_kinds_are_compared_by_cluster_and_items_stand_beside() -> None:
    plain = compared(sheet_of(three_kinds())).to_json()
    told = compared(sheet_of(three_kinds(), clusters=CLUSTERS, unit="authors")).to_json()
    assert told["method"].startswith(
        "Cochran's Q by permutation of the kinds' answers over whole authors, 9999 draws, seed 7"
    )
    assert (told["cochran_q"], told["p_items"]) == (plain["cochran_q"], plain["p"])
    for pair, before in zip(told["pairs"], plain["pairs"], strict=True):
        assert pair["method"].startswith(
            "sign-flip permutation test over whole authors, two-sided, exact; ties broken"
        )
        assert pair["p_items"] == before["p"]
        assert (pair["only_a"], pair["only_b"]) == (before["only_a"], before["only_b"])
        assert "doubt" not in pair


def machine_and_crowd(**others: Any) -> dict[str, Any]:
    """The test of a machine beside a crowd of three."""
    generator = np.random.default_rng(8)
    said = np.where(generator.random((120, 4)) < 0.8, 0, 1).T.tolist()
    names = ("llm:m", "crowd:a", "crowd:b", "crowd:c")
    (found,) = replacements(sheet(dict(zip(names, said, strict=True)), **others))
    return found.to_json()


def test_a_machine_is_tested_over_items_or_over_whole_clusters() -> None:
    plain = machine_and_crowd()
    assert plain["method"] == "one-sided t-test over items; Benjamini-Yekutieli"
    assert not {"clusters", "doubt"} & set(plain["humans"][0])
    told = machine_and_crowd(clusters=CLUSTERS, unit="authors")
    assert told["method"] == "one-sided t-test over authors; Benjamini-Yekutieli"
    for human, before in zip(told["humans"], plain["humans"], strict=True):
        assert (human["items"], human["clusters"]) == (120, 30)
        assert human["difference"] == before["difference"]
        assert human["p"] != before["p"]
        assert "doubt" not in human
    (at,) = (each for each in told["curve"] if each["epsilon"] == told["epsilon"])
    assert at["winning_rate"] == told["winning_rate"]


@pytest.mark.thorough
def test_the_accuracy_of_each_annotator_is_linearised_over_clusters() -> None:
    said = three_kinds()
    given = sheet_of(said, clusters=CLUSTERS * 3, unit="authors")
    for name, codes in said.items():
        kind = name.partition(":")[0]
        (found,) = report(given).against_gold[kind].annotators
        columns = np.column_stack([np.equal(codes, 0), np.ones(len(codes))])
        expected = estimated_share(clustered(columns, CLUSTERS, "authors", drawn=False), n=120)
        assert found.accuracy == pytest.approx(expected)


@pytest.mark.thorough
def test_thousands_of_annotators_are_measured_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []

    def counted(*given: Any) -> MeanLeads:
        passes.append(given)
        return mean_leads(*given)

    monkeypatch.setattr("labelhub.core.agreement.reports.against.mean_leads", counted)
    said = {f"crowd:{at}": [at % 2, at % 3 % 2, NOTHING] for at in range(3000)}
    given = sheet_of(said, clusters=np.array([0, 1, 1]), unit="authors")
    found = against(given, "crowd", given.gold, Pooled(given))
    assert len(found.annotators) == 3000
    assert len(passes) == 1
