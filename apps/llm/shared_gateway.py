"""Lines that stay open between calls which come one by one, as those of authors' messages do.

A run opens a gateway, asks thousands of calls and closes it. Whoever asks a few calls a second for
days wants neither a new connection for each, nor one that outlives a change of the provider.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Patience

#: Seconds after which a line that nobody uses is closed.
IDLE = 60.0
#: Seconds for which a line that was given up rests before another is tried.
REST = 10.0
#: Of a provider: what its line was opened with.
OPENED_WITH = (
    "kind", "base_url", "api_version", "api_key_env",
    "connect_timeout", "read_timeout", "max_concurrency",
    "rpm", "tpm", "rpd", "tpd",
)  # fmt: skip

_Key: TypeAlias = tuple[Any, ...]


@dataclass(eq=False, slots=True)
class _Kept:
    """One line. ``given_up`` is when its breaker was first seen open, which never closes again;
    ``replaced`` that it is closed by whoever leaves it last."""

    provider: Provider
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    gateway: Gateway | None = None
    users: int = 0
    given_up: float | None = None
    replaced: bool = False
    closing: asyncio.TimerHandle | None = None

    @property
    def rested(self) -> bool:
        """Whether it was given up and another may be tried."""
        return self.given_up is not None and time.monotonic() - self.given_up > REST

    def look(self) -> None:
        """Take note of a breaker that has opened."""
        if self.given_up is not None or self.gateway is None:
            return
        if self.gateway.state_of(self.provider).breaker_open:
            self.given_up = time.monotonic()

    def keep_open(self) -> None:
        """Somebody uses it: it is not idle."""
        if self.closing is not None:
            self.closing.cancel()
            self.closing = None


_lines: dict[asyncio.AbstractEventLoop, dict[_Key, _Kept]] = {}
#: Lines on their way to be closed; an event loop itself keeps no hold of its tasks.
_closing: set[asyncio.Task[None]] = set()


@asynccontextmanager
async def shared_gateway(spec: ModelSpec, patience: Patience) -> AsyncIterator[Gateway]:
    """A gateway to the provider of ``spec`` (loaded), shared by all who ask in this event loop.

    Raises:
        WrongKey: the provider's key is missing from the environment.
        AddressRefused: its base URL leads to a forbidden address.
    """
    if spec.offline:
        async with Gateway.open([spec]) as gateway:
            yield gateway
        return
    key = _key(spec, patience)
    kept = _line(key, spec.provider)
    kept.users += 1
    try:
        yield await _opened(kept, spec, patience)
    finally:
        kept.users -= 1
        await _leave(key, kept)


async def close_all() -> None:
    """Close all lines of the running loop, also those in use; for its end."""
    loop = asyncio.get_running_loop()
    for kept in _lines.pop(loop, {}).values():
        kept.replaced = True
        kept.keep_open()
        await kept.stack.aclose()
    await asyncio.gather(*(task for task in _closing if task.get_loop() is loop))


def _of_loop() -> dict[_Key, _Kept]:
    """The lines of the running loop. Those of loops that ended without :func:`close_all` go."""
    loop = asyncio.get_running_loop()
    if loop not in _lines:
        for ended in [other for other in _lines if other.is_closed()]:
            del _lines[ended]
    return _lines.setdefault(loop, {})


def _key(spec: ModelSpec, patience: Patience) -> _Key:
    opened_with = (getattr(spec.provider, name) for name in OPENED_WITH)
    headers = repr(sorted(spec.provider.headers.items()))
    return (spec.provider_id, *opened_with, headers, patience)


def _line(key: _Key, provider: Provider) -> _Kept:
    """The line under ``key``, perhaps yet to be opened; one that has rested makes way."""
    lines = _of_loop()
    if key in lines and lines[key].rested:
        old = lines.pop(key)
        old.replaced = True
        if not old.users:
            _close_soon(old)
    if key not in lines:
        lines[key] = _Kept(provider)
    lines[key].keep_open()
    return lines[key]


async def _opened(kept: _Kept, spec: ModelSpec, patience: Patience) -> Gateway:
    # Each line has its own lock: an endpoint whose name is looked up slowly stops no other.
    async with kept.opening:
        if kept.gateway is None:
            opening = Gateway.open([spec], patience=patience)
            kept.gateway = await kept.stack.enter_async_context(opening)
    return kept.gateway


async def _leave(key: _Key, kept: _Kept) -> None:
    kept.look()
    if kept.users:
        return
    if kept.replaced or kept.gateway is None:
        _forget(key, kept)
        await kept.stack.aclose()
    else:
        kept.keep_open()
        kept.closing = asyncio.get_running_loop().call_later(IDLE, _expire, key, kept)


def _expire(key: _Key, kept: _Kept) -> None:
    _forget(key, kept)
    _close_soon(kept)


def _forget(key: _Key, kept: _Kept) -> None:
    lines = _of_loop()
    if lines.get(key) is kept:
        del lines[key]


def _close_soon(kept: _Kept) -> None:
    kept.keep_open()
    task = asyncio.create_task(kept.stack.aclose())
    _closing.add(task)
    task.add_done_callback(_closing.discard)
