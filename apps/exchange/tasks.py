"""Imports in the background."""

from celery import shared_task
from django.db import transaction

from apps.exchange.services import run_import, unfinished_imports


@shared_task(name="exchange.import")
def import_task(batch_id: int) -> None:
    """Run one import batch."""
    run_import(batch_id)


def launch_import(batch_id: int) -> None:
    """Hand a queued batch to a worker, once the caller's transaction is committed.

    A broker that is down is logged, nothing more: :func:`resume_unfinished` tries again.
    """
    transaction.on_commit(lambda: import_task.delay(batch_id), robust=True)


def resume_unfinished() -> None:
    """Hand every batch that lost its worker to another one."""
    for batch_id in unfinished_imports():
        launch_import(batch_id)
