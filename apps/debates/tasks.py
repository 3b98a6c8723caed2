"""Celery's way in: id in, one service called.

A run may be waiting for its endpoint for minutes. So that imports need not wait for it too, fewer
runs are driven in a process than it has threads; the others take turns.
"""

import threading

from celery import shared_task
from django.conf import settings
from django.db import transaction

from apps.debates import services
from apps.debates.services import SliceEnd

_places = threading.BoundedSemaphore(settings.LABELHUB_RUNS_AT_ONCE)
_others_wait = threading.Event()


@shared_task(name="debates.run_slice")
def run_slice_task(run_id: int) -> None:
    """Drive a run for one slice, then queue the next; where all places are taken, come back later.

    While others wait, who has had a slice steps back: :func:`resume_unfinished` draws who is next.
    """
    if not _places.acquire(blocking=False):
        _others_wait.set()
        services.take_back_dispatch(run_id)
        return
    try:
        end = services.run_slice(run_id)
    finally:
        _places.release()
    if end is SliceEnd.MORE and not _others_wait.is_set():
        launch_run(run_id)
    _others_wait.clear()


def launch_run(run_id: int) -> None:
    """Send a task for the run once the transaction is through, unless one is on its way.

    A broker that is down is logged, nothing more: :func:`resume_unfinished` tries again.
    """
    if services.mark_dispatched(run_id):
        _send(run_id)


def resume_unfinished() -> int:
    """Send a task for each run that nobody drives; how many. Cheap, safe in several processes."""
    run_ids = services.unfinished_runs()
    for run_id in run_ids:
        _send(run_id)
    return len(run_ids)


def _send(run_id: int) -> None:
    # Not a partial: what Django logs of a robust hook that fails is its __qualname__.
    transaction.on_commit(lambda: run_slice_task.delay(run_id), robust=True)
