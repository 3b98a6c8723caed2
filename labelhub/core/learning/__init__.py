"""Learning from labels: a classifier that is taught by gold, and told of honestly.

Texts in, numbers out: nothing here knows of projects or a database. ``child`` runs it in a process
of its own, so that a server that answers people meanwhile does not feel it.
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
