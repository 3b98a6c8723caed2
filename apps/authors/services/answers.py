"""Answers: stored once, not before the question could be read, with the label they become."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.authors.errors import (
    AlreadyAnswered,
    BadField,
    ConsentOutdated,
    Erased,
    Expired,
    NotYours,
    OptedOut,
    TooEarly,
    TooLate,
    UnknownQuestion,
)
from apps.authors.models import Answer, Author, Consent, Event, Message, Question, Site
from apps.authors.querysets import OPEN
from apps.authors.services.locking import lock_author
from apps.authors.services.messages import SHOWN_OF_REPLIES, context_of, in_quiet_period, stable_ref
from apps.authors.services.questions import count_early
from apps.authors.services.rewards import credit, void
from apps.common.metrics import ANSWERS, count_stored
from apps.common.prepared import prepared
from apps.common.rows import insert_row, update_row
from apps.labels.models import Annotator, Kind, Label
from apps.labels.services import (
    NewLabel,
    annotator_for,
    open_items,
    record_label,
    withdraw_label,
)
from apps.projects.models import Item
from apps.projects.selectors import current_schema
from labelhub.core.interview.limits import Timing, judge_timing
from labelhub.core.interview.redaction import finder, redact
from labelhub.core.schema import unstorable

LONGEST_WORD = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedAnswer:
    """An answer as sent: an option's id, a word, or that nothing fits.

    ``ref`` is the sender's id of the answer. ``connected``: when its connection began; None without
    one. A question of an earlier connection may have been shown while there was none: then the
    page reports both at once.
    """

    ref: str
    option: str = ""
    word: str = ""
    nofit: bool = False
    visible_ms: int | None = None
    keyboard: bool = False
    connected: datetime | None = None


def check_timing(question: Question, sent: SubmittedAnswer, received: datetime) -> Timing:
    """Check how long the question could be read.

    Raises:
        TooEarly: not long enough; ``data['after_ms']`` says when to send it again.
    """
    if question.pushed_at is None:
        raise TooEarly("This question has not been asked yet.", data={"after_ms": question.min_ms})
    judged = partial(
        judge_timing,
        pushed=question.pushed_at,
        shown=question.shown_at,
        received=received,
        min_ms=question.min_ms,
        visible_ms=sent.visible_ms,
    )
    timing = judged()
    elsewhere = sent.connected is not None and question.pushed_at < sent.connected
    if timing.verdict == "too_early" and elsewhere:
        timing = judged(shown_in_replay=True)
    if timing.verdict == "too_early":
        raise TooEarly(
            f"The question takes {question.min_ms / 1000:.1f} seconds to read.",
            data={"after_ms": timing.after_ms},
        )
    return timing


def chosen_option(question: Question, sent: SubmittedAnswer) -> tuple[int, str] | None:
    """Place and text of the chosen option; None for a word or where none fits.

    Raises:
        BadField: the question offers no such option, or asks for something else.
    """
    if sent.nofit:
        return None
    if question.kind == Question.Kind.WORD:
        if sent.option:
            raise BadField("This question asks for a word; it has no options.")
        return None
    for place, option in enumerate(question.options):
        if option["id"] == sent.option:
            return place, str(option["label"])
    raise BadField("This question has no such option.")


def checked_word(question: Question, given: str) -> str:
    """The one word; none is needed where no option fits.

    Raises:
        BadField: it is empty where it is asked for, more than one word, or personal data.
    """
    word = " ".join(given.split())
    if len(word.split()) > 1:
        raise BadField("Send one word.")
    if question.kind == Question.Kind.WORD and not word and not question.options:
        raise BadField("The word is missing.")
    if len(word) > LONGEST_WORD or unstorable(word):
        raise BadField(f"Send one word of at most {LONGEST_WORD} characters.")
    if word and redact(word, region=question.site.region, names=finder()).findings:
        raise BadField("Leave out addresses, numbers and other personal details.")
    return word


@transaction.atomic(savepoint=False)
def sync_label(answer: Answer) -> None:
    """Update the ledger for an answer: a label if it counts, none if it was undone or excluded.
    Each change is a new row. A repeated question makes no label: it only measures consistency."""
    if answer.question.reask_of_id is not None:
        return
    item_id, annotator_id = answer.question.item_id, answer.author.annotator_id
    current = _current_label.first(item_id, annotator_id) if item_id and annotator_id else None
    wanted = answer.undone_at is None and answer.excluded_at is None
    if wanted and current is None:
        question = answer.question
        item, annotator = item_of(question), annotator_of(answer.author)
        nofit = answer.outcome == Answer.Outcome.NOFIT
        provenance = {
            "question": str(question.uid),
            "consent": answer.consent.text.version if answer.consent else None,
            "timing": answer.timing,
            "verified": answer.author.verified,
        }
        decides = question.site.answers_decide and not answer.late
        label = record_label(
            NewLabel(
                item_id=item.pk,
                annotator=annotator,
                schema=current_schema(question.site.project),
                value=None if nofit else answer.value,
                abstained=nofit,
                action=Label.Action.NEW,
                role=Label.Role.VOTE if decides else Label.Role.ADVISORY,
                seconds=round(answer.server_ms / 1000, 3),
                cost_nanousd=question.cost_nanousd,
                # The word that an author wrote instead can become a future option.
                rationale=f"None of these fits: {answer.value}" if nofit and answer.value else "",
                provenance=provenance,
            )
        )
        answer.label_uid = label.uid
        update_row(answer, "label_uid")
    elif not wanted and current is not None:
        why = "taken back by the author" if answer.undone_at else answer.excluded_for
        withdraw_label(label=current, provenance={"reason": why})


def annotator_of(author: Author) -> Annotator:
    """The author as an annotator of the site's project, under their pseudonym."""
    if author.annotator is None:
        project = author.site.project
        found = annotator_for(project, kind=Kind.AUTHOR, name=author.pseudonym)
        author.annotator = found
        update_row(author, "annotator")
    return author.annotator


