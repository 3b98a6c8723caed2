"""Changes of labels in the background."""

from celery import shared_task

from apps.reviews.schema_changes.running import run_change, unfinished_changes


@shared_task(name="reviews.change_labels")
def change_task(change_id: int) -> None:
    """Carry one change's labels over."""
    run_change(change_id)


def launch_change(change_id: int) -> None:
    """Hand a change that has begun to a worker. A broker that is down is logged by the caller's
    hook, nothing more: :func:`resume_unfinished` tries again."""
    change_task.delay(change_id)


def resume_unfinished() -> None:
    """Hand every change that lost its worker to another one."""
    for change_id in unfinished_changes():
        launch_change(change_id)
