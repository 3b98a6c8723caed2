"""Intervals for other annotators: by hand, and how often they cover what is expected of a crowd."""

from dataclasses import replace
from itertools import product
from math import factorial, prod
from operator import itemgetter
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given

from labelhub.core.agreement.coefficients import alpha, sums
from labelhub.core.agreement.estimation import FEW_ITEMS
from labelhub.core.agreement.ratings import Floats
from labelhub.core.agreement.reports import other_annotators
from labelhub.core.agreement.reports.accuracy import ScoredItems
from labelhub.core.agreement.reports.kind_agreement import kind_agreement
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.other_annotators import (
    DrawnLabels,
    against_halves,
    give_intervals,
    state_scope,
    within_halves,
)
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.schema import TASKS
from tests.core.agreement.by_pairs import Table, tables
from tests.core.agreement.matrices import NOTHING, from_matrix, matrix

Q = 3
NEAR = alpha.quadratic_weights([0.0, 1.0, 2.0])
APART = alpha.interval_distance([0.0, 1.0, 2.0])


@given(tables(items=8))
def test_where_each_annotator_counts_once_the_parts_are_those_of_the_figures(table: Table) -> None:
    ratings = from_matrix(table, Q)
    counts = ratings.counts()
    labels = DrawnLabels(ratings, np.arange(len(counts))).labels()
    (nominal,), (weighted,) = (
        sums.agreement_parts(labels.counts, near, labels.squares) for near in (None, NEAR)
    )
    assert nominal == pytest.approx(sums.agreement_parts(counts))
    assert weighted == pytest.approx(sums.agreement_parts(counts, NEAR))
    (apart,) = alpha.distance_parts(labels.counts, APART, labels.squares)
    assert apart == pytest.approx(alpha.distance_parts(counts, APART))
    (pairs,) = alpha.coincidences(labels.counts, labels.squares)
    by_pairs = alpha.alpha_of_coincidences(Q, lambda _: APART)(pairs.sum(axis=0)[None])
    by_distance = alpha.alpha_by_distance(APART)(apart.sum(axis=0)[None])
    assert by_pairs == pytest.approx(by_distance, nan_ok=True)


def test_an_annotator_that_is_drawn_twice_is_not_compared_with_itself() -> None:
    side = DrawnLabels(from_matrix([[0, 1, 1], [2, 2, 0]], Q), np.arange(2), stream=1)
    # The first twice, the second once: two pairs of both; the first three times: no pair at all.
    labels = side.labels(np.array([[2.0, 1, 0], [3, 0, 0]]))
    parts = sums.agreement_parts(labels.counts, squares=labels.squares)
    assert parts[0, :, sums.Layout.agree].tolist() == [0, 1]
    assert parts[0, :, sums.Layout.pairable].tolist() == [1, 1]
    assert parts[1, :, sums.Layout.pairable].tolist() == [0, 0]


PRIORS, HARD = np.array([0.5, 0.3, 0.2]), 0.3


def annotators(generator: np.random.Generator, n: int) -> Floats:
    """What each does, shape (n, easy or hard, truth, answer): some are better, and each has answers
    that it prefers where it errs."""
    accuracy, liking = generator.beta(8, 3, size=n), generator.dirichlet(np.ones(Q), size=n)
    answers = np.empty((n, 2, Q, Q))
    for hard, true in product(range(2), range(Q)):
        right = accuracy * (0.6 if hard else 1)
        wrong = liking.copy()
        wrong[:, true] = 0
        answers[:, hard, true] = (1 - right)[:, None] * wrong / wrong.sum(axis=1, keepdims=True)
        answers[:, hard, true, true] = right
    return answers


EXPECTED = annotators(np.random.default_rng(99), 200_000).mean(axis=0)
#: Of easy and hard items of each truth: shape (2, Q).
WEIGHTS = np.array([1 - HARD, HARD])[:, None] * PRIORS


def expected_figures(votes: int) -> dict[str, float]:
    """What the figures of labels by annotators of this population tend to, over all of them and all
    items; of a majority of so many ``votes``."""
    observed = float((WEIGHTS * (EXPECTED**2).sum(axis=2)).sum())
    by_chance = float(((WEIGHTS[..., None] * EXPECTED).sum(axis=(0, 1)) ** 2).sum())
    hits = np.diagonal(EXPECTED, axis1=1, axis2=2)
    return {
        "percent": observed,
        "alpha_nominal": (observed - by_chance) / (1 - by_chance),
        "accuracy": float((WEIGHTS * hits).sum()),
        "majority_accuracy": float((WEIGHTS * _majority_hits(votes)).sum()),
    }


