"""Answers: taken once, not before the question could be read, and acknowledged when committed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from apps.authors.models import Answer, Author, Consent, Event, Question
from apps.authors.refusals import (
    AlreadyAnswered,
    BadField,
    Expired,
    NotYours,
    OptedOut,
    TooEarly,
    TooLate,
    UnknownQuestion,
)
from apps.authors.services.ledger import bring_into_line
from apps.authors.services.rewarding import credit, void
from apps.common.prepared import prepared
from labelhub.core.interview.reading_time import Timing, judge_timing
from labelhub.core.interview.redaction import redact
from labelhub.core.schema import unstorable

#: For so long taking an answer back is offered, and a little longer it is done.
UNDO_MS, UNDO_WITHIN = 5000, timedelta(seconds=7)
#: So late after its time a question is still remembered by whoever was asked.
LATEST = timedelta(hours=24)
LONGEST_WORD = 40
OPEN = (Question.Status.WAITING, Question.Status.PUSHED, Question.Status.SHOWN)
#: How a question may be sent away, and what it then is.
DISMISSALS = {
    "skip": Question.Status.SKIPPED,
    "close": Question.Status.CLOSED,
    "esc": Question.Status.CLOSED,
    "timeout": Question.Status.EXPIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an author says to a question: an option's id, a word, or that nothing fits.

    ``ref`` is the sender's own id of it. ``connected``: when the connection began that it came by;
    None where there is none. A question that was sent by an earlier one may have been shown while
    there was none, and the two were told together.
    """

    ref: str
    option: str = ""
    word: str = ""
    nofit: bool = False
    visible_ms: int | None = None
    keyboard: bool = False
    connected: datetime | None = None


def record_answer(
    author: Author, uid: UUID, said: Said, *, consent: Consent | None, received: datetime
) -> Answer:
    """Take an answer; the label it becomes and its reward are committed with it.

    Args:
        received: when it came, on this server's clock.

    Raises:
        UnknownQuestion, NotYours, AlreadyAnswered, Expired, OptedOut, BadField: nothing is written.
        TooEarly: only that it was too early is written.
    """
    if author.opted_out_at is not None:
        raise OptedOut("You asked not to be asked again.")
    try:
        with transaction.atomic():
            return _record(author, uid, said, consent, received)
    except TooEarly as early:
        _note_early(author, uid, early)
        raise
    except IntegrityError:  # the same answer, or another one, came over another connection
        known = _known_answer(author, uid, said.ref)
        if known is None:
            raise AlreadyAnswered("This question has been answered.") from None
        return known


def dismiss(author: Author, uid: UUID, how: str) -> Question:
    """Send a question away; doing it again changes nothing.

    Raises:
        UnknownQuestion, NotYours: see there.
        AlreadyAnswered: it was answered before.
    """
    status, now = DISMISSALS[how], timezone.now()
    with transaction.atomic():
        question = _locked(author, uid)
        if question.status in (Question.Status.ANSWERED, Question.Status.NOFIT):
            raise AlreadyAnswered("This question has been answered.")
        if question.status in OPEN:
            question.status, question.closed_at = status, now
            question.save(update_fields=["status", "closed_at"])
            if status == Question.Status.CLOSED:
                _drop_rest(question, now)
        return question


def undo(author: Author, uid: UUID) -> Question:
    """Take an answer back within seconds: the question is open again, its label withdrawn.

    Raises:
        UnknownQuestion, NotYours: see there.
        TooLate: there is no answer of the last seconds.
    """
    now = timezone.now()
    with transaction.atomic():
        question = _locked(author, uid)
        answer = (
            question.answers.select_related("author", "consent__text")
            .filter(undone_at__isnull=True)
            .first()
        )
        if answer is None or now - answer.received_at > UNDO_WITHIN:
            raise TooLate("Answers can be taken back for a few seconds only.")
        answer.question = question
        answer.undone_at = now
        answer.save(update_fields=["undone_at"])
        bring_into_line(answer)
        void(answer, "taken back")
        question.status, question.closed_at = Question.Status.SHOWN, None
        question.save(update_fields=["status", "closed_at"])
        Event.objects.create(
            site_id=question.site_id, author=author, question=question, kind=Event.Kind.UNDONE
        )
        return question


