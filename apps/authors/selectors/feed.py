"""The last messages of a site, with what became of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from apps.authors.models import Message, Question, Site
from apps.authors.stages import ToldStage, reason_words, stage_name, told_stages

SHOWN = 40
#: Of so many messages, the newest, those that ended at one stage are looked for.
SEARCHED = 20_000
#: What the feed may be narrowed to, beside a stage's name.
ASKED, WAITING = "asked", "waiting"


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A message as the live page shows it."""

    message: Message
    status: str
    words: str
    stages: Sequence[ToldStage]
    questions: Sequence[Question]


def feed(site: Site, only: str = "") -> list[FeedRow]:
    """The last messages of authors, newest first.

    Args:
        only: :data:`ASKED`, :data:`WAITING` or the stage that dropped them; "" for all.
    """
    questions = Question.objects.select_related("feature").order_by("number")
    newest = Message.objects.filter(site=site).order_by("-received_at", "-pk")
    recent = (
        newest.by_authors()
        .select_related("author")
        .defer("sealed")
        .prefetch_related(Prefetch("questions", questions))
    )
    if only in (ASKED, WAITING):
        status = Message.Status.ASKED if only == ASKED else Message.Status.RECEIVED
        recent = recent.filter(status=status)
    elif only:
        recent = recent.filter(status=Message.Status.DROPPED, dropped_at=only)
    if only:
        beyond = newest.values_list("received_at", flat=True)[SEARCHED : SEARCHED + 1].first()
        recent = recent.filter(received_at__gt=beyond) if beyond else recent
    return [_row(each) for each in recent[:SHOWN]]


def _row(message: Message) -> FeedRow:
    status = {
        Message.Status.ASKED: "asked",
        Message.Status.RECEIVED: "waiting",
        Message.Status.DROPPED: "dropped",
    }[Message.Status(message.status)]
    words = {"asked": "Asked about", "waiting": "With the models"}.get(status, "")
    if not words:
        reason = reason_words(message.reason)
        words = stage_name(message.dropped_at) + (f": {reason}" if reason else "")
    return FeedRow(
        message, status, words, told_stages(message.stages), list(message.questions.all())
    )
