"""Sets of labels by hand: each label by itself, exact match, Hamming loss, micro and macro F1."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given as example
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import alpha
from labelhub.core.agreement.estimation import Units, linearised_error
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.reports import aggregated_labels, reasons
from labelhub.core.agreement.reports.kind_agreement import kind_agreement
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import NOTHING, matrix
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
    # Right decisions: all three; a, c and half of b; a and b. Hits 3.5, said 3.5, true 5.
    assert value == pytest.approx(SHOWN)
    assert found["exact_match"]["n"] == found["hamming_loss"]["n"] == 3


SHOWN = {
    "exact_match": (1 + 1 / 2 + 0) / 3,
    "hamming_loss": 1.5 / 9,
    "label_majority_accuracy": 7.5 / 9,
    "micro_precision": 1.0,
    "micro_recall": 3.5 / 5,
    "micro_f1": 2 * 3.5 / (3.5 + 5),
    # Of a, b and c.
    "macro_f1": (1 + 3 / 3.5 + 0) / 3,
}


@pytest.mark.thorough
def test_dawid_and_skene_know_who_is_careless_about_a_label() -> None:
    generator = np.random.default_rng(1)
    gold = generator.integers(4, size=400)
    members = alpha.set_members(SETS[:4])[1]
    wrong = np.array([0.05, 0.05, 0.45, 0.45, 0.45])[:, None, None]
    answers = members[gold] ^ (generator.random((5, 400, 2)) < wrong)
    codes = answers @ np.array([1, 2])
    rows = {f"crowd:{number}": row.tolist() for number, row in enumerate(codes)}
    found = against_gold(given(rows, gold.tolist()))
    vote, model = found["label_majority_accuracy"], found["label_dawid_skene_accuracy"]
    assert vote["value"] == pytest.approx(1 - found["hamming_loss"]["value"])
    assert vote["value"] + 0.05 < model["value"]
    assert model["low"] < model["value"] < model["high"]


@pytest.mark.thorough
def test_dawid_and_skene_do_not_lose_a_rare_label_to_many_annotators() -> None:
    """Each of 200 met it less than once: by maximum likelihood more decisions are wrong."""
    generator, items, crowd = np.random.default_rng(3), 4000, 200
    gold = (generator.random(items) < 0.01).astype(np.int64)
    missed, added = generator.random((2, crowd, items)) < [[[0.25]], [[0.003]]]
    answers = np.where(gold, ~missed, added).astype(np.int64)
    answers[np.argsort(np.argsort(generator.random((crowd, items)), axis=0), axis=0) >= 3] = NOTHING
    rows = {f"crowd:{number}": row.tolist() for number, row in enumerate(answers)}

    found = against_gold(given(rows, gold.tolist()))

    vote, model = found["label_majority_accuracy"], found["label_dawid_skene_accuracy"]
    assert model["value"] >= vote["value"]


names = st.frozensets(st.sampled_from("abcd"))


@example(st.lists(names, min_size=1, max_size=8, unique=True), st.data())
def test_alpha_of_very_many_sets_is_that_of_their_distances(
    sets: list[frozenset[str]], data: st.DataObject
) -> None:
    codes = st.integers(0, len(sets) - 1)
    table = data.draw(st.lists(st.lists(codes, min_size=2, max_size=4), min_size=2, max_size=6))
    items = np.repeat(np.arange(len(table)), [len(row) for row in table])
    raters = np.concatenate([np.arange(len(row)) for row in table])
    ratings = Ratings(items, raters, np.concatenate(table), len(table), 4, len(sets))
    often = np.ones(len(table), dtype=np.int64)
    for masi in (True, False):
        distances = alpha.set_distances(sets, masi=masi)
        parts = alpha.distance_parts(ratings.counts(), distances)
        full, value = Units(parts, often, "items", None), alpha.alpha_by_distance(distances)
        linear = alpha.linear_set_alpha(ratings, alpha.set_members(sets)[1], masi=masi)
        few = Units(linear.parts, often, "items", None)
        expected = float(value(full.sums)[0])
        assert float(linear.value(few.sums)[0]) == pytest.approx(expected, nan_ok=True)
        error = linearised_error(full, value)
        found = linearised_error(few, linear.value)
        assert found == pytest.approx(error, rel=1e-4, abs=1e-7, nan_ok=True)


def test_more_sets_than_tables_hold_still_have_their_alpha(monkeypatch: pytest.MonkeyPatch) -> None:
    few = kind_agreement(given(), "crowd")
    monkeypatch.setattr("labelhub.core.agreement.reports.kind_agreement.MOST_CATEGORIES", 3)
    many = kind_agreement(given(), "crowd")

    for name in ("percent", "alpha_masi", "alpha_jaccard"):
        assert many[name]["value"] == pytest.approx(few[name]["value"]), name
    assert many["gwet_ac1"]["reason"] == reasons.MANY_ANSWERS


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


def test_two_hundred_labels_keep_their_scores() -> None:
    sets = [frozenset([f"l{number}"]) for number in range(201)]
    many = matrix(
        {"crowd:x": [0, 1], "crowd:y": [0, 2]},
        categories=201, task=TASKS["multi"], sets=sets, gold=[0, 1],
    )  # fmt: skip
    found = against_gold(many)
    # l0 is right; l1 is true of the item of which only one of two says so, and l2 is wrongly said.
    assert found["macro_f1"]["value"] == pytest.approx((1 + 1 / 1.5 + 0) / 3)
    assert len(found["per_label"]) == 201
    check(many)


@pytest.mark.parametrize("sets", [SETS, [frozenset[str]()] * 5])
def test_hostile_sets_have_an_honest_report(sets: list[frozenset[str]]) -> None:
    given: dict[str, Any] = {"categories": 5, "task": TASKS["multi"], "sets": sets, "gold": GOLD}
    check(matrix(SAID, **given))
    check(matrix(SAID, **given, clusters=np.array([0, 0, 1]), unit="texts"))