def item_of(question: Question) -> Item:
    """The item of the question; created with its first answer."""
    if question.item is not None:
        return question.item
    message, site = question.message, question.site
    item = Item(
        project=site.project,
        external_id=f"question-{question.uid.hex}",
        text=message.text,
        context=[_context_turn(*earlier) for earlier in context_of(message)],
        question=question.text,
        options=[option["label"] for option in question.options],
        meta=_meta(question, site),
        content_hash=stable_ref(str(question.uid)),
    )
    insert_row(item)
    open_items([item], site.project)
    question.item = item
    update_row(question, "item")
    return item


def _meta(question: Question, site: Site) -> dict[str, object]:
    values = {
        option["label"]: option["value"] for option in question.options if option.get("value")
    }
    conversation = stable_ref(question.author.pseudonym, question.message.conversation.ref)
    return {
        "site": site.name,
        "feature": question.feature.key,
        "author": question.author.pseudonym,
        "conversation": conversation[:16],
        "language": question.language,
        "predicted": question.predicted,
    } | ({"values": values} if values else {})


def _context_turn(role: str, text: str) -> dict[str, str]:
    if role == Message.Role.AUTHOR:
        return {"role": "user", "text": text}
    short = text[:SHOWN_OF_REPLIES]
    return {"role": "assistant", "text": short + ("…" if short != text else "")}


@prepared
def _current_label(item: int, annotator: int) -> QuerySet[Label]:
    return Label.objects.current().filter(item=item, annotator=annotator)


#: How long undoing an answer is offered, and a little longer for which it works.
UNDO_MS, UNDO_WITHIN = 5000, timedelta(seconds=7)
#: Answers are accepted for so long after a question expired.
LATEST = timedelta(hours=24)
#: How a question may be dismissed, and the status that it then has.
DISMISSALS = {
    "skip": Question.Status.SKIPPED,
    "close": Question.Status.CLOSED,
    "esc": Question.Status.CLOSED,
    # By the page, not by the person: no sign that they do not want to be asked.
    "host": Question.Status.RETRACTED,
    "timeout": Question.Status.EXPIRED,
}


def record_answer(
    author: Author, uid: UUID, sent: SubmittedAnswer, *, consent: Consent | None, received: datetime
) -> Answer:
    """Store an answer; its label and its reward are committed with it.

    Args:
        consent: what the author has agreed to; None for the current consent.
        received: when it came, on this server's clock.

    Raises:
        UnknownQuestion, NotYours, AlreadyAnswered, Expired, OptedOut, ConsentOutdated, BadField:
            nothing is written.
        TooEarly: only that it was too early is written.
    """
    try:
        with transaction.atomic():
            return _record_locked(author, uid, sent, consent, received)
    except TooEarly as early:
        _note_early(author, uid, early)
        raise
    except IntegrityError:  # the same answer, or another one, came over another connection
        known = _find_answer(author, uid, sent.ref)
        if known is None:
            raise AlreadyAnswered("This question has already been answered.") from None
        return known


def dismiss(author: Author, uid: UUID, how: str) -> Question:
    """Close a question without an answer; idempotent.

    Raises:
        UnknownQuestion, NotYours: see there.
        AlreadyAnswered: it was answered before.
    """
    status, now = DISMISSALS[how], timezone.now()
    with transaction.atomic():
        question = _lock_question(_lock_existing(author), uid)
        if question.status in (Question.Status.ANSWERED, Question.Status.NOFIT):
            raise AlreadyAnswered("This question has already been answered.")
        if question.status in OPEN:
            question.status, question.closed_at = status, now
            update_row(question, "status", "closed_at")
            if status in (Question.Status.CLOSED, Question.Status.RETRACTED):
                # With one question the others about the same message are closed too.
                rest = Question.objects.filter(message=question.message_id, status__in=OPEN)
                rest.update(status=Question.Status.RETRACTED, closed_at=now)
        return question


