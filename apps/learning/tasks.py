"""Celery's way in, and what the worker's housekeeping does for learning.

Learning takes a processor: one training at a time in a process, so that runs, imports and the
queue find room.
"""

import threading
import time

from celery import shared_task
from django.db import transaction

from apps.learning import services
from labelhub.core.errors import LabelhubError

#: Seconds between two looks at how much gold has grown, in a process.
EVERY = 15.0
_place = threading.BoundedSemaphore(1)
_last: list[float] = []
#: Project → how much gold there was when it was refused: asked again when there is more.
_refused: dict[int, int] = {}


@shared_task(name="learning.train")
def train_task(model_id: int) -> None:
    """Carry out one training; while another is carried out here, wait for it."""
    if not _place.acquire(blocking=False):
        services.take_back_dispatch(model_id)
        return
    try:
        services.run_training(model_id)
    finally:
        _place.release()


@shared_task(name="learning.clear_ranks")
def clear_ranks_task(project_id: int) -> None:
    """Order the queue of a project that does not learn any more without the model."""
    services.clear_ranks(project_id)


def launch_training(model_id: int) -> None:
    """Send a task for it once the transaction is through, unless one is on its way.

    A broker that is down is logged, nothing more: :func:`keep_learning` tries again.
    """
    if services.mark_dispatched(model_id):
        _send(model_id)


def launch_clearing(project_id: int) -> None:
    """Have the queue's order cleared, once the transaction is through."""
    transaction.on_commit(lambda: clear_ranks_task.delay(project_id), robust=True)


def keep_learning() -> int:
    """Hand out what nobody is at, and every :data:`EVERY` seconds begin what gold has grown enough
    for; how many tasks were sent."""
    now = time.monotonic()
    if not _last or now - _last[0] >= EVERY:
        _last[:] = [now]
        _begin_due()
        services.reopen_for_new_items()
        for project_id in services.unswept_projects():
            launch_clearing(project_id)
    model_ids = services.unfinished_trainings()
    for model_id in model_ids:
        _send(model_id)
    return len(model_ids)


def _begin_due() -> None:
    for project, decided in services.due_projects():
        if _refused.get(project.pk) == decided:
            continue
        try:
            services.start_training(project=project)
        except LabelhubError:  # the page says why to whoever asks
            _refused[project.pk] = decided


def _send(model_id: int) -> None:
    transaction.on_commit(lambda: train_task.delay(model_id), robust=True)
