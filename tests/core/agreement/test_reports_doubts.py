"""What a report says of its own figures: intervals that hold, doubts, and no interval at all."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.alt_test import MeanLeads, mean_leads
from labelhub.core.agreement.estimation import cluster_units, estimate_share
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.accuracy import KindAccuracy, measure_accuracy
from labelhub.core.agreement.reports.aggregated_labels import AggregatedLabels
from labelhub.core.agreement.reports.kind_agreement import kind_agreement
from labelhub.core.agreement.reports.kind_tests import KindPairTest, KindTests, compare_kinds
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.pair_agreement import annotator_pairs, kind_pairs
from labelhub.core.agreement.reports.replacement import run_alt_tests
from labelhub.core.agreement.reports.report import build_report, label_agreement
from labelhub.core.schema import TASKS, LabelType
from tests.core.agreement.matrices import NOTHING, UNSURE, matrix


def by_gold(given: LabelMatrix, kind: str = "crowd") -> KindAccuracy:
    return measure_accuracy(given, kind, given.gold, AggregatedLabels(given))


def pair_of(given: LabelMatrix) -> KindPairTest:
    found = compare_kinds(given, ["llm", "crowd"], given.gold)
    assert found is not None
    return found.pairs[0]


def noisy(items: int, raters: int = 2, categories: int = 3, seed: int = 1) -> dict[str, Any]:
    """Raters of a crowd that say what is true in seven of ten items, and what is."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(categories, size=items)
    guesses = generator.integers(categories, size=(raters, items))
    answers = np.where(generator.random((raters, items)) < 0.7, gold, guesses)
    return {
        "answers": {f"crowd:{number}": row for number, row in enumerate(answers.tolist())},
        "gold": gold,
    }


def matrix_of(made: Mapping[str, Any], **others: Any) -> LabelMatrix:
    return matrix(made["answers"], gold=made["gold"], categories=3, **others)


def doubt(found: Figure) -> str:
    return found.get("doubt", "")


CLUSTERS = np.repeat(np.arange(30), 4)


def test_clusters_are_drawn_for_majorities_annotators_and_groups() -> None:
    made = noisy(120, raters=3)
    made["answers"]["llm:m"] = made["gold"].tolist()
    plain, given = matrix_of(made), matrix_of(made, clusters=CLUSTERS, unit="authors")
    (before,), (pair,) = kind_pairs(plain), kind_pairs(given)
    for name in ("majority_percent", "majority_kappa"):
        assert pair.figures[name]["value"] == pytest.approx(before.figures[name]["value"])
        assert "over authors" in pair.figures[name]["method"]
    for apart, together in zip(accuracies(plain), accuracies(given), strict=True):
        assert together["value"] == pytest.approx(apart["value"])
        assert together["n"] == apart["n"]
        assert "over authors" in together["method"]


def accuracies(given: LabelMatrix) -> list[Figure]:
    found = by_gold(given)
    by_annotator = [annotator.accuracy for annotator in found.annotators]
    return by_annotator + [group.accuracy for group in found.by_agreeing]


@pytest.mark.parametrize(("items", "doubted"), [(9, True), (10, False)])
def test_fewer_than_ten_items_are_doubted_everywhere(items: int, doubted: bool) -> None:
    made = noisy(items)
    made["answers"]["llm:m"] = made["gold"].tolist()
    given = matrix_of(made)
    gold = by_gold(given)
    found = [
        kind_agreement(given, "crowd")["percent"],
        label_agreement(given, "crowd")[0].figures["percent"],
        *(gold.figures[name] for name in ("accuracy", "cohen_kappa", "js_divergence")),
        *(annotator.accuracy for annotator in gold.annotators),
        kind_pairs(given)[0].figures["percent"],
        *annotator_pairs(given)[0].figures.values(),
        pair_of(given).difference,
    ]
    for figure in found:
        assert ("few_items: " in doubt(figure)) == doubted


def test_why_a_label_has_no_score_is_a_code() -> None:
    found = by_gold(matrix({"crowd:a": [0, 0, 3, 3]}, gold=[0, 1, 0, 1], categories=4))
    never_predicted, two, three, four = found.per_label
    assert never_predicted.precision["value"] == 0.5
    assert two.precision["reason"] == reasons.NEVER_PREDICTED
    assert three.f1["reason"] == reasons.NEITHER
    assert four.recall["reason"] == reasons.NEVER_TRUE


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ([NOTHING, NOTHING, 2], reasons.ONE_RATED_BY_ALL),
        ([NOTHING, NOTHING, NOTHING, 2], reasons.MISSING_RATINGS),
    ],
)
def test_an_intraclass_correlation_needs_two_items_rated_by_all(
    second: list[int], reason: str
) -> None:
    first = [0, 1, 2, NOTHING][: len(second)]
    given = matrix(
        {"crowd:a": first, "crowd:b": second}, categories=3, task=TASKS["ordinal"], scores=[1, 2, 3]
    )
    assert kind_agreement(given, "crowd")["icc_2_1"] == {"value": None, "reason": reason}


