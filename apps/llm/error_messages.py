"""Error messages about models, with what a person can do about each."""

from collections.abc import Mapping
from typing import Any

from apps.llm.addresses import AddressRefused, host_of
from apps.llm.failures import HOURLY, Cause, Failure, Verdict, resume_after
from apps.llm.models import ModelSpec, Provider
from labelhub.core.llm.buckets import UsedUp
from labelhub.core.llm.errors import (
    ContextTooLong,
    ModelError,
    ModelUnreachable,
    OnlyThinks,
    QuotaExhausted,
    RequestRejected,
    UnknownModel,
    WrongKey,
)

#: What to do about an endpoint that does not answer in time.
TIME_OUT_ADVICE = (
    "Lower the number of concurrent calls or raise the time-out, both under Model providers"
)


def place_of(provider: Provider) -> str:
    """The provider in messages: its name and its host."""
    return f"provider '{provider.name}' ({host_of(provider.base_url)})"


def key_words(provider: Provider) -> str:
    """Where the key of ``provider`` is."""
    words = {
        Provider.KeyState.STORED: "the one entered for this provider",
        Provider.KeyState.VARIABLE: provider.api_key_env,
    }
    return words.get(provider.key_state, "none is configured for this provider")


def missing_key(provider: Provider) -> WrongKey:
    """The variable that should hold the key is empty."""
    return WrongKey(
        f"No key for {place_of(provider)}: the environment variable {provider.api_key_env} is not "
        "set. Set it for the server and the workers, and restart them."
    )


def removed_key(provider: Provider) -> WrongKey:
    """Its key was removed by a person."""
    return WrongKey(
        f"The key of {place_of(provider)} was removed. Enter a new one on the page of model "
        "providers, then resume."
    )


def unreadable_key(provider: Provider) -> WrongKey:
    """Its key was encrypted with a secret of the server that is gone."""
    return WrongKey(
        f"The stored key of {place_of(provider)} cannot be decrypted, as the server's secret has "
        "changed. Enter the key again on the page of model providers, then resume."
    )


def removed_provider(provider: Provider) -> ModelUnreachable:
    """The provider itself was removed."""
    return ModelUnreachable(
        f"The provider '{provider.name}' was removed, so its models cannot be called. Choose "
        "another model."
    )


def no_key_variable(provider: Provider) -> WrongKey:
    """The variable is not one for keys."""
    return WrongKey(
        f"No key for {place_of(provider)}: {provider.api_key_env} is not a variable for keys. Name "
        "one that begins with LABELHUB_LLM_ or ends with _API_KEY, or list it in "
        "LABELHUB_LLM_KEY_VARIABLES."
    )


def unusable_key(provider: Provider) -> WrongKey:
    """The variable holds something that cannot be sent as a key."""
    return WrongKey(
        f"The key for {place_of(provider)} in {provider.api_key_env} contains characters that "
        "cannot be sent: copy it again."
    )


def forbidden_address(refused: AddressRefused, provider: Provider) -> ModelUnreachable:
    """The provider's host name resolves to a forbidden address."""
    return ModelUnreachable(f"No connection to {place_of(provider)}. {refused.message}")


def final_error(verdict: Verdict, failure: Failure, spec: ModelSpec, *, now: float) -> ModelError:
    """The error for a failure that ends all attempts."""
    provider, quoted = place_of(spec.provider), _quoted(failure.message)
    if verdict is Verdict.KEY:
        return WrongKey(
            f"Key refused by {provider} with {failure.status}. Check the key "
            f"({key_words(spec.provider)})."
        )
    if verdict is Verdict.MODEL:
        azure = spec.provider.kind == Provider.Kind.AZURE
        thing = "Deployment" if azure else "Model"
        other = "the API version is" if azure else "the base URL lacks a part such as /v1"
        return UnknownModel(
            f"{thing} '{spec.name}' is unknown to {provider}, or {other}. Check both.{quoted}"
        )
    if verdict is Verdict.QUOTA:
        return quota_error(spec.provider, resume_after(failure, now=now), _quoted(failure.note))
    if verdict is Verdict.TOO_LONG:
        return ContextTooLong(f"Too long for model '{spec.name}' of {provider}.{quoted}")
    return RequestRejected(
        f"Request refused by {provider} with {failure.status}. The same request would fail again."
        f"{quoted}"
    )