def undo(author: Author, uid: UUID) -> Question:
    """Undo an answer within seconds: its label is withdrawn and the question is open again, unless
    the author is in a quiet period by now.

    Raises:
        UnknownQuestion, NotYours: see there.
        TooLate: there is no answer of the last seconds.
    """
    now = timezone.now()
    with transaction.atomic():
        question = _lock_question(_lock_existing(author), uid)
        answer = question.answers.select_related("author", "consent__text").last()
        if answer is None or now - (answer.undone_at or answer.received_at) > UNDO_WITHIN:
            raise TooLate("An answer can be undone only for a few seconds.")
        if answer.undone_at is not None:  # asked for again: the acknowledgement was lost
            return question
        if not void(answer, "taken back"):
            raise TooLate("This answer has already been paid for.")
        answer.question, answer.undone_at = question, now
        update_row(answer, "undone_at")
        sync_label(answer)
        question.status, question.closed_at = Question.Status.SHOWN, None
        if in_quiet_period(question.message):
            question.status, question.closed_at = Question.Status.RETRACTED, now
        update_row(question, "status", "closed_at")
        Event.objects.create(
            site_id=question.site_id, author=author, question=question, kind=Event.Kind.UNDONE
        )
        return question


def _record_locked(
    author: Author, uid: UUID, sent: SubmittedAnswer, consent: Consent | None, received: datetime
) -> Answer:
    author = _lock_existing(author)
    question = _lock_question(author, uid)
    known = _find_answer(author, uid, sent.ref)
    if known is not None:
        return known
    if author.opted_out_at is not None:
        raise OptedOut("You asked not to be asked again.")
    if question.status not in (*OPEN, Question.Status.EXPIRED):
        raise AlreadyAnswered("This question has already been answered or dismissed.")
    if received > question.expires_at + LATEST:
        raise Expired("The time to answer this question is over.")
    timing = check_timing(question, sent, received)
    option = chosen_option(question, sent)
    answer = Answer(
        question=question,
        author=author,
        ref=sent.ref,
        outcome=Answer.Outcome.NOFIT if sent.nofit else Answer.Outcome.ANSWER,
        value=option[1] if option else checked_word(question, sent.word),
        position=option[0] if option else None,
        server_ms=timing.server_ms,
        visible_ms=sent.visible_ms,
        timing=timing.verdict,
        keyboard=sent.keyboard,
        late=received > question.expires_at,
        received_at=received,
        excluded_at=None if author.counts else received,
        excluded_for="" if author.counts else _why_excluded(author),
    )
    answer.consent = consent or _standing_consent.first(author.pk)
    if answer.consent is None:
        raise ConsentOutdated("Your consent is no longer valid.")
    insert_row(answer)
    count_stored(ANSWERS, {(answer.outcome,): 1})
    question.status = Question.Status.NOFIT if sent.nofit else Question.Status.ANSWERED
    question.closed_at = received
    update_row(question, "status", "closed_at")
    sync_label(answer)
    credit(answer)
    if not author.judge_due:
        author.judge_due = True
        update_row(author, "judge_due")
    return answer


def _lock_existing(author: Author) -> Author:
    """Lock the author before all else, so that a ruling, an opt-out or an erasure waits or is seen.

    Raises:
        Erased: they are no more.
    """
    now = lock_author(author.pk)
    if now is None:
        raise Erased("Your data was deleted.")
    return now


@prepared
def _standing_consent(author: int) -> QuerySet[Consent]:
    given = Consent.objects.filter(author=author, withdrawn_at__isnull=True)
    return given.select_related("text").order_by("-pk")[:1]


def _lock_question(author: Author, uid: UUID) -> Question:
    question = _question_with_uid.first(uid)
    if question is None:
        raise UnknownQuestion("There is no such question.")
    if question.author_id != author.pk:
        raise NotYours("This question was for somebody else.")
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


def _find_answer(author: Author, uid: UUID, ref: str) -> Answer | None:
    """The stored answer with this ``ref``.

    Raises:
        BadField: the id belongs to another question's answer.
    """
    known = _answer_with_ref.first(author.pk, ref)
    if known is not None and known.question.uid != uid:
        raise BadField("id: was used for another question's answer; each needs its own.")
    return known


def _note_early(author: Author, uid: UUID, early: TooEarly) -> None:
    """Record the refusal as a signal, although nothing else is written."""
    with transaction.atomic():
        now = lock_author(author.pk)
        question = Question.objects.filter(uid=uid, author=author).first()
        if now is None or question is None:
            return
        now.judge_due = True
        update_row(now, "judge_due")
        count_early(question, Event.Kind.REFUSED_EARLY, {"after_ms": early.data.get("after_ms")})


def _why_excluded(author: Author) -> str:
    if author.ruling is False:
        return author.ruling_reason or "A manager does not trust this author."
    return str(author.trust.get("summary") or "Several signals speak against this author.")[:300]
