"""Whether an author's answers count: signals, judged together, and a manager's ruling over them."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from django.db import transaction
from django.utils import timezone

from apps.authors.errors import Erased
from apps.authors.models import Answer, Author, Message, Question, Reward
from apps.authors.querysets import counting_authors
from apps.authors.services.answers import sync_label
from apps.authors.services.limits import WHY, distrusted_before, erased_today
from apps.authors.services.locking import lock_author, retry_on_deadlock
from apps.authors.services.rewards import restore, void
from apps.common.audit import Action, record
from apps.labels.models import ItemState
from labelhub.core.interview.trust import (
    AuthorTrust,
    TrustEvidence,
    elicits,
    judge_trust,
    near_duplicates,
)

#: So many days are looked at, and at most so many rows of each kind.
WINDOW, MOST = timedelta(days=30), 200
#: Answers of a site's other authors that an author is held against.
LEAST_COMPARED, MOST_COMPARED = 40, 400
MACHINE_LIKE = "machine_like"


def evidence_of(author: Author, now: datetime) -> TrustEvidence:
    """The counts of the last weeks, in six queries."""
    recent = Message.objects.by_authors().filter(author=author, received_at__gt=now - WINDOW)
    messages = list(recent.order_by("-pk")[:MOST])[::-1]
    asked = Question.objects.filter(author=author, created_at__gt=now - WINDOW)
    asked = asked.select_related("feature").prefetch_related("answers")
    questions = list(asked.order_by("-pk")[:MOST])[::-1]
    answers = [answer for question in questions for answer in question.answers.all()]
    answers = [answer for answer in answers if answer.undone_at is None]
    by_question = {answer.question_id: answer for answer in answers}
    again = [
        _repeat_agrees(question, by_question) for question in questions if question.reask_of_id
    ]
    compared = [same for same in again if same is not None]
    neighbours = Author.objects.filter(site=author.site_id, network=author.network)
    neighbours = neighbours.exclude(pk=author.pk)
    texts = [message.text for message in messages]
    surveys = {question.message_id for question in questions}
    # How much longer than the minimum each answer took, milliseconds.
    over = sorted(
        by_question[question.pk].server_ms - question.min_ms
        for question in questions
        if question.pk in by_question
    )
    expected = [
        by_question[question.pk].value == question.predicted
        for question in questions
        if question.pk in by_question
        and question.predicted
        and len(question.options) == 4
        and not question.reask_of_id
    ]
    return TrustEvidence(
        answers=len(answers),
        early_attempts=sum(question.early > 0 for question in questions),
        positions=_positions(questions, by_question),
        nofit=sum(answer.outcome == Answer.Outcome.NOFIT for answer in answers),
        skips=sum(question.status in ("skipped", "closed") for question in questions),
        reask_agreed=sum(compared),
        reask_total=len(compared),
        answers_per_hour=_peak([answer.received_at for answer in answers], timedelta(hours=1)),
        messages_per_minute=_peak(
            [message.received_at for message in messages], timedelta(minutes=1)
        ),
        median_over_ms=float(median(over)) if over else None,
        late_over_ms=float(over[len(over) * 19 // 20]) if over else None,
        expected_agreed=sum(expected),
        expected_total=len(expected),
        usual_agreement=_usual_agreement(author, now),
        messages=len(messages),
        duplicate_share=near_duplicates([text for text in texts if text]),
        machine_like_share=sum(message.reason == MACHINE_LIKE for message in messages)
        / max(1, len(messages)),
        countries=tuple(
            (message.received_at, message.country) for message in messages if message.country
        ),
        surveys=len(surveys),
        eliciting=sum(
            elicits(message.text, texts[:index])
            for index, message in enumerate(messages)
            if message.pk in surveys and message.text
        ),
        network_authors=neighbours.count() + erased_today(author, now) if author.network else 0,
        verified=author.verified,
    )


def _repeat_agrees(again: Question, answers: dict[int, Answer]) -> bool | None:
    """Whether a question asked twice got the same answer; None until both are there."""
    first, second = answers.get(again.reask_of_id or 0), answers.get(again.pk)
    return None if first is None or second is None else first.value == second.value


def _positions(questions: Sequence[Question], answers: dict[int, Answer]) -> tuple[int, ...]:
    """Where the chosen ones of four shuffled options stood; a scale is not shuffled."""
    shuffled = [q for q in questions if len(q.options) == 4 and not q.feature.parsed.ordinal]
    found = [answers[q.pk].position for q in shuffled if q.pk in answers]
    return tuple(position for position in found if position is not None)


def _peak(moments: Sequence[datetime], span: timedelta) -> float:
    """The most of them within any ``span``."""
    ordered, first, most = sorted(moments), 0, 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= span:
            first += 1
        most = max(most, last - first + 1)
    return most


def _usual_agreement(author: Author, now: datetime) -> float | None:
    """How often the site's other trusted authors gave the expected answer, of their last ones."""
    answers = (
        Answer.objects.standing()
        .filter(
            counting_authors("author"),
            question__site=author.site_id,
            question__kind=Question.Kind.CHOICE,
            question__reask_of__isnull=True,
            outcome=Answer.Outcome.ANSWER,
            received_at__gt=now - WINDOW,
        )
        .exclude(author=author.pk)
        .exclude(question__predicted="")
        .order_by("-pk")
        .values_list("value", "question__predicted")
    )[:MOST_COMPARED]
    same = [value == predicted for value, predicted in answers]
    return sum(same) / len(same) if len(same) >= LEAST_COMPARED else None


