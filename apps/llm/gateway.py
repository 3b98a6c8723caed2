"""The one door to every model.

    async with Gateway.open(specs) as gateway:
        completion = await gateway.complete(spec, call)

A gateway belongs to the event loop it was opened in and closes its connections at the end. Limits
and retries are those of ``traffic`` and ``retry``.
"""

import asyncio
import logging
import os
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from apps.llm import error_messages
from apps.llm.addresses import AddressRefused, check_resolved
from apps.llm.capabilities import Capability
from apps.llm.completion import CallRecord, ChatRequest
from apps.llm.embedding import BATCH, Embedded, EmbeddingRequest, joined
from apps.llm.extras import check_headers
from apps.llm.failures import (
    LONGEST_ANSWER,
    Cause,
    Failure,
    NoAnswer,
    read_refusal,
    read_told,
)
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Breaker, Patience
from apps.llm.services import may_hold_a_key
from apps.llm.streaming import StreamRequest, Tell, offline_deltas, tell_nobody
from apps.llm.thinking import Thinking
from apps.llm.traffic import LineState, Memory, Traffic, remember
from apps.llm.wire import (
    Answer,
    ErrorTold,
    Malformed,
    clean,
    read_model_names,
    written_in,
)
from labelhub.core.llm.buckets import UsedUp
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.types import Call, Completion, Message

if TYPE_CHECKING:
    from apps.llm.client import EventStream

T = TypeVar("T", Completion, Embedded)
R = TypeVar("R")

logger = logging.getLogger(__name__)

#: Sent to endpoints that need no key: the client insists on one.
NO_KEY = "none"
#: A header's value of this length may be a secret, and is kept out of messages.
SECRET_LENGTH = 8


