"""What is counted of calls to models: outcomes, tokens, cost."""

from decimal import Decimal
from typing import Any

import pytest

from apps.common.metrics import (
    MODEL_CALLS,
    MODEL_COST,
    MODEL_SECONDS,
    MODEL_TOKENS,
    MODEL_UNPRICED,
)
from apps.common.traces import Span
from apps.llm.call_metrics import count_usage, note_call, outcome_of
from apps.llm.failures import Cause, Failure
from labelhub.core.llm.types import Completion, Usage
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call, make_spec, opened

pytestmark = pytest.mark.django_db


def value(metric: Any, *labels: str) -> float:
    return float(metric.labels(*labels)._value.get())


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Completion("yes"), "ok"),
        (Failure(Cause.ANSWERED, 429), "429"),
        (Failure(Cause.ANSWERED, 503, code="a-code-of-their-own"), "503"),
        (Failure(Cause.TIMED_OUT), "timed_out"),
        (Failure(Cause.NO_CONNECTION, code="unknown host"), "no_connection"),
        (Failure(Cause.MALFORMED, 200), "malformed_answer"),
        (Failure(Cause.ANSWERED, 200, code="content_filter"), "refused"),
    ],
    ids=lambda found: found if isinstance(found, str) else "",
)
def test_outcomes_are_few(answer: Any, outcome: str) -> None:
    assert outcome_of(answer) == outcome


def test_tokens_and_cost_of_an_answer() -> None:
    spec = ModelSpecFactory.create(price_in=Decimal(2), price_out=Decimal(10))
    names = (spec.provider.name, spec.name)
    note_call(spec, Completion("yes", usage=Usage(1000, 500)), 1.5, Span())
    count_usage(spec, Usage(1000, 500))
    assert value(MODEL_TOKENS, *names, "in") == 1000
    assert value(MODEL_TOKENS, *names, "out") == 500
    assert value(MODEL_COST, *names) == pytest.approx(0.007)
    assert MODEL_SECONDS.labels(*names)._sum.get() == 1.5


def test_an_unknown_price_is_no_price_of_nothing() -> None:
    spec = ModelSpecFactory.create(price_in=None, price_out=None)
    names = (spec.provider.name, spec.name)
    count_usage(spec, Usage(10, 5))
    count_usage(spec, Usage())  # refused without a token
    assert (value(MODEL_UNPRICED, *names), value(MODEL_COST, *names)) == (1, 0)


async def test_each_request_counts_also_one_that_is_tried_again(model_server: FakeServer) -> None:
    spec = make_spec(model_server, pk=77, name="counted")
    model_server.script({"fault": "unavailable"})
    async with opened(spec) as gateway:
        await gateway.complete(spec, make_call())
    assert value(MODEL_CALLS, "provider77", "counted", "503") == 1
    assert value(MODEL_CALLS, "provider77", "counted", "ok") == 1
    assert value(MODEL_TOKENS, "provider77", "counted", "out") > 0
