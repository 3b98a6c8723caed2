"""Driving runs: each is a job as long as it is going, a slice at a time.

A run may be waiting for its endpoint for minutes, so that runs have threads of their own; where
there are more runs than threads, they take turns.
"""

from datetime import timedelta

from django.conf import settings

from apps.common.jobs import JobRun, Postponed, ensure_jobs, job, wake_job
from apps.debates import services
from apps.debates.models import Run
from apps.debates.services import SliceEnd

KIND = "debates.run"
#: The lease of its debates may be about to lapse.
BUSY = timedelta(seconds=2)


@job(KIND, threads=settings.LABELHUB_RUNS_AT_ONCE, lease=timedelta(seconds=10))
def drive_run(job_run: JobRun) -> None:
    """Drive a run for one slice; it is put off behind others where there is more to do."""
    end = services.run_slice(job_run.subject, renew=job_run.renew)
    if Run.objects.going().filter(pk=job_run.subject).exists():
        raise Postponed(end.value, BUSY if end is SliceEnd.BUSY else timedelta())


def launch_run(run_id: int) -> None:
    """Have a worker drive the run once the transaction is through; who drives it goes on."""
    wake_job(KIND, run_id)


def keep_runs() -> None:
    """See to it that every run that is going is driven."""
    ensure_jobs(KIND, services.unfinished_runs())
