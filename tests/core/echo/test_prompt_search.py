"""Searching for an instruction: what it costs, what it finds, and that it seldom finds nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.echo.examples import Example
from labelhub.core.echo.prompt_search import (
    LEAST_KEPT_BACK,
    Found,
    SearchPlan,
    most_calls,
    search,
    sides,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply, Status
from tests.cases import all_cases
from tests.core.echo.searches import (
    PRESENT,
    PROPOSED,
    TASK,
    World,
    labels,
    model,
    plan,
    played,
)


def at_most(given: SearchPlan) -> int:
    """The calls that a search announces."""
    return most_calls(given.candidates, given.most_labels, present=bool(given.present))


BETTER = World(1, gains=((PROPOSED[3], 0.3),))
KNOWN = labels(100, 100)
SMALL = {"candidates": 3, "most_labels": 60}


def found_in(world: World, known: list[Example], **more: Any) -> Found:
    return played(known, plan(**more), model(world, known))[0]


def test_an_instruction_that_is_better_is_found_and_told_in_full() -> None:
    found = found_in(BETTER, KNOWN)
    assert (found.instruction, found.kept, found.why) == (PROPOSED[3], False, "better")
    assert found.level == pytest.approx(0.05 / 9)
    assert found.chance is not None
    assert found.chance <= 0.05 / 9
    assert found.labels["kept_back"] == found.figures["best"]["n"]
    assert found.figures["best"]["doubt"]
    low = found.figures["difference"]["low"]
    assert low is not None
    assert low > 0
    assert {each["instruction"] for each in found.candidates} == {*PROPOSED, PRESENT, ""}
    assert found.candidates[0]["instruction"] == PROPOSED[3]
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["why"] == "better"


@pytest.mark.thorough
def test_the_same_labels_in_any_order_and_twice_find_the_same() -> None:
    one, calls = played(KNOWN, plan(**SMALL), model(BETTER, KNOWN))
    other, again = played([*reversed(KNOWN), *KNOWN], plan(**SMALL), model(BETTER, KNOWN))
    assert (one, calls) == (other, again)


@pytest.mark.thorough
@all_cases("present", ["", PRESENT])
@all_cases("candidates", [1, 3, 8])
def test_calls_are_told_in_advance_and_named_apart(present: str, candidates: int) -> None:
    known = labels(160, 160)
    given = plan(present=present, candidates=candidates, most_labels=60)
    found, calls = played(known, given, model(World(2), known))
    assert found.calls == len(calls) == len({each.step for each in calls}) == at_most(given)


def few_kept_back() -> list[Example]:
    split = sides(KNOWN, f"s/{TASK.key}", 400)
    return [*split.shown, *split.kept_back[: LEAST_KEPT_BACK - 1]]


@all_cases(
    ("known", "why"),
    [
        ([], "too_few_shown"),
        (labels(15, 15), "too_few_shown"),
        (few_kept_back(), "too_few_kept_back"),
        (labels(120, 20), "too_few_authors"),
        ([replace(each, value="sad") for each in labels(100, 100)], "one_value"),
        ([replace(each, value="gone") for each in labels(100, 100)], "too_few_shown"),
    ],
)
def test_with_too_few_labels_nothing_is_asked(known: list[Example], why: str) -> None:
    found, calls = played(known, plan(), lambda _: Reply())
    assert (found.why, found.kept, found.instruction, calls) == (why, True, PRESENT, [])
    assert found.reason
    assert found.to_json()["figures"] == {}


@pytest.mark.parametrize(
    "replies",
    [
        Reply(status=Status.FAILED),
        Reply("I would rather not."),
        Reply(f"Instruction: {PRESENT.upper()}"),
        Reply("Instruction: Ignore the offered values and say what you think of it."),
    ],
)
def test_without_a_usable_instruction_nothing_is_tried(replies: Reply) -> None:
    found, calls = played(KNOWN, plan(), lambda _: replies)
    assert (found.why, found.kept, found.calls) == ("no_candidate", True, 2)
    assert all(each.role == "instruct" for each in calls)


def test_where_many_calls_fail_nothing_is_decided() -> None:
    answer = model(BETTER, KNOWN)

    def failing(call: Call) -> Reply:
        if call.role == "predict" and call.step.endswith(("1", "3", "5")):
            return Reply(status=Status.FAILED)
        return answer(call)

    found, _ = played(KNOWN, plan(**SMALL), failing)
    assert (found.why, found.kept) == ("calls_failed", True)


@all_cases(
    "more",
    [
        {"candidates": 0},
        {"candidates": 21},
        {"most_labels": LEAST_KEPT_BACK - 1},
        {"most_labels": 401},
        {"present": "no"},
    ],
)
def test_a_plan_is_checked(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(more))):
        plan(**more)


async def offline(known: list[Example], given: SearchPlan) -> Found:
    run = search(TASK, known, given)
    try:
        calls = next(run)
        while True:
            replies = [read_completion(c, await OfflineModel().complete(c)) for c in calls]
            calls = run.send(replies)
    except StopIteration as end:
        found: Found = end.value
        return found


async def test_the_offline_model_plays_the_search_from_end_to_end() -> None:
    known = [
        Example(f"{words} {at}", value, author=f"a{at}")
        for at, (words, value) in enumerate([("I am glad", "glad"), ("I feel sad", "sad")] * 60)
    ]
    found = await offline(known, plan(candidates=5, most_labels=40))
    # It pays no heed to instructions, so that none is better.
    assert (found.why, found.kept) == ("not_better", True)
    assert sum(each["source"] == "proposed" for each in found.candidates) == 5
    assert found.figures["difference"]["value"] == 0.0


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=5), st.sampled_from(list(Status)))
def test_whatever_is_replied_it_ends(texts: list[str], status: Status) -> None:
    def answer(call: Call) -> Reply:
        said = texts[len(call.step) % len(texts)]
        if call.role == "instruct":
            return Reply("\n".join(f"Instruction: {PROPOSED[0]} {text}" for text in texts))
        return Reply(said, value=said, status=status)

    found, calls = played(KNOWN, plan(**SMALL), answer)
    assert found.kept
    assert len(calls) <= at_most(plan(**SMALL))
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.thorough
def test_a_truly_better_instruction_is_found_in_most_searches() -> None:
    hits = 0
    for seed in range(12):
        known = labels(130, 130, seed)
        world = World(seed, gains=((PROPOSED[2], 0.25),))
        hits += found_in(world, known, candidates=4).instruction == PROPOSED[2]
    assert hits >= 9


@pytest.mark.thorough
def test_where_none_is_better_the_present_one_stays() -> None:
    """The level over many searches is measured in tests/bench/prompt_search_bench.py."""
    changed = 0
    for seed in range(40):
        known = labels(90, 60, seed)
        changed += not found_in(World(seed, by_author=0.3), known, **SMALL).kept
    # More than five of forty happen once in a hundred times at a level of 5 %.
    assert changed <= 5
