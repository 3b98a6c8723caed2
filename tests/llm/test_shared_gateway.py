"""Lines that stand between calls: shared, opened anew when due, closed when nobody uses them."""

import asyncio
import time
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from apps.llm import shared_gateway as module
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from apps.llm.shared_gateway import close_all, shared_gateway
from labelhub.core.llm.errors import ModelError, ModelUnreachable
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call, make_spec

QUICK = Patience(attempts=1, calls_in_a_row=1)


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    """Nothing is left of a test's lines."""
    yield
    await close_all()
    assert asyncio.get_running_loop() not in module._gateways
    assert not module._closing


def open_lines() -> int:
    return len(module._gateways.get(asyncio.get_running_loop(), {}))


def is_closed(gateway: Gateway) -> bool:
    (line,) = gateway._lines.values()
    return line._client._client.is_closed()


async def ask(spec: ModelSpec) -> Gateway:
    async with shared_gateway(spec, QUICK) as gateway:
        await gateway.complete(spec, make_call())
    return gateway


async def test_callers_at_once_and_later_share_one_line(model_server: FakeServer) -> None:
    model_server.options.latency = 0.01
    # Each request of a site reads its own rows.
    gateways = await asyncio.gather(*(ask(make_spec(model_server)) for _ in range(8)))
    gateways.append(await ask(make_spec(model_server)))
    assert len(set(gateways)) == 1
    assert open_lines() == 1
    assert not is_closed(gateways[0])


async def test_a_line_is_opened_once_however_many_wait_for_it(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, at_once = [], asyncio.Barrier(3)

    async def slowly(_: Gateway, provider: Any, __: Any) -> None:
        opened.append(provider)
        async with asyncio.timeout(10):  # one that is slow to open stops no other
            await at_once.wait()

    monkeypatch.setattr(Gateway, "_connect", slowly)

    async def use(pk: int) -> None:
        async with shared_gateway(make_spec(model_server, pk=pk), QUICK):
            pass

    monkeypatch.setattr(module._Shared, "check_breaker", lambda _: None)
    await asyncio.gather(*(use(pk) for pk in (1, 2, 3, 1, 2, 3)))
    assert sorted(lease.pk for lease in opened) == [1, 2, 3]


@pytest.mark.parametrize(
    "change", [{"read_timeout": 4.0}, {"headers": {"x-team": "a"}}, {"rpm": 600}]
)
async def test_a_changed_provider_gets_a_line_of_its_own(
    model_server: FakeServer, change: dict[str, Any]
) -> None:
    before = await ask(make_spec(model_server))
    changed = make_spec(model_server, provider=change)
    async with shared_gateway(changed, QUICK) as after:
        assert after is not before


async def test_a_line_that_nobody_uses_is_closed(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDLE", 0.02)
    spec = make_spec(model_server)
    gateway = await ask(spec)
    async with asyncio.timeout(10):
        while not is_closed(gateway) or open_lines():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert await ask(spec) is not gateway


async def test_a_line_in_use_is_not_idle(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDLE", 0.01)
    spec = make_spec(model_server)
    gateway = await ask(spec)
    async with shared_gateway(spec, QUICK) as again:
        await asyncio.sleep(0.04)
        assert again is gateway
        assert not is_closed(gateway)
        await gateway.complete(spec, make_call())


async def test_a_line_that_was_given_up_rests_and_is_opened_anew(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(passed))
    monkeypatch.setattr(module, "time", clock)
    spec = make_spec(model_server)
    await ask(spec)
    passed.append(module.REST + 1)  # a rest begins when a line is given up, not when it is opened
    model_server.script({"fault": "unavailable"})
    with pytest.raises(ModelError):
        await ask(spec)
    with pytest.raises(ModelUnreachable):
        await ask(spec)
    assert len(model_server.requests) == 2, "nothing is sent while it rests"
    passed.append(module.REST + 1)
    await ask(spec)
    assert len(model_server.requests) == 3


async def test_who_still_uses_a_line_that_was_given_up_finishes_first(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REST", 0.0)
    spec = make_spec(model_server)
    async with shared_gateway(spec, QUICK) as old:
        model_server.script({"fault": "unavailable"})
        with pytest.raises(ModelError):
            await ask(spec)
        await asyncio.sleep(0.001)
        assert await ask(spec) is not old
        assert not is_closed(old)
    assert is_closed(old)
    assert open_lines() == 1


async def test_at_the_end_of_a_loop_all_is_closed(model_server: FakeServer) -> None:
    gateways = [await ask(make_spec(model_server, pk=pk)) for pk in (1, 2)]
    async with shared_gateway(make_spec(model_server), QUICK):
        await close_all()
        assert all(map(is_closed, gateways))
    assert open_lines() == 0, "whoever leaves later leaves nothing behind"


async def test_loops_share_nothing_and_one_that_ended_is_forgotten(
    model_server: FakeServer,
) -> None:
    here = await ask(make_spec(model_server))

    def elsewhere() -> tuple[asyncio.AbstractEventLoop, Gateway]:
        with asyncio.Runner() as runner:
            gateway = runner.run(ask(make_spec(model_server)))
            return runner.get_loop(), gateway

    ended, there = await asyncio.to_thread(elsewhere)
    assert there is not here
    assert ended in module._gateways
    await asyncio.to_thread(elsewhere)
    assert ended not in module._gateways


async def test_the_offline_model_opens_nothing() -> None:
    spec = make_spec(provider={"kind": "offline"}, name="offline")
    async with shared_gateway(spec, QUICK) as gateway:
        assert (await gateway.complete(spec, make_call("The price!"))).text
    assert open_lines() == 0
