"""Bulk edits: planned, started, carried out and undone."""

from typing import Any

from apps.accounts.models import User
from apps.common.jobs import work_on
from apps.projects.models import Project
from apps.reviews.bulk.jobs import KIND, plan_job, start_job, undo_job
from apps.reviews.bulk.plan import BulkPlan
from apps.reviews.models import BulkJob
from apps.reviews.search.query import read_query


def planned(project: Project, manager: User, action: str, **options: Any) -> BulkPlan:
    """The action on all items, or on those that the ``query`` finds."""
    query = read_query(options.pop("query", {}))
    return plan_job(project, manager, action=action, query=query, options=options)


def run_job(job_id: int) -> BulkJob:
    """The job, done or undone by a worker."""
    work_on(KIND, job_id)
    return BulkJob.objects.get(pk=job_id)


def done(project: Project, manager: User, action: str, **options: Any) -> BulkJob:
    """A job that has been carried out; see :func:`planned`."""
    return run_job(start_job(planned(project, manager, action, **options)).pk)


def undone(job: BulkJob, actor: User) -> BulkJob:
    """The job, taken back."""
    return run_job(undo_job(job=job, actor=actor).pk)
