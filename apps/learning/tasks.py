"""The worker's housekeeping for learning."""

import time

from apps.common.jobs import ensure_jobs
from apps.learning import services
from apps.learning.services import CLEAR
from labelhub.core.errors import LabelhubError

#: Seconds between two checks for enough new gold, in a process.
EVERY = 15.0
_last: list[float] = []
#: Project → its decided items when a training was refused: tried again when there are more.
_refused: dict[int, int] = {}


def keep_learning() -> None:
    """Every :data:`EVERY` seconds start the trainings whose gold has grown enough."""
    now = time.monotonic()
    if _last and now - _last[0] < EVERY:
        return
    _last[:] = [now]
    for project, decided in services.due_projects():
        if _refused.get(project.pk) == decided:
            continue
        try:
            services.start_training(project=project)
        except LabelhubError:  # the page shows why
            _refused[project.pk] = decided
    services.reopen_for_new_items()
    ensure_jobs(CLEAR, services.unswept_projects())
