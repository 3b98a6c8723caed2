"""Every way an endpoint can fail, through the real client: what we do and what we say."""

import asyncio
import logging
import socket
import time
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from apps.llm.failures import LONGEST_HINT, retry_after
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
from tests.llm.asking_helpers import Sleeper, make_call, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, chat_completion, error, tiny_endpoint

KEY = "sk-test-0123456789"


def statuses(error: ModelError) -> list[int]:
    return [attempt["http_status"] for attempt in error.data["attempts"]]


@pytest.mark.parametrize(
    ("fault", "asked"), [("rate_limit", 2.0), ("rate_limit_ms", 2.0), ("rate_limit_bare", 0.5)]
)
async def test_a_rate_limit_is_waited_out_as_asked(
    model_server: FakeServer, fault: str, asked: float
) -> None:
    sleeper, spec = Sleeper(), make_spec(model_server)
    model_server.script(*[{"fault": fault, "retry_after": 2}] * 7)
    async with opened(spec, sleeper=sleeper) as gateway:
        done = await gateway.complete(spec, make_call())
    assert [attempt.http_status for attempt in done.attempts] == [429] * 7 + [200]
    assert sleeper.slept[0] == asked


async def test_endless_refusals_end_in_a_pause(model_server: FakeServer) -> None:
    model_server.options.faults = {"rate_limit": 1.0}
    model_server.options.retry_after = 250
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        with pytest.raises(QuotaExhausted) as caught:
            await gateway.complete(spec, make_call())
    assert statuses(caught.value) == [429] * 4
    assert caught.value.data["resume_after"] == 250


@pytest.mark.parametrize(
    ("entry", "resume_after"),
    [
        ({"fault": "insufficient_quota"}, None),
        ({"fault": "rate_limit", "retry_after": 3600}, 3600),
    ],
)
async def test_a_used_up_quota_pauses_at_once(
    model_server: FakeServer, entry: dict[str, Any], resume_after: float | None
) -> None:
    model_server.script(entry)
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        with pytest.raises(QuotaExhausted, match="provider1") as caught:
            await gateway.complete(spec, make_call())
    assert caught.value.data["resume_after"] == resume_after
    assert caught.value.stops_run


@pytest.mark.parametrize("fault", ["unavailable", "reset", "malformed", "html", "no_choices"])
async def test_a_passing_trouble_is_tried_again(model_server: FakeServer, fault: str) -> None:
    sleeper, spec = Sleeper(), make_spec(model_server)
    model_server.script(*[{"fault": fault}] * 4)
    async with opened(spec, sleeper=sleeper) as gateway:
        done = await gateway.complete(spec, make_call())
    assert done.text
    assert len(done.attempts) == 5
    assert all(attempt.note for attempt in done.attempts[:4])
    assert sleeper.slept == [0.5, 1.0, 2.0, 4.0]


async def test_five_failed_calls_in_a_row_stop_all_others(model_server: FakeServer) -> None:
    model_server.options.faults = {"unavailable": 1.0}
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        for _ in range(4):
            with pytest.raises(ModelError) as caught:
                await gateway.complete(spec, make_call())
            assert not caught.value.stops_run
        with pytest.raises(ModelUnreachable, match="Several calls in a row failed"):
            await gateway.complete(spec, make_call())
        sent = len(model_server.requests)
        with pytest.raises(ModelUnreachable):
            await gateway.complete(spec, make_call())
    assert len(model_server.requests) == sent == 25


@pytest.mark.parametrize("fault", ["wrong_key", "unknown_model", "insufficient_quota"])
async def test_calls_in_line_are_not_sent_once_one_was_refused_for_all(
    model_server: FakeServer, fault: str
) -> None:
    model_server.options.faults = {fault: 1.0}
    spec = make_spec(model_server, provider={"max_concurrency": 4})
    async with opened(spec) as gateway:
        calls = [gateway.complete(spec, make_call(f"Text {number}.")) for number in range(40)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
    assert len(model_server.requests) == 4
    assert len({(type(error), str(error)) for error in ended}) == 1


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        ("wrong_key", WrongKey, "Key refused by provider 'provider1'"),
        ("unknown_model", UnknownModel, "'model-1' is unknown to"),
        ("too_long", RequestRejected, "maximum context length"),
        ("redirect", RequestRejected, "307"),
    ],
)
async def test_what_would_fail_again_is_not_tried_again(
    model_server: FakeServer, fault: str, error: type[ModelError], words: str
) -> None:
    model_server.script({"fault": fault})
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        with pytest.raises(error, match=words) as caught:
            await gateway.complete(spec, make_call(temperature=0))
    assert len(statuses(caught.value)) == 1


