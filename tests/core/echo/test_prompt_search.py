"""Searching for an instruction: what it costs, what it finds, and that it seldom finds nothing."""

import json
from dataclasses import replace
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.echo.examples import Example
from labelhub.core.echo.prompt_search import (
    LEAST_KEPT_BACK,
    MOST_PER_AUTHOR,
    Found,
    SearchPlan,
    Trial,
    accuracy,
    author_of,
    chance,
    difference,
    halve,
    most_calls,
    search,
    sides,
    stages_of,
    trial_calls,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply, Status
from tests.cases import all_cases
from tests.core.echo.searches import PRESENT, PROPOSED, TASK, World, labels, model, plan, played


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
    assert {candidate["instruction"] for candidate in found.candidates} == {*PROPOSED, PRESENT, ""}
    assert found.candidates[0]["instruction"] == PROPOSED[3]
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["why"] == "better"


@pytest.mark.thorough
def test_the_same_labels_in_any_order_and_twice_find_the_same() -> None:
    first, calls = played(KNOWN, plan(**SMALL), model(BETTER, KNOWN))
    other, again = played([*reversed(KNOWN), *KNOWN], plan(**SMALL), model(BETTER, KNOWN))
    assert (first, calls) == (other, again)


@pytest.mark.thorough
@all_cases("present", ["", PRESENT])
@all_cases("candidates", [1, 3, 8])
def test_calls_are_told_in_advance_and_named_apart(present: str, candidates: int) -> None:
    known = labels(160, 160)
    given = plan(present=present, candidates=candidates, most_labels=60)
    found, calls = played(known, given, model(World(2), known))
    assert found.calls == len(calls) == len({call.step for call in calls}) == at_most(given)


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
        ([replace(label, value="sad") for label in labels(100, 100)], "one_value"),
        ([replace(label, value="gone") for label in labels(100, 100)], "too_few_shown"),
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
    assert all(call.role == "instruct" for call in calls)


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
        Example(f"{words} {number}", value, author=f"a{number}")
        for number, (words, value) in enumerate([("I am glad", "glad"), ("I feel sad", "sad")] * 60)
    ]
    found = await offline(known, plan(candidates=5, most_labels=40))
    # It pays no heed to instructions, so that none is better.
    assert (found.why, found.kept) == ("not_better", True)
    assert sum(candidate["source"] == "proposed" for candidate in found.candidates) == 5
    assert found.figures["difference"]["value"] == 0.0


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=5), st.sampled_from(list(Status)))
def test_whatever_is_replied_it_ends(texts: list[str], status: Status) -> None:
    def answer(call: Call) -> Reply:
        reply = texts[len(call.step) % len(texts)]
        if call.role == "instruct":
            return Reply("\n".join(f"Instruction: {PROPOSED[0]} {text}" for text in texts))
        return Reply(reply, value=reply, status=status)

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
    changed = 0
    for seed in range(40):
        known = labels(90, 60, seed)
        changed += not found_in(World(seed, by_author=0.3), known, **SMALL).kept
    # More than five of forty happen once in a hundred times at a level of 5 %.
    assert changed <= 5


LABELS = st.lists(
    st.builds(
        Example,
        text=st.text(max_size=8),
        value=st.sampled_from("ab"),
        author=st.sampled_from(["", *"abcdefgh"]),
        conversation=st.sampled_from(["", "c1", "c2"]),
    ),
    max_size=40,
)


def trial(*right: bool | None) -> Trial:
    return Trial("x", "proposed", right=dict(enumerate(right)))


def by(*authors: str) -> list[Example]:
    return [Example(f"t{number}", "a", author=name) for number, name in enumerate(authors)]


