"""All calls to models go through here.

    async with Gateway.open(specs) as gateway:
        completion = await gateway.complete(spec, call)

A gateway belongs to the event loop that opened it, and closes its connections at the end.
``traffic`` has its limits, ``retry`` its retries.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Any

from apps.llm import error_messages
from apps.llm.addresses import check_resolved
from apps.llm.call_metrics import call_span, count_usage, note_call
from apps.llm.completion import CallRecord, ChatRequest
from apps.llm.embedding import BATCH, Embedded, EmbeddingRequest, join_batches
from apps.llm.failures import Failure
from apps.llm.http_line import HttpLine, provider_key
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Patience
from apps.llm.streaming import StreamRequest, Tell, ignore_usage, offline_deltas
from apps.llm.traffic import LineState, Memory
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.types import Call, Completion, Message


class Gateway:
    """Open lines to the providers of some models; create it with :meth:`open`."""

    def __init__(self, patience: Patience, memory: Memory) -> None:
        self._patience, self._memory = patience, memory
        self._lines: dict[int, HttpLine] = {}
        self._offline: OfflineModel | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        specs: Iterable[ModelSpec],
        *,
        patience: Patience | None = None,
        memory: Memory | None = None,
    ) -> AsyncIterator["Gateway"]:
        """A gateway to the providers of ``specs`` (their ``provider`` loaded), closed at the end.

        Raises:
            WrongKey: a provider's key was removed, or is missing from the environment.
            ModelUnreachable: a provider was removed.
            AddressRefused: a base URL resolves to a forbidden address.
        """
        gateway = cls(patience or Patience(), memory or Memory())
        async with AsyncExitStack() as stack:
            for spec in specs:
                await gateway._connect(spec.provider, stack)
            yield gateway

    async def complete(
        self, spec: ModelSpec, call: Call, record: CallRecord | None = None
    ) -> Completion:
        """Send ``call`` to ``spec``, waiting and retrying as the provider's state requires.

        ``record`` gets each useless answer and each failed attempt.

        Raises:
            ModelError: or a subclass; ``data['attempts']`` lists the attempts.
        """
        if spec.offline:
            # Imported on first use, as it reads a word list that most gateways do not need.
            self._offline = self._offline or OfflineModel()
            with call_span(spec) as traced:
                started = time.perf_counter()
                answer = await self._offline.complete(call)
                note_call(spec, answer, time.perf_counter() - started, traced)
            count_usage(spec, answer.usage)
            return answer
        line = self._lines[spec.provider.pk]
        return await ChatRequest(
            spec, call, line, self._patience, record=record or CallRecord()
        ).run()

    def stream(
        self,
        spec: ModelSpec,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        tell: Tell = ignore_usage,
    ) -> AsyncGenerator[str, None]:
        """The answer of ``spec`` to ``messages`` piece by piece; close it to stop early.

        Retried like any other call before its first text, never after it. ``tell`` is called once
        with the used tokens, also after an error.

        Raises:
            ModelError: or a subclass, possibly after some text.
        """
        if spec.offline:
            return offline_deltas(messages, params or {}, tell)
        line = self._lines[spec.provider.pk]
        streaming = StreamRequest(
            spec, messages, line, self._patience, params=params or {}, tell=tell
        )
        return streaming.deltas()

    async def embed(self, spec: ModelSpec, texts: Sequence[str]) -> Embedded:
        """One vector for each of ``texts``, in their order, through the same limits and retries.

        Raises:
            ModelError: or a subclass.
        """
        if spec.offline:
            raise error_messages.no_embeddings(spec)
        line = self._lines[spec.provider.pk]
        parts = [
            await EmbeddingRequest(spec, texts[start : start + BATCH], line, self._patience).run()
            for start in range(0, len(texts), BATCH)
        ]
        return join_batches(parts)

    def in_flight(self) -> int:
        """The number of requests in flight."""
        return sum(line.traffic.limiter.in_flight for line in self._lines.values())

    def hold(self) -> None:
        """Send nothing more. Requests in flight continue; cancel the calls that wait."""
        for line in self._lines.values():
            line.traffic.limiter.hold()

    def limit_of(self, provider: Provider) -> int:
        """The current maximum of concurrent calls to ``provider``."""
        return self._lines[provider.pk].traffic.limiter.limit

    def state_of(self, provider: Provider) -> LineState:
        """The state of the line to ``provider``, and what limits its speed."""
        line = self._lines[provider.pk]
        return line.traffic.state(breaker_open=line.breaker.open)

    async def model_names(self, provider: Provider) -> list[str] | Failure:
        """The models that the provider lists, or the failure. One attempt."""
        return await self._lines[provider.pk].model_names()

    async def _connect(self, provider: Provider, stack: AsyncExitStack) -> None:
        if provider.kind == Provider.Kind.OFFLINE or provider.pk in self._lines:
            return
        if provider.paused_at is not None:
            raise error_messages.paused_provider(provider)
        if provider.removed_at is not None:
            raise error_messages.removed_provider(provider)
        key = provider_key(provider)
        await asyncio.to_thread(check_resolved, provider.base_url, private=provider.private_allowed)
        # The imports take about a second, so do them in a thread.
        await asyncio.to_thread(import_module, "apps.llm.client")
        line = HttpLine(provider, key, self._patience, self._memory)
        stack.push_async_callback(line.close)
        await line.begin()
        self._lines[provider.pk] = line