def _majority_hits(votes: int) -> Floats:
    found = np.zeros((2, Q))
    for counts in product(range(votes + 1), repeat=Q):
        if sum(counts) == votes:
            ways = factorial(votes) / prod(map(factorial, counts))
            share = (np.array(counts) == max(counts)) / counts.count(max(counts))
            found += ways * (EXPECTED ** np.array(counts)).prod(axis=2) * share
    return found


def crowd(seed: int, raters: int, items: int, votes: int, *, uneven: bool = False) -> LabelMatrix:
    """``votes`` labels of each item by as many annotators; ``uneven``: some label far more."""
    generator = np.random.default_rng(seed)
    likely = 1 / np.arange(1, raters + 1) if uneven else np.ones(raters)
    truth, hard = generator.choice(Q, p=PRIORS, size=items), generator.random(items) < HARD
    # The annotators of an item without replacement (Efraimidis and Spirakis 2006).
    keys = generator.random((items, raters)) ** (1 / likely)
    chosen = np.argsort(-keys, axis=1)[:, :votes]
    table = np.full((items, raters), NOTHING)
    rows = np.arange(items)[:, None]
    doing = annotators(generator, raters)[chosen, hard[:, None].astype(int), truth[:, None]]
    drawn = (generator.random((items, votes, 1)) > doing.cumsum(axis=2)).sum(axis=2)
    table[rows, chosen] = drawn.clip(max=Q - 1)
    answers = {f"crowd:{number}": column.tolist() for number, column in enumerate(table.T)}
    return matrix(answers, categories=Q, gold=truth.tolist())


def cover(made: LabelMatrix, expected: dict[str, float]) -> Floats:
    """Whether the interval of each figure holds what is expected: for other annotators, and over
    items alone; shape (2, figures)."""
    figures = kind_agreement(made, "crowd")
    scored = ScoredItems(made, "crowd", made.gold, np.arange(len(made.gold)))
    figures |= {"accuracy": scored.accuracy(), "majority_accuracy": scored.mean(scored.credit)}
    within, against = within_halves(made, "crowd"), against_halves(made, "crowd", made.gold)
    assert within is not None
    assert against is not None
    halves = {**within, **against}
    held = []
    for name, wanted in expected.items():
        value, low, high = (figures[name].get(key) for key in ("value", "low", "high"))
        assert isinstance(value, float)
        assert isinstance(low, float)
        assert isinstance(high, float)
        held.append((abs(value - wanted) <= halves[name], low <= wanted <= high))
    return np.array(held, dtype=np.float64).T


#: Annotators, items, labels of each item; whether some annotators label far more than others.
WORLDS = [
    (3, 100, 3, False),
    (5, 100, 5, False),
    (5, 300, 3, False),
    (10, 100, 10, False),
    (10, 300, 3, False),
    (20, 100, 5, False),
    (20, 300, 3, False),
    (10, 200, 3, True),
]
CROWDS = 300


