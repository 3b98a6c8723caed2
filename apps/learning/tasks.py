"""Celery's way in, and what the worker's housekeeping does for learning."""

import time

from celery import shared_task
from django.db import transaction

from apps.learning import services
from labelhub.core.errors import LabelhubError

#: Seconds between two looks at how much gold has grown, in a process.
EVERY = 15.0
_last: list[float] = []
#: Project → how much gold there was when it was refused: asked again when there is more.
_refused: dict[int, int] = {}


@shared_task(name="learning.clear_ranks")
def clear_ranks_task(project_id: int) -> None:
    """Order the queue of a project that does not learn any more without the model."""
    services.clear_ranks(project_id)


def launch_clearing(project_id: int) -> None:
    """Have the queue's order cleared, once the transaction is through."""
    transaction.on_commit(lambda: clear_ranks_task.delay(project_id), robust=True)


def keep_learning() -> None:
    """Every :data:`EVERY` seconds begin what gold has grown enough for."""
    now = time.monotonic()
    if _last and now - _last[0] < EVERY:
        return
    _last[:] = [now]
    _begin_due()
    services.reopen_for_new_items()
    for project_id in services.unswept_projects():
        launch_clearing(project_id)


def _begin_due() -> None:
    for project, decided in services.due_projects():
        if _refused.get(project.pk) == decided:
            continue
        try:
            services.start_training(project=project)
        except LabelhubError:  # the page says why to whoever asks
            _refused[project.pk] = decided
