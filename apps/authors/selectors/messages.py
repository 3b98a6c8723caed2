"""The live feed of a site's messages, and the questions that wait to be brought to authors."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Prefetch
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.models import Author, Message, Question, Site
from apps.authors.querysets import OPEN
from apps.authors.selectors.sites import money_words
from apps.authors.stages import StageRow, reason_words, stage_name, stage_row
from apps.authors.translations import RIGHT_TO_LEFT, WHY, translated

Id = TypeVar("Id", int, UUID)

#: Authors looked for by one query.
AT_ONCE = 500


def _in_parts(ids: Collection[Id]) -> Iterator[list[Id]]:
    rest = list(ids)
    return (rest[start : start + AT_ONCE] for start in range(0, len(rest), AT_ONCE))


def authors_to_wake(author_ids: Collection[int]) -> list[int]:
    waiting = Question.objects.filter(status="waiting", number=1, expires_at__gt=timezone.now())
    found: dict[int, None] = {}
    for part in _in_parts(author_ids):
        here = waiting.filter(author__in=part).order_by("expires_at")
        found |= dict.fromkeys(here.values_list("author_id", flat=True))
    return list(found)


def withdrawn_questions(uids: Collection[UUID]) -> set[UUID]:
    gone = Question.objects.filter(status="retracted").order_by().values_list("uid", flat=True)
    return {uid for part in _in_parts(uids) for uid in gone.filter(uid__in=part)}


def erased_among(author_ids: Collection[int]) -> set[int]:
    kept = Author.objects.order_by().values_list("pk", flat=True)
    return set(author_ids).difference(*(kept.filter(pk__in=part) for part in _in_parts(author_ids)))


def pending_questions(message: Message) -> list[dict[str, Any]]:
    """What may still be answered of a message's survey, each with its status, in their order.

    Args:
        message: with its author and their site.
    """
    survey = list(message.questions.order_by("number"))
    now, pending = timezone.now(), []
    for question in survey:
        question.message = message
        if question.status in OPEN and question.expires_at > now:
            words = question_words(question, message.author, of=len(survey))
            pending.append(words | {"status": question.status})
    return pending


def question_words(question: Question, author: Author, *, of: int) -> dict[str, Any]:
    """A question as its author sees it; the prediction is never included.

    Args:
        of: how many questions there are about the same message.
    """
    site, message = author.site, question.message
    earns = site.reward_cents and author.verified
    return {
        "qid": str(question.uid),
        # A question asked again is about what was said then.
        "re": question.about_ref or message.ref,
        "conv": message.conversation.ref,
        "kind": "choice4" if question.kind == Question.Kind.CHOICE else "word",
        "text": question.text,
        "quote": [0, 80],
        "opts": [{"id": option["id"], "label": option["label"]} for option in question.options],
        "min_ms": question.min_ms,
        "expires": int(question.expires_at.timestamp() * 1000),
        "survey": {"n": question.number, "of": of},
        "lang": question.language,
        "dir": "rtl" if question.language in RIGHT_TO_LEFT else "ltr",
        "why": translated(WHY, question.language),
        "reward": money_words(site.reward_cents, site.currency) if earns else "",
    }


SHOWN = 25
#: Of so many messages, the newest, those that ended at one stage are looked for.
SEARCHED = 20_000
#: What the feed may be narrowed to, beside a stage's name.
ASKED, WAITING = "asked", "waiting"


@dataclass(frozen=True, slots=True)
class FeedRow:
    """A message as the live page shows it."""

    message: Message
    status: str
    words: StrOrPromise
    stages: Sequence[StageRow]
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
    return [_row(message) for message in recent[:SHOWN]]


def _row(message: Message) -> FeedRow:
    status = {
        Message.Status.ASKED: "asked",
        Message.Status.RECEIVED: "waiting",
        Message.Status.DROPPED: "dropped",
    }[Message.Status(message.status)]
    words = {"asked": _("Asked about"), "waiting": _("In progress")}.get(status, "")
    if not words:
        reason = reason_words(message.reason)
        words = stage_name(message.dropped_at) + (f": {reason}" if reason else "")
    stages = [stage_row(stage) for stage in message.stages]
    return FeedRow(message, status, words, stages, list(message.questions.all()))
