"""Somebody has left without a word: what waited for them is over."""

from datetime import datetime

from django.utils import timezone

from apps.authors.models import Author, Message, Question
from apps.authors.querysets import OPEN
from apps.authors.services.verdicts import verdict


def came_back(author_id: int, since: datetime) -> bool:
    """Whether the author said hello since then, at whichever server."""
    return Author.objects.filter(pk=author_id, seen_at__gt=since).exists()


def settle_left(author_id: int) -> None:
    """Close the author's open question, so that the next message may be asked about, and end what
    no model was asked about yet.

    It is over as one whose time is over, not sent away: that is no sign that they do not want to be
    asked, and an answer given while there was no connection still counts.
    """
    now = timezone.now()
    Question.objects.filter(author=author_id, status__in=OPEN, pushed_at__isnull=False).update(
        status=Question.Status.EXPIRED, closed_at=now
    )
    waiting = Message.objects.filter(author=author_id, status=Message.Status.RECEIVED)
    reason = "The author has left."
    for message in waiting.filter(lease_until__isnull=True).only("pk", "stages"):
        left = verdict("left", passed=False, reason=reason, data={})
        Message.objects.filter(
            pk=message.pk, status=Message.Status.RECEIVED, lease_until__isnull=True
        ).update(
            status=Message.Status.DROPPED,
            dropped_at="left",
            reason=reason,
            stages=[*message.stages, left],
            processed_at=now,
        )
