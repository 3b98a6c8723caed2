"""How a stream ends once somebody has seen its beginning: by itself, by a fault, or by us."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.llm import client, streaming
from apps.llm.streaming import ThoughtFilter
from labelhub.core.llm.errors import ModelError, ModelUnreachable, RequestRejected
from labelhub.core.llm.offline.model import chat_reply
from labelhub.core.llm.types import Message, Usage
from tests.llm.asking_helpers import make_spec, opened
from tests.llm.streaming_endpoint import DONE, Answering, event, saying, text_event, writing
from tests.llm.test_streaming import KEY, MESSAGES, UMLAUT, hear, heard_from, line

FILTERED = event(choices=[{"delta": {}, "finish_reason": "content_filter"}])
BROKEN = {"error": {"message": f"Upstream died; key {KEY}", "code": 502}}


@pytest.fixture
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "AFTERWARDS", 0.05)
    monkeypatch.setattr(streaming, "QUIET", 0.15)


@pytest.mark.parametrize(
    "parts",
    [
        [event(**BROKEN)],
        [b"event: error\n" + event(**BROKEN)],
        [b"data: {nonsense\n\n"],
        [b"data: [1, 2]\n\n"],
        [b"data: " + b"x" * 2_000_000],
        [b""],
    ],
)
async def test_what_was_said_before_a_fault_stays_said_and_nothing_is_tried_again(
    parts: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    write = writing(text_event("A bike ") + text_event("for"), *parts)
    async with line(write, api_key_env="SOME_API_KEY") as (gateway, spec, endpoint):
        heard = await hear(gateway, spec)
    assert heard.text == "A bike for"
    assert type(heard.error) is ModelError
    assert "provider1" in str(heard.error)
    assert KEY not in f"{heard.error} {heard.error.data}"
    assert len(endpoint.bodies) == 1
    assert heard.used[0].tokens_out > 0


async def test_a_filter_stops_an_answer_without_a_second_try() -> None:
    async def refuse(answering: Answering) -> None:
        await answering.refuse(400, message="No.", code="content_filter")

    for write, text in (
        (writing(text_event("A bike "), FILTERED, DONE), "A bike "),
        (writing(FILTERED, DONE), ""),
        (refuse, ""),
    ):
        async with line(write) as (gateway, spec, endpoint):
            heard = await hear(gateway, spec)
        assert heard.text == text
        assert isinstance(heard.error, RequestRejected)
        assert "filter" in str(heard.error)
        assert len(endpoint.bodies) == 1


@pytest.mark.usefixtures("_hurried")
async def test_an_endpoint_that_does_not_close_after_the_finish_is_left() -> None:
    async def write(answering: Answering) -> None:
        await answering.say("Yes.")
        await answering.end()
        await asyncio.sleep(5)

    async with asyncio.timeout(3.5):
        assert (await heard_from(write)).text == "Yes."


@pytest.mark.thorough
@pytest.mark.usefixtures("_hurried")
@pytest.mark.parametrize("first", [[], ["A bike "]])
@pytest.mark.parametrize("comments", [False, True])
async def test_silence_is_not_waited_for_without_end(first: list[str], *, comments: bool) -> None:
    async def write(answering: Answering) -> None:
        await answering.begin()
        await answering.say(*first)
        for _ in range(200):
            await asyncio.sleep(0.02)
            if comments:
                await answering.write(b": keep-alive\n\n")

    async with asyncio.timeout(3.5), line(write) as (gateway, spec, endpoint):
        heard = await hear(gateway, spec)
    assert isinstance(heard.error, ModelUnreachable)
    assert "0.15 s" in str(heard.error)
    assert heard.texts in ([], first)  # A busy machine may send the first piece too late.
    assert len(endpoint.bodies) == 1
    assert heard.used[0].tokens_in > 0


async def test_no_answer_is_longer_than_the_longest() -> None:
    async def write(answering: Answering) -> None:
        while True:
            await answering.say("word " * 100)

    async with line(write) as (gateway, spec, endpoint):
        heard = await hear(gateway, spec)
        assert len(heard.text) == streaming.MOST
        assert heard.error is None
        async with asyncio.timeout(3.5):
            await endpoint.hung_up.wait()


async def endlessly(answering: Answering) -> None:
    while True:
        await answering.say("word ")
        await asyncio.sleep(0.01)


async def test_whoever_is_cancelled_hangs_up() -> None:
    async with line(endlessly) as (gateway, spec, endpoint):
        begun = asyncio.Event()
        used: list[Usage] = []

        async def read() -> None:
            async for _ in gateway.stream(spec, MESSAGES, tell=used.append):
                begun.set()

        task = asyncio.create_task(read())
        await begun.wait()
        assert gateway.in_flight() == 1
        task.cancel()
        async with asyncio.timeout(3.5):
            await asyncio.gather(task, return_exceptions=True)
            await endpoint.hung_up.wait()
        assert gateway.in_flight() == 0
    assert used[0].tokens_in > 5
    assert used[0].tokens_out > 0


async def test_whoever_is_cancelled_before_the_first_text_has_paid_for_the_question() -> None:
    async def write(answering: Answering) -> None:
        await answering.begin()
        await asyncio.sleep(5)

    async with line(write) as (gateway, spec, endpoint):
        task = asyncio.create_task(hear(gateway, spec))
        while not endpoint.bodies:  # noqa: ASYNC110 - the request arrives soon
            await asyncio.sleep(0.005)
        task.cancel()
        async with asyncio.timeout(3.5):
            await asyncio.gather(task, return_exceptions=True)
            await endpoint.hung_up.wait()
        assert gateway.in_flight() == 0


async def test_whoever_stops_reading_hangs_up() -> None:
    async with line(endlessly) as (gateway, spec, endpoint):
        async with aclosing(gateway.stream(spec, MESSAGES)) as deltas:
            assert await anext(deltas) == "word "
        async with asyncio.timeout(3.5):
            await endpoint.hung_up.wait()
        assert gateway.in_flight() == 0


async def test_a_stream_keeps_its_place_in_line_until_its_end() -> None:
    async with line(saying("One ", "two."), max_concurrency=1) as (gateway, spec, endpoint):
        async with aclosing(gateway.stream(spec, MESSAGES)) as deltas:
            await anext(deltas)
            second = asyncio.create_task(hear(gateway, spec))
            await asyncio.sleep(0.05)
            assert len(endpoint.bodies) == 1
        await second
    assert len(endpoint.bodies) == 2


def events_of(parts: Sequence[bytes]) -> list[str]:
    """The data of the events in ``parts``."""

    async def read() -> list[str]:
        async def incoming() -> AsyncIterator[bytes]:
            for part in parts:
                yield part

        return [event.data async for event in client._Events().aiter_bytes(incoming())]

    return asyncio.run(read())


@given(st.lists(st.integers(0, len(UMLAUT) * 2), max_size=12), st.sampled_from([b"\n", b"\r\n"]))
def test_events_do_not_depend_on_where_their_bytes_are_cut(cuts: list[int], end: bytes) -> None:
    whole = (UMLAUT + b": comment\n\n" + DONE).replace(b"\n", end)
    ends = [min(cut, len(whole)) for cut in [0, *sorted(cuts), len(whole)]]
    found = events_of([whole[start:stop] for start, stop in pairwise(ends)])
    assert found == events_of([whole])
    assert len(found) == 4
    assert json.loads(found[-1])["choices"][0]["finish_reason"] == "stop"


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_any_bytes_can_be_read_as_events(parts: list[bytes]) -> None:
    assert all(isinstance(data, str) for data in events_of(parts))


@given(st.text(max_size=30), st.text("ab<>/think ", max_size=30), st.lists(st.integers(0, 90)))
def test_thoughts_are_taken_out_wherever_text_is_cut(
    thought: str, text: str, cuts: list[int]
) -> None:
    whole = f" <think>{thought.replace('/', '')}</think>\n{text}"
    spoken, heard, start = ThoughtFilter(), "", 0
    for cut in [*sorted(cuts), len(whole)]:
        heard += spoken.feed(whole[start:cut])
        start = max(start, cut)
    assert heard + spoken.rest() == text.lstrip()


async def test_a_connection_that_breaks_in_the_middle_is_a_fault() -> None:
    async def write(answering: Answering) -> None:
        await answering.say("A bike ")
        answering.break_off()

    heard = await heard_from(write)
    assert heard.text == "A bike "
    assert "broke off" in str(heard.error)


async def test_the_offline_model_speaks_in_pieces_too() -> None:
    spec = make_spec(provider={"kind": "offline"}, name="offline")
    messages = (*MESSAGES, Message("assistant", "Which size?"), Message("user", "a red one, 200 €"))
    async with opened(spec) as gateway:
        heard = await hear(gateway, spec, messages, instructions="We sell bikes.")
    said_so_far = [(message.role, message.content) for message in messages[1:]]
    assert heard.text == chat_reply(said_so_far, "We sell bikes.")
    assert len(heard.texts) > 5
    assert heard.used[0].estimated
