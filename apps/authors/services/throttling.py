"""How often an author was asked: what ``core.interview.throttle`` decides by."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from apps.authors.models import Author, Message, Question, Site
from apps.authors.querysets import OPEN
from apps.authors.services.carried import surveys_before
from apps.common.prepared import prepared
from labelhub.core.interview.limits import AskHistory, ThrottleRule

#: What is older does not count any more; it is also the longest back-off.
REMEMBERED = timedelta(days=7)
#: Of questions and messages, the last ones that are looked at.
MOST = 200
DISMISSED = (Question.Status.SKIPPED, Question.Status.CLOSED)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question that an author was asked, the newest first."""

    survey: int
    conversation: int
    feature: str
    status: str
    at: datetime
    expires: datetime


def rule_of(site: Site) -> ThrottleRule:
    """The site's own limits."""
    return ThrottleRule(
        every_messages=site.every_messages,
        min_seconds=site.min_seconds,
        per_conversation=site.per_conversation,
        per_day=site.per_day,
        sampling=site.sampling,
    )


def asked_before(author_id: int) -> list[Asked]:
    """The last questions to an author, the newest first."""
    return [Asked(*row) for row in _asked(author_id)]


def times_asked(asked: Sequence[Asked]) -> dict[str, int]:
    """How often an author was asked about each feature, by its key."""
    return Counter(each.feature for each in asked)


def history_of(
    author: Author, message: Message, asked: Sequence[Asked], now: datetime
) -> AskHistory:
    """What this author was asked before ``message``."""
    recent = [each for each in asked if now - each.at < REMEMBERED]
    surveys: dict[int, list[Asked]] = {}
    for each in recent:
        surveys.setdefault(each.survey, []).append(each)
    last = next(iter(surveys), 0)
    begun = [questions[-1] for questions in surveys.values()]
    return AskHistory(
        began_at=author.created_at,
        messages_since_last_survey=sum(pk > last for (pk,) in _written(author.pk)),
        last_survey_at=begun[0].at if begun else None,
        surveys_in_conversation=sum(each.conversation == message.conversation_id for each in begun),
        surveys_today=sum(each.at.date() == now.date() for each in begun)
        + surveys_before(author, now),
        dismissals_in_a_row=_dismissed_in_a_row(list(surveys.values())),
        opted_out=author.opted_out_at is not None,
        open_questions=sum(each.status in OPEN and each.expires > now for each in recent),
    )


def _dismissed_in_a_row(surveys: Sequence[Sequence[Asked]]) -> int:
    """How many of the latest surveys, newest first, ended without a single answer but by a click
    that sent them away."""
    count = 0
    for questions in surveys:
        statuses = {each.status for each in questions}
        if statuses & {Question.Status.ANSWERED, Question.Status.NOFIT}:
            break
        count += not statuses.isdisjoint(DISMISSED)
    return count


@prepared
def _asked(author: int) -> QuerySet[Question, tuple[int, int, str, str, datetime, datetime]]:
    newest = Question.objects.filter(author=author).order_by("-pk")
    return newest.values_list(
        "message_id", "message__conversation_id", "feature__key", "status", "created_at",
        "expires_at",
    )[:MOST]  # fmt: skip


@prepared
def _written(author: int) -> QuerySet[Message, tuple[int]]:
    newest = Message.objects.filter(author=author, role="author").order_by("-pk")
    return newest.values_list("pk")[:MOST]
