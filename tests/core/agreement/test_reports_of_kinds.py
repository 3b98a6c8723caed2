"""Reports of small matrices, by hand: kinds among themselves, with each other, and by label."""

from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.estimation import Units, estimate_divergence, item_units, js_divergence
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.kind_agreement import (
    disputed_items,
    kind_agreement,
    people_agreement,
)
from labelhub.core.agreement.reports.pair_agreement import kind_pairs
from labelhub.core.agreement.reports.report import build_report, label_agreement
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import NOTHING, matrix

#: Two agree on 3 of 4 items; alpha is 1 - 7 * 2 / (2 * 3 * 5) = 8 / 15.
TWO = {"crowd:a": [0, 0, 1, 1], "crowd:b": [0, 0, 1, 0]}


def values(figures: Any) -> dict[str, Any]:
    return {name: figure["value"] for name, figure in figures.items()}


def test_people_are_measured_together_whatever_their_kind() -> None:
    both = people_agreement(matrix({"crowd:a": TWO["crowd:a"], "expert:b": TWO["crowd:b"]}))
    assert values(both) == {"alpha_nominal": pytest.approx(8 / 15), "percent": 0.75}
    machine = {"llm:m": [1, 1, 0, 0], "author:w": [1, 1, 1, 1]}
    alone = people_agreement(matrix(TWO | machine))
    assert values(alone) == values(both)
    assert people_agreement(matrix(machine))["percent"]["reason"] == reasons.NO_LABELS


def test_sets_that_overlap_agree_in_part() -> None:
    sets = [frozenset("ab"), frozenset("a"), frozenset("c")]
    answers = {"crowd:a": [0, 2], "crowd:b": [1, 2]}
    given = matrix(answers, categories=3, task=TASKS["multi"], sets=sets)
    found = kind_agreement(given, "crowd")
    # Distances observed: 1/2 and 0 of two items; expected: of all six pairs of {ab, a, c, c}.
    assert found["alpha_jaccard"]["value"] == pytest.approx(1 - (0.5 / 2) / (4.5 / 6))
    labels = {label.label: label for label in label_agreement(given, "crowd")}
    assert set(labels) == {"a", "b", "c"}
    assert values(labels["b"].figures)["percent"] == 0.5
    assert values(labels["c"].figures)["alpha_nominal"] == 1
    assert labels["c"].share == 0.5


def test_options_of_each_item_are_guessed_among_themselves() -> None:
    options = np.array([2, 4, 4])
    answers = {"crowd:a": [0, 3, 1], "crowd:b": [0, 3, 2], "expert:e": [0, 3, 1]}
    given = matrix(answers, categories=4, task=TASKS["per_item"], options=options)
    found = kind_agreement(given, "crowd")
    by_chance = (1 / 2 + 1 / 4 + 1 / 4) / 3
    assert found["s_q"]["value"] == pytest.approx((2 / 3 - by_chance) / (1 - by_chance))
    assert found["alpha_nominal"] == {"value": None, "reason": reasons.OWN_OPTIONS}
    (pair,) = kind_pairs(given)
    assert pair.figures["percent"]["value"] == pytest.approx(5 / 6)
    assert pair.figures["s_q"]["value"] == pytest.approx((5 / 6 - by_chance) / (1 - by_chance))


def test_two_kinds_over_all_pairs_of_their_labels() -> None:
    (pair,) = kind_pairs(matrix(TWO | {"expert:e": [0, 1, 1, 1]}))
    assert (pair.a.name, pair.b.name, pair.items, pair.level) == ("crowd", "expert", 4, "kind")
    assert pair.figures["percent"]["value"] == pytest.approx(5 / 8)
    # Crowd says 0 in 5 of 8 pairs, the expert in 2 of 8.
    by_chance = 5 / 8 * 2 / 8 + 3 / 8 * 6 / 8
    kappa = (5 / 8 - by_chance) / (1 - by_chance)
    assert pair.figures["cohen_kappa"]["value"] == pytest.approx(kappa)
    # A tie of the crowd counts half for each of its answers, in both margins too.
    assert pair.figures["majority_percent"]["value"] == pytest.approx((1 + 0 + 1 + 1 / 2) / 4)
    by_chance = 2.5 / 4 * 1 / 4 + 1.5 / 4 * 3 / 4
    kappa = (2.5 / 4 - by_chance) / (1 - by_chance)
    assert pair.figures["majority_kappa"]["value"] == pytest.approx(kappa)


