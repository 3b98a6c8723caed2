"""The worker's housekeeping for learning."""

import time

from apps.common.jobs import ensure_jobs
from apps.learning import services
from apps.learning.services import CLEAR
from labelhub.core.errors import LabelhubError

#: Seconds between two looks at how much gold has grown, in a process.
EVERY = 15.0
_last: list[float] = []
#: Project → how much gold there was when it was refused: asked again when there is more.
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
