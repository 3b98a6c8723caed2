"""Runs are jobs: each gets its turn, as long as it is going."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.common.jobs import LeaseLost, waiting_jobs, work_on
from apps.common.models import Job
from apps.debates.models import Run
from apps.debates.services import SliceEnd, cancel_run, pause_run, resume_run, run_slice
from apps.debates.tasks import KIND, keep_runs, launch_run
from labelhub.core.llm.types import Call
from tests.factories.debates import QUICK, Script, project_with_items, started_run

pytestmark = pytest.mark.django_db


def slices(
    monkeypatch: pytest.MonkeyPatch, end: SliceEnd, meanwhile: Callable[[], Any] = lambda: None
) -> list[int]:
    """Runs that were driven; each slice ends like this."""
    driven: list[int] = []

    def drive(run_id: int, **_: object) -> SliceEnd:
        driven.append(run_id)
        meanwhile()
        return end

    monkeypatch.setattr("apps.debates.services.run_slice", drive)
    return driven


def test_whoever_has_had_a_slice_steps_back_for_those_who_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driven = slices(monkeypatch, SliceEnd.MORE)
    first, second = (started_run(project_with_items(1)).pk for _ in range(2))
    keep_runs()
    keep_runs()
    assert waiting_jobs(KIND) == [first, second]
    work_on(KIND, first)
    assert waiting_jobs(KIND) == [second, first]
    work_on(KIND, second)
    assert waiting_jobs(KIND) == driven == [first, second]


def test_a_run_that_somebody_else_drives_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slices(monkeypatch, SliceEnd.BUSY)
    run = started_run(project_with_items(1))
    launch_run(run.pk)
    work_on(KIND, run.pk)
    assert waiting_jobs(KIND) == []
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert waiting_jobs(KIND) == [run.pk]


def test_a_run_that_is_driven_is_not_taken_from_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever resumes twice would have its calls made and paid twice."""
    run, held = started_run(project_with_items(1)), []

    def meanwhile() -> None:
        before = Job.objects.get().lease_token
        launch_run(run.pk)
        held.append((before is not None, Job.objects.get().lease_token == before))

    slices(monkeypatch, SliceEnd.STOPPED, meanwhile)
    launch_run(run.pk)
    work_on(KIND, run.pk)
    assert held == [(True, True)]


def test_a_run_that_is_over_is_no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started_run(project_with_items(1))
    slices(monkeypatch, SliceEnd.STOPPED, lambda: cancel_run(run=run))
    launch_run(run.pk)
    work_on(KIND, run.pk)
    keep_runs()
    assert not Job.objects.exists()


def test_a_run_that_is_resumed_while_its_slice_ends_is_taken_up_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = started_run(project_with_items(1))

    def meanwhile() -> None:
        pause_run(run=run)
        resume_run(run=run)
        launch_run(run.pk)

    slices(monkeypatch, SliceEnd.STOPPED, meanwhile)
    launch_run(run.pk)
    work_on(KIND, run.pk)
    assert waiting_jobs(KIND) == [run.pk]
    assert Run.objects.get().status == Run.Status.QUEUED


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_lost_the_run_asks_nothing_more() -> None:
    run, lost = started_run(project_with_items(3)), threading.Event()

    def renew() -> None:
        lost.set()
        raise LeaseLost("Somebody else has it.")

    def answer(_: Call) -> str:
        assert lost.wait(60)
        return "Final Decision: good"

    script = Script(answer, seconds=0.05)
    pace = replace(QUICK, width=1)
    assert run_slice(run.pk, pace=pace, open_models=script.open, renew=renew) is SliceEnd.STOPPED
    assert len(script.calls) < 3
    assert Run.objects.get().going