async def test_the_key_is_in_no_message_and_no_log(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    echo = {"error": {"message": f"bad key {KEY}"}, "choices": []}
    model_server.script(*[{"text": "", **echo}] * 5, {"fault": "wrong_key"})
    spec = make_spec(model_server, provider={"api_key_env": "SOME_API_KEY"})
    caplog.set_level(logging.DEBUG)
    async with opened(spec) as gateway:
        for _ in range(2):
            with pytest.raises(ModelError) as caught:
                await gateway.complete(spec, make_call())
            assert KEY not in f"{caught.value} {caught.value.data}"
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("sent", "seconds"),
    [
        ("1e300", LONGEST_HINT),
        ("9" * 20, LONGEST_HINT),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_HINT),
        ("1 Jan 2024 99999999999999999999:00:00 GMT", None),
        ("-5", None),
        ("nan", None),
    ],
)
def test_an_absurd_wait_is_cut_to_what_a_calendar_holds(sent: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": sent}, now=time.time()) == seconds


async def test_a_key_in_an_error_is_not_cut_in_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    async with tiny_endpoint(lambda _: (200, error("x" * 490 + KEY), {})) as endpoint:
        provider = {"base_url": endpoint.base_url, "api_key_env": "SOME_API_KEY"}
        spec = make_spec(provider=provider)
        async with opened(spec, attempts=1) as gateway:
            with pytest.raises(ModelError) as caught:
                await gateway.complete(spec, make_call())
    assert KEY[:7] not in f"{caught.value} {caught.value.data}"


@pytest.mark.parametrize("status", [504, 408, 524, 503])
async def test_an_endpoint_that_says_at_once_that_it_timed_out_is_tried_again(status: int) -> None:
    """A proxy whose server has just gone says so for seconds; nobody has waited for anything."""

    def say(heard: Heard) -> Answer:
        if 20 <= heard.before < 60:
            return status, error("upstream"), {}
        return 200, chat_completion(), {}

    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url, "read_timeout": 120})
        async with opened(spec, attempts=50) as gateway:
            await asyncio.gather(
                *(gateway.complete(spec, make_call(f"{number}")) for number in range(60))
            )
            assert gateway.limit_of(spec.provider) >= 8
    assert len(endpoint.heard) == 100


@pytest.mark.parametrize(
    ("body", "words", "paid"),
    [
        ('{"error": {"message": "upstream overloaded", "code": 502}}', "status 502", False),
        ('{"error": {"message": "upstream overloaded", "code": "oops"}}', "status 502", False),
        ("<html>Please log in.</html>", "not JSON", False),
        ("{}", "no choices", False),
        ('{"choices": [{"message": {"conte', "not JSON", True),
        ('{"choices": [], "usage": {}}', "no choices", True),
    ],
)
async def test_only_what_a_model_may_have_written_is_counted(
    body: str, words: str, paid: bool
) -> None:
    async def handle(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    async with TestServer(app) as server:
        spec = make_spec(provider={"base_url": str(server.make_url("/v1"))})
        async with opened(spec, attempts=2) as gateway:
            with pytest.raises(ModelError, match=words) as caught:
                await gateway.complete(spec, make_call())
            usages: list[Usage] = []
            with pytest.raises(ModelError):
                [chunk async for chunk in gateway.stream(spec, [Message("user", "Hm?")],
                                                       tell=usages.append)]  # fmt: skip
    assert (caught.value.data["usage"]["tokens_in"] > 0) is paid
    assert (usages[0].tokens_in > 0) is paid


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("unavailable", "status 503"),
        ("reset", "broke off"),
        ("malformed", "not JSON"),
        ("no_choices", "no choices"),
    ],
)
async def test_a_lasting_trouble_fails_the_call(
    model_server: FakeServer, fault: str, words: str
) -> None:
    model_server.options.faults = {fault: 1.0}
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        with pytest.raises(ModelError, match=words) as caught:
            await gateway.complete(spec, make_call())
    assert len(statuses(caught.value)) == 5
    assert not caught.value.stops_run


async def test_nobody_there_is_said_with_host_and_port() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        spec = make_spec(provider={"base_url": f"http://127.0.0.1:{port}/v1"})
        async with opened(spec) as gateway:
            with pytest.raises(ModelUnreachable, match=rf"No connection.*127\.0\.0\.1:{port}"):
                await gateway.complete(spec, make_call())
