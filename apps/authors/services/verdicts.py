"""What became of a message: each stage's verdict, and its end."""

from typing import Any

from django.utils import timezone

from apps.authors.models import Message, Site


def verdict(stage: str, *, passed: bool, reason: str, data: dict[str, Any]) -> dict[str, Any]:
    """One stage's verdict, as it is stored."""
    return {"stage": stage, "passed": passed, "reason": reason, "data": data}


def close(message: Message, dropped_at: str, reason: str, *, cost: int) -> None:
    """End a message: asked about, or dropped at a stage. Nothing happens where it was erased."""
    forgotten = dropped_at and message.author.site.keep_text == Site.KeepText.NOTHING
    message.status = Message.Status.DROPPED if dropped_at else Message.Status.ASKED
    message.dropped_at, message.reason = dropped_at, reason[:300]
    Message.objects.filter(pk=message.pk).update(
        status=message.status,
        dropped_at=dropped_at,
        reason=message.reason,
        stages=message.stages,
        cost_nanousd=cost,
        lease_until=None,
        processed_at=timezone.now(),
        text="" if forgotten else message.text,
    )


def drop(message: Message, stage: str, reason: str) -> None:
    """End a message at a stage that it does not pass, saying why."""
    message.stages.append(verdict(stage, passed=False, reason=reason, data={}))
    close(message, stage, reason, cost=0)
