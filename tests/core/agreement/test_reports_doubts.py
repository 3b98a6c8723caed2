"""What a report says of its own figures: intervals that hold, doubts, and no interval at all."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.against import Against, against
from labelhub.core.agreement.reports.between import between_kinds, between_raters
from labelhub.core.agreement.reports.comparisons import Comparison, comparisons
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.report import per_label, report
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.agreement.reports.within import within
from labelhub.core.schema import TASKS, LabelType
from tests.core.agreement.sheets import NOTHING, UNSURE, sheet


def by_gold(given: Sheet, kind: str = "crowd") -> Against:
    return against(given, kind, given.gold, Pooled(given))


def pair_of(given: Sheet) -> Comparison:
    found = comparisons(given, ["llm", "crowd"], given.gold)
    assert found is not None
    return found.pairs[0]


def noisy(items: int, raters: int = 2, categories: int = 3, seed: int = 1) -> dict[str, Any]:
    """Raters of a crowd that say what is true in seven of ten items, and what is."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(categories, size=items)
    guesses = generator.integers(categories, size=(raters, items))
    said = np.where(generator.random((raters, items)) < 0.7, gold, guesses)
    return {"said": {f"crowd:{at}": row for at, row in enumerate(said.tolist())}, "gold": gold}


def sheet_of(made: Mapping[str, Any], **others: Any) -> Sheet:
    return sheet(made["said"], gold=made["gold"], categories=3, **others)


def doubt(found: Figure) -> str:
    return found.get("doubt", "")


def test_more_clusters_than_are_drawn_can_be_reported() -> None:
    given = sheet_of(noisy(2400), clusters=np.arange(2400) % 2300, unit="authors")
    found = by_gold(given).figures
    assert "linearised" in found["cohen_kappa"]["method"]
    assert found["js_divergence"]["value"] is not None


def test_ties_for_the_truth_and_ties_against_it_are_drawn_alike() -> None:
    """The crowd's two labels always differ; the machine is always right, or always wrong.

    Of ties that hold the truth about half are right, of the others none.
    """
    half = [0] * 100
    crowd = {"crowd:a": half * 2, "crowd:b": [1] * 100 + [2] * 100}
    right = pair_of(sheet({"llm:m": [0] * 200} | crowd, gold=[0] * 200, categories=3))
    wrong = pair_of(sheet({"llm:m": [1] * 200} | crowd, gold=[0] * 200, categories=3))
    assert (right.items, right.only_b, wrong.only_a) == (200, 0, 0)
    assert 70 <= right.only_a <= 130
    assert right.only_a + wrong.only_b == 200
    assert "ties broken by a draw, seed 7" in right.to_json()["method"]


def test_a_place_counts_once_an_item() -> None:
    options = np.full(12, 4)
    said = {f"crowd:{at}": [0, 1, 2, 3] * 3 for at in range(5)}
    once = report(sheet(said, categories=4, task=TASKS["per_item"], options=options))
    assert once.to_json()["position_bias"]["crowd"]["items"] == 12
    tied = {"crowd:a": [0, 1], "crowd:b": [0, 2]}
    found = report(sheet(tied, categories=4, task=TASKS["per_item"], options=np.array([4, 4])))
    assert found.position_bias["crowd"].chosen == [1, 0, 0, 0]
    assert found.position_bias["crowd"].dropped == 1


CLUSTERS = np.repeat(np.arange(30), 4)


def test_scores_and_annotators_heed_clusters() -> None:
    given = sheet_of(noisy(120), clusters=CLUSTERS, unit="authors")
    gold = by_gold(given)
    (pair,) = between_raters(given)
    label = gold.per_label[0]
    told = [
        *pair.figures.values(),
        *(gold.figures[name] for name in ("majority_kappa", "mcc", "macro_f1", "macro_recall")),
        *(gold.figures[name] for name in ("macro_precision", "balanced_accuracy")),
        *(label.precision, label.recall, label.f1, label.accuracy),
    ]
    apart = [*between_raters(sheet_of(noisy(120)))[0].figures.values()]
    for found in told:
        assert not doubt(found)
        assert "over authors" in found["method"]
    assert not any("authors" in found["method"] for found in apart)


