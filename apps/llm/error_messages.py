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
from labelhub.core.phrases import Phrase, join_sentences


def place_of(provider: Provider) -> Phrase:
    """The provider in messages: its name and its host."""
    return Phrase(
        "provider '%(name)s' (%(host)s)", name=provider.name, host=host_of(provider.base_url)
    )


def key_words(provider: Provider) -> Phrase:
    """Where the key of ``provider`` is."""
    if provider.key_state == Provider.KeyState.STORED:
        return Phrase("the one entered for this provider")
    if provider.key_state == Provider.KeyState.VARIABLE:
        return Phrase(provider.api_key_env)
    return Phrase("none is configured for this provider")


def missing_key(provider: Provider) -> WrongKey:
    """The variable that should hold the key is empty."""
    return WrongKey(
        "No key for %(place)s: the environment variable %(variable)s is not set. Set it for "
        "the server and the workers, and restart them.",
        place=place_of(provider),
        variable=provider.api_key_env,
    )


def removed_key(provider: Provider) -> WrongKey:
    """Its key was removed by a person."""
    return WrongKey(
        "The key of %(place)s was removed. Enter a new one on the page of model providers.",
        place=place_of(provider),
    )


def unreadable_key(provider: Provider) -> WrongKey:
    """Its key was encrypted with a secret of the server that is gone."""
    return WrongKey(
        "The stored key of %(place)s cannot be decrypted, as the server's secret has changed. "
        "Enter the key again on the page of model providers.",
        place=place_of(provider),
    )


def removed_provider(provider: Provider) -> ModelUnreachable:
    """The provider itself was removed."""
    return ModelUnreachable(
        "The provider '%(name)s' was removed, so its models cannot be called. Choose another "
        "model.",
        name=provider.name,
    )


def paused_provider(provider: Provider) -> ModelUnreachable:
    """An operator has paused the provider."""
    return ModelUnreachable(
        "An operator has paused the model provider %(provider)s. Ask them to resume it, or choose "
        "a model of another provider.",
        provider=provider,
    )


def no_key_variable(provider: Provider) -> WrongKey:
    """The variable is not one for keys."""
    return WrongKey(
        "No key for %(place)s: %(variable)s is not a variable for keys. Name one that begins "
        "with LABELHUB_LLM_ or ends with _API_KEY, or list it in LABELHUB_LLM_KEY_VARIABLES.",
        place=place_of(provider),
        variable=provider.api_key_env,
    )


def unusable_key(provider: Provider) -> WrongKey:
    """The variable holds something that cannot be sent as a key."""
    return WrongKey(
        "The key for %(place)s in %(variable)s contains characters that cannot be sent: copy "
        "it again.",
        place=place_of(provider),
        variable=provider.api_key_env,
    )


def forbidden_address(refused: AddressRefused, provider: Provider) -> ModelUnreachable:
    """The provider's host name resolves to a forbidden address."""
    no_connection = Phrase("No connection to %(place)s.", place=place_of(provider))
    return ModelUnreachable(join_sentences(no_connection, refused.message))


def final_error(verdict: Verdict, failure: Failure, spec: ModelSpec, *, now: float) -> ModelError:
    """The error for a failure that ends all attempts."""
    place, quoted = place_of(spec.provider), _quoted(failure.message)
    if verdict is Verdict.KEY:
        return WrongKey(
            "Key refused by %(place)s with %(status)s. Check the key (%(key)s).",
            place=place,
            status=failure.status,
            key=key_words(spec.provider),
        )
    if verdict is Verdict.MODEL:
        return UnknownModel(join_sentences(_unknown_model(spec, place), quoted))
    if verdict is Verdict.QUOTA:
        return quota_error(spec.provider, resume_after(failure, now=now), _quoted(failure.note))
    if verdict is Verdict.TOO_LONG:
        words = Phrase("Too long for model '%(name)s' of %(place)s.", name=spec.name, place=place)
        return ContextTooLong(join_sentences(words, quoted))
    words = Phrase(
        "Request refused by %(place)s with %(status)s. The same request would fail again.",
        place=place,
        status=failure.status,
    )
    return RequestRejected(join_sentences(words, quoted))


def _unknown_model(spec: ModelSpec, place: Phrase) -> Phrase:
    if spec.provider.kind == Provider.Kind.AZURE:
        return Phrase(
            "Deployment '%(name)s' is unknown to %(place)s, or the API version is. Check both.",
            name=spec.name,
            place=place,
        )
    return Phrase(
        "Model '%(name)s' is unknown to %(place)s, or the base URL lacks a part such as /v1. "
        "Check both.",
        name=spec.name,
        place=place,
    )


def quota_error(provider: Provider, resume_after: float | None, reason: str = "") -> QuotaExhausted:
    """The provider's quota is used up for a while."""
    words = (
        Phrase("Try again in %(time)s.", time=_duration(resume_after))
        if resume_after
        else Phrase("Raise the quota or pay the provider's bill, then resume.")
    )
    used_up = Phrase("Quota used up at %(place)s.", place=place_of(provider))
    data: Mapping[str, Any] = {"resume_after": resume_after}
    return QuotaExhausted(join_sentences(used_up, words, reason), data=data)