@pytest.mark.thorough
@given(labels=LABELS, more=LABELS, key=st.text(max_size=5))
def test_nobody_is_on_both_sides_and_nobody_changes_sides(
    labels: list[Example], more: list[Example], key: str
) -> None:
    split = sides(labels, key, 400)
    shown, kept = ({author_of(label) for label in side} for side in (split.shown, split.kept_back))
    assert not shown & kept
    assert split == sides([*reversed(labels), *labels], key, 400)
    larger = sides([*labels, *more], key, 400)
    assert not shown & {author_of(label) for label in larger.kept_back}
    for side in (split.shown, split.kept_back):
        for author in map(author_of, side):
            assert sum(author_of(label) == author for label in side) <= MOST_PER_AUTHOR


@pytest.mark.parametrize(("challengers", "labels"), [(1, 40), (2, 41), (9, 120), (21, 400)])
def test_the_calls_are_those_of_the_stages(challengers: int, labels: int) -> None:
    calls, live, before = 0, challengers, 0
    for end in stages_of(labels):
        calls += (end - before) * (live + 1)
        live, before = halve(live), end
    assert trial_calls(challengers, labels) == calls
    assert before == labels


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_with_an_author_for_each_label_it_is_the_exact_test_of_mcnemar(
    pairs: list[tuple[bool, bool]],
) -> None:
    challenger, other = trial(*(a for a, _ in pairs)), trial(*(b for _, b in pairs))
    more = sum(a and not b for a, b in pairs)
    n = more + sum(b and not a for a, b in pairs)
    tail = sum(comb(n, k) for k in range(more, n + 1)) / 2**n
    assert chance(challenger, other, by(*map(str, range(len(pairs))))) == pytest.approx(tail)


@pytest.mark.thorough
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from("abcde")), max_size=25))
def test_it_counts_all_ways_in_which_authors_could_have_led(
    rows: list[tuple[bool, bool, str]],
) -> None:
    challenger, other = trial(*(row[0] for row in rows)), trial(*(row[1] for row in rows))
    leads: dict[str, int] = {}
    for mine, others, author in rows:
        leads[author] = leads.get(author, 0) + mine - others
    seen = sum(leads.values())
    ways = [
        sum(sign * lead for sign, lead in zip(signs, leads.values(), strict=True)) >= seen
        for signs in product((-1, 1), repeat=len(leads))
    ]
    assert chance(challenger, other, by(*(row[2] for row in rows))) == pytest.approx(np.mean(ways))


def test_what_cannot_be_told_has_a_reason() -> None:
    assert accuracy(Trial("x", "p"), [])["reason"]
    same = difference(trial(True, True), trial(True, True), by("a", "b"), 0.95)
    assert (same["value"], same["low"], same["doubt"]) == (
        0.0,
        None,
        "There is one author only.",
    )


@pytest.mark.thorough
def test_the_test_keeps_its_level_where_authors_differ() -> None:
    """1,500 pairs of equally good instructions, 30 authors with 1 to 5 labels each."""
    draws = np.random.default_rng(5)
    alarms = 0
    for _ in range(1_500):
        sizes = draws.integers(1, 6, 30)
        names = np.repeat(np.arange(30), sizes)
        # Authors for whom the one does better, and as many for whom the other does.
        lean = np.repeat(draws.normal(0, 0.3, 30), sizes)
        right = draws.random(len(names)) < np.clip(0.5 + lean, 0, 1)
        other = draws.random(len(names)) < np.clip(0.5 - lean, 0, 1)
        alarms += (
            chance(trial(*right.tolist()), trial(*other.tolist()), by(*map(str, names))) <= 0.05
        )
    assert alarms / 1_500 < 0.065


def test_nobody_whose_answers_were_shown_is_tried_on() -> None:
    _, calls = played(KNOWN, plan(**SMALL), model(BETTER, KNOWN))
    tried = {call.text for call in calls if call.role == "predict"}
    prompts = "\n".join(call.messages[1].content for call in calls if call.role == "instruct")
    assert tried
    assert not any(f"{text}\n" in prompts for text in tried)
    shown = {answer_["text"] for call in calls for answer_ in call.inputs.get("answers", ())}
    assert shown
    assert not shown & tried
