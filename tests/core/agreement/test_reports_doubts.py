"""What a report says of its own figures: intervals that hold, doubts, and no interval at all."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.intervals import wilson
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.against import Against, against
from labelhub.core.agreement.reports.between import between_kinds, between_raters
from labelhub.core.agreement.reports.comparisons import Comparison, comparisons
from labelhub.core.agreement.reports.labels import per_label
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.report import report
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


def ends(found: Figure) -> tuple[float | None, float | None]:
    return found["low"], found["high"]


def doubt(found: Figure) -> str:
    return found.get("doubt", "")


def test_more_clusters_than_are_drawn_can_be_reported() -> None:
    given = sheet_of(noisy(2400), clusters=np.arange(2400) % 2300, unit="authors")
    found = by_gold(given).figures
    assert "linearised" in found["cohen_kappa"]["method"]
    assert found["js_divergence"]["value"] is not None


def test_items_that_count_0_or_1_have_wilsons_interval() -> None:
    given = sheet({"crowd:a": [0, 1] * 20, "crowd:b": [0, 1] * 20})
    expected = wilson(40, 40)
    for found in (
        within(given, "crowd")["percent"],
        per_label(given, "crowd")[0].figures["percent"],
    ):
        assert found["method"] == "Wilson"
        assert ends(found) == pytest.approx(expected)


def test_one_label_a_side_has_wilsons_interval() -> None:
    (pair,) = between_kinds(sheet({"llm:m": [0, 1] * 20, "crowd:a": [0, 1] * 20}))
    assert ends(pair.figures["percent"]) == pytest.approx(wilson(40, 40))


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


def test_kinds_as_good_as_each_other_are_not_told_apart_by_their_ties() -> None:
    """Each label is right in six of ten items: with two of the crowd ties that hold the truth are
    many, and without them the crowd would seem worse than one machine as good as each."""
    generator = np.random.default_rng(3)
    right = generator.random((3, 3000)) < 0.6
    said = dict(zip(("llm:m", "crowd:a", "crowd:b"), (~right).astype(int).tolist(), strict=True))
    assert pair_of(sheet(said, gold=[0] * 3000)).p > 0.01


def test_a_place_counts_once_an_item() -> None:
    options = np.full(12, 4)
    said = {f"crowd:{at}": [0, 1, 2, 3] * 3 for at in range(5)}
    once = report(sheet(said, categories=4, task=TASKS["per_item"], options=options))
    assert once.to_json()["position_bias"]["crowd"]["items"] == 12
    tied = {"crowd:a": [0, 1], "crowd:b": [0, 2]}
    found = report(sheet(tied, categories=4, task=TASKS["per_item"], options=np.array([4, 4])))
    assert found.position_bias["crowd"].chosen == [1, 0, 0, 0]
    assert found.position_bias["crowd"].dropped == 1


def test_copies_of_annotators_prove_no_preference_for_a_place() -> None:
    generator = np.random.default_rng(5)
    places = generator.integers(4, size=40).tolist()
    options = np.full(40, 4)
    p = [
        report(
            sheet(
                {f"crowd:{at}": places for at in range(copies)},
                categories=4, task=TASKS["per_item"], options=options,
            )
        ).to_json()["position_bias"]["crowd"]["p"]
        for copies in (1, 10)
    ]  # fmt: skip
    assert p[0] == p[1]


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


@pytest.mark.parametrize(("clusters", "doubted"), [(19, True), (20, False)])
def test_fewer_than_twenty_clusters_are_doubted(clusters: int, doubted: bool) -> None:
    given = sheet_of(noisy(120), clusters=np.arange(120) % clusters, unit="authors")
    gold = by_gold(given).figures
    found = [within(given, "crowd")["alpha_nominal"], gold["accuracy"], gold["js_divergence"]]
    for each in found:
        assert ("few_clusters: fewer than 20 different authors" in doubt(each)) == doubted


def test_few_clusters_under_the_alternative_annotator_test_are_doubted() -> None:
    made = noisy(120, raters=3)
    made["said"]["llm:m"] = made["gold"].tolist()
    given = sheet_of(made, clusters=np.arange(120) % 5, unit="authors")
    (found,) = report(given).replacements
    assert "few_clusters" in doubt(found.advantage)


def test_ends_are_plain_numbers_within_what_the_coefficient_can_be() -> None:
    said = {"crowd:a": [0, 1, 0, 1, 0], "crowd:b": [1, 0, 1, 0, 0]}
    (pair,) = between_raters(sheet(said))
    kappa = pair.figures["cohen_kappa"]
    assert kappa["low"] == -1
    assert {type(kappa[end]) for end in ("value", "low", "high")} == {float}


def test_a_tie_everywhere_leaves_no_single_answer() -> None:
    tied = sheet({"crowd:a": [0, 1], "crowd:b": [1, 0], "llm:m": [0, 1]}, gold=[0, 1])
    (pair,) = between_kinds(tied)
    told = {"value": None, "reason": reasons.NO_SINGLE_ANSWER}
    assert pair.figures["majority_percent"] == told
    assert by_gold(tied).figures["mcc"] == told


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


def test_who_only_abstains_counts_where_abstentions_do() -> None:
    found = within(sheet({"crowd:a": [0, 1, UNSURE], "crowd:b": [UNSURE] * 3}), "crowd")
    assert found["percent"]["reason"] == reasons.ONE_ANNOTATOR
    assert found["percent_with_abstentions"]["value"] == pytest.approx(1 / 3)
    alone = within(sheet({"crowd:a": [UNSURE], "llm:m": [0]}), "crowd")
    assert alone["percent_with_abstentions"]["reason"] == reasons.ONE_ANNOTATOR


@pytest.mark.parametrize(
    ("task", "options"), [(TASKS["per_item"], np.array([2, 3, 3])), (TASKS["text"], None)]
)
def test_abstentions_count_for_every_task(task: LabelType, options: Any) -> None:
    said = {"crowd:a": [0, 2, UNSURE], "crowd:b": [0, 1, UNSURE]}
    found = within(sheet(said, categories=3, task=task, options=options), "crowd")
    assert found["percent"]["value"] == 0.5
    assert found["percent_with_abstentions"]["value"] == pytest.approx(2 / 3)
    assert "alpha_with_abstentions" not in found
