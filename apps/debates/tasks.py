"""Jobs that drive active runs, one slice at a time.

Runs have threads of their own, because a run may wait for its endpoint for minutes. If there are
more runs than threads, they take turns.
"""

from datetime import timedelta

from django.conf import settings

from apps.common.jobs import JobRun, Postponed, ensure_jobs, job, wake_job
from apps.common.queues import RUNS
from apps.debates import services
from apps.debates.models import Run
from apps.debates.services import SliceEnd

KIND = "debates.run"
#: The lease of its debates may expire soon.
BUSY = timedelta(seconds=2)


@job(
    KIND,
    threads=settings.LABELHUB_RUNS_AT_ONCE,
    lease=timedelta(seconds=10),
    queue=RUNS,
    outward=True,
)
def drive_run(job_run: JobRun) -> None:
    """Drive a run for one slice; if more is left, it queues behind other runs."""
    end = services.run_slice(job_run.subject, renew=job_run.renew)
    if Run.objects.going().filter(pk=job_run.subject).exists():
        raise Postponed(end.value, BUSY if end is SliceEnd.BUSY else timedelta())


def launch_run(run_id: int) -> None:
    """Have a worker drive the run after the transaction; a worker that drives it continues."""
    wake_job(KIND, run_id)


def keep_runs() -> None:
    """Ensure that each active run is driven."""
    ensure_jobs(KIND, services.unfinished_runs())
