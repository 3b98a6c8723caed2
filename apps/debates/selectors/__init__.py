"""Queries about runs and debates."""

from apps.debates.selectors.debates import (
    all_with_turns,
    calls_of,
    debate_with_turns,
    debates_of,
    visible_debate,
)
from apps.debates.selectors.errors import ignored_parameters, troubles
from apps.debates.selectors.filters import (
    DebateFilter,
    comparable_debates,
    count_choices,
    neighbours,
)
from apps.debates.selectors.progress import RunProgress, budget_to_finish, limited_by, progress
from apps.debates.selectors.prompts import get_variant, variants_of
from apps.debates.selectors.rules import rule_of, stored_rule
from apps.debates.selectors.runs import (
    get_run,
    may_watch,
    roles_of,
    run_rows,
    run_setup,
    runs_of,
    visible_run,
)

__all__ = [
    "DebateFilter",
    "RunProgress",
    "all_with_turns",
    "budget_to_finish",
    "calls_of",
    "comparable_debates",
    "count_choices",
    "debate_with_turns",
    "debates_of",
    "get_run",
    "get_variant",
    "ignored_parameters",
    "limited_by",
    "may_watch",
    "neighbours",
    "progress",
    "roles_of",
    "rule_of",
    "run_rows",
    "run_setup",
    "runs_of",
    "stored_rule",
    "troubles",
    "variants_of",
    "visible_debate",
    "visible_run",
]
