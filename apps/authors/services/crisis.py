"""After a message of somebody in danger its author is left in peace.

The floor looks at every message; a model judges one only where its author may be asked. So what no
model has judged is judged with the next message that is, whichever conversation it is in: somebody
in danger may have said so where nothing was to be asked.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.authors.models import Message, Question, Site
from apps.authors.querysets import OPEN
from apps.authors.services.offers import withdraw_offers
from apps.common.prepared import prepared
from labelhub.core.interview.calls import JUDGED_DANGER, REASONS
from labelhub.core.safety import DANGER

#: For so long nothing is asked in another conversation; in the same one, never again.
PEACE = timedelta(hours=24)
_REASONS = (DANGER, JUDGED_DANGER)
#: Stages that only a message comes to which a model has called ordinary.
AFTER_JUDGEMENT = ("prediction", "enough", "choice", "questions")
#: Messages that one verdict covers beside its own, and characters of each.
MOST, LONGEST = 10, 4_000
#: For so long after a message that nobody judged and of which no text is kept nothing is asked.
UNSEEN = timedelta(minutes=5)


def is_crisis(message: Message) -> bool:
    """Whether it shows somebody in danger: by the floor beneath the model, or by the model."""
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


def is_ordinary() -> Q:
    """Messages that a model has called ordinary."""
    return (
        Q(status=Message.Status.ASKED)
        | Q(dropped_at__in=AFTER_JUDGEMENT)
        | Q(dropped_at="relevance", reason="none_relevant")
    )


def unjudged_texts(message: Message) -> tuple[str, ...]:
    """What else the author wrote lately and no model has judged, oldest first."""
    texts = _texts(message.author_id, message.pk, timezone.now() - PEACE)
    return tuple(text[:LONGEST] for (text,) in reversed(texts))


def is_unseen(message: Message) -> bool:
    """Whether the author wrote something in the last minutes that can be judged no more: the site
    keeps no text of what is not asked about."""
    if message.author.site.keep_text != Site.KeepText.NOTHING:
        return False
    return _unseen.first(message.author_id, message.pk, timezone.now() - UNSEEN) is not None


def _unjudged(author: int, since: datetime) -> QuerySet[Message]:
    judged = (
        is_ordinary()
        | Q(dropped_at="sensitive")
        | Q(dropped_at="relevance", reason__in=REASONS.values())
    )
    written = Message.objects.filter(author=author, role="author", received_at__gte=since)
    return written.exclude(judged)


@prepared
def _texts(author: int, but: int, since: datetime) -> QuerySet[Message, tuple[str]]:
    others = _unjudged(author, since).exclude(pk=but).exclude(text="").order_by("-pk")
    return others.values_list("text")[:MOST]


@prepared
def _unseen(author: int, but: int, since: datetime) -> QuerySet[Message, tuple[int]]:
    others = _unjudged(author, since).exclude(pk=but).filter(text="").order_by("-pk")
    return others.values_list("pk")[:1]


@prepared
def _signs(author: int, conversation: int, since: datetime) -> QuerySet[Message, tuple[int]]:
    signs = Message.objects.filter(author=author, reason__in=_REASONS)
    near = signs.filter(Q(conversation=conversation) | Q(received_at__gte=since))
    return near.values_list("pk")[:1]
