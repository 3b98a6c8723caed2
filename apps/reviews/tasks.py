"""Celery's way in: an id in, one service called."""

from celery import shared_task
from django.db import transaction

from apps.reviews.services.bulk import run_job, unfinished_jobs
from apps.reviews.services.filters import apply_first, projects_to_apply
from apps.reviews.services.requeueing import run_requeue, unfinished_requeues


@shared_task(name="reviews.requeue")
def requeue_task(job_id: int) -> None:
    """Put one person's labels back into the queue."""
    run_requeue(job_id)


def launch_requeue(job_id: int) -> None:
    """Hand it to a worker, once the caller's transaction is committed.

    A broker that is down is logged, nothing more: :func:`resume_requeues` tries again.
    """
    transaction.on_commit(lambda: requeue_task.delay(job_id), robust=True)


def resume_requeues() -> None:
    """Hand every one that lost its worker to another."""
    for job_id in unfinished_requeues():
        launch_requeue(job_id)


@shared_task(name="reviews.bulk")
def bulk_task(job_id: int) -> None:
    """Carry out a bulk job, or undo it."""
    run_job(job_id)


@shared_task(name="reviews.first_filter")
def first_filter_task(project_id: int) -> None:
    """Put the items of a project's chosen filter first."""
    apply_first(project_id)


def launch_bulk(job_id: int) -> None:
    """Hand a job to a worker, once the caller's transaction is committed.

    A broker that is down is logged, nothing more: :func:`resume_bulk` tries again.
    """
    transaction.on_commit(lambda: bulk_task.delay(job_id), robust=True)


def resume_bulk() -> None:
    """Hand every job that lost its worker to another one."""
    for job_id in unfinished_jobs():
        launch_bulk(job_id)


def launch_first(project_id: int) -> None:
    """Have a project's chosen filter applied, once the caller's transaction is committed."""
    transaction.on_commit(lambda: first_filter_task.delay(project_id), robust=True)


def keep_first() -> None:
    """See to it that new items of a chosen filter come first."""
    for project_id in projects_to_apply():
        launch_first(project_id)
