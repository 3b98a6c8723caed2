"""Learning: switching it, starting it, carrying it out."""

from apps.learning.services.halting import stop_all_learning
from apps.learning.services.running import run_training
from apps.learning.services.starting import (
    clear_ranks,
    due_projects,
    mark_dispatched,
    reopen_for_new_items,
    start_training,
    switch_learning,
    take_back_dispatch,
    unfinished_trainings,
    unswept_projects,
)

__all__ = [
    "clear_ranks",
    "due_projects",
    "mark_dispatched",
    "reopen_for_new_items",
    "run_training",
    "start_training",
    "stop_all_learning",
    "switch_learning",
    "take_back_dispatch",
    "unfinished_trainings",
    "unswept_projects",
]
