"""Which question is before an author's eyes, and since when."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from apps.authors.models import Author, Event, Question
from apps.authors.querysets import OPEN
from apps.authors.services.locking import lock_author
from apps.common.prepared import Update, prepared, prepared_update

#: Of early clicks at one question: how many are told with their time, and how many are counted.
MOST_TOLD, MOST_COUNTED = 3, 1000


def next_question(author: Author) -> Question | None:
    """The question whose turn it is, marked as sent now if it was not before. One at a time: the
    next comes when this one is answered or sent away."""
    if author.opted_out_at is not None:
        return None
    now = timezone.now()
    question = _whose_turn.first(author.pk, now)
    if question is not None and question.pushed_at is None:
        # Whoever is first decides since when it counts; the other socket sends the same.
        if _push(question.pk, now):
            question.pushed_at, question.status = now, Question.Status.PUSHED
        else:
            question.refresh_from_db(fields=["pushed_at", "status"])
    # It may have been taken back since it was looked for.
    return question if question is not None and question.status in OPEN else None


@prepared
def _whose_turn(author: int, now: datetime) -> QuerySet[Question]:
    waiting = Question.objects.filter(author=author).open(now)
    return waiting.select_related("message__conversation", "site")[:1]


@prepared_update
def _push(question: int, now: datetime) -> Update:
    waiting = Question.objects.filter(
        pk=question, pushed_at__isnull=True, status=Question.Status.WAITING
    )
    return waiting, {"pushed_at": now, "status": Question.Status.PUSHED}


def mark_shown(author: Author, uid: UUID, at: datetime) -> None:
    """The widget has it on the screen; the first time counts. Unknown questions are nobody's."""
    _show(author.pk, uid, at)


@prepared_update
def _show(author: int, uid: UUID, at: datetime) -> Update:
    sent = Question.objects.filter(uid=uid, author=author, pushed_at__isnull=False)
    pushed = Case(
        When(status=Question.Status.PUSHED, then=Value(Question.Status.SHOWN)),
        default="status",
    )
    return sent.filter(shown_at__isnull=True), {"shown_at": at, "status": pushed}


def note_early(author: Author, uid: UUID, ms: int) -> None:
    """Somebody clicked before the question could be read: a signal, not an answer."""
    with transaction.atomic():
        if lock_author(author.pk) is None:
            return
        question = Question.objects.filter(uid=uid, author=author).first()
        if question is not None:
            count_early(question, Event.Kind.EARLY, {"ms": ms})


def count_early(question: Question, kind: str, data: dict[str, object]) -> None:
    """Count it; the first few are told one by one, a thousand would be a way to fill our disk."""
    Question.objects.filter(pk=question.pk, early__lt=MOST_COUNTED).update(early=F("early") + 1)
    if question.early < MOST_TOLD:
        Event.objects.create(
            site_id=question.site_id,
            author_id=question.author_id,
            question=question,
            kind=kind,
            data=data,
        )


def expire_questions(now: datetime) -> int:
    """Close questions whose moment is over; how many."""
    late = Question.objects.filter(status__in=OPEN, expires_at__lt=now)
    # Looked at first: this is asked every few seconds, and an update would lock the database.
    if not late.exists():
        return 0
    return late.update(status=Question.Status.EXPIRED, closed_at=now)
