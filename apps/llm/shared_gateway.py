"""Gateways that stay open between single calls, such as those of authors' messages.

A run opens a gateway, makes thousands of calls and closes it. A server that makes a few calls a
second for days should neither open a connection for each, nor keep one after a change of the
provider.
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

#: Seconds after which an unused gateway is closed.
IDLE = 60.0
#: Seconds that a failed gateway rests before another is opened.
REST = 10.0
#: The fields of a provider that a gateway is opened with.
OPENED_WITH = (
    "kind", "base_url", "api_version", "api_key_env", "key_changed_at", "paused_at",
    "removed_at",
    "connect_timeout", "read_timeout", "max_concurrency",
    "rpm", "tpm", "rpd", "tpd",
)  # fmt: skip

_Key: TypeAlias = tuple[Any, ...]


@dataclass(eq=False, slots=True)
class _Shared:
    """One gateway. ``given_up`` is the time when its breaker, which never closes, was first seen
    open. The last user of a ``replaced`` gateway closes it."""

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
        """Whether it has failed and another may be opened."""
        return self.given_up is not None and time.monotonic() - self.given_up > REST

    def check_breaker(self) -> None:
        """Note a breaker that has opened."""
        if self.given_up is not None or self.gateway is None:
            return
        if self.gateway.state_of(self.provider).breaker_open:
            self.given_up = time.monotonic()

    def keep_open(self) -> None:
        """Cancel the closing of an idle gateway."""
        if self.closing is not None:
            self.closing.cancel()
            self.closing = None


_gateways: dict[asyncio.AbstractEventLoop, dict[_Key, _Shared]] = {}
#: Tasks that close gateways; an event loop keeps no reference to its tasks.
_closing: set[asyncio.Task[None]] = set()


@asynccontextmanager
async def shared_gateway(spec: ModelSpec, patience: Patience) -> AsyncIterator[Gateway]:
    """A gateway to the provider of ``spec`` (loaded), shared by all callers in this event loop.

    Raises:
        WrongKey: the provider's key was removed, or is missing from the environment.
        ModelUnreachable: the provider was removed.
        AddressRefused: its base URL resolves to a forbidden address.
    """
    if spec.offline:
        async with Gateway.open([spec]) as gateway:
            yield gateway
        return
    opened_with = (getattr(spec.provider, name) for name in OPENED_WITH)
    headers = repr(sorted(spec.provider.headers.items()))
    key = (spec.provider_id, *opened_with, headers, patience)
    kept = _find_or_add(key, spec.provider)
    kept.users += 1
    try:
        # Each has its own lock, so that a slow DNS look-up does not delay others.
        async with kept.opening:
            if kept.gateway is None:
                opening = Gateway.open([spec], patience=patience)
                kept.gateway = await kept.stack.enter_async_context(opening)
        yield kept.gateway
    finally:
        kept.users -= 1
        await _leave(key, kept)


async def close_all() -> None:
    """Close all gateways of the running loop, also those in use, before it ends."""
    loop = asyncio.get_running_loop()
    for kept in _gateways.pop(loop, {}).values():
        kept.replaced = True
        kept.keep_open()
        await kept.stack.aclose()
    await asyncio.gather(*(task for task in _closing if task.get_loop() is loop))


def _of_running_loop() -> dict[_Key, _Shared]:
    """The gateways of the running loop; those of ended loops are dropped."""
    loop = asyncio.get_running_loop()
    if loop not in _gateways:
        for ended in [other for other in _gateways if other.is_closed()]:
            del _gateways[ended]
    return _gateways.setdefault(loop, {})


def _find_or_add(key: _Key, provider: Provider) -> _Shared:
    """The gateway of ``key``, which may not be open yet; replaces a failed one after its rest."""
    lines = _of_running_loop()
    if key in lines and lines[key].rested:
        old = lines.pop(key)
        old.replaced = True
        if not old.users:
            _close_soon(old)
    if key not in lines:
        lines[key] = _Shared(provider)
    lines[key].keep_open()
    return lines[key]


async def _leave(key: _Key, kept: _Shared) -> None:
    kept.check_breaker()
    if kept.users:
        return
    if kept.replaced or kept.gateway is None:
        _forget(key, kept)
        await kept.stack.aclose()
    else:
        kept.keep_open()
        kept.closing = asyncio.get_running_loop().call_later(IDLE, _expire, key, kept)


def _expire(key: _Key, kept: _Shared) -> None:
    _forget(key, kept)
    _close_soon(kept)


def _forget(key: _Key, kept: _Shared) -> None:
    lines = _of_running_loop()
    if lines.get(key) is kept:
        del lines[key]


def _close_soon(kept: _Shared) -> None:
    kept.keep_open()
    task = asyncio.create_task(kept.stack.aclose())
    _closing.add(task)
    task.add_done_callback(_closing.discard)