def test_the_items_that_divide_people_most() -> None:
    answers = {
        "crowd:a": [0, 0, 0, 0, 0],
        "crowd:b": [0, 1, 1, 1, NOTHING],
        "expert:e": [0, 0, 1, NOTHING, 1],
        "llm:m": [1, 1, 1, 1, 1],
    }
    found = [
        (item.item_id, item.disagreement, item.labels) for item in disputed_items(matrix(answers))
    ]
    two_thirds = pytest.approx(2 / 3)
    assert found == [(103, 1, 2), (104, 1, 2), (101, two_thirds, 3), (102, two_thirds, 3)]
    assert [item.item_id for item in disputed_items(matrix(answers), most=3)] == [
        103,
        104,
        101,
    ]
    assert (
        disputed_items(matrix(answers), ["author"]) == disputed_items(matrix(answers), most=0) == []
    )


def test_a_truth_that_is_no_category_is_refused() -> None:
    with pytest.raises(InvalidInput, match="gold must be"):
        build_report(matrix(TWO, gold=[0, 0, 1, 2]))


EVEN = [0.2] * 5
TILTED = [0.6, 0.1, 0.1, 0.1, 0.1]


def drawn(first: Any, second: Any, items: int, seed: int) -> Units:
    """One answer a side for each item."""
    generator = np.random.default_rng(seed)
    sides = [generator.choice(len(first), size=items, p=chances) for chances in (first, second)]
    columns = np.hstack([np.eye(len(first))[side] for side in sides])
    return item_units(*np.unique(columns, axis=0, return_counts=True))


def measured(found: Units) -> Figure:
    return estimate_divergence(found, slice(0, 5), slice(5, 10), n=int(found.often.sum()))


def between(**others: Any) -> Figure:
    generator = np.random.default_rng(1)
    answers = {"llm:m": generator.integers(3, size=200), "crowd:a": generator.integers(2, size=200)}
    names = {name: row.tolist() for name, row in answers.items()}
    (pair,) = kind_pairs(matrix(names, categories=3, **others))
    return pair.figures["js_divergence"]


def test_between_kinds_it_is_that_of_their_answers_on_shared_items() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.integers(3, size=200), generator.integers(2, size=200)
    shares = [np.bincount(side, minlength=3) / 200 for side in (first, second)]
    found = between()
    assert found["value"] == pytest.approx(float(js_divergence(shares[0], shares[1])))
    assert found["method"] == (
        "percentile bootstrap over items, 1000 draws, seed 7 (moved down by twice the bias of its "
        "draws: of few items the value is too large)"
    )
    assert found["low"] is not None
    assert found["high"] is not None
    assert 0 < found["low"] < found["value"] < found["high"] < 1  # type: ignore[operator]


@pytest.mark.thorough
@pytest.mark.parametrize("second", [EVEN, TILTED])
@pytest.mark.parametrize("items", [30, 150])
def test_the_interval_holds_what_is_true(second: list[float], items: int) -> None:
    """The plain percentiles hold no divergence of 0 at all: every draw lies above it."""
    true = float(js_divergence(EVEN, second))
    found = [measured(drawn(EVEN, second, items, seed)) for seed in range(60)]
    held = [figure["low"] <= true <= figure["high"] for figure in found]  # type: ignore[operator]
    assert np.mean(held) >= 0.88
    assert np.mean([figure["value"] for figure in found]) > true
