"""After a message of somebody in danger its author is left in peace."""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.authors.models import Message, Question
from apps.authors.querysets import OPEN
from apps.authors.services.offers import withdraw_offers
from apps.common.prepared import prepared
from labelhub.core.interview.crisis import TOPICS
from labelhub.core.interview.judgement import DANGER

#: For so long nothing is asked in another conversation; in the same one, never again.
PEACE = timedelta(hours=24)
_REASONS = (*TOPICS, DANGER)


def is_crisis(message: Message) -> bool:
    """Whether it shows somebody in danger: by the stems beneath the model, or by the model."""
    return message.reason in _REASONS


def is_in_peace(message: Message) -> bool:
    """Whether its author, or the assistant in its conversation, spoke of a danger: before, or
    since."""
    since = timezone.now() - PEACE
    return _signs.first(message.author_id, message.conversation_id, since) is not None


def leave_in_peace(author_id: int) -> None:
    """Questions and offers about earlier messages are taken back; pages take those off that they
    show."""
    still_open = Question.objects.filter(author=author_id, status__in=OPEN)
    still_open.update(status=Question.Status.RETRACTED, closed_at=timezone.now())
    withdraw_offers(author_id)


@prepared
def _signs(author: int, conversation: int, since: datetime) -> QuerySet[Message, tuple[int]]:
    signs = Message.objects.filter(author=author, reason__in=_REASONS)
    near = signs.filter(Q(conversation=conversation) | Q(received_at__gte=since))
    return near.values_list("pk")[:1]