def limited_too_long(provider: Provider, seconds: float) -> QuotaExhausted:
    """The provider has refused every call for ``seconds``, without saying until when."""
    reason = Phrase(
        "Every response has been 'too many requests' (429) for %(time)s.", time=_duration(seconds)
    )
    return quota_error(provider, HOURLY, reason)


def limit_used_up(provider: Provider, error: UsedUp) -> QuotaExhausted:
    """A configured limit allows no calls for minutes."""
    return QuotaExhausted(
        "Limit used up at %(place)s (%(limit)s). Try again in %(time)s.",
        place=place_of(provider),
        limit=Phrase(error.what),
        time=_duration(error.resume_after),
        data={"resume_after": error.resume_after},
    )


def no_embeddings(spec: ModelSpec) -> RequestRejected:
    """The model makes no embeddings."""
    return RequestRejected("Model '%(name)s' makes no embeddings.", name=spec.name)


def given_up(failure: Failure, provider: Provider, attempts: int) -> ModelError:
    """One call failed in every attempt; other calls may succeed."""
    place, reason = place_of(provider), _reason(failure, provider)
    if failure.timed_out:
        words = Phrase(
            "Timed out in %(attempts)s attempts: %(place)s, %(reason)s.",
            attempts=attempts,
            place=place,
            reason=reason,
        )
        return ModelError(join_sentences(words, _SLOW))
    return ModelError(
        "No usable answer from %(place)s in %(attempts)s attempts: %(reason)s.",
        attempts=attempts,
        place=place,
        reason=reason,
    )


#: What to do about an endpoint that does not answer in time.
_SLOW = Phrase(
    "Lower the number of concurrent calls or raise the time-out, both under Model providers."
)
_SLOW_RUN = Phrase(
    "Lower the number of concurrent calls or raise the time-out, both under Model providers, then "
    "resume."
)


def unreachable(failure: Failure, provider: Provider) -> ModelUnreachable:
    """No call can succeed until the endpoint is fixed."""
    place, reason = place_of(provider), _reason(failure, provider)
    if failure.cause is Cause.NO_CONNECTION:
        words = Phrase(
            "No connection to %(place)s. Check that the server runs and that the base URL is "
            "right, then resume.",
            place=place,
        )
        return ModelUnreachable(words)
    if failure.timed_out:
        words = Phrase(
            "Several calls in a row timed out: %(place)s, %(reason)s.", place=place, reason=reason
        )
        return ModelUnreachable(join_sentences(words, _SLOW_RUN))
    return ModelUnreachable(
        "Several calls in a row failed at %(place)s: %(reason)s. Fix the endpoint, then resume.",
        place=place,
        reason=reason,
    )


def silent(provider: Provider, calls: int) -> ModelUnreachable:
    """``calls`` timed out since the last answer, the last ones one at a time."""
    words = Phrase(
        "The model at %(place)s did not answer within %(seconds)s s: %(calls)s calls timed out, "
        "the last ones one at a time.",
        place=place_of(provider),
        seconds=provider.read_timeout,
        calls=calls,
    )
    return ModelUnreachable(join_sentences(words, _SLOW_RUN))


def spent_on_thinking(spec: ModelSpec, tokens: int) -> Phrase:
    """The message for an answer of ``tokens`` tokens without a word."""
    return Phrase(
        "Spent all %(tokens)s tokens on thinking. Raise 'Longest answer' of the model '%(name)s' "
        "to at least %(more)s, or lower its reasoning effort.",
        tokens=tokens,
        name=spec.name,
        more=2 * tokens,
    )


def only_thinks(spec: ModelSpec, tokens: int) -> OnlyThinks:
    """The model has answered several times in a row without a word."""
    again = Phrase("This happened several times in a row.")
    return OnlyThinks(join_sentences(spent_on_thinking(spec, tokens), again))


def _reason(failure: Failure, provider: Provider) -> str:
    if failure.cause is Cause.TIMED_OUT:
        return Phrase("no answer within %(seconds)s s", seconds=provider.read_timeout)
    if failure.cause is Cause.BROKEN_OFF:
        return Phrase("the connection broke off")
    if failure.cause is Cause.NO_CONNECTION:
        return Phrase("no connection")
    if failure.cause is Cause.MALFORMED:
        return Phrase(failure.message)
    message = failure.message[:100]
    # A proxy's HTML page does not help.
    quoted = f" ({message})" if message and not message.lstrip().startswith("<") else ""
    return Phrase("status %(status)s%(quoted)s", status=failure.status, quoted=quoted)


def _quoted(words: str) -> str:
    return Phrase("The endpoint's message: %(message)s", message=words[:300]) if words else ""


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
