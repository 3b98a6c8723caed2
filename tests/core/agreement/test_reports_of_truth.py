"""Reports of small sheets, by hand: kinds against a truth, which is better, who can be replaced."""

import numpy as np
import pytest

from labelhub.core.agreement.aggregation.dawid_skene import dawid_skene
from labelhub.core.agreement.reports import pooled, reasons
from labelhub.core.agreement.reports.against import Against, against
from labelhub.core.agreement.reports.comparisons import comparisons
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.replacing import replacements
from labelhub.core.agreement.reports.report import report
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.schema import TASKS
from tests.core.agreement.sheets import NOTHING, sheet

GOLD = [0, 0, 1, 1, 0, NOTHING]
CROWD = {
    "crowd:a": [0, 0, 1, 0, 1, 1],
    "crowd:b": [0, 1, 1, 0, 1, 1],
    "crowd:c": [0, NOTHING, 1, 1, 1, 1],
}


def by_gold(given: Sheet, kind: str = "crowd") -> Against:
    return against(given, kind, given.gold, Pooled(given))


def test_labels_and_items_against_gold() -> None:
    found = by_gold(sheet(CROWD, gold=GOLD))
    assert (found.items, found.labels, found.ties) == (5, 14, 1)
    assert found.figures["accuracy"]["value"] == pytest.approx(8 / 14)
    assert found.figures["accuracy"]["n"] == 14
    # Right, a tie, right, wrong, wrong.
    assert found.figures["majority_accuracy"]["value"] == pytest.approx(2.5 / 5)
    assert [rater.accuracy["value"] for rater in found.annotators] == [0.6, 0.4, 0.75]


def test_clusters_change_the_interval_and_not_the_value() -> None:
    plain = by_gold(sheet(CROWD, gold=GOLD))
    clusters = np.array([3, 3, 5, 5, 9, 9])
    together = by_gold(sheet(CROWD, gold=GOLD, clusters=clusters, unit="texts"))
    for name in ("accuracy", "majority_accuracy", "cohen_kappa"):
        assert together.figures[name]["value"] == pytest.approx(plain.figures[name]["value"])
        assert "over texts" in together.figures[name]["method"]


def test_without_shared_items_or_gold_the_reason_is_told() -> None:
    assert by_gold(sheet(CROWD)).figures["accuracy"]["reason"] == reasons.NO_GOLD
    apart = sheet({"crowd:a": [0, NOTHING]}, gold=[NOTHING, 1])
    assert by_gold(apart).figures["accuracy"]["reason"] == reasons.NO_SHARED_ITEMS


def test_own_options_give_the_lift_over_guessing() -> None:
    options = np.array([2, 4])
    given = sheet(
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
    given = sheet({f"crowd:{at}": row for at, row in enumerate(rows.tolist())}, categories=3)
    exact = dawid_skene(given.of_kind("crowd")).posterior.argmax(axis=1)
    monkeypatch.setattr(pooled, "MOST_EXACT", 0)
    found = Pooled(given).winners("crowd", "dawid_skene").argmax(axis=1)
    assert np.mean(found != exact) < 0.01


def test_which_kind_is_right_more_often() -> None:
    said = {"llm:m": [0, 0, 1, 1, 1, 1], "crowd:a": [0, 1, 0, 1, 0, 1]}
    given = sheet(said, gold=GOLD)
    found = comparisons(given, ["llm", "crowd"], given.gold)
    assert found is not None
    (pair,) = found.pairs
    assert (pair.items, pair.only_a, pair.only_b) == (5, 2, 1)
    assert pair.difference["value"] == pytest.approx(4 / 5 - 3 / 5)
    assert pair.p == 1
    clustered = sheet(said, gold=GOLD, clusters=np.array([0, 0, 1, 1, 2, 2]), unit="texts")
    again = comparisons(clustered, ["llm", "crowd"], given.gold)
    assert again is not None
    assert again.pairs[0].difference["value"] == pytest.approx(1 / 5)
    assert comparisons(given, ["llm"], given.gold) is None


def test_a_machine_like_everybody_can_replace_them() -> None:
    same = ([0, 1] * 20)[:40]
    others = {f"crowd:{name}": same for name in "abc"}
    worse = [1 - code for code in same]
    good, bad = replacements(sheet(others | {"llm:good": same, "model:bad": worse}))
    assert (good.machine.name, good.test.passes, good.advantage["value"]) == ("good", True, 1)
    assert (bad.machine.name, bad.test.passes, bad.advantage["value"]) == ("bad", False, 0)
    assert good.epsilon_for == "crowd"
    (by_author,) = replacements(
        sheet(others | {"llm:good": same, "author:w": same}), by_author=True
    )
    assert by_author.against_author
    assert by_author.test.winning_rate == 1


def test_how_many_items_truly_have_each_answer() -> None:
    told = report(sheet({"author:w": [1, NOTHING, 0]}, gold=[0, 0, NOTHING])).to_json()

    assert told["truths"] == {"gold": {"c0": 2, "c1": 0}, "author": {"c0": 1, "c1": 1}}