def _record(
    author: Author, uid: UUID, said: Said, consent: Consent | None, received: datetime
) -> Answer:
    question = _locked(author, uid)
    known = _known_answer(author, uid, said.ref)
    if known is not None:
        return known
    if question.status not in (*OPEN, Question.Status.EXPIRED):
        raise AlreadyAnswered("This question has been answered or sent away.")
    if received > question.expires_at + LATEST:
        raise Expired("This question was about a moment that is long gone.")
    timing = _timing(question, said, received)
    option = _option(question, said)
    answer = Answer(
        question=question,
        author=author,
        ref=said.ref,
        outcome=Answer.Outcome.NOFIT if said.nofit else Answer.Outcome.ANSWER,
        value=option[1] if option else _word(said.word, question),
        position=option[0] if option else None,
        server_ms=timing.server_ms,
        visible_ms=said.visible_ms,
        timing=timing.verdict,
        keyboard=said.keyboard,
        late=received > question.expires_at,
        consent=consent,
        received_at=received,
    )
    if not author.counts:
        answer.excluded_at, answer.excluded_for = received, _why_excluded(author)
    answer.save(force_insert=True)
    question.status = Question.Status.NOFIT if said.nofit else Question.Status.ANSWERED
    question.closed_at = received
    question.save(update_fields=["status", "closed_at"])
    bring_into_line(answer)
    credit(answer)
    if not author.judge_due:
        Author.objects.filter(pk=author.pk).update(judge_due=True)
    return answer


def _locked(author: Author, uid: UUID) -> Question:
    question = _question_with_uid.first(uid)
    if question is None:
        raise UnknownQuestion("There is no such question.")
    if question.author_id != author.pk:
        raise NotYours("This question was put to somebody else.")
    author.site = question.site
    question.author = author
    return question


@prepared
def _question_with_uid(uid: UUID) -> QuerySet[Question]:
    locked = Question.objects.select_for_update(of=("self",)).filter(uid=uid)
    return locked.select_related("message__conversation", "site__project", "feature", "item")


@prepared
def _answer_with_ref(author: int, ref: str) -> QuerySet[Answer]:
    return Answer.objects.select_related("question").filter(author=author, ref=ref)


def _known_answer(author: Author, uid: UUID, ref: str) -> Answer | None:
    """The answer that came under this id before.

    Raises:
        BadField: the id belongs to another question's answer.
    """
    known = _answer_with_ref.first(author.pk, ref)
    if known is not None and known.question.uid != uid:
        raise BadField("id: was used for another question's answer; each needs its own.")
    return known


def _timing(question: Question, said: Said, received: datetime) -> Timing:
    if question.pushed_at is None:
        raise TooEarly("This question has not been asked yet.", data={"after_ms": question.min_ms})
    judged = partial(
        judge_timing,
        pushed=question.pushed_at,
        shown=question.shown_at,
        received=received,
        min_ms=question.min_ms,
        visible_ms=said.visible_ms,
    )
    timing = judged()
    elsewhere = said.connected is not None and question.pushed_at < said.connected
    if timing.verdict == "too_early" and elsewhere:
        timing = judged(shown_in_replay=True)
    if timing.verdict == "too_early":
        raise TooEarly(
            f"The question takes {question.min_ms / 1000:.1f} seconds to read.",
            data={"after_ms": timing.after_ms},
        )
    return timing


def _option(question: Question, said: Said) -> tuple[int, str] | None:
    """Place and text of the chosen option; None for a word or where none fits.

    Raises:
        BadField: the question offers no such option, or asks for something else.
    """
    if said.nofit:
        return None
    if question.kind == Question.Kind.WORD:
        if said.option:
            raise BadField("This question asks for a word; it has no options.")
        return None
    for place, option in enumerate(question.options):
        if option["id"] == said.option:
            return place, str(option["label"])
    raise BadField("This question has no such option.")


def _word(given: str, question: Question) -> str:
    """The one word; none is needed where no option fits.

    Raises:
        BadField: it is empty where it is asked for, more than one word, or personal data.
    """
    word = " ".join(given.split())
    if question.kind == Question.Kind.WORD and not word and not question.options:
        raise BadField("The word is missing.")
    if len(word) > LONGEST_WORD or unstorable(word):
        raise BadField(f"One word of at most {LONGEST_WORD} characters, please.")
    if word and redact(word, region=question.site.region).findings:
        raise BadField("Leave out addresses, numbers and other personal details.")
    return word


def _drop_rest(question: Question, now: datetime) -> None:
    """Who closes one question wants none of the others about the same message."""
    rest = Question.objects.filter(message=question.message_id, status__in=OPEN)
    rest.update(status=Question.Status.RETRACTED, closed_at=now)


def _note_early(author: Author, uid: UUID, early: TooEarly) -> None:
    """The refusal counts as a signal; it is written although nothing else is."""
    question = Question.objects.filter(uid=uid, author=author).first()
    if question is None:
        return
    Question.objects.filter(pk=question.pk).update(early=F("early") + 1)
    Author.objects.filter(pk=author.pk).update(judge_due=True)
    Event.objects.create(
        site_id=question.site_id,
        author=author,
        question=question,
        kind=Event.Kind.REFUSED_EARLY,
        data={"after_ms": early.data.get("after_ms")},
    )


def _why_excluded(author: Author) -> str:
    if author.ruling is False:
        return author.ruling_reason or "A manager does not trust this author."
    return str(author.trust.get("summary") or "Several signals speak against this author.")[:300]