@pytest.mark.thorough
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_it_covers_what_is_expected_of_a_crowd_where_an_interval_over_items_does_not(
    world: tuple[int, int, int, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """See the table in ``docs/agreement.md``. A majority may be covered more often: with some of
    the annotators drawn twice and others not at all it varies more than with all of them."""
    monkeypatch.setattr(other_annotators, "DRAWS", 200)
    raters, items, votes, uneven = world
    expected = expected_figures(votes)
    held = np.mean(
        [
            cover(crowd(seed, raters, items, votes, uneven=uneven), expected)
            for seed in range(CROWDS)
        ],
        axis=0,
    )
    percent, kappa, accuracy, majority = held[0]
    for share in (percent, kappa, accuracy):
        # Student's t of two degrees of freedom is wide.
        # 99 % and one standard error of the simulation.
        assert 0.9 <= share <= (1 if raters == 3 else 0.99 + 0.006)
    assert majority >= 0.9
    assert (held[1, :3] < 0.9).all()


def other_report(made: LabelMatrix) -> dict[str, Any]:
    body = build_report(made).to_json()
    give_intervals(made, body)
    return cast(dict[str, Any], state_scope(body))


def test_main_figures_get_the_wider_interval_and_others_none() -> None:
    made = crowd(1, 8, 40, 4)
    body, plain = other_report(made), state_scope(build_report(made).to_json())
    for part, names in (
        ("within", ["percent", "alpha_nominal", "fleiss_kappa", "gwet_ac1", "brennan_prediger"]),
        ("against_gold", ["accuracy", "majority_accuracy", "cohen_kappa"]),
    ):
        for name in names:
            found, over_items = body[part]["crowd"][name], plain[part]["crowd"][name]
            assert found["value"] == over_items["value"]
            assert found["high"] - found["low"] > over_items["high"] - over_items["low"]
            assert found["method"].startswith("two-way bootstrap over items and over annotators")
            assert found["method"].endswith("; for other annotators like these")
            assert over_items["method"].endswith("; for these annotators")
    for refused in (
        body["within"]["crowd"]["conger_kappa"],
        body["against_gold"]["crowd"]["mcc"],
        max(body["against_gold"]["crowd"]["by_agreeing"], key=itemgetter("items"))["accuracy"],
        body["per_label"]["crowd"][0]["percent"],
    ):
        assert refused["low"] is refused["high"] is None
        assert "no interval for other annotators" in refused["doubt"]
    assert (
        body["against_gold"]["crowd"]["annotators"]
        == (plain["against_gold"]["crowd"]["annotators"])
    )


def test_two_kinds_each_have_their_annotators_drawn() -> None:
    made = crowd(2, 12, 60, 12)
    half = [replace(rater, kind="expert" if rater.id % 2 else "crowd") for rater in made.raters]
    (pair, *_) = other_report(replace(made, raters=half))["between"]
    for name in ("percent", "cohen_kappa", "majority_percent", "majority_kappa"):
        assert pair[name]["low"] < pair[name]["value"] < pair[name]["high"]
        assert "over annotators" in pair[name]["method"]


@pytest.mark.parametrize("raters", [2, 3])
def test_too_few_annotators_give_a_reason_and_no_interval(raters: int) -> None:
    body = other_report(crowd(3, raters, 40, 2))
    for found in (body["within"]["crowd"]["percent"], body["against_gold"]["crowd"]["accuracy"]):
        assert (found["low"] is None) == (raters < 3)
        assert ("too few annotators" in found.get("doubt", "")) == (raters < 3)


def test_points_on_a_scale_and_sets_are_measured_by_their_distances() -> None:
    made = crowd(4, 8, 40, 4)
    scale = replace(made, task=TASKS["ordinal"], scores=[1.0, 2.0, 3.0])
    sets = replace(made, task=TASKS["multi"], sets=[frozenset(), frozenset("a"), frozenset("ab")])
    halves = {**(within_halves(scale, "crowd") or {}), **(within_halves(sets, "crowd") or {})}
    names = {"alpha_ordinal", "alpha_interval", "alpha_ratio", "gwet_ac2", "alpha_masi"}
    assert names | {"alpha_jaccard"} <= halves.keys()
    assert all(half > 0 for half in halves.values())
    found = other_report(scale)["within"]["crowd"]
    # Shrout and Fleiss take raters for a sample anyway.
    assert found["icc_2_1"]["value"] is None or "Shrout" in found["icc_2_1"]["method"]


def test_a_sample_of_many_items_says_as_much_about_items_as_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = crowd(5, 8, 400, 4)
    whole = within_halves(made, "crowd")
    monkeypatch.setattr(other_annotators, "MOST_CELLS", 1)
    sampled = within_halves(made, "crowd")
    assert whole is not None
    assert sampled is not None
    assert sampled["percent"] == pytest.approx(whole["percent"], rel=0.2)


def test_fewer_than_ten_of_anything_have_no_interval() -> None:
    few = {"value": 0.5, "low": 0.1, "high": 0.9, "n": 9, "method": "Wilson"}
    enough = {**few, "n": 10}
    found = state_scope({"some": [few, enough], "words": "as they are"})
    assert found["some"][0] == {**few, "low": None, "high": None, "doubt": FEW_ITEMS}
    assert found["some"][1] == {**enough, "method": "Wilson; for these annotators"}
    assert found["words"] == "as they are"


def test_of_too_many_answers_there_is_no_interval_for_other_annotators(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("labelhub.core.agreement.reports.other_annotators.MOST_CATEGORIES", 1)
    rows = np.random.default_rng(1).integers(2, size=(3, 20)).tolist()
    given = matrix({f"crowd:{number}": row for number, row in enumerate(rows)})
    assert within_halves(given, "crowd") == {}
    few = matrix({f"crowd:{number}": row for number, row in enumerate(rows[:2])})
    assert within_halves(few, "crowd") is None