@pytest.mark.parametrize(
    ("task", "options"), [(TASKS["per_item"], np.array([2, 3, 3])), (TASKS["text"], None)]
)
def test_abstentions_count_for_every_task(task: LabelType, options: Any) -> None:
    answers = {"crowd:a": [0, 2, UNSURE], "crowd:b": [0, 1, UNSURE]}
    found = kind_agreement(matrix(answers, categories=3, task=task, options=options), "crowd")
    assert found["percent"]["value"] == 0.5
    assert found["percent_with_abstentions"]["value"] == pytest.approx(2 / 3)
    assert "alpha_with_abstentions" not in found


def three_kinds(items: int = 120, seed: int = 1) -> dict[str, list[int]]:
    generator = np.random.default_rng(seed)
    right = generator.random((items, 3)) < [0.9, 0.7, 0.6]
    answers = np.where(right, 0, 1).T.tolist()
    return dict(zip(("llm:m", "crowd:a", "expert:e"), answers, strict=True))


def compared(given: LabelMatrix) -> KindTests:
    found = compare_kinds(given, ["llm", "crowd", "expert"], given.gold)
    assert found is not None
    return found


def clustered_matrix(answers: dict[str, list[int]], **others: Any) -> LabelMatrix:
    return matrix(answers, gold=[0] * len(next(iter(answers.values()))), **others)


def test_with_clusters_kinds_are_compared_by_cluster_and_items_stand_beside() -> None:
    plain = compared(clustered_matrix(three_kinds())).to_json()
    fields = compared(clustered_matrix(three_kinds(), clusters=CLUSTERS, unit="authors")).to_json()
    assert fields["method"].startswith(
        "Cochran's Q by permutation of the kinds' answers over whole authors, 9999 draws, seed 7"
    )
    assert (fields["cochran_q"], fields["p_items"]) == (plain["cochran_q"], plain["p"])
    for pair, before in zip(fields["pairs"], plain["pairs"], strict=True):
        assert pair["method"].startswith(
            "sign-flip permutation test over whole authors, two-sided, exact; tied answers"
        )
        assert pair["p_items"] == before["p"]
        assert (pair["only_a"], pair["only_b"]) == (before["only_a"], before["only_b"])
        assert "doubt" not in pair


def machine_and_crowd(**others: Any) -> dict[str, Any]:
    """The test of a machine beside a crowd of three."""
    generator = np.random.default_rng(8)
    answers = np.where(generator.random((120, 4)) < 0.8, 0, 1).T.tolist()
    names = ("llm:m", "crowd:a", "crowd:b", "crowd:c")
    (found,) = run_alt_tests(matrix(dict(zip(names, answers, strict=True)), **others))
    return found.to_json()


def test_a_machine_is_tested_over_items_or_over_whole_clusters() -> None:
    plain = machine_and_crowd()
    assert plain["method"] == "one-sided t-test over items; Benjamini-Yekutieli"
    assert not {"clusters", "doubt"} & set(plain["humans"][0])
    fields = machine_and_crowd(clusters=CLUSTERS, unit="authors")
    assert fields["method"] == "one-sided t-test over authors; Benjamini-Yekutieli"
    for human, before in zip(fields["humans"], plain["humans"], strict=True):
        assert (human["items"], human["clusters"]) == (120, 30)
        assert human["difference"] == before["difference"]
        assert human["p"] != before["p"]
        assert "doubt" not in human
    (point,) = (point for point in fields["curve"] if point["epsilon"] == fields["epsilon"])
    assert point["winning_rate"] == fields["winning_rate"]


@pytest.mark.thorough
def test_the_accuracy_of_each_annotator_is_linearised_over_clusters() -> None:
    answers = three_kinds()
    given = clustered_matrix(answers, clusters=CLUSTERS * 3, unit="authors")
    for name, codes in answers.items():
        kind = name.partition(":")[0]
        (found,) = build_report(given).against_gold[kind].annotators
        columns = np.column_stack([np.equal(codes, 0), np.ones(len(codes))])
        expected = estimate_share(cluster_units(columns, CLUSTERS, "authors", drawn=False), n=120)
        assert found.accuracy == pytest.approx(expected)


@pytest.mark.thorough
def test_thousands_of_annotators_are_measured_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []

    def counted(*given: Any) -> MeanLeads:
        passes.append(given)
        return mean_leads(*given)

    monkeypatch.setattr("labelhub.core.agreement.reports.accuracy.mean_leads", counted)
    answers = {f"crowd:{number}": [number % 2, number % 3 % 2, NOTHING] for number in range(3000)}
    given = clustered_matrix(answers, clusters=np.array([0, 1, 1]), unit="authors")
    found = measure_accuracy(given, "crowd", given.gold, AggregatedLabels(given))
    assert len(found.annotators) == 3000
    assert len(passes) == 1
