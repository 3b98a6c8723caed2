"""Studies through the real client against an endpoint on loopback, with faults and a budget."""

from dataclasses import replace

import pytest

from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.slices import run_study
from apps.llm.models import ModelSpec
from tests.agreement.predictivity_help import authors_project, started
from tests.factories.debates import QUICK
from tests.factories.llm import ModelSpecFactory
from tests.fakes.fixtures import model_server, one_model_server
from tests.fakes.openai_server import FakeServer

__all__ = ["model_server", "one_model_server"]

pytestmark = pytest.mark.django_db(transaction=True)

PACE = replace(QUICK, width=8)
#: Three authors with four answers: without examples 12; 4 sources with 1 and with 2: 96.
WHOLE = 12 + 2 * 4 * 12


def model_at(server: FakeServer, **fields: int) -> ModelSpec:
    return ModelSpecFactory.create(provider__base_url=server.base_url, **fields)


@pytest.mark.thorough
def test_every_call_of_a_study_is_recorded(model_server: FakeServer) -> None:
    study = started(authors_project(), model_at(model_server))
    run_study(study.pk, pace=PACE)
    study.refresh_from_db()
    assert study.status == Study.Status.DONE, study.message
    assert model_server.stats["requests"] == study.calls == WHOLE
    row = Prediction.objects.order_by("pk")[0]
    assert row.attempts[0]["http_status"] == 200
    assert row.tokens_in > 0
    assert row.seconds > 0
    paid = sum(each.cost_nanousd or 0 for each in Prediction.objects.all())
    assert study.cost_nanousd == paid > 0


@pytest.mark.thorough
def test_nothing_is_lost_on_an_endpoint_with_faults(model_server: FakeServer) -> None:
    model_server.options.faults = {"unavailable": 0.15, "malformed": 0.03, "rate_limit_ms": 0.02}
    model_server.options.retry_after = 0.01
    study = started(authors_project(), model_at(model_server))
    run_study(study.pk, pace=PACE)
    study.refresh_from_db()
    assert study.status == Study.Status.DONE, study.message
    made = study.predictions.filter(status__in=["answered", "unparsed"]).count()
    assert made + study.predictions.filter(status="failed").count() == WHOLE
    tries = [try_ for row in study.predictions.all() for try_ in row.attempts]
    assert {try_["http_status"] for try_ in tries} >= {200, 503}


@pytest.mark.thorough
def test_calls_side_by_side_never_pass_the_budget(model_server: FakeServer) -> None:
    budget = 2_000_000
    model = model_at(model_server, max_output_tokens=50)
    study = started(authors_project(), model, budget_nanousd=budget)
    run_study(study.pk, pace=PACE)
    study.refresh_from_db()
    assert (study.status, study.pause_code) == ("paused", "budget")
    assert 0 < study.cost_nanousd <= budget
    assert model_server.stats["requests"] == study.calls < WHOLE
