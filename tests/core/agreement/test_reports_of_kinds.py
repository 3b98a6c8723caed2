"""Reports of small sheets, by hand: kinds among themselves, with each other, and by label."""

from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.between import between_kinds, between_raters
from labelhub.core.agreement.reports.divided import divided
from labelhub.core.agreement.reports.report import per_label, report
from labelhub.core.agreement.reports.within import within
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import TASKS
from tests.core.agreement.sheets import NOTHING, UNSURE, sheet

#: Two agree on 3 of 4 items; alpha is 1 - 7 * 2 / (2 * 3 * 5) = 8 / 15.
TWO = {"crowd:a": [0, 0, 1, 1], "crowd:b": [0, 0, 1, 0]}


def values(figures: Any) -> dict[str, Any]:
    return {name: figure["value"] for name, figure in figures.items()}


def test_abstentions_are_a_category_of_their_own_beside_the_rest() -> None:
    said = {"crowd:a": [0, 1, UNSURE], "crowd:b": [0, 1, 1]}
    found = within(sheet(said), "crowd")
    assert found["percent"]["value"] == 1
    assert found["percent_with_abstentions"]["value"] == pytest.approx(2 / 3)
    assert report(sheet(said)).sources["crowd"].abstentions == 1


def test_sets_that_overlap_agree_in_part() -> None:
    sets = [frozenset("ab"), frozenset("a"), frozenset("c")]
    said = {"crowd:a": [0, 2], "crowd:b": [1, 2]}
    given = sheet(said, categories=3, task=TASKS["multi"], sets=sets)
    found = within(given, "crowd")
    # Distances observed: 1/2 and 0 of two items; expected: of all six pairs of {ab, a, c, c}.
    assert found["alpha_jaccard"]["value"] == pytest.approx(1 - (0.5 / 2) / (4.5 / 6))
    labels = {one.label: one for one in per_label(given, "crowd")}
    assert set(labels) == {"a", "b", "c"}
    assert values(labels["b"].figures)["percent"] == 0.5
    assert values(labels["c"].figures)["alpha_nominal"] == 1
    assert labels["c"].share == 0.5


def test_near_points_of_a_scale_agree_in_part() -> None:
    said = {"crowd:a": [0, 1, 2, 2], "crowd:b": [1, 1, 2, 2]}
    given = sheet(said, categories=3, task=TASKS["ordinal"], scores=[1, 2, 3])
    found = values(within(given, "crowd"))
    assert found["alpha_interval"] > found["alpha_nominal"]
    assert found["icc_2_1"] is not None
    (pair,) = between_raters(given)
    assert values(pair.figures)["weighted_kappa"] > values(pair.figures)["cohen_kappa"]


def test_options_of_each_item_are_guessed_among_themselves() -> None:
    options = np.array([2, 4, 4])
    said = {"crowd:a": [0, 3, 1], "crowd:b": [0, 3, 2], "expert:e": [0, 3, 1]}
    given = sheet(said, categories=4, task=TASKS["per_item"], options=options)
    found = within(given, "crowd")
    by_chance = (1 / 2 + 1 / 4 + 1 / 4) / 3
    assert found["s_q"]["value"] == pytest.approx((2 / 3 - by_chance) / (1 - by_chance))
    assert found["alpha_nominal"] == {"value": None, "reason": reasons.OWN_OPTIONS}
    (pair,) = between_kinds(given)
    assert pair.figures["percent"]["value"] == pytest.approx(5 / 6)
    assert pair.figures["s_q"]["value"] == pytest.approx((5 / 6 - by_chance) / (1 - by_chance))


def test_each_label_as_yes_or_no() -> None:
    no, yes = per_label(sheet(TWO), "crowd")
    assert (no.share, yes.share) == (5 / 8, 3 / 8)
    # With two categories each is the other turned round.
    assert values(no.figures)["alpha_nominal"] == pytest.approx(8 / 15)
    assert values(yes.figures)["alpha_nominal"] == pytest.approx(8 / 15)


def test_two_kinds_over_all_pairs_of_their_labels() -> None:
    (pair,) = between_kinds(sheet(TWO | {"expert:e": [0, 1, 1, 1]}))
    assert (pair.a.name, pair.b.name, pair.items, pair.level) == ("crowd", "expert", 4, "kind")
    assert pair.figures["percent"]["value"] == pytest.approx(5 / 8)
    # Crowd says 0 in 5 of 8 pairs, the expert in 2 of 8.
    by_chance = 5 / 8 * 2 / 8 + 3 / 8 * 6 / 8
    kappa = (5 / 8 - by_chance) / (1 - by_chance)
    assert pair.figures["cohen_kappa"]["value"] == pytest.approx(kappa)
    assert pair.figures["majority_percent"]["value"] == pytest.approx(2 / 3)


def test_of_very_many_categories_fewer_annotators_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    three = TWO | {"crowd:c": [NOTHING, 1, 1, 0]}
    assert len(between_raters(sheet(three))) == 3
    monkeypatch.setattr("labelhub.core.agreement.coefficients.pairwise.MOST_CELLS", 16)
    assert [(pair.a.name, pair.b.name) for pair in between_raters(sheet(three))] == [("a", "b")]


def test_the_items_that_divide_people_most() -> None:
    said = {
        "crowd:a": [0, 0, 0, 0, 0],
        "crowd:b": [0, 1, 1, 1, NOTHING],
        "expert:e": [0, 0, 1, NOTHING, 1],
        "llm:m": [1, 1, 1, 1, 1],
    }
    found = [(one.item_id, one.disagreement, one.labels) for one in divided(sheet(said))]
    two_thirds = pytest.approx(2 / 3)
    assert found == [(103, 1, 2), (104, 1, 2), (101, two_thirds, 3), (102, two_thirds, 3)]
    assert [one.item_id for one in divided(sheet(said), most=3)] == [103, 104, 101]
    assert divided(sheet(said), ["author"]) == divided(sheet(said), most=0) == []


def test_a_report_of_nothing() -> None:
    found = report(sheet({})).to_json()
    assert found["items"] == 0
    assert found["sources"] == found["within"] == found["against_gold"] == {}
    assert found["between"] == []


def test_a_truth_that_is_no_category_is_refused() -> None:
    with pytest.raises(InvalidInput, match="gold must be"):
        report(sheet(TWO, gold=[0, 0, 1, 2]))
