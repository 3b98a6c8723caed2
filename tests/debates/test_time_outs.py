"""Endpoints that do not answer in time: attempts belong to the call, and every run ends."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from django.utils import timezone

from apps.debates.models import Debate, Run, Turn
from apps.debates.selectors import progress
from apps.debates.services import resume_run, run_slice
from apps.llm.models import Provider
from apps.llm.traffic import forget_traffic
from labelhub.core.llm.errors import ModelError
from tests.factories.debates import QUICK, Script, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer, Options

pytestmark = pytest.mark.django_db(transaction=True)

#: Its slices end long before a call may time out.
SHORT = replace(QUICK, width=64, claim=100, slice=0.05, grace=5.0)
FEW = {"provider__connect_timeout": 0.1, "provider__read_timeout": 0.2}


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("apps.llm.retry.Patience.backoff", lambda *_: 0.001)
    forget_traffic()
    yield
    forget_traffic()


class Clock:
    """Minutes pass between slices, and none within one, however slow the machine is."""

    def __init__(self) -> None:
        self.now = time.time()

    def time(self) -> float:
        """Unix seconds."""
        return self.now


def drive(
    run: Run,
    *,
    seconds: float = 60.0,
    restarts: bool = False,
    clock: Clock | None = None,
    until: Callable[[], bool] = lambda: False,
) -> int:
    """Slices until the run ends, perhaps each in a new process; how many."""
    deadline, slices = time.monotonic() + seconds, 0
    while run.going and not until():
        assert time.monotonic() < deadline, "the run does not end"
        if restarts:
            forget_traffic()
        run_slice(run.pk, pace=SHORT)
        slices += 1
        run.refresh_from_db()
        if clock:
            clock.now += 400
    return slices


def test_a_call_that_is_never_answered_fails_after_its_attempts_over_all_slices(
    model_server: FakeServer,
) -> None:
    model_server.options.faults = {"hang": 1.0}
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url, **FEW)
    run = started_run(project_with_items(1), model=model)

    assert drive(run) > 2
    debate, turn = Debate.objects.get(), Turn.objects.get()
    assert (debate.status, debate.failed_tries) == (Debate.Status.FAILED, {})
    assert "Timed out in 5 attempts" in debate.error
    assert "Lower the number of concurrent calls or raise the time-out" in debate.error
    assert [attempt["note"] for attempt in turn.attempts] == ["timed out"] * 5
    assert "Timed out in 5 attempts" in run.message
    assert (run.tokens_out, run.cost_nanousd, turn.tokens_out) == (0, 0, 0)
    assert run.unread_nanousd > 0

    # As long as nobody has mended it, one more call shows that soon enough.
    resume_run(run=run)
    drive(run)
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "provider_unreachable")
    assert "6 calls timed out" in run.message


def test_an_endpoint_that_never_answers_pauses_the_run_and_says_why(
    model_server: FakeServer,
) -> None:
    model_server.options.faults = {"hang": 1.0}
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url, **FEW)
    run = started_run(project_with_items(30), model=model)
    drive(run)
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "provider_unreachable")
    assert "did not answer within 0.2 s" in run.message
    assert "calls timed out" in run.message
    assert "Lower the number of concurrent calls or raise the time-out" in run.message
    # Eight at once, and then one by one.
    assert len(model_server.requests) <= 20
    assert run.tokens_out == 0


@pytest.mark.parametrize("known", [0, None])
def test_a_server_that_takes_one_call_at_a_time_answers_all_of_them_in_the_end(
    known: int | None,
) -> None:
    """Eight at once are more than it can answer in time, and it goes on with what was given up."""
    with FakeServer(Options(one_at_a_time=0.2)) as server:
        model = ModelSpecFactory.create(
            provider__base_url=server.base_url,
            provider__connect_timeout=0.1,
            provider__read_timeout=0.6,
            thinking_tokens=known,
        )
        run = started_run(project_with_items(10), "cot", model=model)
        drive(run)
    assert (run.status, progress(run).done) == (Run.Status.DONE, 10), run.message
    assert len(server.requests) < 25


def test_a_budget_is_safe_from_answers_that_never_came(model_server: FakeServer) -> None:
    model_server.options.faults = {"hang": 1.0}
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url, **FEW)
    run = started_run(project_with_items(1), model=model, budget_nanousd=2_000_000)
    drive(run)
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "budget")
    assert run.cost_nanousd == 0
    assert 0 < run.unread_nanousd <= 2_000_000
    assert "may be charged for calls without an answer" in run.message


@pytest.mark.parametrize("restarts", [False, True])
def test_an_endpoint_that_only_ever_refuses_pauses_the_run_over_all_slices(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch, restarts: bool
) -> None:
    """A slice is shorter than the wait of one call: no call alone ever waits too long."""
    clock = Clock()
    monkeypatch.setattr("apps.llm.retry.time", clock)
    model_server.options.faults = {"rate_limit_bare": 1.0}
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    run = started_run(project_with_items(3), model=model)
    assert drive(run, restarts=restarts, clock=clock) > 2
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "quota_exhausted")
    assert "Every response has been 'too many requests' (429)" in run.message
    assert run.resume_at is not None

    # Whoever goes on waits as long again, and an answer ends it.
    resume_run(run=run)
    drive(run, clock=clock, until=lambda: bool(Provider.objects.get().rate_limited))
    assert run.going
    assert Provider.objects.get().rate_limited["since"] > 0
    model_server.options.faults = {}
    drive(run, restarts=restarts)
    assert (run.status, Provider.objects.get().rate_limited) == (Run.Status.DONE, {})


def test_failures_of_earlier_slices_count_in_the_window() -> None:
    run = started_run(project_with_items(60), model=ModelSpecFactory.create())
    before = Debate.objects.filter(run=run).order_by("pk").values_list("pk", flat=True)[:49]
    failed = Debate.objects.filter(pk__in=list(before))
    failed.update(status=Debate.Status.FAILED, error="Nonsense.", finished_at=timezone.now())
    script = Script(lambda _: ModelError("No answer."))
    run_slice(run.pk, pace=replace(QUICK, width=1), open_models=script.open)
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "too_many_failures")
    assert len(script.calls) == 1

    resume_run(run=run)
    run_slice(run.pk, pace=QUICK, open_models=Script().open)
    run.refresh_from_db()
    assert run.status == Run.Status.DONE
