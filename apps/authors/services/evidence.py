"""What an author did lately, counted for :mod:`labelhub.core.interview.trust`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from apps.authors.models import Answer, Author, Message, Question
from apps.authors.querysets import who_counts
from apps.authors.services.carried import erased_today
from labelhub.core.interview.trust import TrustEvidence, elicits, near_duplicates

#: So many days are looked at, and at most so many rows of each kind.
WINDOW, MOST = timedelta(days=30), 200
#: Answers of a site's other authors that an author is held against.
LEAST_COMPARED, MOST_COMPARED = 40, 400
MACHINE_LIKE = "machine_like"


def evidence_of(author: Author, now: datetime) -> TrustEvidence:
    """The counts of the last weeks, in six queries."""
    messages = _messages(author, now)
    questions = _questions(author, now)
    answers = [answer for question in questions for answer in question.answers.all()]
    answers = [answer for answer in answers if answer.undone_at is None]
    by_question = {answer.question_id: answer for answer in answers}
    again = [_same(question, by_question) for question in questions if question.reask_of_id]
    compared = [same for same in again if same is not None]
    texts = [message.text for message in messages]
    surveys = {question.message_id for question in questions}
    over = _over(questions, by_question)
    expected = [
        answers_one.value == q.predicted
        for q in questions
        if _tells(q) and (answers_one := by_question.get(q.pk)) is not None
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
        messages_per_minute=_peak([each.received_at for each in messages], timedelta(minutes=1)),
        median_over_ms=float(median(over)) if over else None,
        late_over_ms=float(over[len(over) * 19 // 20]) if over else None,
        expected_agreed=sum(expected),
        expected_total=len(expected),
        usual_agreement=_usual_agreement(author, now),
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
        network_authors=_neighbours(author, now),
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


def _over(questions: Sequence[Question], answers: dict[int, Answer]) -> list[int]:
    """How much longer than the minimum each answer took, milliseconds, the shortest first."""
    return sorted(answers[q.pk].server_ms - q.min_ms for q in questions if q.pk in answers)


def _tells(question: Question) -> bool:
    """Whether a random click would agree with what was expected one time in four: a repetition is
    compared with the first answer instead."""
    return bool(question.predicted) and len(question.options) == 4 and not question.reask_of_id


def _usual_agreement(author: Author, now: datetime) -> float | None:
    """How often the site's other trusted authors gave the expected answer, of their last ones."""
    answers = (
        Answer.objects.standing()
        .filter(
            who_counts("author"),
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


def _neighbours(author: Author, now: datetime) -> int:
    """Others in the same network, also those of today whose data was deleted."""
    if not author.network:
        return 0
    same = Author.objects.filter(site=author.site_id, network=author.network)
    return same.exclude(pk=author.pk).count() + erased_today(author, now)
