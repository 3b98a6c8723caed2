"""A client for one provider, with its limits and its breaker."""

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from apps.common.sealing import CannotOpen, unseal
from apps.llm import error_messages
from apps.llm.addresses import AddressRefused
from apps.llm.capabilities import Capability
from apps.llm.extras import check_headers
from apps.llm.failures import (
    LONGEST_ANSWER,
    Cause,
    Failure,
    NoAnswer,
    read_error,
    read_refusal,
)
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Breaker, Patience
from apps.llm.services import may_hold_a_key
from apps.llm.thinking import Thinking
from apps.llm.traffic import Memory, Traffic, remember
from apps.llm.wire import (
    Answer,
    ErrorAnswer,
    Malformed,
    clean,
    read_model_names,
    written_in,
)
from labelhub.core.llm.buckets import UsedUp
from labelhub.core.llm.types import Usage

if TYPE_CHECKING:
    from apps.llm.client import EventStream


class Counted(Protocol):
    """An answer with its tokens."""

    @property
    def usage(self) -> Usage:
        """The tokens of this answer."""


T = TypeVar("T", bound=Counted)
R = TypeVar("R")

logger = logging.getLogger(__name__)

#: Sent to endpoints without a key, as the client requires one.
NO_KEY = "none"
#: Header values of this length or more may be secrets, and are removed from messages.
SECRET_LENGTH = 8
#: Seconds for which use may be unsaved, all that a killed process does not tell of.
SAVE_EVERY = 5.0


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
        self._saving: asyncio.TimerHandle | None = None
        headers = check_headers(provider.headers)
        self._secrets = [value for value in headers.values() if len(value) >= SECRET_LENGTH]
        if key != NO_KEY:
            self._secrets.insert(0, key)
        self._client = EndpointClient(
            provider.base_url,
            key,
            headers,
            private=provider.private_allowed,
            api_version=provider.api_version if provider.kind == Provider.Kind.AZURE else "",
            connect_timeout=provider.connect_timeout,
            read_timeout=provider.read_timeout,
        )

    async def begin(self) -> None:
        """Load the remaining daily limit."""
        if self.provider.rpd or self.provider.tpd:
            self.traffic.buckets.begin_day(*await self._memory.used_today(self.provider))

    async def close(self) -> None:
        """Close all connections and store the learnt limits."""
        await self._client.close()
        if self._saving is not None:
            self._saving.cancel()
        await asyncio.gather(*self._keeping)
        self.traffic.close()
        await remember(self._memory, self.provider, self.traffic)

    def forms_kept(self, spec: ModelSpec) -> set[str]:
        """The forms in which ``spec`` has answered; callers add to them."""
        return self.traffic.forms.setdefault(spec.name, set())

    def learn_soon(self, spec: ModelSpec, capability: Capability) -> None:
        """Store a capability on the object now, and in the database later: a call that is cancelled
        while it waits for the database would lose a paid answer."""
        setattr(spec, capability.field, capability.value)
        self._start(self._keep(spec, capability))

    def _start(self, storing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(storing)
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    def _save_soon(self) -> None:
        """Store within seconds what was used: a line may live for days, or be killed."""
        if self._saving is None:
            self._saving = asyncio.get_running_loop().call_later(SAVE_EVERY, self._save)

    def _save(self) -> None:
        self._saving = None
        self._start(remember(self._memory, self.provider, self.traffic))

    async def _keep(self, spec: ModelSpec, capability: Capability) -> None:
        kept = copy(spec)
        try:
            await self.learn(kept, capability)
            if getattr(spec, capability.field) == capability.value:
                # Another process may have learnt more.
                setattr(spec, capability.field, getattr(kept, capability.field))
        except Exception:
            logger.exception("Model %s: a capability could not be stored", spec.name)

    async def send(
        self,
        path: str,
        request: dict[str, Any],
        read: Callable[[bytes, Mapping[str, Any]], T],
        tokens: int,
    ) -> tuple[T | Failure, float]:
        """Send one request of about ``tokens`` to ``path`` when the limits allow; the result of
        ``read``, and its seconds.

        Raises:
            QuotaExhausted: a configured limit allows no calls for minutes.
            ModelError: the breaker is open.
        """

        async def ask() -> T | Failure:
            answer = await self._client.post(path, request)
            return self._read(answer, lambda body: read(body, request))

        try:
            async with self.traffic.passage(tokens) as passage:
                self.breaker.check()  # the breaker may have opened while this call waited
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
        """Send one request for a stream; the answer once its head has arrived."""
        answer = await self._client.stream("/chat/completions", request)
        if isinstance(answer, Answer):
            return read_refusal(answer.status, answer.body, answer.headers, self.redacted)
        self.traffic.follow(answer.headers)
        return answer

    async def model_names(self) -> list[str] | Failure:
        """The models that ``GET /models`` lists."""

        async def ask() -> list[str] | Failure:
            return self._read(await self._client.get("/models"), read_model_names)

        return await self.exchange(ask)

    def _read(self, answer: Answer, read: Callable[[bytes], R]) -> R | Failure:
        """The result of ``read`` for an answer, or a failure."""
        if not answer.ok:
            return read_refusal(answer.status, answer.body, answer.headers, self.redacted)
        self.traffic.follow(answer.headers)
        try:
            return read(answer.body)
        except ErrorAnswer as error:
            return read_error(error.error, answer.headers, self.redacted, length=error.length)
        except Malformed as error:
            message, length = self.redacted(str(error)), written_in(answer.body)
            return Failure(Cause.MALFORMED, answer.status, message, length=length)

    async def exchange(self, ask: Callable[[], Awaitable[R | Failure]]) -> R | Failure:
        """The result of ``ask``, or a failure for its exception.

        Raises:
            ModelUnreachable: the provider's host name resolves to a forbidden address.
        """
        try:
            return await ask()
        except NoAnswer as error:
            return Failure(error.cause, code=error.code, message=error.message, length=error.length)
        except TimeoutError:
            return Failure(Cause.TIMED_OUT, length=LONGEST_ANSWER)
        except AddressRefused as error:
            raise error_messages.forbidden_address(error, self.provider) from None
        finally:
            self._save_soon()

    def redacted(self, text: str) -> str:
        """``text`` without the key and the headers' values, which some endpoints repeat."""
        text = clean(text)
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text[:500]


def provider_key(provider: Provider) -> str:
    """The key of ``provider``: the stored one, or from the environment.

    Raises:
        WrongKey: it was removed or cannot be decrypted; or the variable is not set, is not for
            keys, or has a value that no header can carry.
    """
    if provider.sealed_key:
        try:
            return unseal(provider.sealed_key).decode()
        except CannotOpen:
            raise error_messages.unreadable_key(provider) from None
    if provider.key_state == Provider.KeyState.REMOVED:
        raise error_messages.removed_key(provider)
    # A project must never reach the server's own keys; the database refuses such a row too.
    if not provider.api_key_env or provider.project_id is not None:
        return NO_KEY
    if not may_hold_a_key(provider.api_key_env):
        raise error_messages.no_key_variable(provider)
    key = os.environ.get(provider.api_key_env, "").strip()
    if not key:
        raise error_messages.missing_key(provider)
    if not (key.isascii() and key.isprintable()):
        raise error_messages.unusable_key(provider)
    return key
