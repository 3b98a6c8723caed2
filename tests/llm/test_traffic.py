"""Limits in front of a line: learnt, kept, shared between lines, and told to the run's page."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest

from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec
from apps.llm.retry import Limited, Patience
from labelhub.core.llm.errors import QuotaExhausted
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import Learnt, make_call, make_spec, opened
from tests.llm.tiny_endpoint import (
    Answer,
    Heard,
    TinyEndpoint,
    chat_completion,
    error,
    tiny_endpoint,
)

TOLD = {
    "x-ratelimit-limit-requests": "6000",
    "x-ratelimit-remaining-requests": "5999",
    "x-ratelimit-reset-requests": "10ms",
    "x-ratelimit-limit-tokens": "600000",
}


def spec_of(endpoint: TinyEndpoint, **provider: Any) -> ModelSpec:
    return make_spec(provider={"base_url": endpoint.base_url, **provider})


def answering(headers: Mapping[str, str]) -> Any:
    return lambda _: (200, chat_completion(), headers)


async def ask(gateway: Gateway, spec: ModelSpec, times: int = 1) -> None:
    calls = (
        gateway.complete(spec, make_call(f"{number}", max_tokens=5)) for number in range(times)
    )
    await asyncio.gather(*calls)


async def test_limits_are_learnt_from_answers_and_kept() -> None:
    learnt = Learnt()
    async with tiny_endpoint(answering(TOLD)) as endpoint:
        spec = spec_of(endpoint)
        async with opened(spec, learnt=learnt) as gateway:
            assert gateway.state_of(spec.provider).rpm is None
            await ask(gateway, spec)
            state = gateway.state_of(spec.provider)
    assert (state.rpm, state.tpm) == (6000, 600_000)
    assert learnt.limits == {"rpm": 6000, "tpm": 600_000}


@pytest.mark.thorough
async def test_a_known_limit_spaces_calls_out() -> None:
    async with tiny_endpoint(answering({})) as endpoint:
        spec = spec_of(endpoint, rpm=3000)  # 50 a second, 5 at once
        async with opened(spec) as gateway:
            begun = time.monotonic()
            asking = asyncio.create_task(ask(gateway, spec, 20))
            states = []
            while not asking.done():
                await asyncio.sleep(0.005)
                states.append(gateway.state_of(spec.provider))
            took = time.monotonic() - begun
    assert took > 0.28
    held_up = [state for state in states if state.limited_by == "provider rate"]
    assert held_up
    assert any(state.waiting for state in held_up)
    assert {state.rpm for state in states} == {3000}
    assert len(endpoint.heard) == 20


async def test_tokens_are_settled_by_what_was_used() -> None:
    """Each call reserves more than 1,000 tokens and uses 15."""
    async with tiny_endpoint(answering({})) as endpoint:
        spec = spec_of(endpoint, tpm=60_000)  # 1,000 a second
        async with opened(spec) as gateway:
            begun = time.monotonic()
            for _ in range(20):
                await gateway.complete(spec, make_call())
    assert time.monotonic() - begun < 2


async def test_a_used_up_day_pauses_with_a_time_and_is_written_down() -> None:
    learnt = Learnt(used=(3, 100))
    async with tiny_endpoint(answering({})) as endpoint:
        spec = spec_of(endpoint, rpd=5)
        async with opened(spec, learnt=learnt) as gateway:
            await ask(gateway, spec, 2)
            # However near midnight is when this runs.
            gateway._lines[1].traffic.buckets.day._ends = time.time() + 7200
            with pytest.raises(QuotaExhausted, match=r"today's limit.*in 120 min") as caught:
                await ask(gateway, spec)
    assert caught.value.data["resume_after"] == pytest.approx(7200, abs=5)
    assert caught.value.stops_run
    assert learnt.used == (5, 130)
    assert len(endpoint.heard) == 2


@pytest.mark.thorough
async def test_what_limits_the_speed_is_told(model_server: FakeServer) -> None:
    model_server.options.latency = 0.1
    spec = make_spec(model_server, provider={"max_concurrency": 3})
    wide = make_spec(model_server, pk=2, provider={"max_concurrency": 64})
    async with opened(spec, wide) as gateway:
        assert gateway.state_of(spec.provider).limited_by == ""
        asking = [asyncio.create_task(ask(gateway, model, 12)) for model in (spec, wide)]
        await asyncio.sleep(0.05)
        states = [gateway.state_of(model.provider) for model in (spec, wide)]
        await asyncio.gather(*asking)
        after = gateway.state_of(wide.provider)
    assert [state.limited_by for state in states] == ["concurrency setting", "adaptive limit"]
    assert [(state.limit, state.in_flight, state.waiting) for state in states] == [
        (3, 3, 9),
        (8, 8, 4),
    ]
    assert (after.in_flight, after.waiting, after.breaker_open) == (0, 0, False)
    assert [(change.old, change.new) for change in after.changes] == [(8, 16)]


@pytest.mark.thorough
async def test_two_lines_share_one_limit() -> None:
    async with tiny_endpoint(answering({})) as endpoint:
        spec = spec_of(endpoint, rpm=3000)
        async with opened(spec) as first, opened(spec) as other:
            begun = time.monotonic()
            await asyncio.gather(ask(first, spec, 10), ask(other, spec, 10))
    assert time.monotonic() - begun > 0.28


def test_refusals_are_counted_from_the_last_answer_in_whatever_process() -> None:
    ours, theirs = Limited(), Limited()
    begun = time.time()
    assert [ours.refused(begun + seconds) for seconds in (0, 400, 800)] == [0, 400, 800]
    theirs.take_up(ours.kept)
    assert theirs.refused(begun + 900) == 900
    # There it was answered, and the others learn of that too.
    theirs.forget()
    assert theirs.kept == {}
    ours.take_up(theirs.kept)
    assert ours.refused(begun + 1000) == 0


async def test_a_rate_limit_is_told_while_the_calls_it_refused_wait() -> None:
    def say(heard: Heard) -> Answer:
        return (200, chat_completion(), {}) if heard.before >= 3 else (429, error("Slow down."), {})

    noted = []

    async def sleep(_: float) -> None:
        noted.append(gateway.state_of(spec.provider).limited_by)

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint)
        patience = Patience(sleep=sleep)
        async with Gateway.open([spec], patience=patience, memory=Learnt()) as gateway:
            await ask(gateway, spec)
            noted.append(gateway.state_of(spec.provider).limited_by)
    assert noted == ["rate limit"] * 3 + [""]
