"""Counts and traces calls to models: who answered, how long it took, and what it cost."""

import logging
from contextlib import AbstractContextManager
from http import HTTPStatus

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
from apps.llm.models import ModelSpec
from labelhub.core.llm.prices import cost_nanousd
from labelhub.core.llm.types import Usage

logger = logging.getLogger(__name__)

OK = "ok"
#: The provider's filter, or an answer without words.
REFUSED = "refused"
NANO = 10**9


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
        count_usage(spec, usage)
        traced.set("gen_ai.usage.input_tokens", usage.tokens_in)
        traced.set("gen_ai.usage.output_tokens", usage.tokens_out)
    traced.set("labelhub.outcome", outcome)
    if outcome != OK:
        traced.fail(outcome)
    logger.info(
        "A call to %s of %s took %.2f s: %s", spec.name, spec.provider.name, seconds, outcome
    )


def count_usage(spec: ModelSpec, usage: Usage) -> None:
    """Count the tokens and the cost of an answer of ``spec``."""
    names = bounded(spec.provider.name, spec.name)
    MODEL_TOKENS.labels(*names, "in").inc(usage.tokens_in)
    MODEL_TOKENS.labels(*names, "out").inc(usage.tokens_out)
    cost = 0 if spec.offline else cost_nanousd(usage, **spec.prices)
    if cost is None:
        MODEL_UNPRICED.labels(*names).inc()
    else:
        MODEL_COST.labels(*names).inc(cost / NANO)


def outcome_of(answer: object) -> str:
    """``ok``, the HTTP status of a refusal, or what broke, such as ``timed_out``."""
    if not isinstance(answer, Failure):
        return OK
    if answer.status >= HTTPStatus.BAD_REQUEST:
        return str(answer.status)
    if answer.cause is Cause.ANSWERED:
        return REFUSED
    return str(answer.cause).replace(" ", "_")
