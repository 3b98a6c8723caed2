"""The queue, what people did in it, what they said about items, and how the work is watched."""

from apps.reviews.models.bulk import BulkChange, BulkJob, SavedFilter
from apps.reviews.models.queue import Decision, Draft, Purpose, Slot
from apps.reviews.models.requeue import Requeue
from apps.reviews.models.settings import KeyMap, ReviewSettings
from apps.reviews.models.standing import Intervention, Standing
from apps.reviews.models.talk import Comment, Mention

__all__ = [
    "BulkChange",
    "BulkJob",
    "Comment",
    "Decision",
    "Draft",
    "Intervention",
    "KeyMap",
    "Mention",
    "Purpose",
    "Requeue",
    "ReviewSettings",
    "SavedFilter",
    "Slot",
    "Standing",
]
