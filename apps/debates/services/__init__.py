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
from apps.debates.services.role_assignment import models_for_roles, with_annotator_count
from apps.debates.services.routing import change_routing_rule, reroute
from apps.debates.services.routing_forecast import (
    ENOUGH_AUDITS,
    RoutingSample,
    RuleForecast,
    bounds_within_capacity,
    forecast_rule,
    read_routing_sample,
)
from apps.debates.services.runs import (
    cancel_run,
    continue_run,
    find_interrupted_run,
    pause_run,
    resume_run,
    set_budget,
    start_run,
    unfinished_runs,
)

__all__ = [
    "ENOUGH_AUDITS",
    "Preview",
    "RoutingSample",
    "RuleForecast",
    "RunPlan",
    "SliceEnd",
    "WorkerTimings",
    "bounds_within_capacity",
    "cancel_run",
    "change_routing_rule",
    "continue_run",
    "experiment_plans",
    "find_interrupted_run",
    "forecast_rule",
    "models_for_roles",
    "pause_run",
    "plan_of",
    "preview",
    "preview_experiment",
    "read_routing_sample",
    "reroute",
    "resume_run",
    "run_slice",
    "set_budget",
    "start_experiment",
    "start_run",
    "unfinished_runs",
    "warnings_of",
    "with_annotator_count",
]
