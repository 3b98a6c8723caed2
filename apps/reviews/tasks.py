"""Celery's way in: an id in, one service called."""

from celery import shared_task
from django.db import transaction

from apps.reviews.services.filters import apply_first, projects_to_apply


@shared_task(name="reviews.first_filter")
def first_filter_task(project_id: int) -> None:
    """Put the items of a project's chosen filter first."""
    apply_first(project_id)


def launch_first(project_id: int) -> None:
    """Have a project's chosen filter applied, once the caller's transaction is committed."""
    transaction.on_commit(lambda: first_filter_task.delay(project_id), robust=True)


def keep_first() -> None:
    """See to it that new items of a chosen filter come first."""
    for project_id in projects_to_apply():
        launch_first(project_id)
