"""What an author wrote lately that no model has judged: dropped by the throttle, for example.

Stems look at every message; a model judges one only where its author may be asked. So what was not
judged is judged with the next one that is, whichever conversation it is in: somebody in danger may
have said so where nothing was to be asked.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.authors.models import Message, Site
from apps.authors.services.crisis import PEACE
from apps.common.prepared import prepared
from labelhub.core.interview.judgement import REASONS

#: Messages that one verdict covers beside its own, and characters of each.
MOST, LONGEST = 10, 4_000
#: For so long after a message that nobody judged and of which no text is kept nothing is asked.
UNSEEN = timedelta(minutes=5)
#: Stages that only a message comes to which a model has judged.
AFTER_JUDGEMENT = ("sensitive", "prediction", "enough", "choice", "questions")


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
        Q(status=Message.Status.ASKED)
        | Q(dropped_at__in=AFTER_JUDGEMENT)
        | Q(dropped_at="relevance", reason__in=("none_relevant", *REASONS.values()))
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
