"""Celery's way in: id in, one service called."""

from celery import shared_task
from django.db import transaction

from apps.debates import services
from apps.debates.services import SliceEnd


@shared_task(name="debates.run_slice")
def run_slice_task(run_id: int) -> None:
    """Drive a run for one slice, then queue the next."""
    if services.run_slice(run_id) is SliceEnd.MORE:
        launch_run(run_id)


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
