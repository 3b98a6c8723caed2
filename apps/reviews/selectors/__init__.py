"""Looking at the queue: what is offered to whom, what they see of it, and what was decided."""

from apps.reviews.selectors.ledger import items_of, labels_of, visible_items
from apps.reviews.selectors.queue import (
    Place,
    held_slots,
    next_places,
    offered_to,
    open_places,
)
from apps.reviews.selectors.status import Holding, QueueStatus, queue_progress, queue_status
from apps.reviews.selectors.view import Choice, ReviewTask, item_state, review_task

__all__ = [
    "Choice",
    "Holding",
    "Place",
    "QueueStatus",
    "ReviewTask",
    "held_slots",
    "item_state",
    "items_of",
    "labels_of",
    "next_places",
    "offered_to",
    "open_places",
    "queue_progress",
    "queue_status",
    "review_task",
    "visible_items",
]
