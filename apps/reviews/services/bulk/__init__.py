"""One thing done to many items at once, and the undoing of it."""

from apps.reviews.services.bulk.jobs import NothingToDo, plan_job, start_job, undo_job
from apps.reviews.services.bulk.running import run_job

__all__ = ["NothingToDo", "plan_job", "run_job", "start_job", "undo_job"]
