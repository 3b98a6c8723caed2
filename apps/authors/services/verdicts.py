"""What became of a message: each stage's verdict, and its end."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F
from django.utils import timezone

from apps.authors.models import Message, Site
from apps.authors.services.spending import count_cost
from apps.common.rows import update_row_if

#: What is written of a message when it ends.
_ENDS = (
    "status", "dropped_at", "reason", "stages", "text", "sealed", "processed_at", "lease_until",
)  # fmt: skip


def verdict(stage: str, *, passed: bool, reason: str, data: dict[str, Any]) -> dict[str, Any]:
    """One stage's verdict, as it is stored."""
    return {"stage": stage, "passed": passed, "reason": reason, "data": data}


def only_ends(stages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """How each stage ended and why, without what it found in the message."""
    return [each | {"data": {}} for each in stages]


def close(message: Message, dropped_at: str, reason: str, *, cost: int) -> bool:
    """End a message: asked about, or dropped at a stage.

    Returns:
        Whether it was still the caller's to end: not where it was erased, or where somebody else
        has taken it up since. What it has cost is counted all the same.
    """
    count_cost(message.site_id, cost)
    sensitive = dropped_at == "sensitive"
    keeps_nothing = message.author.site.keep_text == Site.KeepText.NOTHING
    forgotten = sensitive or (dropped_at and keeps_nothing)
    message.status = Message.Status.DROPPED if dropped_at else Message.Status.ASKED
    message.dropped_at, message.reason = dropped_at, reason[:300]
    message.stages = only_ends(message.stages) if forgotten else message.stages
    message.text = "" if forgotten else message.text
    message.sealed = None if sensitive else message.sealed
    message.processed_at = timezone.now()
    if cost:
        spent = F("cost_nanousd") + cost
        Message.objects.filter(pk=message.pk).update(cost_nanousd=spent)
    claim, message.lease_until = message.lease_until, None
    ended = update_row_if(message, *_ENDS, lease_until=claim)
    message.lease_until = claim  # whoever ends it again has lost it
    return ended


def drop(message: Message, stage: str, reason: str) -> None:
    """End a message at a stage that it does not pass, saying why."""
    message.stages.append(verdict(stage, passed=False, reason=reason, data={}))
    close(message, stage, reason, cost=0)
