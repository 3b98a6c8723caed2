"""Celery's way in: a study's id in, one service called.

A study may be waiting for its endpoint for minutes: one at a time is driven in a process, so that
runs and imports find a thread.
"""

import threading

from celery import shared_task
from django.db import transaction

from apps.agreement.predictivity import studies
from apps.agreement.predictivity.slices import run_study
from apps.debates.services import SliceEnd

_place = threading.BoundedSemaphore(1)


@shared_task(name="agreement.run_study")
def run_study_task(study_id: int) -> None:
    """Drive a study for one slice, then queue the next; while another is driven, wait for it."""
    if not _place.acquire(blocking=False):
        studies.take_back_dispatch(study_id)
        return
    try:
        end = run_study(study_id)
    finally:
        _place.release()
    if end is SliceEnd.MORE:
        studies.take_back_dispatch(study_id)
        launch_study(study_id)


def launch_study(study_id: int) -> None:
    """Send a task for it once the transaction is through, unless one is on its way.

    A broker that is down is logged, nothing more: :func:`resume_unfinished` tries again.
    """
    if studies.mark_dispatched(study_id):
        _send(study_id)


def resume_unfinished() -> int:
    """Send a task for each study that nobody drives; how many. Cheap, safe in several processes."""
    study_ids = studies.unfinished_studies()
    for study_id in study_ids:
        _send(study_id)
    return len(study_ids)


def _send(study_id: int) -> None:
    # Not a partial: what Django logs of a robust hook that fails is its __qualname__.
    transaction.on_commit(lambda: run_study_task.delay(study_id), robust=True)
