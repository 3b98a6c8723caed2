"""Runs of debates: planning, starting, steering and driving them."""

from apps.debates.services.driving.worker import SliceEnd, WorkerTimings, run_slice
from apps.debates.services.experiments import (
    experiment_plans,
    plan_of,
    preview_experiment,
    start_experiment,
)
from apps.debates.services.plans import RunPlan, warnings_of
from apps.debates.services.preview import Preview, preview
from apps.debates.services.role_assignment import models_for_roles, seats_for
from apps.debates.services.routing import change_routing_rule, reroute
from apps.debates.services.routing_forecast import (
    ENOUGH,
    Sample,
    Weighed,
    read_sample,
    weigh,
    within,
)
from apps.debates.services.runs import (
    cancel_run,
    go_on,
    interrupted_run,
    pause_run,
    resume_run,
    set_budget,
    start_run,
    unfinished_runs,
)

__all__ = [
    "ENOUGH",
    "Preview",
    "RunPlan",
    "Sample",
    "SliceEnd",
    "Weighed",
    "WorkerTimings",
    "cancel_run",
    "change_routing_rule",
    "experiment_plans",
    "go_on",
    "interrupted_run",
    "models_for_roles",
    "pause_run",
    "plan_of",
    "preview",
    "preview_experiment",
    "read_sample",
    "reroute",
    "resume_run",
    "run_slice",
    "seats_for",
    "set_budget",
    "start_experiment",
    "start_run",
    "unfinished_runs",
    "warnings_of",
    "weigh",
    "within",
]
