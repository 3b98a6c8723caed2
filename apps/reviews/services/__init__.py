"""What reviewers do: claim, submit, skip, undo, release."""

from apps.reviews.services.answers import Answer, EvidenceSpan
from apps.reviews.services.drafting import drop_draft, save_draft
from apps.reviews.services.known import ReviewerPaused
from apps.reviews.services.leases import (
    LEASE_SECONDS,
    claim_begun,
    claim_item,
    claim_next_item,
    free_slots,
    note_shown,
    release_all,
    release_leases,
    renew_leases,
)
from apps.reviews.services.planning import change_review_plan
from apps.reviews.services.returning import return_to_queue
from apps.reviews.services.reversing import (
    NothingToUndo,
    Undone,
    take_up_skipped,
    undo_decision,
    undo_last,
)
from apps.reviews.services.revoking import revoke_leases
from apps.reviews.services.skipping import postpone_item, skip_item
from apps.reviews.services.submitting import Submitted, submit_label

__all__ = [
    "LEASE_SECONDS",
    "Answer",
    "EvidenceSpan",
    "NothingToUndo",
    "ReviewerPaused",
    "Submitted",
    "Undone",
    "change_review_plan",
    "claim_begun",
    "claim_item",
    "claim_next_item",
    "drop_draft",
    "free_slots",
    "note_shown",
    "postpone_item",
    "release_all",
    "release_leases",
    "renew_leases",
    "return_to_queue",
    "revoke_leases",
    "save_draft",
    "skip_item",
    "submit_label",
    "take_up_skipped",
    "undo_decision",
    "undo_last",
]