def quota_error(provider: Provider, resume_after: float | None, reason: str = "") -> QuotaExhausted:
    """The provider's quota is used up for a while."""
    words = (
        f"Try again in {_duration(resume_after)}."
        if resume_after
        else "Raise the quota or pay the provider's bill, then resume."
    )
    data: Mapping[str, Any] = {"resume_after": resume_after}
    return QuotaExhausted(f"Quota used up at {place_of(provider)}. {words}{reason}", data=data)


def limited_too_long(provider: Provider, seconds: float) -> QuotaExhausted:
    """The provider has refused every call for ``seconds``, without saying until when."""
    reason = f" Every response has been 'too many requests' (429) for {_duration(seconds)}."
    return quota_error(provider, HOURLY, reason)


def limit_used_up(provider: Provider, error: UsedUp) -> QuotaExhausted:
    """A configured limit allows no calls for minutes."""
    return QuotaExhausted(
        f"Limit used up at {place_of(provider)} ({error.what}). "
        f"Try again in {_duration(error.resume_after)}.",
        data={"resume_after": error.resume_after},
    )


def no_embeddings(spec: ModelSpec) -> RequestRejected:
    """The model makes no embeddings."""
    return RequestRejected(f"Model '{spec.name}' makes no embeddings.")


def given_up(failure: Failure, provider: Provider, attempts: int) -> ModelError:
    """One call failed in every attempt; other calls may succeed."""
    reason = _reason(failure, provider)
    if failure.timed_out:
        return ModelError(
            f"Timed out in {attempts} attempts: {place_of(provider)}, {reason}. {TIME_OUT_ADVICE}."
        )
    return ModelError(
        f"No usable answer from {place_of(provider)} in {attempts} attempts: {reason}."
    )


def unreachable(failure: Failure, provider: Provider) -> ModelUnreachable:
    """No call can succeed until the endpoint is fixed."""
    if failure.cause is Cause.NO_CONNECTION:
        return ModelUnreachable(
            f"No connection to {place_of(provider)}. Check that the server runs and that the base "
            "URL is right, then resume."
        )
    if failure.timed_out:
        return ModelUnreachable(
            f"Several calls in a row timed out: {place_of(provider)}, {_reason(failure, provider)}."
            f" {TIME_OUT_ADVICE}, then resume."
        )
    return ModelUnreachable(
        f"Several calls in a row failed at {place_of(provider)}: {_reason(failure, provider)}. "
        "Fix the endpoint, then resume."
    )


def silent(provider: Provider, calls: int) -> ModelUnreachable:
    """``calls`` timed out since the last answer, the last ones one at a time."""
    return ModelUnreachable(
        f"The model at {place_of(provider)} did not answer within {provider.read_timeout:g} s: "
        f"{calls} calls timed out, the last ones one at a time. {TIME_OUT_ADVICE}, then resume."
    )


def spent_on_thinking(spec: ModelSpec, tokens: int) -> str:
    """The message for an answer of ``tokens`` tokens without a word."""
    return (
        f"Spent all {tokens:,} tokens on thinking. Raise 'Longest answer' of the model "
        f"'{spec.name}' to at least {2 * tokens:,}, or lower its reasoning effort."
    )


def only_thinks(spec: ModelSpec, tokens: int) -> OnlyThinks:
    """The model has answered several times in a row without a word."""
    return OnlyThinks(f"{spent_on_thinking(spec, tokens)} This happened several times in a row.")


def _reason(failure: Failure, provider: Provider) -> str:
    if failure.cause is Cause.TIMED_OUT:
        return f"no answer within {provider.read_timeout:g} s"
    if failure.cause is Cause.BROKEN_OFF:
        return "the connection broke off"
    if failure.cause is Cause.NO_CONNECTION:
        return "no connection"
    if failure.cause is Cause.MALFORMED:
        return failure.message
    message = failure.message[:100]
    # A proxy's HTML page does not help.
    quoted = f" ({message})" if message and not message.lstrip().startswith("<") else ""
    return f"status {failure.status}{quoted}"


def _quoted(words: str) -> str:
    return f" The endpoint's message: {words[:300]}" if words else ""


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
