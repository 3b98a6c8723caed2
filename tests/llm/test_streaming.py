"""Answers piece by piece, over loopback: what comes through, what is tried again, how it ends."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from apps.llm import client, streaming
from apps.llm.addresses import AddressRefused
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec
from labelhub.core.llm.errors import (
    ModelError,
    ModelUnreachable,
    QuotaExhausted,
    RequestRejected,
    UnknownModel,
    WrongKey,
)
from labelhub.core.llm.types import Message, Usage
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import Learnt, Sleeper, make_spec, opened
from tests.llm.streaming_endpoint import (
    DONE,
    Answering,
    StreamingEndpoint,
    Write,
    event,
    first_then,
    saying,
    streaming_endpoint,
    text_event,
    writing,
)

KEY = "sk-test-0123456789"
MESSAGES = (Message("system", "Be brief."), Message("user", "A cheap bike?"))
COUNTED = {"prompt_tokens": 31, "completion_tokens": 7}
STOPPED = event(choices=[{"delta": {}, "finish_reason": "stop"}])


@dataclass
class Heard:
    """What came of a stream."""

    texts: list[str] = field(default_factory=list)
    used: list[Usage] = field(default_factory=list)
    error: ModelError | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)


async def hear(
    gateway: Gateway, spec: ModelSpec, messages: Sequence[Message] = MESSAGES, **params: Any
) -> Heard:
    """Read a stream to its end, whatever that is."""
    heard = Heard()
    try:
        stream = gateway.stream(spec, messages, params=params, tell=heard.used.append)
        async with aclosing(stream) as deltas:
            async for text in deltas:
                heard.texts.append(text)
    except ModelError as error:
        heard.error = error
    assert len(heard.used) == 1, "what it cost is told once"
    assert gateway.in_flight() == 0
    return heard


@asynccontextmanager
async def line(
    write: Write, *, patience: Any = None, **provider: Any
) -> AsyncIterator[tuple[Gateway, ModelSpec, StreamingEndpoint]]:
    """A gateway to an endpoint that answers by ``write``."""
    async with streaming_endpoint(write) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url, **provider})
        async with opened(spec, **(patience or {})) as gateway:
            yield gateway, spec, endpoint


async def heard_from(write: Write, **provider: Any) -> Heard:
    """What came of one stream."""
    async with line(write, **provider) as (gateway, spec, _):
        return await hear(gateway, spec)


async def test_each_piece_comes_as_soon_as_it_is_written() -> None:
    may_go_on = asyncio.Event()

    async def write(answering: Answering) -> None:
        await answering.say("A bike ")
        await may_go_on.wait()
        await answering.say("for 200 €.")
        await answering.end()

    async with (
        line(write) as (gateway, spec, _),
        aclosing(gateway.stream(spec, MESSAGES)) as deltas,
    ):
        assert await anext(deltas) == "A bike "
        may_go_on.set()
        assert [text async for text in deltas] == ["for 200 €."]


async def test_what_is_asked_and_what_it_cost() -> None:
    async with line(saying("Yes, ", "one.", usage=COUNTED)) as (gateway, spec, endpoint):
        heard = await hear(gateway, spec, temperature=0.3, instructions="ours")
    assert heard.texts == ["Yes, ", "one."]
    assert heard.used == [Usage(31, 7)]
    assert endpoint.bodies == [
        {
            "model": "model-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "A cheap bike?"},
            ],
            "temperature": 0.3,
            "max_tokens": 1024,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


UMLAUT = text_event("Für ") + text_event("自転車 🚲") + STOPPED


@pytest.mark.parametrize(
    "parts",
    [
        [UMLAUT, DONE],
        [bytes([byte]) for byte in UMLAUT + DONE],
        [UMLAUT.replace(b"\n", b"\r\n")],
        [bytes([byte]) for byte in UMLAUT.replace(b"\n", b"\r\n")],
        [UMLAUT.replace(b"\n", b"\r")],
        [b"\xef\xbb\xbf", UMLAUT],
        [b": waiting\n\n", UMLAUT, b": waiting\n\n"],
        [UMLAUT.replace(b"\n\n", b"\n")],
        [UMLAUT.replace(b"data: ", b"event: message\nid: 7\nretry: 5\ndata:")],
        [UMLAUT.replace(b", ", b",\ndata: ")],
        [UMLAUT.rstrip()],
        [text_event("Für ", reasoning_content="Hm."), text_event("自転車 🚲"), STOPPED],
        [
            text_event(None, role="assistant"),
            text_event("", reasoning="Hm, "),
            UMLAUT,
            event(choices=[]),
        ],
        [text_event("<think>A bi"), text_event("ke?</th"), text_event("ink>\n\n"), UMLAUT],
        [event(choices=[{"delta": None}]), UMLAUT, event(ping=1), text_event("too late")],
        [event(choices=[{"message": {"content": "Für 自転車 🚲"}, "finish_reason": "stop"}])],
        [text_event([{"type": "text", "text": "Für 自転車 🚲"}]) + DONE],  # type: ignore[arg-type]
    ],
)
async def test_streams_are_read_however_they_are_written(parts: list[bytes]) -> None:
    heard = await heard_from(writing(*parts))
    assert heard.error is None
    assert heard.text == "Für 自転車 🚲"


async def test_an_endpoint_that_does_not_stream_is_heard_all_the_same(
    model_server: FakeServer,
) -> None:
    async def whole(answering: Answering) -> None:
        await answering.begin("application/json")
        message = b'{"role": "assistant", "content": "Yes, one."}'
        usage = b'"usage": {"prompt_tokens": 31, "completion_tokens": 7}'
        await answering.write(b'\n{"choices": [{"message": ', message, b"}], ", usage, b"}")

    heard = await heard_from(whole)
    assert (heard.text, heard.used) == ("Yes, one.", [Usage(31, 7)])


@pytest.mark.parametrize(
    "fault", ["unavailable", "reset", "malformed", "html", "empty", "no_choices"]
)
async def test_what_fails_before_the_first_text_is_tried_again(
    model_server: FakeServer, fault: str
) -> None:
    sleeper, spec = Sleeper(), make_spec(model_server)
    model_server.script({"fault": fault}, {"fault": fault}, "Yes.")
    async with opened(spec, sleeper=sleeper) as gateway:
        heard = await hear(gateway, spec)
    assert (heard.text, heard.error) == ("Yes.", None)
    assert sleeper.slept == [0.5, 1.0]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("wrong_key", WrongKey), ("unknown_model", UnknownModel), ("too_long", RequestRejected)],
)
async def test_what_would_fail_again_is_not_tried_again(
    model_server: FakeServer, fault: str, kind: type[ModelError]
) -> None:
    model_server.script({"fault": fault})
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        heard = await hear(gateway, spec)
    assert type(heard.error) in (kind, *kind.__subclasses__())
    assert len(model_server.requests) == 1


async def test_streams_that_fail_in_a_row_open_the_breaker_for_all_calls(
    model_server: FakeServer,
) -> None:
    model_server.options.faults = {"unavailable": 1.0}
    spec = make_spec(model_server)
    async with opened(spec, attempts=1, calls_in_a_row=2) as gateway:
        assert type((await hear(gateway, spec)).error) is ModelError
        assert isinstance((await hear(gateway, spec)).error, ModelUnreachable)
        assert isinstance((await hear(gateway, spec)).error, ModelUnreachable)
        assert gateway.state_of(spec.provider).breaker_open
    assert len(model_server.requests) == 2


@pytest.mark.parametrize(
    ("refusal", "left"),
    [
        ({"message": "Unrecognized request argument: stream_options"}, {"stream"}),
        ({"message": "Verify first.", "param": "stream", "code": "unsupported_value"}, set()),
    ],
)
async def test_what_an_endpoint_refuses_of_a_stream_is_left_out_from_then_on(
    refusal: dict[str, Any], left: set[str]
) -> None:
    async def write(answering: Answering) -> None:
        if answering.number == 0:
            await answering.refuse(400, **refusal)
        else:
            await saying("Yes.")(answering)

    async with line(write) as (gateway, spec, endpoint):
        assert [(await hear(gateway, spec)).text for _ in range(2)] == ["Yes.", "Yes."]
    assert [set(body) & set(streaming.STREAMED) for body in endpoint.bodies[1:]] == [left, left]


async def test_a_forbidden_address_is_never_talked_to(monkeypatch: pytest.MonkeyPatch) -> None:
    async with line(saying("Yes.")) as (gateway, spec, endpoint):

        def refused(*_: str, **__: bool) -> None:
            raise AddressRefused("Not that one.")

        monkeypatch.setattr(client, "check_address", refused)
        spec.provider.base_url = "http://localhost:9/v1"
        gateway._lines[1]._client._client.base_url = spec.provider.base_url
        heard = await hear(gateway, spec)
    assert isinstance(heard.error, ModelUnreachable)
    assert "Not that one." in str(heard.error)
    assert endpoint.bodies == []


@pytest.mark.parametrize("shown", ["", "reasoning_content", "tags"])
async def test_a_model_that_thinks_before_it_speaks_is_given_room(
    model_server: FakeServer, shown: str
) -> None:
    model_server.options.thinks, model_server.options.shows_thought = 3000, shown
    usages: list[Usage] = []
    learnt = Learnt()
    spec = make_spec(model_server, thinking_tokens=None)
    async with opened(spec, learnt=learnt) as gateway:
        chunks = [chunk async for chunk in gateway.stream(spec, MESSAGES, tell=usages.append)]
    assert "".join(chunks)
    caps = [body["max_tokens"] for body in model_server.requests]
    assert caps == [1024, 5120]
    assert spec.thinking_tokens == 4096
    assert learnt.seen[0].field == "thinking_tokens"
    assert usages[0].tokens_out >= 1024 + 3000


@pytest.mark.parametrize(
    "error", [{"error": {"message": "Busy."}}, {"object": "error", "code": 503}]
)
async def test_an_error_in_place_of_text_is_tried_again(error: dict[str, Any]) -> None:
    async with line(first_then(writing(event(**error)), saying("Yes."))) as (
        gateway,
        spec,
        endpoint,
    ):
        assert (await hear(gateway, spec)).text == "Yes."
    assert len(endpoint.bodies) == 2


async def test_a_model_that_never_speaks_is_given_up_with_what_to_set(
    model_server: FakeServer,
) -> None:
    model_server.options.thinks = 10**6
    usages: list[Usage] = []
    spec = make_spec(model_server, thinking_tokens=32_768)
    async with opened(spec) as gateway:
        with pytest.raises(ModelError, match="Spent all 33,792 tokens on thinking"):
            [chunk async for chunk in gateway.stream(spec, MESSAGES, tell=usages.append)]
    assert len(model_server.requests) == 1
    assert usages[0].tokens_out == 33_792


async def test_a_parameter_that_is_not_taken_is_learnt(model_server: FakeServer) -> None:
    model_server.options.faults = {"no_max_tokens": 1.0}
    learnt, spec = Learnt(), make_spec(model_server)
    async with opened(spec, learnt=learnt) as gateway:
        assert (await hear(gateway, spec)).text
    assert [capability.field for capability in learnt.seen] == ["max_tokens_param"]


async def test_no_room_within_a_limit_is_said() -> None:
    async with line(saying("Yes."), rpd=1) as (gateway, spec, endpoint):
        assert (await hear(gateway, spec)).text == "Yes."
        assert isinstance((await hear(gateway, spec)).error, QuotaExhausted)
    assert len(endpoint.bodies) == 1
