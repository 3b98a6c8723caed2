"""Reports of small matrices, by hand: kinds against a truth, the better kind, replacements."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement import scores
from labelhub.core.agreement.aggregation.dawid_skene import dawid_skene
from labelhub.core.agreement.aggregation.majority import median_categories
from labelhub.core.agreement.reports import accuracy, aggregated_labels, reasons
from labelhub.core.agreement.reports.accuracy import KindAccuracy, measure_accuracy
from labelhub.core.agreement.reports.aggregated_labels import AggregatedLabels
from labelhub.core.agreement.reports.kind_agreement import icc, kind_agreement
from labelhub.core.agreement.reports.kind_tests import compare_kinds
from labelhub.core.agreement.reports.label_matrix import KINDS, LabelMatrix
from labelhub.core.agreement.reports.replacement import run_alt_tests
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.agreement.significance import cochran_q, mcnemar
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import NOTHING, matrix
from tests.core.agreement.test_reports_hostile import check

GOLD = [0, 0, 1, 1, 0, NOTHING]
CROWD = {
    "crowd:a": [0, 0, 1, 0, 1, 1],
    "crowd:b": [0, 1, 1, 0, 1, 1],
    "crowd:c": [0, NOTHING, 1, 1, 1, 1],
}


def by_gold(given: LabelMatrix, kind: str = "crowd") -> KindAccuracy:
    return measure_accuracy(given, kind, given.gold, AggregatedLabels(given))


def test_labels_and_items_against_gold() -> None:
    found = by_gold(matrix(CROWD, gold=GOLD))
    assert (found.items, found.labels, found.ties) == (5, 14, 1)
    assert found.figures["accuracy"]["value"] == pytest.approx(8 / 14)
    assert found.figures["accuracy"]["n"] == 14
    # Right, a tie, right, wrong, wrong.
    assert found.figures["majority_accuracy"]["value"] == pytest.approx(2.5 / 5)
    assert [rater.accuracy["value"] for rater in found.annotators] == [0.6, 0.4, 0.75]


def test_without_shared_items_or_gold_the_reason_is_told() -> None:
    assert by_gold(matrix(CROWD)).figures["accuracy"]["reason"] == reasons.NO_GOLD
    apart = matrix({"crowd:a": [0, NOTHING]}, gold=[NOTHING, 1])
    assert by_gold(apart).figures["accuracy"]["reason"] == reasons.NO_SHARED_ITEMS


def test_own_options_give_the_lift_over_guessing() -> None:
    options = np.array([2, 4])
    given = matrix(
        {"crowd:a": [0, 3], "crowd:b": [1, 3]},
        categories=4, task=TASKS["per_item"], options=options, gold=[0, 3],
    )  # fmt: skip
    lift = by_gold(given).figures["lift_over_guessing"]
    assert lift["value"] == pytest.approx(3 / 4 - (2 / 2 + 2 / 4) / 4)


def test_many_labels_are_put_together_almost_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    truth = generator.integers(3, size=2000)
    noise = generator.integers(3, size=(6, 2000))
    right = generator.random((6, 2000)) < np.linspace(0.3, 0.8, 6)[:, None]
    rows = np.where(right, truth, noise)
    given = matrix(
        {f"crowd:{number}": row for number, row in enumerate(rows.tolist())}, categories=3
    )
    exact = dawid_skene(given.of_kind("crowd")).posterior.argmax(axis=1)
    monkeypatch.setattr(aggregated_labels, "MOST_EXACT", 0)
    found = AggregatedLabels(given).winners("crowd", "dawid_skene").argmax(axis=1)
    assert np.mean(found != exact) < 0.01


def test_which_kind_is_right_more_often() -> None:
    answers = {"llm:m": [0, 0, 1, 1, 1, 1], "crowd:a": [0, 1, 0, 1, 0, 1]}
    given = matrix(answers, gold=GOLD)
    found = compare_kinds(given, ["llm", "crowd"], given.gold)
    (pair,) = found.pairs
    assert (pair.items, pair.only_a, pair.only_b) == (5, 2, 1)
    assert pair.difference["value"] == pytest.approx(4 / 5 - 3 / 5)
    assert pair.p == 1
    clustered = matrix(answers, gold=GOLD, clusters=np.array([0, 0, 1, 1, 2, 2]), unit="texts")
    again = compare_kinds(clustered, ["llm", "crowd"], given.gold)
    assert again.pairs[0].difference["value"] == pytest.approx(1 / 5)
    assert compare_kinds(given, ["llm"], given.gold).to_json()["reason"] == "one_kind"


def test_a_machine_like_everybody_can_replace_them() -> None:
    same = ([0, 1] * 20)[:40]
    others = {f"crowd:{name}": same for name in "abc"}
    worse = [1 - code for code in same]
    good, bad = run_alt_tests(matrix(others | {"llm:good": same, "model:bad": worse}))
    assert (good.machine.name, good.test.passes, good.test.advantage["value"]) == ("good", True, 1)
    assert (bad.machine.name, bad.test.passes, bad.test.advantage["value"]) == ("bad", False, 0)
    assert good.epsilon_for == "crowd"
    (by_author,) = run_alt_tests(
        matrix(others | {"llm:good": same, "author:w": same}), by_author=True
    )
    assert by_author.test.winning_rate == 1


#: Medians 1; 2; 0 or 2; 3 (one label): points 2, 3, 1 or 3, 5.
SAID = {
    "crowd:a": [0, 2, 0, NOTHING],
    "crowd:b": [1, 2, 2, 3],
    "crowd:c": [3, 0, NOTHING, NOTHING],
}
POINTS = [1, 1, 0, 3]
SCALE: dict[str, Any] = {"task": TASKS["ordinal"], "scores": [1.0, 2.0, 3.0, 5.0], "categories": 4}


def against_gold(given: LabelMatrix) -> dict[str, Any]:
    found: dict[str, Any] = build_report(given).to_json()["against_gold"]["crowd"]
    return found


def test_the_median_against_gold_by_hand() -> None:
    found = against_gold(matrix(SAID, gold=POINTS, **SCALE))
    # Truth 2, 2, 1, 5: off by 0, 1, 0 or 2, 0.
    assert found["median_accuracy"]["value"] == pytest.approx((1 + 0 + 1 / 2 + 1) / 4)
    assert found["median_mean_absolute_error"]["value"] == pytest.approx((1 + 2 / 2) / 4)
    assert found["median_root_mean_squared_error"]["value"] == pytest.approx(
        ((1 + 2**2 / 2) / 4) ** 0.5
    )
    assert found["median_accuracy"]["n"] == 4
    assert "counts half" in found["median_accuracy"]["method"]


@pytest.mark.thorough
@pytest.mark.parametrize("items", [30, 300])
def test_medians_of_many_items_are_those_of_each(items: int) -> None:
    generator = np.random.default_rng(items)
    gold = generator.integers(4, size=items)
    answers = np.clip(gold + generator.integers(-1, 2, size=(4, items)), 0, 3)
    rows = {f"crowd:{number}": row.tolist() for number, row in enumerate(answers)}
    given = matrix(rows, gold=gold.tolist(), **SCALE)
    low, high = median_categories(given.of_kind("crowd").counts())
    points = np.array(SCALE["scores"])
    off = (np.abs(points[low] - points[gold]) + np.abs(points[high] - points[gold])) / 2
    found = against_gold(given)["median_mean_absolute_error"]
    assert found["value"] == pytest.approx(off.mean())
    clustered = matrix(
        rows, gold=gold.tolist(), clusters=np.arange(items) // 2, unit="texts", **SCALE
    )
    together = against_gold(clustered)["median_mean_absolute_error"]
    assert together["value"] == pytest.approx(off.mean())
    assert 0 <= found["low"] < found["value"] < found["high"]
    assert "over texts" in together["method"]
    assert "over items" in found["method"]


def test_a_table_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "MOST_CELLS", 3)
    given = matrix(SAID, gold=POINTS, **SCALE)
    assert against_gold(given)["median_spearman"]["reason"] == reasons.MANY_ANSWERS
    assert against_gold(given)["median_accuracy"]["value"] is not None
    check(given)


def test_icc_of_one_rating_and_of_the_mean_of_all() -> None:
    # Shrout and Fleiss 1979, table 2, with ratings from 1 to 10.
    table = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    )
    rows = {f"crowd:{number}": (row - 1).tolist() for number, row in enumerate(table.T)}
    scale: dict[str, Any] = {"task": TASKS["ordinal"], "scores": [*map(float, range(1, 11))]}
    found = kind_agreement(matrix(rows, categories=10, **scale), "crowd")
    assert found["icc_2_1"]["value"] == pytest.approx(0.29, abs=0.005)
    assert found["icc_2_k"]["value"] == pytest.approx(0.62, abs=0.005)
    # Six items give no interval; twice as many have that of the formulas.
    assert found["icc_2_k"]["low"] is None
    twice = {name: row * 2 for name, row in rows.items()}
    found = kind_agreement(matrix(twice, categories=10, **scale), "crowd")
    assert found["icc_2_k"]["low"] == pytest.approx(icc(np.tile(table, (2, 1))).icc_2_k.low)


@pytest.mark.thorough
def test_a_long_scale_needs_no_table_of_every_draw_at_once() -> None:
    q, n = 200, 300
    answers = np.random.default_rng(1).integers(q, size=n).tolist()
    points = [float(number) for number in range(q)]
    long = matrix(
        {"crowd:a": answers}, gold=answers, task=TASKS["ordinal"], scores=points, categories=q
    )
    tracemalloc.start()
    found = accuracy.median_figures(long, "crowd", long.gold, np.arange(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["median_quadratic_kappa"]["value"] == pytest.approx(1)
    # All 2,000 draws of 200 times 200 cells would take 640 MB.
    assert peak < 250e6


ITEMS = 12
#: Of each item the first three of four are right, and c is not: 3 of 4 labels.
FIVE = {f"crowd:{name}": [0] * ITEMS for name in "abd"} | {"crowd:c": [1] * ITEMS}


def told(given: LabelMatrix) -> list[tuple[int, float | None, int]]:
    found = measure_accuracy(given, "crowd", given.gold, AggregatedLabels(given)).to_json()[
        "by_votes"
    ]
    return [(vote["votes"], vote["accuracy"]["value"], vote["accuracy"]["n"]) for vote in found]


def test_every_choice_of_labels_is_as_likely() -> None:
    found = told(matrix(FIVE, gold=[0] * ITEMS))

    assert found == [(1, pytest.approx(0.75), ITEMS), (3, 1, ITEMS)]


@pytest.mark.parametrize(
    "answers", [{"crowd:a": [0] * ITEMS, "crowd:b": [1] * ITEMS}, {"crowd:a": [0] * 3}]
)
def test_nothing_is_told_of_fewer_than_three_labels(answers: dict[str, list[int]]) -> None:
    size = len(answers["crowd:a"])

    assert told(matrix(answers, gold=[0] * size)) == []


def test_a_tie_is_discordant_by_its_share_and_no_draw_decides() -> None:
    """On six items the crowd is tied; the machine is right on three of those and wrong on three."""
    crowd = {"crowd:a": [0] * 12, "crowd:b": [1] * 6 + [0] * 6}
    given = matrix(crowd | {"llm:m": [0] * 3 + [1] * 3 + [0] * 6}, gold=[0] * 12)
    found = compare_kinds(given, ["llm", "crowd"], given.gold)
    (pair,) = found.pairs
    assert (pair.only_a, pair.only_b, pair.p, pair.difference["value"]) == (3, 3, 1, 0)
    assert found.cochran_q == 0
    assert found.best is None
    assert {kind: shown["value"] for kind, shown in found.accuracy.items()} == {
        "llm": 0.75,
        "crowd": 0.75,
    }
    assert [label.best for label in found.labels] == [None, None]


def test_leads_of_unequal_credit_are_flipped_as_they_are() -> None:
    # The crowd is tied on all eight; the machine is right on seven: leads of 7 × 1/2 and -1/2.
    crowd = {"crowd:a": [0] * 8, "crowd:b": [1] * 8}
    given = matrix(crowd | {"llm:m": [0] * 7 + [1]}, gold=[0] * 8)
    found = compare_kinds(given, ["llm", "crowd"], given.gold)
    assert found.pairs[0].p == pytest.approx(mcnemar(7, 1))


@pytest.mark.parametrize("clusters", [None, np.arange(300) // 2])
def test_what_nothing_ties_is_tested_as_ever(clusters: Any) -> None:
    generator = np.random.default_rng(3)
    right = generator.random((3, 300)) < np.array([0.9, 0.8, 0.7])[:, None]
    names = ("llm:m", "crowd:a", "expert:e")
    answers = {name: np.where(row, 0, 1).tolist() for name, row in zip(names, right, strict=True)}
    given = matrix(answers, gold=[0] * 300, clusters=clusters, unit="texts")
    found = compare_kinds(given, ["llm", "crowd", "expert"], given.gold)
    wanted = cochran_q(right.T.astype(float))
    assert found.cochran_q == pytest.approx(wanted.statistic)
    assert (found.p if clusters is None else found.p_items) == pytest.approx(wanted.p)
    (first, *_) = found.pairs
    by_item = mcnemar(int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
    assert (first.p if clusters is None else first.p_items) == pytest.approx(by_item)


def test_the_best_of_a_label_is_marked_only_where_it_is_significantly_better() -> None:
    """Sixty items of each label; the expert is better on c0, and nobody on c1 by more than luck."""
    gold = [0] * 60 + [1] * 60 + [2] * 60
    expert = [0] * 58 + [2] * 2 + [1] * 50 + [2] * 10 + [2] * 60
    crowd = [0] * 30 + [2] * 30 + [1] * 51 + [2] * 9 + [2] * 60
    alone = {"llm:m": [0] * 20 + [2] * 40 + [1] * 49 + [2] * 11 + [2] * 60}
    given = matrix({"expert:e": expert, "crowd:a": crowd} | alone, gold=gold, categories=3)
    found = compare_kinds(given, ["llm", "crowd", "expert"], given.gold)
    assert [label.best for label in found.labels] == ["expert", None, "expert"]
    assert found.best == "expert"


def test_kinds_are_compared_on_the_items_that_all_answered() -> None:
    """The crowd also answered forty harder items: those do not count against it."""
    gold = [0, 1] * 40
    crowd = gold[:40] + [1 - code for code in gold[40:]]
    given = matrix({"crowd:a": crowd, "expert:e": gold[:40] + [NOTHING] * 40}, gold=gold)
    found = compare_kinds(given, ["crowd", "expert"], given.gold)
    assert found.items == 40
    assert [shown["value"] for shown in found.accuracy.values()] == [1, 1]
    assert [shown["value"] for shown in found.labels[0].f1.values()] == [1, 1]
    own = measure_accuracy(given, "crowd", given.gold, AggregatedLabels(given))
    assert own.figures["majority_accuracy"]["value"] == 0.5


def test_who_decided_some_of_the_truth_is_never_marked_best() -> None:
    gold = [0, 1] * 40
    answers = {"crowd:a": [0] * 80, "expert:e": gold, "llm:m": gold}
    given = matrix(answers, gold=gold)
    decided = replace(given, gold_kind=np.full(80, KINDS.index("expert")))
    found = compare_kinds(decided, ["crowd", "expert", "llm"], decided.gold)
    assert found.best == "llm"
    assert [label.best for label in found.labels] == ["llm", "llm"]
