"""More runs than places: each gets its turn, and nothing else has to wait for them."""

import threading

import pytest

from apps.debates import tasks
from apps.debates.models import Run
from apps.debates.services import SliceEnd, unfinished_runs
from tests.factories.debates import project_with_items, started_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Two places, and a list of runs that were sent on."""
    sent: list[int] = []
    monkeypatch.setattr(tasks, "_places", threading.BoundedSemaphore(2))
    monkeypatch.setattr(tasks, "_others_wait", threading.Event())
    monkeypatch.setattr(tasks, "launch_run", sent.append)
    return sent


def ends(monkeypatch: pytest.MonkeyPatch, end: SliceEnd) -> list[int]:
    driven: list[int] = []

    def drive(run_id: int) -> SliceEnd:
        driven.append(run_id)
        return end

    monkeypatch.setattr("apps.debates.services.run_slice", drive)
    return driven


def test_a_run_goes_on_by_itself_while_nobody_waits(
    launched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, SliceEnd.MORE)
    tasks.run_slice_task(1)
    assert launched == [1]


def test_a_run_that_finds_no_place_is_named_again(
    launched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = ends(monkeypatch, SliceEnd.MORE)
    run = started_run(project_with_items(1))
    assert unfinished_runs() == [run.pk]
    assert unfinished_runs() == []
    with tasks._places, tasks._places:
        tasks.run_slice_task(run.pk)
    assert driven == []
    assert unfinished_runs() == [run.pk]
    assert Run.objects.get().status == Run.Status.QUEUED


def test_whoever_has_had_a_slice_steps_back_for_those_who_wait(
    launched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(monkeypatch, SliceEnd.MORE)
    with tasks._places, tasks._places:
        tasks.run_slice_task(2)
    tasks.run_slice_task(1)
    assert launched == []
    tasks.run_slice_task(1)
    assert launched == [1]
