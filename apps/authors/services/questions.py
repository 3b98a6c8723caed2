"""Questions about a message: ask the models, store the questions, send and show them in turn.

Decisions come from ``labelhub.core.interview.pipeline``, a generator without I/O like a debate
protocol. A message that nobody finishes (its process was killed) is taken up again while its moment
lasts, and counted as dropped afterwards.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from apps.authors.database import in_database
from apps.authors.models import Answer, Author, Event, Message, Question
from apps.authors.querysets import OPEN
from apps.authors.services.locking import lock_author
from apps.authors.services.message_lease import MOMENT, OVER, AskingTask, claim_message, prompts
from apps.authors.services.messages import (
    drop_message,
    end_message,
    in_quiet_period,
    is_crisis,
    verdict,
    withdraw_open_questions,
)
from apps.common.metrics import QUESTIONS, count_stored
from apps.common.prepared import Update, prepared, prepared_update
from apps.common.rows import insert_row
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from apps.llm.services import remember_prompt
from apps.llm.shared_gateway import close_all, shared_gateway
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.limits import minimum_ms, sampling_draw
from labelhub.core.interview.pipeline import InterviewResult, ask
from labelhub.core.interview.questions import Draft, shuffle_options
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.prices import cost_nanousd, estimate_usage
from labelhub.core.llm.types import Call, Completion, Reply, Status, Usage

logger = logging.getLogger(__name__)

LEFT = "The author has left."
_drop = transaction.atomic(drop_message)

Result = TypeVar("Result")

#: An author waits for no retry of minutes.
PATIENCE = Patience(
    attempts=2, first_backoff=0.2, longest_backoff=1.0, total_wait=10.0, for_all=False
)
#: Seconds in which the models must be through with a message: less than whoever asks them has it
#: to themselves (``messages.LEASE``).
LONGEST = 45.0
#: Seconds for calls whose answer is of use and not needed, by role: what authors taught is expected
#: without it.
CALL_TIMEOUTS: Mapping[str, float] = {"predict": 8.0}


class Models(Protocol):
    """A model that answers calls: the gateway, or a fake in tests."""

    async def complete(self, spec: ModelSpec, call: Call) -> Completion: ...


#: Waits until the next calls may be made, or raises where they are not wanted any more.
Ready: TypeAlias = Callable[[], Awaitable[None]]
OpenModels: TypeAlias = Callable[[ModelSpec, Patience], AbstractAsyncContextManager[Models]]


async def _no_wait() -> None:
    """Nothing to wait for."""


async def ask_about(
    task: AskingTask,
    open_models: OpenModels = shared_gateway,
    *,
    ready: Ready = _no_wait,
    send: bool = False,
) -> list[Question]:
    """Ask the models about a message and store the result; returns the questions in order.

    Args:
        ready: awaited before each step.
        send: mark the first question as sent: the caller sends it.
    """
    spent: list[int] = []
    try:
        await ready()
        async with open_models(task.spec, PATIENCE) as models:
            asked = await interview(task, models, spent, ready)
    except asyncio.CancelledError:  # the author has left
        await in_database(_drop, task.message, "left", LEFT, **_use_of(spent))
        raise
    except LabelhubError as error:
        logger.warning("Message %s: %s", task.message.pk, error)
        stage = "left" if error.code == "left" else "model"
        await in_database(_drop, task.message, stage, error.message[:300], **_use_of(spent))
        return []
    return await in_database(store_questions, task, asked, send=send, **_use_of(spent))


def _use_of(spent: Sequence[int]) -> dict[str, int]:
    """What the calls have cost, and how many there were beyond the first: that one was counted
    before it began."""
    return {"cost": sum(spent), "calls": max(0, len(spent) - 1)}


def ask_now(message_id: int) -> list[Question]:
    """Claim a message and ask about it, for callers without an event loop."""
    related = ("author__site__project", "author__site__model__provider", "conversation")
    message = Message.objects.select_related(*related).filter(pk=message_id).first()
    task = claim_message(message) if message is not None else None

    async def ask_and_close(task: AskingTask) -> list[Question]:
        try:
            return await ask_about(task)
        finally:
            await close_all()

    return asyncio.run(ask_and_close(task)) if task is not None else []


async def interview(
    task: AskingTask, models: Models, spent: list[int], ready: Ready = _no_wait
) -> InterviewResult:
    """Drive the generator: each list of calls in parallel.

    Raises:
        ModelError: the models were not through after :data:`LONGEST` seconds.
    """
    try:
        async with asyncio.timeout(LONGEST):
            steps = ask(task.author_message, task.plan)
            return await drive_calls(steps, task.spec, models, spent, ready)
    except TimeoutError:
        raise ModelError(f"The models did not finish within {LONGEST:g} seconds.") from None


async def drive_calls(
    steps: Generator[list[Call], list[Reply], Result],
    spec: ModelSpec,
    models: Models,
    spent: list[int],
    ready: Ready = _no_wait,
) -> Result:
    """The result of a generator of calls; the calls of each list run in parallel once ``ready``
    returns. Their costs (nano-USD) are added to ``spent``."""
    try:
        calls = next(steps)
        while True:
            await ready()
            replies = await asyncio.gather(*(_reply(spec, call, models, spent) for call in calls))
            calls = steps.send(replies)
    except StopIteration as end:
        result: Result = end.value
        return result


async def _reply(spec: ModelSpec, call: Call, models: Models, spent: list[int]) -> Reply:
    try:
        async with asyncio.timeout(CALL_TIMEOUTS.get(call.role)):
            completion = await models.complete(spec, call)
    except asyncio.CancelledError:
        spent.append(_cost_of_asking(spec, call))
        raise
    except TimeoutError:
        spent.append(_cost_of_asking(spec, call))
        return Reply(
            status=Status.FAILED, note=f"No answer in {CALL_TIMEOUTS[call.role]:g} seconds."
        )
    except ModelError as error:
        # What was paid for answers of no use; the call counts where that is nothing.
        spent.append(cost_nanousd(Usage(**error.data.get("usage", {})), **spec.prices) or 0)
        return Reply(status=Status.FAILED, note=error.message)
    spent.append(cost_nanousd(completion.usage, **spec.prices) or 0)
    return read_completion(call, completion)


def _cost_of_asking(spec: ModelSpec, call: Call) -> int:
    """Cost of the input of an abandoned call, which was read and is paid."""
    return cost_nanousd(estimate_usage(call.messages, ""), **spec.prices) or 0


#: How long after a question its answer counts (author-widget.md, 3.3).
EXPIRES = timedelta(minutes=10)


@transaction.atomic
def store_questions(
    task: AskingTask, asked: InterviewResult, cost: int = 0, calls: int = 0, *, send: bool = False
) -> list[Question]:
    """Store the stages' verdicts and the questions. No question is stored if the author has left,
    the moment of the message is over or another process has claimed it since.

    With ``send`` the first question is marked as sent: the caller sends it.
    """
    message = task.message
    # Two messages of one author may be asked about at once: the first to come here has the turn.
    author = lock_author(message.author_id)
    if author is None or author.opted_out_at is not None:
        end_message(message, "left", LEFT, cost=cost, calls=calls)
        return []
    for ended in asked.stages:
        message.stages.append(
            verdict(ended.stage, passed=ended.passed, reason=ended.reason, data=dict(ended.data))
        )
    if task.chooser is not None:
        task.chooser.store()
    now = timezone.now()
    stage, reason = _find_ending(message, asked, now)
    if stage:
        end_message(message, stage, reason, cost=cost, calls=calls)
        if is_crisis(message):
            withdraw_open_questions(author.pk)
        return []
    rows = [
        _question_row(task, draft, number, now, asked.chances.get(draft.feature, 1.0))
        for number, draft in enumerate(asked.drafts, 1)
    ]
    rows += repeated_question(message, number=len(rows) + 1, now=now, expires_at=now + EXPIRES)
    for row in rows:
        row.cost_nanousd = cost // len(rows)
    if send:
        rows[0].status, rows[0].pushed_at = Question.Status.PUSHED, now
    held = end_message(message, "", "", cost=cost, calls=calls)
    stored = [insert_row(row) for row in rows] if held else []
    count_stored(QUESTIONS, Counter((row.source,) for row in stored))
    return stored


def _find_ending(message: Message, asked: InterviewResult, now: datetime) -> tuple[str, str]:
    """The stage that ends a message without questions, and the reason; both empty if none does."""
    if asked.dropped_at:
        reason = next((stage.reason for stage in asked.stages if not stage.passed), "")
        return asked.dropped_at, reason
    if in_quiet_period(message):  # said while the models were asked
        return "sensitive", "crisis_before"
    if now - message.received_at > MOMENT:
        return "interrupted", OVER
    if _open_ids.first(message.author_id, now) is not None:
        return "throttle", "open_question"
    return "", ""


def _question_row(
    task: AskingTask, draft: Draft, number: int, now: datetime, chance: float
) -> Question:
    message = task.message
    order = shuffle_options(draft, f"{message.author.uid.hex} {message.ref} {draft.feature}")
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
            {"id": OPTION_IDS[index], "label": option, "value": draft.values.get(option, "")}
            for index, option in enumerate(order)
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


#: Not at once, when one remembers the click, and not of a message so old that its author has it no
#: more before their eyes: the question is about that one.
AFTER, WITHIN = timedelta(minutes=5), timedelta(minutes=30)
#: For authors who are to be paid and not proven yet.
SHARE_UNPROVEN = 0.2
#: Of options by their place; they tell nothing of what is predicted.
OPTION_IDS = "abcdefgh"


def repeated_question(
    message: Message, *, number: int, now: datetime, expires_at: datetime
) -> list[Question]:
    """A repeated question as the last of a survey; in most surveys none.

    It is about the same message as the first time. Its answer is compared with the first one and
    makes no label.
    """
    site = message.author.site
    draw = sampling_draw(site.public_key, message.author.uid.hex, f"again {message.ref}")
    if draw >= reask_share(message.author) or number > site.most_questions:
        return []
    answered = (
        Answer.objects.standing()
        .filter(
            author=message.author_id,
            outcome=Answer.Outcome.ANSWER,
            question__kind=Question.Kind.CHOICE,
            question__reask_of__isnull=True,
            question__reasked_as__isnull=True,
            received_at__lt=now - AFTER,
            question__message__conversation=message.conversation_id,
            question__message__received_at__gt=now - WITHIN,
        )
        .select_related("question__feature", "question__message")
        .order_by("-pk")
        .first()
    )
    if answered is None:
        return []
    return [_repeated(answered.question, message, number, expires_at)]


def reask_share(author: Author) -> float:
    """Share of the author's surveys that repeat a question: higher for authors who earn rewards,
    until enough answers are there to judge them by."""
    site = author.site
    unproven = site.reward_cents and author.verified and not author.proven
    return max(site.reask_share, SHARE_UNPROVEN) if unproven else site.reask_share


def _repeated(first: Question, message: Message, number: int, expires_at: datetime) -> Question:
    by_label = {option["label"]: option for option in first.options}
    again = Draft(
        first.feature.key, first.kind, first.text, tuple(by_label),
        ordinal=first.feature.parsed.ordinal,
    )  # fmt: skip
    order = shuffle_options(again, f"again {message.author.uid.hex} {message.ref}")
    return Question(
        site_id=first.site_id,
        author_id=first.author_id,
        message=message,
        about_ref=first.message.ref,
        feature_id=first.feature_id,
        number=number,
        kind=first.kind,
        text=first.text,
        options=[by_label[label] | {"id": OPTION_IDS[index]} for index, label in enumerate(order)],
        predicted=first.predicted,
        language=first.language,
        source=first.source,
        prompt_hash=first.prompt_hash,
        min_ms=first.min_ms,
        propensity=reask_share(message.author),
        reask_of=first,
        expires_at=expires_at,
    )


#: Early clicks on one question: how many are stored with their time, and how many are counted.
MOST_TOLD, MOST_COUNTED = 3, 1000


def next_question(author: Author) -> Question | None:
    """The author's next open question, marked as sent. The next one comes when this one is answered
    or dismissed."""
    if author.opted_out_at is not None:
        return None
    now = timezone.now()
    question = _next_open.first(author.pk, now)
    if question is not None and question.pushed_at is None:
        # The first socket sets the time; the other one sends the same question.
        if _mark_pushed(question.pk, now):
            question.pushed_at, question.status = now, Question.Status.PUSHED
        else:
            question.refresh_from_db(fields=["pushed_at", "status"])
    # It may have been withdrawn since the query.
    return question if question is not None and question.status in OPEN else None


@prepared
def _open_ids(author: int, now: datetime) -> QuerySet[Question, tuple[int]]:
    return Question.objects.filter(author=author).open(now).values_list("pk")[:1]


@prepared
def _next_open(author: int, now: datetime) -> QuerySet[Question]:
    waiting = Question.objects.filter(author=author).open(now)
    return waiting.select_related("message__conversation", "site")[:1]


@prepared_update
def _mark_pushed(question: int, now: datetime) -> Update:
    waiting = Question.objects.filter(
        pk=question, pushed_at__isnull=True, status=Question.Status.WAITING
    )
    return waiting, {"pushed_at": now, "status": Question.Status.PUSHED}


@prepared_update
def mark_shown(author: int, uid: UUID, moment: datetime) -> Update:
    """Store when the widget first showed the question; unknown questions are ignored."""
    sent = Question.objects.filter(uid=uid, author=author, pushed_at__isnull=False)
    pushed = Case(
        When(status=Question.Status.PUSHED, then=Value(Question.Status.SHOWN)),
        default="status",
    )
    return sent.filter(shown_at__isnull=True), {"shown_at": moment, "status": pushed}


def note_early(author: Author, uid: UUID, ms: int) -> None:
    """Record a click that came before the question could be read: a signal, not an answer."""
    with transaction.atomic():
        if lock_author(author.pk) is None:
            return
        question = Question.objects.filter(uid=uid, author=author).first()
        if question is not None:
            count_early(question, Event.Kind.EARLY, {"ms": ms})


def count_early(question: Question, kind: str, data: dict[str, object]) -> None:
    """Count an early click; only the first few become events, or clicks could fill the disk."""
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
    """Expire questions whose time is over; returns how many."""
    late = Question.objects.filter(status__in=OPEN, expires_at__lt=now)
    # Checked first: this runs every few seconds, and an update would lock the database.
    if not late.exists():
        return 0
    return late.update(status=Question.Status.EXPIRED, closed_at=now)
