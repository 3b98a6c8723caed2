"""What came of asking the models: verdicts and questions, written down together."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from apps.authors.models import Message, Question
from apps.authors.querysets import OPEN
from apps.authors.services.crisis import is_crisis, is_in_peace, leave_in_peace
from apps.authors.services.locking import lock_author
from apps.authors.services.reasking import OPTION_IDS, reask_for
from apps.authors.services.taking_up import MOMENT, OVER, Task, prompts
from apps.authors.services.throttling import asked_before
from apps.authors.services.verdicts import close, verdict
from apps.common.rows import insert_row
from apps.llm.services import remember_prompt
from labelhub.core.interview.pipeline import Asked
from labelhub.core.interview.questions import Draft, shuffled
from labelhub.core.interview.reading_time import minimum_ms

#: For so long after it was asked an answer counts: it is about now (author-widget.md, 3.3).
EXPIRES = timedelta(minutes=10)


@transaction.atomic
def store(task: Task, asked: Asked, cost: int = 0, *, send: bool = False) -> list[Question]:
    """Write down the stages' verdicts and the questions; none for who has left meanwhile, none
    about a message whose moment is over or that somebody else has taken up since.

    With ``send`` the first question counts as sent from now on: the caller sends it.
    """
    message = task.message
    # Two messages of one author may be asked about at once: the first to come here has the turn.
    author = lock_author(message.author_id)
    if author is None or author.opted_out_at is not None:
        close(message, "left", "The author has left.", cost=cost)
        return []
    _keep_verdicts(task, asked)
    now = timezone.now()
    stage, reason = _end(message, asked, now)
    if stage:
        close(message, stage, reason, cost=cost)
        if is_crisis(message):
            leave_in_peace(author.pk)
        return []
    rows = [
        _row(task, draft, at, now, asked.chances.get(draft.feature, 1.0))
        for at, draft in enumerate(asked.drafts, 1)
    ]
    rows += reask_for(message, number=len(rows) + 1, now=now, expires_at=now + EXPIRES)
    for row in rows:
        row.cost_nanousd = cost // len(rows)
    if send:
        rows[0].status, rows[0].pushed_at = Question.Status.PUSHED, now
    return [insert_row(row) for row in rows] if close(message, "", "", cost=cost) else []


def _end(message: Message, asked: Asked, now: datetime) -> tuple[str, str]:
    """The stage that ends a message without questions, and why; both empty where none does."""
    if asked.dropped_at:
        reason = next((each.reason for each in asked.stages if not each.passed), "")
        return asked.dropped_at, reason
    if is_in_peace(message):  # said while the models were asked
        return "sensitive", "crisis_before"
    if now - message.received_at > MOMENT:
        return "interrupted", OVER
    before = asked_before(message.author_id)
    if any(each.status in OPEN and each.expires > now for each in before):
        return "throttle", "open_question"
    return "", ""


def _keep_verdicts(task: Task, asked: Asked) -> None:
    for stage in asked.stages:
        task.message.stages.append(
            verdict(stage.stage, passed=stage.passed, reason=stage.reason, data=dict(stage.data))
        )
    if task.chooser is not None:
        task.chooser.store()


@transaction.atomic
def store_failure(task: Task, stage: str, reason: str, cost: int) -> list[Question]:
    """The models could not be asked, or not to the end."""
    task.message.stages.append(verdict(stage, passed=False, reason=reason, data={}))
    close(task.message, stage, reason, cost=cost)
    return []


def _row(task: Task, draft: Draft, number: int, now: datetime, chance: float) -> Question:
    message = task.message
    order = shuffled(draft, f"{message.author.uid.hex} {message.ref} {draft.feature}")
    prompt = prompts()["question" if draft.kind == "choice" else "word"]
    if number == 1 and draft.source == "model":
        remember_prompt(prompt)
    return Question(
        site_id=message.author.site_id,
        author_id=message.author_id,
        message=message,
        feature=task.features[draft.feature],
        number=number,
        kind=draft.kind,
        text=draft.text,
        options=[
            {"id": OPTION_IDS[at], "label": option, "value": draft.values.get(option, "")}
            for at, option in enumerate(order)
        ],
        predicted=draft.predicted,
        language=draft.language,
        source=draft.source,
        prompt_hash=prompt.hash if draft.source == "model" else "",
        min_ms=minimum_ms(draft.text, order),
        propensity=task.propensity * chance,
        created_at=now,
        expires_at=now + EXPIRES,
    )
