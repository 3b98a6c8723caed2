"""What lines remember in the database; tests remember elsewhere."""

import logging
from collections.abc import Mapping
from typing import Protocol

from asgiref.sync import sync_to_async

from apps.llm import services
from apps.llm.capabilities import Capability
from apps.llm.models import ModelSpec, Provider
from apps.llm.traffic import Traffic

logger = logging.getLogger(__name__)


class Memory(Protocol):
    """Where a gateway keeps what it finds out."""

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        """Keep what a refusal taught about ``spec``, on the object too."""
        ...

    async def used_today(self, provider: Provider) -> tuple[int, int]:
        """Requests and tokens of this day (UTC) that have been written down."""
        ...

    async def keep_limits(self, provider: Provider, learnt: Mapping[str, int]) -> None:
        """Keep the limits that the provider told."""
        ...

    async def add_use(self, provider: Provider, requests: int, tokens: int) -> None:
        """Write down what was used of a daily limit."""
        ...

    async def keep_limited(self, provider: Provider, limited: Mapping[str, float]) -> None:
        """Keep since when the provider has refused every call; empty: it has not."""
        ...


class InDatabase:
    """The database, off the event loop."""

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        """Keep what a refusal taught about ``spec``, on the object too."""
        await sync_to_async(services.learn_capability)(spec, capability)

    async def used_today(self, provider: Provider) -> tuple[int, int]:
        """Requests and tokens of this day (UTC) that have been written down."""
        return await sync_to_async(services.used_today)(provider)

    async def keep_limits(self, provider: Provider, learnt: Mapping[str, int]) -> None:
        """Keep the limits that the provider told."""
        await sync_to_async(services.keep_limits)(provider, learnt)

    async def add_use(self, provider: Provider, requests: int, tokens: int) -> None:
        """Write down what was used of a daily limit."""
        await sync_to_async(services.add_use)(provider, requests, tokens)

    async def keep_limited(self, provider: Provider, limited: Mapping[str, float]) -> None:
        """Keep since when the provider has refused every call; empty: it has not."""
        await sync_to_async(services.keep_limited)(provider, limited)


async def remember(memory: Memory, provider: Provider, traffic: Traffic) -> None:
    """Keep the limits told and since when there was no answer, where that has changed, and what was
    used of a daily limit.

    Never raises: an answered call is worth more than the count of it.
    """
    learnt = traffic.learnt(provider)
    kept = {name: told for name, told in provider.learnt_limits.items() if name != "at"}
    used = traffic.buckets.take_unsaved()
    limited = traffic.limited.kept
    try:
        if learnt and learnt != kept:
            await memory.keep_limits(provider, learnt)
        if any(used) and (provider.rpd or provider.tpd):
            await memory.add_use(provider, *used)
        if limited != provider.rate_limited:
            await memory.keep_limited(provider, limited)
    except Exception:
        logger.exception("Provider %s: limits could not be kept", provider.name)