logger = logging.getLogger(__name__)

#: Authors, and answers of one author, that are worked on in one go.
AT_ONCE = 50
#: What an answer needs to become a label again.
RELATED = (
    "author__annotator", "author__site__project", "consent__text",
    "question__site__project", "question__feature", "question__author__site",
    "question__message__conversation", "question__item",
)  # fmt: skip


def judge_due_authors() -> int:
    """Judge the authors who have answered since they were judged last; how many."""
    ids = Author.objects.filter(judge_due=True).order_by("pk").values_list("pk", flat=True)
    due = list(ids[:AT_ONCE])
    for author_id in due:
        try:
            judge_author(author_id)
        except Exception:  # one author must not keep the others from being judged
            logger.exception("Judging author %s failed", author_id)
            Author.objects.filter(pk=author_id).update(judge_due=False)
    return len(due)


def judge_author(author_id: int) -> AuthorTrust | None:
    """Judge one author again and apply the result to their answers. Excluded answers are kept with
    the reason, and count again when the judgement changes."""
    seen = (
        Answer.objects.filter(author=author_id).order_by("-pk").values_list("pk", flat=True).first()
    )
    author = Author.objects.select_related("site").filter(pk=author_id).first()
    if author is None:
        return None
    # Weighed without a lock: it reads hundreds of rows, and others want to write.
    trust = judge_trust(evidence_of(author, timezone.now()))
    # What spoke against them before their data was deleted speaks on, until a manager rules.
    before = distrusted_before(author, timezone.now())
    telling = [signal for signal in trust.signals if signal.strength > 0]
    stored = {
        "score": round(trust.score, 4),
        "low": trust.low,
        "summary": "; ".join(signal.detail for signal in telling[:3]),
        "signals": [
            {"name": signal.name, "strength": round(signal.strength, 3), "detail": signal.detail}
            for signal in telling
        ],
        "judged_at": timezone.now().isoformat(timespec="seconds"),
    } | ({"summary": WHY} if before else {})
    trusted = not (trust.low or before)
    Author.objects.filter(pk=author_id).update(
        trust=stored, trusted=trusted, proven=trusted and trust.proven
    )
    sync_answers(author_id)
    _clear_judge_due(author_id, seen or 0)
    return trust


@transaction.atomic
def _clear_judge_due(author_id: int, seen: int) -> None:
    """Nothing is due any more, unless an answer came that was not weighed."""
    if lock_author(author_id) is None:
        return
    if not Answer.objects.filter(author=author_id, pk__gt=seen).exists():
        Author.objects.filter(pk=author_id).update(judge_due=False)


def set_ruling(author: Author, *, trusted: bool | None, reason: str = "") -> None:
    """A manager's decision over the signals; None leaves it to them again."""
    with transaction.atomic():
        locked = lock_author(author.pk)
        if locked is None:
            raise Erased("This author's data was deleted meanwhile; nothing was stored.")
        before = locked.ruling
        locked.ruling, locked.ruling_reason = trusted, reason.strip()[:300]
        # Judged anew by the next round, which finishes what a killed process leaves.
        locked.judge_due = True
        locked.save(update_fields=["ruling", "ruling_reason", "judge_due"])
        record(
            Action.AUTHOR_RULED,
            author,
            project=author.site.project,
            changes={"trusted": (before, trusted)},
        )
    sync_answers(author.pk)


def sync_answers(author_id: int) -> None:
    """Exclude all of an author's answers, or take them back in, as they count now; the ledger and
    rewards follow. Some at a time: each costs a dozen statements, and others want to write too."""
    while _sync_some_answers(author_id):
        pass


@retry_on_deadlock
@transaction.atomic
def _sync_some_answers(author_id: int) -> bool:
    """Whether there may be more."""
    author = lock_author(author_id)
    if author is None:
        return False
    standing = Answer.objects.filter(author=author).standing().order_by("pk")
    out_of_line = standing.filter(excluded_at__isnull=not author.counts)
    answers = list(out_of_line.select_related(*RELATED)[:AT_ONCE])
    # In the order in which payouts and imports lock theirs.
    list(Reward.objects.select_for_update().filter(answer__in=answers).order_by("pk"))
    items = [answer.question.item_id for answer in answers]
    list(ItemState.objects.select_for_update().filter(item__in=items).order_by("pk"))
    why = author.ruling_reason or str(author.trust.get("summary", "")) or "Not trusted."
    for answer in answers:
        answer.excluded_at = None if author.counts else timezone.now()
        answer.excluded_for = "" if author.counts else why[:300]
        answer.save(update_fields=["excluded_at", "excluded_for"])
        sync_label(answer)
        if author.counts:
            restore(answer)
        else:
            void(answer, why)
    return bool(answers)
