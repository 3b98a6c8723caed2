"""Sets of labels by hand: each label by itself, exact match, Hamming loss, micro and macro F1."""

from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.reports import aggregated_labels, reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.agreement.reports.sets import set_members
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import matrix
from tests.core.agreement.test_reports_hostile import check

SETS = [frozenset[str](), frozenset("a"), frozenset("b"), frozenset("ab"), frozenset("c")]
#: The majority of each label: {a, b}; {a} (b is a tie); nothing, as all three differ.
SAID = {
    "crowd:x": [3, 3, 1],
    "crowd:y": [1, 1, 2],
    "crowd:z": [2, 0, 4],
    "crowd:w": [3, 3, 0],
}
#: {a, b}; {a, b}; {c}.
GOLD = [3, 3, 4]


def given(
    answers: dict[str, list[int]] = SAID, gold: list[int] = GOLD, **others: Any
) -> LabelMatrix:
    return matrix(answers, categories=5, task=TASKS["multi"], sets=SETS, gold=gold, **others)


def against_gold(labels: LabelMatrix) -> dict[str, Any]:
    found: dict[str, Any] = build_report(labels).to_json()["against_gold"]["crowd"]
    return found


def test_sets_against_gold_by_hand() -> None:
    found = against_gold(given())
    value = {name: shown["value"] for name, shown in found.items() if name in SHOWN}
    # Right decisions: all three; a and c; a and b. Hits 3, said 3, true 5.
    assert value == pytest.approx(SHOWN)
    assert found["exact_match"]["n"] == found["hamming_loss"]["n"] == 3


SHOWN = {
    "exact_match": 1 / 3,
    "hamming_loss": 2 / 9,
    "label_majority_accuracy": 7 / 9,
    "micro_precision": 1.0,
    "micro_recall": 3 / 5,
    "micro_f1": 2 * 3 / (3 + 5),
    # Of a, b and c.
    "macro_f1": (1 + 2 / 3 + 0) / 3,
}


@pytest.mark.thorough
def test_dawid_and_skene_know_who_is_careless_about_a_label() -> None:
    generator = np.random.default_rng(1)
    gold = generator.integers(4, size=400)
    members = set_members(SETS[:4])[1]
    wrong = np.array([0.05, 0.05, 0.45, 0.45, 0.45])[:, None, None]
    answers = members[gold] ^ (generator.random((5, 400, 2)) < wrong)
    codes = answers @ np.array([1, 2])
    rows = {f"crowd:{number}": row.tolist() for number, row in enumerate(codes)}
    found = against_gold(given(rows, gold.tolist()))
    vote, model = found["label_majority_accuracy"], found["label_dawid_skene_accuracy"]
    assert vote["value"] == pytest.approx(1 - found["hamming_loss"]["value"])
    assert vote["value"] + 0.05 < model["value"]
    assert model["low"] < model["value"] < model["high"]


def test_what_cannot_be_told_of_sets_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = against_gold(given({"crowd:x": [3, 3, 1]}))
    assert alone["label_dawid_skene_accuracy"]["reason"] == reasons.ONE_ANNOTATOR
    assert alone["exact_match"]["value"] == pytest.approx(2 / 3)
    empty = against_gold(given({"crowd:x": [0, 0, 0], "crowd:y": [0, 0, 0]}, [0, 0, 0]))
    assert empty["micro_f1"]["reason"] == empty["macro_f1"]["reason"] == reasons.NEITHER
    assert empty["micro_precision"]["reason"] == reasons.NEVER_PREDICTED
    assert empty["micro_recall"]["reason"] == reasons.NEVER_TRUE
    assert empty["exact_match"]["value"] == 1
    monkeypatch.setattr(aggregated_labels, "MOST_DECISIONS", 1)
    many = against_gold(given())
    assert many["label_dawid_skene_accuracy"]["reason"] == reasons.TOO_MANY_LABELS


def test_more_labels_than_a_table_holds_are_refused() -> None:
    sets = [frozenset([f"l{number}"]) for number in range(80)]
    many = matrix(
        {"crowd:x": [0, 1], "crowd:y": [0, 2]},
        categories=80, task=TASKS["multi"], sets=sets, gold=[0, 1],
    )  # fmt: skip
    found = against_gold(many)
    assert found["macro_f1"]["reason"] == reasons.MANY_ANSWERS
    assert found["per_label"] == []
    check(many)


@pytest.mark.parametrize("sets", [SETS, [frozenset[str]()] * 5])
def test_hostile_sets_have_an_honest_report(sets: list[frozenset[str]]) -> None:
    given: dict[str, Any] = {"categories": 5, "task": TASKS["multi"], "sets": sets, "gold": GOLD}
    check(matrix(SAID, **given))
    check(matrix(SAID, **given, clusters=np.array([0, 0, 1]), unit="texts"))
