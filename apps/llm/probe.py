"""A short check of a provider, with a message for its page."""

import asyncio
from copy import copy
from dataclasses import dataclass

from apps.llm import error_messages
from apps.llm.failures import Cause, Failure
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, Provider
from apps.llm.retry import Patience
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.types import Call, Message
from labelhub.core.schema import schema_from_names

#: Seconds for the whole check, as a page waits for it.
BOUND = 10.0
#: Statuses of endpoints that can chat but do not list models.
NO_LIST = (404, 405, 501)


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """The result of a check; ``words`` are for people."""

    ok: bool
    words: str
    models: tuple[str, ...] = ()


def check_provider(provider: Provider) -> ProviderCheck:
    """Check whether ``provider`` answers and accepts the key, within 10 seconds.

    Asks for the list of models; without one, sends one tiny call to the first configured
    model. Do not call it in an event loop.
    """
    if provider.kind == Provider.Kind.OFFLINE:
        return ProviderCheck(
            ok=True, words="Built in and always available. It is not a language model."
        )
    model = provider.models.first()
    if model is not None:
        model.provider = provider
    try:
        return asyncio.run(asyncio.wait_for(_check(_with_short_timeouts(provider), model), BOUND))
    except TimeoutError:
        return ProviderCheck(ok=False, words=_no_answer(provider))
    except LabelhubError as error:
        return ProviderCheck(ok=False, words=error.message)


async def _check(provider: Provider, model: ModelSpec | None) -> ProviderCheck:
    spec = model or ModelSpec(name="-")
    spec.provider = provider
    async with Gateway.open([spec], patience=Patience(attempts=1, total_wait=0)) as gateway:
        found = await gateway.model_names(provider)
        if isinstance(found, list):
            count = f"{len(found)} model{'' if len(found) == 1 else 's'}"
            shown = ", ".join(found[:8]) + (" …" if len(found) > 8 else "")
            words = (
                f"Reachable, {count}: {shown}." if found else "Reachable, but it lists no models."
            )
            return ProviderCheck(ok=True, words=words, models=tuple(found))
        if model is not None and found.status in NO_LIST:
            await _ask_tiny_question(gateway, model)
            return ProviderCheck(ok=True, words=f"Reachable; '{model.name}' answers.")
        return ProviderCheck(ok=False, words=_words(found, provider))


def _with_short_timeouts(provider: Provider) -> Provider:
    """The same provider with time-outs short enough for a page."""
    changed = copy(provider)
    changed.pk = provider.pk or 0
    changed.connect_timeout = min(provider.connect_timeout, BOUND / 3)
    changed.read_timeout = min(provider.read_timeout, BOUND / 2)
    return changed


def _words(failure: Failure, provider: Provider) -> str:
    place = error_messages.place_of(provider)
    if failure.cause is Cause.NO_CONNECTION:
        return f"No connection to {place}. Check that it runs and that the base URL is right."
    if failure.cause is Cause.TIMED_OUT:
        return _no_answer(provider)
    if failure.status in (401, 403):
        named = provider.api_key_env or "none is configured"
        return f"Wrong key: {place} refuses it with status {failure.status} (key: {named})."
    if failure.status == 404:
        return f"A server answers at {place}, but has no models. The base URL may lack '/v1'."
    if failure.status == 429:
        return (
            f"Reachable, but {place} refuses calls now: too many requests, or the quota is used up."
        )
    return f"Not usable: {place} answers {failure.note or failure.status}."


def _no_answer(provider: Provider) -> str:
    return f"No answer from {error_messages.place_of(provider)} within {BOUND:g} s."


async def _ask_tiny_question(gateway: Gateway, model: ModelSpec) -> None:
    if model.purpose == ModelSpec.Purpose.EMBEDDING:
        await gateway.embed(model, ["yes"])
        return
    schema = schema_from_names("single", ["yes", "no"])
    messages = (Message("user", "Answer with the one word yes."),)
    call = Call("check", "check", messages, "", schema, "", params={"max_tokens": 5})
    await gateway.complete(model, call)
