"""Arms of an experiment against gold: an item counts once, and silence is not rewarded."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.arms import (
    FLIPPED,
    NO_VARIATION,
    TOO_FEW,
    ArmScores,
    ArmTally,
    Codes,
    compare_arms,
    count_answers,
    count_changes,
    pareto_front,
    score_arm,
    sign_flip,
    voter_agreement,
)
from labelhub.core.agreement.coefficients import chance
from labelhub.core.agreement.evaluation import LabelledPair, evaluate, is_right
from labelhub.core.agreement.figures import resample
from labelhub.core.agreement.ratings import Ints
from labelhub.core.schema import Schema, parse_schema
from tests.cases import all_cases
from tests.core.agreement.matrices import value_of_counts

MOODS = parse_schema({"task": "single", "labels": [{"name": "good"}, {"name": "bad"}]})
ASPECTS = parse_schema({"task": "multi", "labels": [{"name": "Food"}, {"name": "Service"}]})
STARS = parse_schema(
    {"task": "ordinal", "labels": [{"name": f"{n} of 3", "point": n} for n in (1, 2, 3)]}
)
OPTIONS = parse_schema({"task": "per_item"})
TEXT = parse_schema({"task": "text", "question": "?"})

VALUES: dict[str, tuple[Schema, Any]] = {
    "single": (MOODS, st.sampled_from(["good", "bad", "gone"])),
    "multi": (ASPECTS, st.lists(st.sampled_from(["Food", "Service", "gone"]), unique=True)),
    "ordinal": (STARS, st.sampled_from([1, 2, 3])),
    "per_item": (OPTIONS, st.sampled_from(["Yes", "No", " yes"])),
    "text": (TEXT, st.sampled_from(["A line", "a line", "another"])),
}


def counted(schema: Schema, gold: Sequence[Any], answers: Sequence[tuple[int, Any]]) -> ArmTally:
    codes = Codes(schema)
    coded = codes.all_of(gold)
    predicted = codes.all_of([value for _, value in answers])
    rows = np.array([row for row, _ in answers], dtype=np.int64)
    return count_answers(codes, coded, rows, predicted)


def scored(schema: Schema, gold: Sequence[Any], answers: Sequence[tuple[int, Any]]) -> ArmScores:
    names = schema.names if schema.labels else ()
    return score_arm(resample(len(gold)), counted(schema, gold, answers), names)


@all_cases("task", VALUES)
def test_codes_are_equal_where_values_say_the_same(task: str) -> None:
    schema, values = VALUES[task]

    @given(values, values)
    def check(first: Any, second: Any) -> None:
        codes = Codes(schema)
        assert (codes.of(first) == codes.of(second)) == is_right(schema, first, second)

    check()


@given(st.lists(st.tuples(st.sampled_from(["good", "bad"]), st.sampled_from(["good", "bad"]))))
def test_with_one_pass_it_is_what_the_evaluation_says(pairs: list[tuple[str, str]]) -> None:
    if not pairs:
        return
    whole = [LabelledPair(item, predicted, gold) for item, (predicted, gold) in enumerate(pairs)]
    known = evaluate(MOODS, whole)
    found = scored(
        MOODS,
        [gold for _, gold in pairs],
        [(item, predicted) for item, (predicted, _) in enumerate(pairs)],
    )
    assert found.accuracy == known.overall["accuracy"]
    assert found.macro_f1["value"] == known.overall["macro_f1"]["value"]
    for ours, theirs in zip(found.labels, known.labels, strict=True):
        assert ours.counts == theirs.counts
        assert (ours.precision, ours.recall) == (theirs.precision, theirs.recall)
        assert ours.f1["value"] == theirs.f1["value"]


def test_replicates_widen_nothing_and_an_item_counts_once() -> None:
    gold = ["good"] * 20
    once = [(item, "good" if item < 12 else "bad") for item in range(20)]
    single, five = scored(MOODS, gold, once), scored(MOODS, gold, once * 5)
    assert five.accuracy["value"] == single.accuracy["value"]
    assert five.accuracy["n"] == single.accuracy["n"] == 20
    assert five.accuracy["method"] == "Wilson over items, effective number"
    for end in ("low", "high"):
        assert five.accuracy[end] == pytest.approx(single.accuracy[end])


def test_without_answers_there_is_a_reason_and_no_number() -> None:
    found = scored(MOODS, ["good"], [])
    assert found.accuracy == {"value": None, "reason": "no debate has ended yet"}
    assert found.macro_f1["value"] is None
    assert scored(TEXT, ["a"], [(0, "a")]).macro_f1["reason"].startswith("answers of this kind")
    assert scored(MOODS, [], []).accuracy["value"] is None


def test_two_arms_are_compared_where_both_answered() -> None:
    gold = ["good"] * 12
    better = counted(MOODS, gold, [(item, "good") for item in range(11)])
    worse = counted(MOODS, gold, [(item, "bad" if item < 9 else "good") for item in range(12)])
    (pair,) = compare_arms(resample(12), [better, worse])
    assert (pair.items, pair.b, pair.c) == (11, 9, 0)
    assert pair.p == pair.p_holm == pytest.approx(2 / 2**9)
    assert pair.winner == 0
    assert pair.difference["value"] == pytest.approx(9 / 11)
    assert pair.difference["n"] == 11


def test_with_replicates_an_item_is_for_whoever_is_right_more_often() -> None:
    gold = ["good", "good"]
    often = counted(MOODS, gold, [(0, "good"), (0, "good"), (1, "good"), (1, "bad")])
    seldom = counted(MOODS, gold, [(0, "good"), (0, "bad"), (1, "bad"), (1, "good")])
    (pair,) = compare_arms(resample(2), [often, seldom])
    assert (pair.b, pair.c) == (1, 0)
    assert pair.to_json()["method"] == FLIPPED


def arm_of(right: Ints, passes: int) -> ArmTally:
    """An arm by how often it gets each item right."""
    nothing = np.zeros((len(right), 0), dtype=np.int64)
    every = np.full(len(right), passes)
    return ArmTally(every, right, np.zeros_like(right), nothing, nothing, nothing)


@pytest.mark.thorough
def test_a_steady_arm_and_a_varying_one_of_equal_accuracy_seldom_differ_reliably() -> None:
    """The steady arm is always right on 7 of 10 items; the other on each item 7 times in 10."""
    generator = np.random.default_rng(4)
    items, passes, trials, found = 100, 5, 75, 0
    for _ in range(trials):
        steady = np.where(generator.random(items) < 0.7, passes, 0)
        varying = generator.binomial(passes, 0.7, items)
        (pair,) = compare_arms(resample(items), [arm_of(steady, passes), arm_of(varying, passes)])
        found += pair.winner is not None
    assert found / trials <= 0.1


@given(st.lists(st.integers(-3, 3), max_size=8))
def test_flipped_signs_are_all_signs_of_few_items(gaps: list[int]) -> None:
    found = sign_flip(np.array(gaps, dtype=float))
    sums = [abs(sum(signs)) for signs in product(*((gap, -gap) for gap in gaps))]
    expected = np.mean([total >= abs(sum(gaps)) for total in sums])
    assert found == pytest.approx(expected, abs=0.03)
    assert sign_flip(-np.array(gaps, dtype=float)) == pytest.approx(found)


@given(st.lists(st.lists(st.booleans(), min_size=8, max_size=8), min_size=2, max_size=5))
def test_pairs_are_adjusted_together(rights: list[list[bool]]) -> None:
    gold = ["good"] * 8
    arms = [
        counted(MOODS, gold, [(item, "good" if ok else "bad") for item, ok in enumerate(right)])
        for right in rights
    ]
    found = compare_arms(resample(8), arms)
    assert len(found) == len(rights) * (len(rights) - 1) // 2
    for pair in found:
        assert pair.p <= pair.p_holm <= 1
        gap = (sum(rights[pair.first]) - sum(rights[pair.second])) / 8
        assert pair.difference["value"] == pytest.approx(gap)
        assert pair.b - pair.c == sum(rights[pair.first]) - sum(rights[pair.second])


POINTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


def test_one_voter_alone_counts_for_how_common_a_category_is() -> None:
    # Shares are means over all three debates: (1 + 2/3 + 0) / 3 = 5/9 and 4/9.
    votes = np.array([[3, 0], [2, 1], [0, 1]])
    found = voter_agreement(resample(3), np.arange(3), votes)
    assert (found.debates, found.fleiss["n"]) == (2, 2)
    by_chance = (5 / 9) ** 2 + (4 / 9) ** 2
    expected = (2 / 3 - by_chance) / (1 - by_chance)
    assert found.fleiss["value"] == pytest.approx(expected)
    assert value_of_counts(votes, chance.fleiss_kappa(2)) == pytest.approx(expected)


def test_where_everybody_says_the_same_there_is_no_kappa() -> None:
    found = voter_agreement(resample(2), np.arange(2), np.array([[3, 0], [3, 0]]))
    assert found.percent["value"] == 1.0
    assert found.fleiss == {"value": None, "reason": NO_VARIATION}
    nobody = voter_agreement(resample(2), np.arange(2), np.zeros((2, 1), dtype=np.int64))
    assert nobody.percent == {"value": None, "reason": TOO_FEW}


def test_changes_are_counted_both_ways() -> None:
    before = np.array([True, True, False, False, False])
    after = np.array([True, False, True, True, False])
    found = count_changes(resample(5), np.arange(5), before, after)
    assert (found.right_right, found.right_wrong) == (1, 1)
    assert (found.wrong_right, found.wrong_wrong) == (2, 1)
    assert (found.gain, found.n) == (1, 5)
    assert found.mended["value"] == pytest.approx(2 / 3)
    assert found.spoilt["value"] == 0.5
    never = count_changes(resample(1), np.array([0]), np.array([True]), np.array([True]))
    assert never.mended == {"value": None, "reason": "nothing was wrong before"}


@given(POINTS)
def test_the_front_is_what_nothing_dominates(points: list[tuple[int, int]]) -> None:
    def beaten(place: int) -> bool:
        cost, quality = points[place]
        return any(c <= cost and q >= quality and (c, q) != points[place] for c, q in points)

    found = pareto_front([(float(c), float(q)) for c, q in points])
    assert sorted(found) == [place for place in range(len(points)) if not beaten(place)]
    assert [points[place][0] for place in found] == sorted(points[place][0] for place in found)
