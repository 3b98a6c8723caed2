"""Questions to authors: read from what a model wrote, checked, worded without a model, ordered."""

from labelhub.core.interview.questions.draft import (
    Draft,
    Fault,
    Unreadable,
    shuffled,
    template_draft,
)
from labelhub.core.interview.questions.faults import faults
from labelhub.core.interview.questions.reading import read_draft

__all__ = [
    "Draft",
    "Fault",
    "Unreadable",
    "faults",
    "read_draft",
    "shuffled",
    "template_draft",
]
