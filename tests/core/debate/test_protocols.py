"""The registry of protocols, and what holds for each of them."""

import asyncio
import inspect

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelhub.core.debate import PROTOCOLS, UnknownProtocol, protocol
from labelhub.core.debate.driver import run_debate
from labelhub.core.debate.outcome import Debate, Outcome
from labelhub.core.llm.errors import WrongKey
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.scripted import NothingScripted, ScriptedModel
from labelhub.core.llm.types import Call, Completion, Reply, Status
from labelhub.core.schema import Task
from tests.core.debate.canned import LIBRARY, Start, answering

REPLIES = st.builds(
    Reply,
    text=st.sampled_from(["", "- Food: agree", "words"]),
    value=st.sampled_from([[], ["Food"], ["Food", "Staff"]]),
    status=st.sampled_from(list(Status)),
)
anytime = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_a_protocol_is_found_by_name() -> None:
    assert protocol("ecj").roles == ("extractor", "critic", "judge")
    assert protocol("single").calls_per_item == 1
    assert set(protocol("ecj").tasks) == set(Task)


def test_an_unknown_protocol_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownProtocol, match="'jury' is not known; there are single, ecj"):
        protocol("jury")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_role_has_a_prompt(name: str) -> None:
    info = protocol(name)
    assert info.name == name
    assert inspect.isgeneratorfunction(info.start)
    for role in info.roles:
        assert LIBRARY.get(name, role).role == role


@pytest.mark.parametrize("name", PROTOCOLS)
@given(replies=st.lists(REPLIES, min_size=3, max_size=3))
@anytime
def test_any_prefix_of_replies_leads_to_the_same_next_calls(
    start: Start, name: str, replies: list[Reply]
) -> None:
    first, second = _replay(start(name), replies), _replay(start(name), replies)
    assert first == second
    for known in range(len(first)):
        assert _replay(start(name), replies[:known])[: known + 1] == first[: known + 1]


@pytest.mark.parametrize("name", PROTOCOLS)
@given(replies=st.lists(REPLIES, min_size=3, max_size=3))
@anytime
def test_whatever_is_heard_the_outcome_is_sound(
    start: Start, name: str, replies: list[Reply]
) -> None:
    outcome = _replay(start(name), replies)[-1]
    assert isinstance(outcome, Outcome)
    assert 0.0 <= outcome.uncertainty <= 1.0
    assert outcome.value is not None or outcome.reasons
    assert not (outcome.failed and outcome.value is not None)


def _replay(debate: Debate, replies: list[Reply]) -> list[list[Call] | Outcome]:
    """The calls that follow on each reply, one reply a step, and the outcome if it is reached."""
    seen: list[list[Call] | Outcome] = [next(debate)]
    try:
        for reply in replies:
            seen.append(debate.send([reply]))  # noqa: PERF401 - it may end in between
    except StopIteration as end:
        seen.append(end.value)
    return seen


async def test_the_driver_carries_a_debate_to_its_end(start: Start) -> None:
    said = dict.fromkeys(("extractor", "critic", "judge"), "Final Decision: Food")
    outcome = await run_debate(start("ecj"), answering(said))
    assert outcome.value == ["Food"]


async def test_the_driver_works_with_a_scripted_model(start: Start) -> None:
    model = ScriptedModel().enqueue("extractor", "Final Decision: Food")
    model.always("critic", lambda call: call.heard["extractor"].text)
    model.always("judge", Completion("Final Decision: Staff"))

    async def ask(call: Call) -> Reply:
        return read_completion(call, await model.complete(call))

    assert (await run_debate(start("ecj"), ask)).value == ["Staff"]
    assert [call.role for call in model.history] == ["extractor", "critic", "judge"]
    with pytest.raises(NothingScripted, match="extractor"):
        await run_debate(start("ecj"), ask)


async def test_a_scripted_error_is_raised(start: Start) -> None:
    model = ScriptedModel().enqueue("extractor", WrongKey("The key is wrong."))
    with pytest.raises(WrongKey):
        await model.complete(next(start("ecj"))[0])


def _pair(start: Start) -> Debate:
    """A protocol of one step with two calls at once."""
    calls = next(start("single")) + next(start("single"))
    first, second = yield calls
    return Outcome(value=[first.text, second.text])


async def test_calls_of_one_step_are_under_way_together(start: Start) -> None:
    both = asyncio.Barrier(2)
    names = iter(["a", "b"])

    async def ask(_: Call) -> Reply:
        name = next(names)
        await asyncio.wait_for(both.wait(), 5)
        return Reply(name)

    assert (await run_debate(_pair(start), ask)).value == ["a", "b"]


async def test_an_error_waits_for_the_other_calls_of_its_step(start: Start) -> None:
    turns = iter([True, False])
    finished = []

    async def ask(call: Call) -> Reply:
        if next(turns):
            raise WrongKey("The key is wrong.")
        await asyncio.sleep(0)
        finished.append(call.step)
        return Reply("paid")

    with pytest.raises(WrongKey):
        await run_debate(_pair(start), ask)
    assert finished == ["annotator"]
