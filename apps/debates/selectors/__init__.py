"""Looking at runs and debates."""

from apps.debates.selectors.debates import (
    all_with_turns,
    calls_of,
    debate_with_turns,
    debates_of,
    visible_debate,
)
from apps.debates.selectors.errors import NotTaken, Trouble, Troubles, not_taken, troubles
from apps.debates.selectors.filters import (
    DebateFilter,
    choices_of,
    comparable_debates,
    neighbours,
)
from apps.debates.selectors.progress import (
    Line,
    RunProgress,
    budget_to_finish,
    limited_by,
    progress,
)
from apps.debates.selectors.prompts import get_variant, variants_of
from apps.debates.selectors.rules import (
    Ended,
    latest_debates,
    routing_now,
    rule_of,
    stored_rule,
)
from apps.debates.selectors.runs import (
    Asked,
    RunRow,
    asked_of,
    get_run,
    may_watch,
    roles_of,
    run_rows,
    runs_of,
    status_counts,
    visible_run,
)

__all__ = [
    "Asked",
    "DebateFilter",
    "Ended",
    "Line",
    "NotTaken",
    "RunProgress",
    "RunRow",
    "Trouble",
    "Troubles",
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
    "latest_debates",
    "limited_by",
    "may_watch",
    "neighbours",
    "not_taken",
    "progress",
    "roles_of",
    "routing_now",
    "rule_of",
    "run_rows",
    "runs_of",
    "status_counts",
    "stored_rule",
    "troubles",
    "variants_of",
    "visible_debate",
    "visible_run",
]