class Gateway:
    """Open lines to the providers of some models; make it with :meth:`open`."""

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
            WrongKey: a provider's key is missing from the environment.
            AddressRefused: a base URL leads to a metadata or link-local address.
        """
        gateway = cls(patience or Patience(), memory or Memory())
        async with AsyncExitStack() as stack:
            for spec in specs:
                await gateway._connect(spec.provider, stack)
            yield gateway

    async def complete(
        self, spec: ModelSpec, call: Call, record: CallRecord | None = None
    ) -> Completion:
        """Ask ``spec`` the ``call``, waiting and retrying as the provider's state demands.

        ``record`` is told of each answer of no use and each failed attempt.

        Raises:
            ModelError: or one of its kinds; ``data['attempts']`` says what was tried.
        """
        if spec.offline:
            # Its word list is read on first use: most gateways never need it.
            self._offline = self._offline or OfflineModel()
            return await self._offline.complete(call)
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
        tell: Tell = tell_nobody,
    ) -> AsyncGenerator[str, None]:
        """The answer of ``spec`` to ``messages`` piece by piece; whoever stops early closes it.

        Tried again like any other call until its first text, never after it. ``tell`` is told once
        what it cost, however it ended.

        Raises:
            ModelError: or one of its kinds, while it is read; what came before stays said.
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
            ModelError: or one of its kinds.
        """
        if spec.offline:
            raise error_messages.no_embeddings(spec)
        line = self._lines[spec.provider.pk]
        parts = [
            await EmbeddingRequest(spec, texts[start : start + BATCH], line, self._patience).run()
            for start in range(0, len(texts), BATCH)
        ]
        return joined(parts)

    def in_flight(self) -> int:
        """How many requests are being answered at the moment."""
        return sum(line.traffic.limiter.in_flight for line in self._lines.values())

    def hold(self) -> None:
        """Send nothing more; what is being answered goes on, who waits is to be cancelled."""
        for line in self._lines.values():
            line.traffic.limiter.hold()

    def limit_of(self, provider: Provider) -> int:
        """How many calls may be in flight to ``provider`` at the moment."""
        return self._lines[provider.pk].traffic.limiter.limit

    def state_of(self, provider: Provider) -> LineState:
        """How the line to ``provider`` is doing, and what limits its speed."""
        line = self._lines[provider.pk]
        return line.traffic.state(breaker_open=line.breaker.open)

    async def model_names(self, provider: Provider) -> list[str] | Failure:
        """What the provider says it serves, or how asking failed. One attempt."""
        return await self._lines[provider.pk].model_names()

    async def _connect(self, provider: Provider, stack: AsyncExitStack) -> None:
        if provider.kind == Provider.Kind.OFFLINE or provider.pk in self._lines:
            return
        key = provider_key(provider)
        await asyncio.to_thread(check_resolved, provider.base_url)
        # About a second of imports, once: the event loop answers others meanwhile.
        await asyncio.to_thread(import_module, "apps.llm.client")
        line = HttpLine(provider, key, self._patience, self._memory)
        stack.push_async_callback(line.close)
        await line.begin()
        self._lines[provider.pk] = line


class HttpLine:
    """A client for one provider, with its limits and its breaker."""

    def __init__(self, provider: Provider, key: str, patience: Patience, memory: Memory) -> None:
        from apps.llm.client import EndpointClient  # noqa: PLC0415 - see there

        self.provider = provider
        self.traffic = Traffic(provider, key)
        self.breaker = Breaker(patience.calls_in_a_row, self.traffic.limited)
        self._memory, self.learn = memory, memory.learn
        self.unstreamed: set[str] = set()
        self.thinking = Thinking(self.traffic.thoughts)
        self._keeping: set[asyncio.Task[None]] = set()
        headers = check_headers(provider.headers)
        self._secrets = [value for value in headers.values() if len(value) >= SECRET_LENGTH]
        if key != NO_KEY:
            self._secrets.insert(0, key)
        self._client = EndpointClient(
            provider.base_url,
            key,
            headers,
            api_version=provider.api_version if provider.kind == Provider.Kind.AZURE else "",
            connect_timeout=provider.connect_timeout,
            read_timeout=provider.read_timeout,
        )

    async def begin(self) -> None:
        """Take up what is left of a daily limit."""
        if self.provider.rpd or self.provider.tpd:
            self.traffic.buckets.begin_day(*await self._memory.used_today(self.provider))

    async def close(self) -> None:
        """Close all connections and keep what was found out."""
        await self._client.close()
        await asyncio.gather(*self._keeping)
        self.traffic.close()
        await remember(self._memory, self.provider, self.traffic)

    def forms_kept(self, spec: ModelSpec) -> set[str]:
        """The forms that ``spec`` has answered in, to be added to."""
        return self.traffic.forms.setdefault(spec.name, set())

    def learn_soon(self, spec: ModelSpec, capability: Capability) -> None:
        """Keep what was learnt on the object now, and in the database without a wait for it: who
        is cancelled meanwhile would lose an answer that is paid for."""
        setattr(spec, capability.field, capability.value)
        task = asyncio.create_task(self._keep(spec, capability))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep(self, spec: ModelSpec, capability: Capability) -> None:
        kept = copy(spec)
        try:
            await self.learn(kept, capability)
            if getattr(spec, capability.field) == capability.value:
                # Another process may have learnt more.
                setattr(spec, capability.field, getattr(kept, capability.field))
        except Exception:
            logger.exception("Model %s: what was learnt could not be kept", spec.name)

    async def send(
        self,
        path: str,
        request: dict[str, Any],
        read: Callable[[bytes, Mapping[str, Any]], T],
        tokens: int,
    ) -> tuple[T | Failure, float]:
        """Send one request of about ``tokens`` to ``path`` when there is room; what ``read`` finds
        in the answer to it, and the seconds that it took.

        Raises:
            QuotaExhausted: a limit that we keep leaves no room for minutes.
            ModelError: the breaker is open.
        """

        async def ask() -> T | Failure:
            answer = await self._client.post(path, request)
            return self._read(answer, lambda body: read(body, request))

        try:
            async with self.traffic.passage(tokens) as passage:
                self.breaker.check()  # it may have opened while this call waited
                started = time.perf_counter()
                answer = await self.exchange(ask)
                seconds = time.perf_counter() - started
                if isinstance(answer, Failure):
                    passage.heed(answer, seconds)
                    self.traffic.follow(answer.headers)
                else:
                    passage.used = answer.usage.tokens_in + answer.usage.tokens_out
            if unanswered := self.traffic.silent_calls():
                self.breaker.refused(error_messages.silent(self.provider, unanswered))
            return answer, seconds
        except UsedUp as error:
            raise error_messages.limit_used_up(self.provider, error) from None

    async def stream(self, request: dict[str, Any]) -> "EventStream | Failure":
        """Send one request for a stream; the answer once its head has come."""
        answer = await self._client.stream("/chat/completions", request)
        if isinstance(answer, Answer):
            return read_refusal(answer.status, answer.body, answer.headers, self.redacted)
        self.traffic.follow(answer.headers)
        return answer

    async def model_names(self) -> list[str] | Failure:
        """What ``GET /models`` lists."""

        async def ask() -> list[str] | Failure:
            return self._read(await self._client.get("/models"), read_model_names)

        return await self.exchange(ask)

    def _read(self, answer: Answer, read: Callable[[bytes], R]) -> R | Failure:
        """What ``read`` finds in an answer, or the failure that it is."""
        if not answer.ok:
            return read_refusal(answer.status, answer.body, answer.headers, self.redacted)
        self.traffic.follow(answer.headers)
        try:
            return read(answer.body)
        except ErrorTold as error:
            return read_told(error.error, answer.headers, self.redacted, length=error.length)
        except Malformed as error:
            message, length = self.redacted(str(error)), written_in(answer.body)
            return Failure(Cause.MALFORMED, answer.status, message, length=length)

    async def exchange(self, ask: Callable[[], Awaitable[R | Failure]]) -> R | Failure:
        """What ``ask`` returns, or the failure that its exception stands for.

        Raises:
            ModelUnreachable: the provider's name leads to a forbidden address.
        """
        try:
            return await ask()
        except NoAnswer as error:
            return Failure(error.cause, length=error.length)
        except TimeoutError:
            return Failure(Cause.TIMED_OUT, length=LONGEST_ANSWER)
        except AddressRefused as error:
            raise error_messages.forbidden_address(error, self.provider) from None

    def redacted(self, text: str) -> str:
        """``text`` without the key and our headers' values, which some endpoints repeat."""
        text = clean(text)
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text[:500]


def provider_key(provider: Provider) -> str:
    """The key of ``provider`` from the environment.

    Raises:
        WrongKey: the variable is not set, not one for keys, or holds what no header can carry.
    """
    if not provider.api_key_env:
        return NO_KEY
    if not may_hold_a_key(provider.api_key_env):
        raise error_messages.no_key_variable(provider)
    key = os.environ.get(provider.api_key_env, "").strip()
    if not key:
        raise error_messages.missing_key(provider)
    if not (key.isascii() and key.isprintable()):
        raise error_messages.unusable_key(provider)
    return key