def test_a_preference_for_places_is_tested_over_clusters() -> None:
    said = {"crowd:a": np.random.default_rng(1).integers(4, size=120).tolist()}
    given: dict[str, Any] = {"categories": 4, "task": TASKS["per_item"], "options": np.full(120, 4)}
    plain = report(sheet(said, **given)).to_json()["position_bias"]["crowd"]
    told = report(sheet(said, clusters=CLUSTERS, unit="users", **given)).to_json()
    together = told["position_bias"]["crowd"]
    assert plain["method"] == "chi-square; the single most frequent answer of each item"
    assert together["method"].startswith("chi-square corrected for whole users (Rao and Scott), F;")
    assert together["chosen"] == plain["chosen"]
    assert together["p"] != plain["p"]
    assert "doubt" not in together


def test_clusters_are_drawn_for_majorities_annotators_and_groups() -> None:
    made = noisy(120, raters=3)
    made["said"]["llm:m"] = made["gold"].tolist()
    plain, given = sheet_of(made), sheet_of(made, clusters=CLUSTERS, unit="authors")
    (before,), (pair,) = between_kinds(plain), between_kinds(given)
    for name in ("majority_percent", "majority_kappa"):
        assert pair.figures[name]["value"] == pytest.approx(before.figures[name]["value"])
        assert "over authors" in pair.figures[name]["method"]
    for apart, together in zip(accuracies(plain), accuracies(given), strict=True):
        assert together["value"] == pytest.approx(apart["value"])
        assert together["n"] == apart["n"]
        assert "over authors" in together["method"]


def accuracies(given: Sheet) -> list[Figure]:
    found = by_gold(given)
    by_annotator = [one.accuracy for one in found.annotators]
    return by_annotator + [one.accuracy for one in found.by_agreeing]


@pytest.mark.parametrize(("items", "doubted"), [(9, True), (10, False)])
def test_fewer_than_ten_items_are_doubted_everywhere(items: int, doubted: bool) -> None:
    made = noisy(items)
    made["said"]["llm:m"] = made["gold"].tolist()
    given = sheet_of(made)
    gold = by_gold(given)
    found = [
        within(given, "crowd")["percent"],
        per_label(given, "crowd")[0].figures["percent"],
        *(gold.figures[name] for name in ("accuracy", "cohen_kappa", "js_divergence")),
        *(one.accuracy for one in gold.annotators),
        between_kinds(given)[0].figures["percent"],
        *between_raters(given)[0].figures.values(),
        pair_of(given).difference,
    ]
    for each in found:
        assert ("few_items: " in doubt(each)) == doubted


def test_why_a_label_has_no_score_is_a_code() -> None:
    found = by_gold(sheet({"crowd:a": [0, 0, 3, 3]}, gold=[0, 1, 0, 1], categories=4))
    one, two, three, four = found.per_label
    assert one.precision["value"] == 0.5
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
    given = sheet(
        {"crowd:a": first, "crowd:b": second}, categories=3, task=TASKS["ordinal"], scores=[1, 2, 3]
    )
    assert within(given, "crowd")["icc_2_1"] == {"value": None, "reason": reason}


@pytest.mark.parametrize(
    ("task", "options"), [(TASKS["per_item"], np.array([2, 3, 3])), (TASKS["text"], None)]
)
def test_abstentions_count_for_every_task(task: LabelType, options: Any) -> None:
    said = {"crowd:a": [0, 2, UNSURE], "crowd:b": [0, 1, UNSURE]}
    found = within(sheet(said, categories=3, task=task, options=options), "crowd")
    assert found["percent"]["value"] == 0.5
    assert found["percent_with_abstentions"]["value"] == pytest.approx(2 / 3)
    assert "alpha_with_abstentions" not in found
