"""Learning: switching it, starting it, carrying it out."""

from apps.learning.services.running import run_training
from apps.learning.services.starting import (
    due_projects,
    reopen_for_new_items,
    start_training,
    switch_learning,
    unswept_projects,
)

__all__ = [
    "due_projects",
    "reopen_for_new_items",
    "run_training",
    "start_training",
    "switch_learning",
    "unswept_projects",
]
