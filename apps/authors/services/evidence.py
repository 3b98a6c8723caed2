"""What an author did lately, counted for :mod:`labelhub.core.interview.trust`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from apps.authors.models import Answer, Author, Message, Question
from labelhub.core.interview.trust import TrustEvidence, elicits, near_duplicates

#: So many days are looked at, and at most so many rows of each kind.
WINDOW, MOST = timedelta(days=30), 200
MACHINE_LIKE = "machine_like"


def evidence_of(author: Author, now: datetime) -> TrustEvidence:
    """The counts of the last weeks, in four queries."""
    messages = _messages(author, now)
    questions = _questions(author, now)
    answers = [answer for question in questions for answer in question.answers.all()]
    answers = [answer for answer in answers if answer.undone_at is None]
    by_question = {answer.question_id: answer for answer in answers}
    again = [_same(question, by_question) for question in questions if question.reask_of_id]
    compared = [same for same in again if same is not None]
    texts = [message.text for message in messages]
    surveys = {question.message_id for question in questions}
    return TrustEvidence(
        answers=len(answers),
        early_attempts=sum(question.early > 0 for question in questions),
        positions=_positions(questions, by_question),
        nofit=sum(answer.outcome == Answer.Outcome.NOFIT for answer in answers),
        skips=sum(question.status in ("skipped", "closed") for question in questions),
        reask_agreed=sum(compared),
        reask_total=len(compared),
        answers_per_hour=_peak([answer.received_at for answer in answers], timedelta(hours=1)),
        messages_per_minute=_peak([each.received_at for each in messages], timedelta(minutes=1)),
        median_over_ms=_median_over(questions, by_question),
        messages=len(messages),
        duplicate_share=near_duplicates([text for text in texts if text]),
        machine_like_share=sum(each.reason == MACHINE_LIKE for each in messages)
        / max(1, len(messages)),
        countries=tuple((each.received_at, each.country) for each in messages if each.country),
        surveys=len(surveys),
        eliciting=sum(
            elicits(each.text, texts[:at])
            for at, each in enumerate(messages)
            if each.pk in surveys and each.text
        ),
        network_authors=_neighbours(author),
        verified=author.verified,
    )


def _messages(author: Author, now: datetime) -> list[Message]:
    recent = Message.objects.by_authors().filter(author=author, received_at__gt=now - WINDOW)
    return list(recent.order_by("-pk")[:MOST])[::-1]


def _questions(author: Author, now: datetime) -> list[Question]:
    recent = Question.objects.filter(author=author, created_at__gt=now - WINDOW)
    related = recent.select_related("feature").prefetch_related("answers")
    return list(related.order_by("-pk")[:MOST])[::-1]


def _same(again: Question, answers: dict[int, Answer]) -> bool | None:
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


def _median_over(questions: Sequence[Question], answers: dict[int, Answer]) -> float | None:
    over = [answers[q.pk].server_ms - q.min_ms for q in questions if q.pk in answers]
    return float(median(over)) if over else None


def _neighbours(author: Author) -> int:
    if not author.network:
        return 0
    same = Author.objects.filter(site=author.site_id, network=author.network)
    return same.exclude(pk=author.pk).count()
