"""What became of a message: each stage's verdict, and its end."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F
from django.utils import timezone

from apps.authors.models import Message, Site
from apps.authors.services.spending import count_cost


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
    rows = Message.objects.filter(pk=message.pk)
    cost_nanousd = F("cost_nanousd") + cost
    forgotten = dropped_at and message.author.site.keep_text == Site.KeepText.NOTHING
    message.status = Message.Status.DROPPED if dropped_at else Message.Status.ASKED
    message.dropped_at, message.reason = dropped_at, reason[:300]
    ended = rows.filter(lease_until=message.lease_until).update(
        status=message.status,
        dropped_at=dropped_at,
        reason=message.reason,
        stages=only_ends(message.stages) if forgotten else message.stages,
        cost_nanousd=cost_nanousd,
        lease_until=None,
        processed_at=timezone.now(),
        text="" if forgotten else message.text,
    )
    if not ended and cost:
        rows.update(cost_nanousd=cost_nanousd)
    return bool(ended)


def drop(message: Message, stage: str, reason: str) -> None:
    """End a message at a stage that it does not pass, saying why."""
    message.stages.append(verdict(stage, passed=False, reason=reason, data={}))
    close(message, stage, reason, cost=0)
