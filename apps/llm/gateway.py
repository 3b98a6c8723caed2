"""The one door to every model.

    async with Gateway.open(specs) as gateway:
        completion = await gateway.complete(spec, call)

A gateway belongs to the event loop it was opened in and closes its connections at the end. Rate
limits and retries are ours (``max_retries=0``): the client's own would wait on top and lose calls.

``openai`` is imported when a line is opened, never at start-up: it takes most of a second and tens
of megabytes, and a server that only shows pages needs none of it.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async

from apps.llm import troubles
from apps.llm.addresses import AddressRefused, check_resolved
from apps.llm.asking import Asking, Breaker, Patience
from apps.llm.failures import Capability, Cause, Failure
from apps.llm.models import ModelSpec, Provider
from apps.llm.services import learn_capability, may_hold_a_key
from apps.llm.wire import Malformed, clean, read_completion, read_model_names
from labelhub.core.llm.limiter import Limiter
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.types import Call, Completion

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

Learn = Callable[[ModelSpec, Capability], Awaitable[None]]

#: Sent to endpoints that need no key: the client insists on one.
NO_KEY = "none"


async def learn_in_database(spec: ModelSpec, capability: Capability) -> None:
    """Keep what was learnt about ``spec``, off the event loop."""
    await sync_to_async(learn_capability)(spec, capability)


class Gateway:
    """Open lines to the providers of some models; make it with :meth:`open`."""

    def __init__(self, patience: Patience, learn: Learn) -> None:
        self._patience, self._learn = patience, learn
        self._lines: dict[int, HttpLine] = {}
        self._offline: OfflineModel | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        specs: Iterable[ModelSpec],
        *,
        patience: Patience | None = None,
        learn: Learn = learn_in_database,
    ) -> AsyncIterator["Gateway"]:
        """A gateway to the providers of ``specs`` (their ``provider`` loaded), closed at the end.

        Raises:
            WrongKey: a provider's key is missing from the environment.
            AddressRefused: a base URL leads to a metadata or link-local address.
        """
        gateway = cls(patience or Patience(), learn)
        async with AsyncExitStack() as stack:
            for spec in specs:
                await gateway._connect(spec.provider, stack)
            yield gateway

    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """Ask ``spec`` the ``call``, waiting and retrying as the provider's state demands.

        Raises:
            ModelError: or one of its kinds; ``data['attempts']`` says what was tried.
        """
        if spec.offline:
            # Its word list is read on first use: most gateways never need it.
            self._offline = self._offline or OfflineModel()
            return await self._offline.complete(call)
        line = self._lines[spec.provider.pk]
        return await Asking(spec, call, line, self._patience).run()

    def limit_of(self, provider: Provider) -> int:
        """How many calls may be in flight to ``provider`` at the moment."""
        return self._lines[provider.pk].limiter.limit

    async def model_names(self, provider: Provider) -> list[str] | Failure:
        """What the provider says it serves, or how asking failed. One attempt."""
        return await self._lines[provider.pk].model_names()

    async def _connect(self, provider: Provider, stack: AsyncExitStack) -> None:
        if provider.kind == Provider.Kind.OFFLINE or provider.pk in self._lines:
            return
        key = provider_key(provider)
        await asyncio.to_thread(check_resolved, provider.base_url)
        line = HttpLine(provider, key, self._patience, self._learn)
        stack.push_async_callback(line.close)
        self._lines[provider.pk] = line


class HttpLine:
    """A client for one provider, with its limiter and its breaker."""

    def __init__(self, provider: Provider, key: str, patience: Patience, learn: Learn) -> None:
        self.provider = provider
        self.limiter = Limiter(ceiling=provider.max_concurrency)
        self.breaker = Breaker(patience.calls_in_a_row)
        self._key, self._learn = key, learn
        self._client = _new_client(provider, key)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def learn(self, spec: ModelSpec, capability: Capability) -> None:
        """Keep what was learnt about ``spec``."""
        await self._learn(spec, capability)

    async def send(self, request: dict[str, Any]) -> tuple[Completion | Failure, float]:
        """Send one request when there is room; the answer and the seconds it took."""
        async with self.limiter.slot() as slot:
            started = time.perf_counter()
            answer = await self._exchange(lambda: self._chat(request))
            seconds = time.perf_counter() - started
            if isinstance(answer, Failure):
                slot.refused() if answer.status == 429 else slot.troubled()
        return answer, seconds

    async def model_names(self) -> list[str] | Failure:
        """What ``GET /models`` lists."""
        found: list[str] | Failure = await self._exchange(self._list_models)
        return found

    async def _chat(self, request: dict[str, Any]) -> Completion:
        answer = await self._client.chat.completions.with_raw_response.create(**request)
        return read_completion(answer.content, request)

    async def _list_models(self) -> list[str]:
        answer = await self._client.models.with_raw_response.list()
        return read_model_names(answer.content)

    async def _exchange(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What ``ask`` returns, or the failure that its exception stands for."""
        import openai  # noqa: PLC0415 - see the module's docstring

        try:
            # The client's read time-out starts anew with each byte: a trickle would never end.
            async with asyncio.timeout(self.provider.connect_timeout + self.provider.read_timeout):
                return await ask()
        except Malformed as error:
            return Failure(Cause.MALFORMED, 200, self._redacted(str(error)))
        except openai.APIStatusError as error:
            return self._refusal(error)
        except (openai.APIConnectionError, TimeoutError) as error:
            return Failure(_cause_of(error))
        except AddressRefused as error:
            raise troubles.forbidden_address(error, self.provider) from None

    def _refusal(self, error: "APIStatusError") -> Failure:
        body = error.body if isinstance(error.body, dict) else {}
        message = body.get("message") or body.get("detail") or error.body or ""
        return Failure(
            Cause.ANSWERED,
            error.status_code,
            message=self._redacted(str(message)),
            code=self._redacted(str(body.get("code") or body.get("type") or "")),
            param=self._redacted(str(body.get("param") or "")),
            headers=dict(error.response.headers),
        )

    def _redacted(self, text: str) -> str:
        """``text`` without the key, which some endpoints repeat in what they answer."""
        text = clean(text)
        return (text if self._key == NO_KEY else text.replace(self._key, "[key]"))[:500]


