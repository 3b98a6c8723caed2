"""Looking at runs and debates."""

from apps.debates.selectors.debates import (
    all_with_turns,
    calls_of,
    debate_with_turns,
    debates_of,
    visible_debate,
)
from apps.debates.selectors.errors import not_taken, troubles
from apps.debates.selectors.filters import (
    DebateFilter,
    choices_of,
    comparable_debates,
    neighbours,
)
from apps.debates.selectors.progress import RunProgress, budget_to_finish, limited_by, progress
from apps.debates.selectors.prompts import get_variant, variants_of
from apps.debates.selectors.rules import rule_of, stored_rule
from apps.debates.selectors.runs import (
    asked_of,
    get_run,
    may_watch,
    roles_of,
    run_rows,
    runs_of,
    visible_run,
)

__all__ = [
    "DebateFilter",
    "RunProgress",
    "all_with_turns",
    "asked_of",
    "budget_to_finish",
    "calls_of",
    "choices_of",
    "comparable_debates",
    "debate_with_turns",
    "debates_of",
    "get_run",
    "get_variant",
    "limited_by",
    "may_watch",
    "neighbours",
    "not_taken",
    "progress",
    "roles_of",
    "rule_of",
    "run_rows",
    "runs_of",
    "stored_rule",
    "troubles",
    "variants_of",
    "visible_debate",
    "visible_run",
]
