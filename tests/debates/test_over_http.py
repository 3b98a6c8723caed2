"""Runs through the real client against an endpoint on loopback, with faults."""

from dataclasses import replace

import pytest

from apps.debates.models import Debate, Run
from apps.debates.services import run_slice
from apps.llm.completion import CallRecord
from apps.llm.models import ModelSpec
from labelhub.core.llm.types import Call, Completion
from tests.factories.debates import QUICK, Script, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer

pytestmark = pytest.mark.django_db(transaction=True)

PACE = replace(QUICK, width=16)


class Giving(Script):
    """Gives one answer to everything."""

    def __init__(self, completion: Completion) -> None:
        super().__init__()
        self._completion = completion

    async def complete(
        self, spec: ModelSpec, call: Call, record: CallRecord | None = None
    ) -> Completion:
        return self._completion


def run_at(server: FakeServer, count: int, name: str = "ecj") -> Run:
    model = ModelSpecFactory.create(provider__base_url=server.base_url)
    return started_run(project_with_items(count), name, model=model)


@pytest.mark.thorough
def test_nothing_is_lost_on_an_endpoint_with_faults(model_server: FakeServer) -> None:
    model_server.options.faults = {"unavailable": 0.03, "malformed": 0.03, "rate_limit_ms": 0.02}
    model_server.options.retry_after = 0.01
    run = run_at(model_server, 30)
    run_slice(run.pk, pace=PACE)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE, run.message
    assert Debate.objects.filter(status=Debate.Status.DONE).count() == 30


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("wrong_key", "wrong_key"),
        ("unknown_model", "unknown_model"),
        ("insufficient_quota", "quota_exhausted"),
    ],
)
def test_where_going_on_is_pointless_the_run_pauses_in_words(
    model_server: FakeServer, fault: str, code: str
) -> None:
    model_server.options.faults = {fault: 1.0}
    run = run_at(model_server, 5, "single")
    run_slice(run.pk, pace=PACE)
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, code)
    assert "provider" in run.message
    assert Debate.objects.filter(status=Debate.Status.WAITING).count() == 5


def test_a_provider_that_is_down_pauses_the_run() -> None:
    model = ModelSpecFactory.create(provider__base_url="http://127.0.0.1:9/v1")
    run = started_run(project_with_items(3), model=model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apps.llm.retry.Patience.backoff", lambda *_: 0.0)
        run_slice(run.pk, pace=PACE)
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "provider_unreachable")
    assert "No connection to" in run.message


def test_an_address_that_is_forbidden_pauses_the_run_in_words() -> None:
    """It must not end in a crash: the run would be taken up for ever."""
    model = ModelSpecFactory.create(provider__base_url="http://169.254.169.254/v1")
    run = started_run(project_with_items(2), model=model)
    run_slice(run.pk, pace=PACE)
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "address_refused")
    assert "169.254.169.254" in run.message
