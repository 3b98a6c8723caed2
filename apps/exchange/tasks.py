"""Imports, saved exports and webhooks in the background."""

from celery import shared_task
from django.db import transaction

from apps.exchange.saved.running import (
    drop_outdated,
    run_export,
    sweep_exports,
    unfinished_exports,
)
from apps.exchange.services import run_import, unfinished_imports
from apps.exchange.webhooks.keeping import tend_webhooks

__all__ = [
    "keep_exports",
    "launch_export",
    "launch_import",
    "resume_unfinished",
    "tend_webhooks",
]


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


@shared_task(name="exchange.save_export")
def save_export_task(export_id: int) -> None:
    """Write one saved export."""
    run_export(export_id)


def launch_export(export_id: int) -> None:
    """Hand an export to a worker, as :func:`launch_import` does an import."""
    transaction.on_commit(lambda: save_export_task.delay(export_id), robust=True)


def keep_exports() -> None:
    """Delete what may not be kept, and hand every export that lost its worker to another one."""
    drop_outdated()
    sweep_exports()
    for export_id in unfinished_exports():
        launch_export(export_id)
