"""What reviewers do: claim, submit, skip, undo, release."""

from apps.reviews.services.leases import (
    LEASE_SECONDS,
    claim_item,
    claim_next_item,
    free_slots,
    release_all,
    release_leases,
    renew_leases,
)
from apps.reviews.services.planning import change_review_plan
from apps.reviews.services.reversing import Undone, take_up_skipped, undo_last
from apps.reviews.services.submitting import Answer, Submitted, skip_item, submit_label

__all__ = [
    "LEASE_SECONDS",
    "Answer",
    "Submitted",
    "Undone",
    "change_review_plan",
    "claim_item",
    "claim_next_item",
    "free_slots",
    "release_all",
    "release_leases",
    "renew_leases",
    "skip_item",
    "submit_label",
    "take_up_skipped",
    "undo_last",
]
