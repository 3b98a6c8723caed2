"""Counts and traces calls to models: who answered, how long it took, and what it cost."""

import logging
import threading
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import NamedTuple

from apps.common.metrics import (
    MODEL_CALLS,
    MODEL_COST,
    MODEL_SECONDS,
    MODEL_TOKENS,
    MODEL_UNPRICED,
    bounded,
)
from apps.common.traces import CLIENT, Span, span
from apps.llm.failures import Cause, Failure
from apps.llm.models import ModelSpec, Provider
from labelhub.core.llm.prices import cost_nanousd
from labelhub.core.llm.types import Usage

logger = logging.getLogger(__name__)

OK = "ok"
#: The provider's filter, or an answer without words.
REFUSED = "refused"
NANO = 10**9


class Use(NamedTuple):
    """What a provider was used for, as :class:`~apps.llm.models.DailyUse` stores it."""

    requests: int = 0
    tokens: int = 0
    cost_nanousd: int = 0
    errors: int = 0
    unpriced: int = 0


#: By the id of the provider: what this process has not stored yet.
_unsaved: dict[int, Use] = {}
_lock = threading.Lock()


def call_span(spec: ModelSpec) -> AbstractContextManager[Span]:
    """A span around one request to ``spec``."""
    about = {
        "gen_ai.operation.name": "chat" if spec.purpose == spec.Purpose.CHAT else "embeddings",
        "gen_ai.provider.name": spec.provider.name,
        "gen_ai.request.model": spec.name,
    }
    return span(f"{about['gen_ai.operation.name']} {spec.name}", kind=CLIENT, attributes=about)


def note_call(spec: ModelSpec, answer: object, seconds: float, traced: Span) -> None:
    """Count one request to ``spec``, its answer or :class:`Failure`, and its seconds."""
    outcome = outcome_of(answer)
    names = bounded(spec.provider.name, spec.name)
    MODEL_CALLS.labels(*names, outcome).inc()
    MODEL_SECONDS.labels(*names).observe(seconds)
    usage = getattr(answer, "usage", None)  # a stream's is known at its end
    if isinstance(usage, Usage):
        traced.set("gen_ai.usage.input_tokens", usage.tokens_in)
        traced.set("gen_ai.usage.output_tokens", usage.tokens_out)
    traced.set("labelhub.outcome", outcome)
    if outcome != OK:
        traced.fail(outcome)
        keep_use(spec.provider, Use(errors=1))
    logger.info(
        "A call to %s of %s took %.2f s: %s", spec.name, spec.provider.name, seconds, outcome
    )


def count_usage(spec: ModelSpec, usage: Usage) -> None:
    """Count the tokens and the cost of a call to ``spec``, once for all its requests together: so
    it costs what the caller stores, to the last nano-USD."""
    if not (usage.tokens_in or usage.tokens_out):
        return
    names = bounded(spec.provider.name, spec.name)
    MODEL_TOKENS.labels(*names, "in").inc(usage.tokens_in)
    MODEL_TOKENS.labels(*names, "out").inc(usage.tokens_out)
    cost = 0 if spec.offline else cost_nanousd(usage, **spec.prices)
    if cost is None:
        MODEL_UNPRICED.labels(*names).inc()
        keep_use(spec.provider, Use(unpriced=1))
    else:
        MODEL_COST.labels(*names).inc(cost / NANO)
        keep_use(spec.provider, Use(cost_nanousd=cost))


def keep_use(provider: Provider, use: Use) -> None:
    """Add ``use`` to what is to be stored; what the text matcher does is not worth a row."""
    if provider.kind != Provider.Kind.OFFLINE:
        with _lock:
            before = _unsaved.get(provider.pk, Use())
            _unsaved[provider.pk] = Use(*map(sum, zip(before, use, strict=True)))


def take_use(provider: Provider) -> Use:
    """What is to be stored; the caller stores it or gives it back by :func:`keep_use`."""
    with _lock:
        return _unsaved.pop(provider.pk, Use())


def forget_use() -> None:
    """Forget what is not stored, as in a new process."""
    with _lock:
        _unsaved.clear()


def outcome_of(answer: object) -> str:
    """``ok``, the HTTP status of a refusal, or what broke, such as ``timed_out``."""
    if not isinstance(answer, Failure):
        return OK
    if answer.status >= HTTPStatus.BAD_REQUEST:
        return str(answer.status)
    if answer.cause is Cause.ANSWERED:
        return REFUSED
    return str(answer.cause).replace(" ", "_")