def provider_key(provider: Provider) -> str:
    """The key of ``provider`` from the environment.

    Raises:
        WrongKey: the variable is not set, not one for keys, or holds what no header can carry.
    """
    if not provider.api_key_env:
        return NO_KEY
    if not may_hold_a_key(provider.api_key_env):
        raise troubles.no_key_variable(provider)
    key = os.environ.get(provider.api_key_env, "").strip()
    if not key:
        raise troubles.missing_key(provider)
    if not (key.isascii() and key.isprintable()):
        raise troubles.unusable_key(provider)
    return key


def _new_client(provider: Provider, key: str) -> "AsyncOpenAI":
    import openai  # noqa: PLC0415 - see the module's docstring

    timeout = openai.Timeout(
        provider.read_timeout, connect=provider.connect_timeout, pool=provider.read_timeout
    )
    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=provider.base_url,
        max_retries=0,
        timeout=timeout,
        http_client=_new_http_client(timeout),
    )
    # Otherwise taken from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and sent to any provider.
    client.organization = client.project = None
    return client


def _new_http_client(timeout: Any) -> Any:
    """The client library's own over aiohttp, which looks at each address it connects to."""
    import openai  # noqa: PLC0415 - see the module's docstring

    from apps.llm.connecting import checked_session  # noqa: PLC0415 - the same

    class Checked(openai.DefaultAioHttpClient):
        # Handing over a transport of our own instead would make it overlook HTTPS_PROXY.
        def _init_transport(self, *args: Any, **options: Any) -> Any:
            transport: Any = super()._init_transport(*args, **options)
            transport.client = partial(checked_session, transport)
            return transport

    # A redirect could lead to an address that was never checked.
    return Checked(timeout=timeout, follow_redirects=False)


def _cause_of(error: BaseException) -> Cause:
    """Why no answer came, from the chain of causes: the transport calls a refused connection a
    time-out."""
    import aiohttp  # noqa: PLC0415 - comes with openai, for the same reason not at start-up

    link: BaseException | None = error
    while link is not None:
        if isinstance(link, aiohttp.ClientConnectorError):
            return Cause.NO_CONNECTION
        if isinstance(
            link, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | ConnectionError
        ):
            return Cause.BROKEN_OFF
        if isinstance(link, TimeoutError):
            return Cause.TIMED_OUT
        link = link.__cause__ or link.__context__
    return Cause.BROKEN_OFF
