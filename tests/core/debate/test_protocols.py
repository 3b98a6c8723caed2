"""The registry of protocols, and what holds for each of them."""

import inspect
import itertools
import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from labelhub.core.debate import PROTOCOLS, UnknownProtocol, check_task, protocol
from labelhub.core.debate.outcome import DebateItem, Outcome, Precedent, run_debate
from labelhub.core.debate.routing import FLAGS
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.types import Call, Output, Reply, Status
from labelhub.core.schema import Schema, Value, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.core.debate.canned import LIBRARY, STANCE, Start, answering, opened

#: Fewer examples of what is tried for every protocol and kind of question.
often = settings(max_examples=settings().max_examples // 4)


def _answers(name: str, given: dict[str, Any], schema: Schema) -> bool:
    info = protocol(name)
    try:
        check_task(info, info.read_settings(given), schema.task)
    except InvalidInput:
        return False
    return True


SCHEMAS = (
    STANCE,
    schema_from_names("multi", ["Food", "Price"]),
    schema_from_names("ordinal", ["poor", "fair", "good"]),
    parse_schema({"task": "per_item"}),
    parse_schema({"task": "text"}),
)
ITEM = DebateItem(
    "1",
    "The soup was cold.",
    options=("a", "b", "c"),
    precedents=(Precedent("p", "Dovish", "Rates stay."), Precedent("q", "good", "Fine.")),
)
#: Settings under which a protocol goes other ways than usual.
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {}) for name in PROTOCOLS),
    ("single", {"quotes": "after the label"}),
    ("discussion", {"annotators": 2, "rounds": 3}),
    ("courtroom", {"deliberation": "parallel", "precedents": 1}),
    ("courtroom", {"judges": 1, "precedents": 2, "precedents_for": "candidates"}),
    ("cascade", {"first": "single", "then": "courtroom", "then.precedents": 1}),
    ("cascade", {"first": "cot", "then": "self_refine", "flagged": "accept"}),
    ("cascade", {"first": "vote", "then": "discussion", "theta": 0.9}),
)
CASES = [
    pytest.param(name, given, schema, id=f"{name}-{number}-{schema.task}")
    for number, (name, given) in enumerate(VARIANTS)
    for schema in SCHEMAS
    if _answers(name, given, schema)
]
Seeds = list[tuple[int, int]]
#: For each reply: how it ended and which of the answers it gives.
SEEDS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=18, max_size=18)


def test_an_unknown_protocol_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownProtocol, match="'jury' is unknown; it must be one of single, cot"):
        protocol("jury")


@all_cases(("name", "given"), VARIANTS)
def test_every_part_has_a_prompt(name: str, given: dict[str, Any]) -> None:
    info = protocol(name)
    assert info.name == name
    assert info.title
    assert info.description.endswith(".")
    assert inspect.isgeneratorfunction(info.start)
    parts = info.parts(info.read_settings(given))
    assert len({part.role for part in parts}) == len(parts)
    for part in parts:
        prompt = LIBRARY.get(*part.prompt.split("/"))
        assert part.prompt == f"{prompt.protocol}/{prompt.role}"


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "given", "schema"), CASES)
@drawn(seeds=SEEDS)
@often
def test_any_prefix_of_replies_leads_to_the_same_next_calls(
    name: str, given: dict[str, Any], schema: Schema, seeds: Seeds
) -> None:
    whole = _replayed(name, given, schema, seeds)
    for known in range(len(whole.rounds)):
        again = opened(name, item=ITEM, asked=schema, given=given)
        calls = next(again)
        for replies in whole.rounds[:known]:
            calls = again.send(list(replies))
        assert calls == whole.asked[known]
    assert _replayed(name, given, schema, seeds) == whole


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "given", "schema"), CASES)
@drawn(seeds=SEEDS)
@often
def test_whatever_is_heard_the_outcome_is_sound(
    name: str, given: dict[str, Any], schema: Schema, seeds: Seeds
) -> None:
    outcome = _replayed(name, given, schema, seeds).outcome
    if outcome.value is None:
        assert outcome.flags
        assert not outcome.evidence
    else:
        assert schema.normalise(outcome.value, ITEM.options) == outcome.value
        assert not outcome.failed
    assert len(set(outcome.flags)) == len(outcome.flags)
    assert set(outcome.flags) <= set(FLAGS)
    assert outcome.uncertainty is None or 0.0 <= outcome.uncertainty <= 1.0
    assert json.loads(json.dumps(outcome.signals)) == outcome.signals


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "given", "schema"), CASES)
@drawn(seeds=SEEDS)
@often
def test_no_more_is_asked_than_was_counted_and_each_step_once(
    name: str, given: dict[str, Any], schema: Schema, seeds: Seeds
) -> None:
    asked = _replayed(name, given, schema, seeds).asked
    info = protocol(name)
    read = info.read_settings(given)
    steps = [call.step for calls in asked for call in calls]
    reported = [step for step in steps if "precedent/" in step]
    assert len(set(steps)) == len(steps)
    assert len(steps) - len(reported) <= info.calls(read).most
    assert len(asked) <= info.calls(read).depth_most
    assert {call.role for calls in asked for call in calls} <= set(info.roles(read))
    alike = [(call.role, call.messages, call.sample) for calls in asked for call in calls]
    assert len(set(alike)) == len(alike)


@dataclass(frozen=True)
class Replayed:
    """A debate against made-up replies."""

    asked: list[list[Call]]
    rounds: list[list[Reply]]
    outcome: Outcome


def _replayed(name: str, given: dict[str, Any], schema: Schema, seeds: Seeds) -> Replayed:
    debate = opened(name, item=ITEM, asked=schema, given=given)
    asked, rounds, ready = [next(debate)], [], itertools.cycle(seeds)
    while True:
        rounds.append([_made_up(call, *next(ready)) for call in asked[-1]])
        try:
            asked.append(debate.send(rounds[-1]))
        except StopIteration as end:
            return Replayed(asked, rounds, end.value)


def _made_up(call: Call, ending: int, choice: int) -> Reply:
    """A reply that ends in one of all ways, mostly well, with one of the answers on offer."""
    bad = [status for status in Status if status is not Status.OK]
    if ending < len(bad):
        text = "" if bad[ending] is Status.FAILED or choice % 2 else "words"
        return Reply(text, status=bad[ending])
    argument = f"Reasons {choice}. And more."
    if call.output == Output.ARGUMENT:
        return Reply(argument)
    answers = _offered(call)
    value, second = answers[choice % len(answers)], answers[ending % len(answers)]
    ranked = (value, second) if call.output == Output.RANKING else ()
    likely = {"Dovish": 0.6, "Hawkish": 0.3} if ending > 8 else {}
    return Reply(
        argument, value=value, rung=3 + (choice == 5), ranking=ranked, probabilities=likely,
        cut_off=ending == 6, evidence={"Food": ("soup",), "Dovish": ("cold",)},
    )  # fmt: skip


def _offered(call: Call) -> list[Value]:
    match call.schema.task.name:
        case "multi":
            return [[], ["Food"], ["Price"], ["Food", "Price"]]
        case "ordinal":
            return [1, 2, 3]
        case "per_item":
            return list(call.options)
        case "text":
            return ["Cold.", "Warm."]
    return list(call.schema.names)


async def test_the_driver_carries_a_debate_to_its_end(start: Start) -> None:
    replies = dict.fromkeys(("extractor", "critic", "judge"), "Final Decision: Food")
    outcome = await run_debate(start("ecj"), answering(replies))
    assert outcome.value == ["Food"]
