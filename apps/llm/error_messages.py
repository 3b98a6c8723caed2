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
TIME_OUT_ADVICE = "Start fewer calls at once or raise the time-out, both under Model providers"


def place_of(provider: Provider) -> str:
    """The provider in messages: its name and its host."""
    return f"provider '{provider.name}' ({host_of(provider.base_url)})"


def missing_key(provider: Provider) -> WrongKey:
    """The variable that should hold the key is empty."""
    return WrongKey(
        f"No key for {place_of(provider)}: the environment variable {provider.api_key_env} is not "
        "set. Set it where the server and the workers start, and start them again."
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
        "cannot be sent; copy it again."
    )


def forbidden_address(refused: AddressRefused, provider: Provider) -> ModelUnreachable:
    """The provider's name leads to an address that the server never talks to."""
    return ModelUnreachable(f"No connection to {place_of(provider)}. {refused.message}")


def final_error(verdict: Verdict, failure: Failure, spec: ModelSpec, *, now: float) -> ModelError:
    """The error for a failure after which nothing more is tried."""
    provider, quoted = place_of(spec.provider), _quoted(failure.message)
    if verdict is Verdict.KEY:
        source = spec.provider.api_key_env or "none is configured for this provider"
        return WrongKey(
            f"Key refused by {provider} with {failure.status}. Check the key ({source})."
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
        f"Request refused by {provider} with {failure.status}; it will not pass unchanged.{quoted}"
    )


def quota_error(provider: Provider, resume_after: float | None, reason: str = "") -> QuotaExhausted:
    """The provider's quota is used up for a while."""
    words = (
        f"Try again in {_duration(resume_after)}."
        if resume_after
        else "Raise the quota or pay the bill there, then resume."
    )
    data: Mapping[str, Any] = {"resume_after": resume_after}
    return QuotaExhausted(f"Quota used up at {place_of(provider)}. {words}{reason}", data=data)


def limited_too_long(provider: Provider, seconds: float) -> QuotaExhausted:
    """The provider has refused every call for ``seconds``, without saying until when."""
    reason = f" It has answered nothing but 'too many requests' (429) for {_duration(seconds)}."
    return quota_error(provider, HOURLY, reason)


def limit_used_up(provider: Provider, error: UsedUp) -> QuotaExhausted:
    """A limit of ours leaves no room for minutes."""
    return QuotaExhausted(
        f"No room left at {place_of(provider)} ({error.what}). "
        f"Try again in {_duration(error.resume_after)}.",
        data={"resume_after": error.resume_after},
    )


def no_embeddings(spec: ModelSpec) -> RequestRejected:
    """The model makes no embeddings."""
    return RequestRejected(f"Model '{spec.name}' makes no embeddings of texts.")


def given_up(failure: Failure, provider: Provider, attempts: int) -> ModelError:
    """One call failed in every attempt; others may pass."""
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
            f"Call after call timed out: {place_of(provider)}, {_reason(failure, provider)}. "
            f"{TIME_OUT_ADVICE}, then resume."
        )
    return ModelUnreachable(
        f"Call after call fails at {place_of(provider)}: {_reason(failure, provider)}. "
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
    # A proxy may send a page of HTML, which is no help.
    quoted = f" ({message})" if message and not message.lstrip().startswith("<") else ""
    return f"status {failure.status}{quoted}"


def _quoted(words: str) -> str:
    return f" It said: {words[:300]}" if words else ""


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
