"""Runs of debates: planning, starting, steering and driving them."""

from apps.debates.services.halt import stop_all_slices
from apps.debates.services.plans import (
    RunPlan,
    checked_cast,
    models_for_roles,
    selected_items,
)
from apps.debates.services.preview import Preview, preview
from apps.debates.services.runs import cancel_run, pause_run, resume_run, start_run
from apps.debates.services.slices import Pace, SliceEnd, run_slice
from apps.debates.services.store import finish_run, mark_dispatched, unfinished_runs

__all__ = [
    "Pace",
    "Preview",
    "RunPlan",
    "SliceEnd",
    "cancel_run",
    "checked_cast",
    "finish_run",
    "mark_dispatched",
    "models_for_roles",
    "pause_run",
    "preview",
    "resume_run",
    "run_slice",
    "selected_items",
    "start_run",
    "stop_all_slices",
    "unfinished_runs",
]
