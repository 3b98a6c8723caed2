"""Learning from labels: a classifier that learns from gold, and its measured quality.

Texts in, numbers out: nothing here knows of projects or a database. ``child`` runs it in a process
of its own, so that it does not slow the server down.
"""

from labelhub.core.learning.lessons import (
    LEAST_GOLD,
    READ,
    Document,
    Lesson,
    Shape,
    TooLittleGold,
    check_enough,
    labels_until_relearning,
)

__all__ = [
    "LEAST_GOLD",
    "READ",
    "Document",
    "Lesson",
    "Shape",
    "TooLittleGold",
    "check_enough",
    "labels_until_relearning",
]
