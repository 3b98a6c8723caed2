"""From a message to its questions: the models are asked, and what they say is stored."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from apps.authors import tasks
from apps.authors.models import Author, Message, Question, Site, SiteUse
from apps.authors.services import questions
from apps.authors.services.authors import opt_out
from apps.authors.services.message_lease import AskingTask, claim_message, unfinished_messages
from apps.authors.services.messages import LEASE
from apps.authors.services.privacy import erase_author
from apps.authors.services.questions import OpenModels, ask_about, ask_now, next_question
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from labelhub.core.llm.errors import ModelError, ModelUnreachable
from labelhub.core.llm.types import Call, Completion, Usage
from tests.factories.authors import asked, author_of, message_of, site_with_features
from tests.factories.llm import ModelSpecFactory

# The models' side runs in threads of its own, which see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)

WISH = "Please help me decide which cheap laptop to buy, it is for college."
Answer = Callable[[Call], str]


def models(answer: Answer | ModelError) -> OpenModels:
    """Models that answer as the test wants."""

    class Scripted:
        async def complete(self, spec: ModelSpec, call: Call) -> Completion:
            if isinstance(answer, ModelError):
                raise answer
            return Completion(text=answer(call), usage=Usage(tokens_in=100, tokens_out=20))

    @asynccontextmanager
    async def opened(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Scripted]:
        yield Scripted()

    return opened


def ask(task: AskingTask, open_models: OpenModels) -> list[Question]:
    return async_to_sync(ask_about)(task, open_models)


def taken_up(author: Author, text: str = WISH) -> AskingTask:
    task = claim_message(message_of(author, text))
    assert task is not None
    return task


def sensible(call: Call) -> str:
    """A model that finds urgency relevant and words the questions as their templates do."""
    if call.step == "relevance":
        return "Final Decision: ordinary message, Urgency"
    if call.step.startswith("prediction"):
        return f"Final Decision: {call.schema.labels[0].name}"
    ready = call.inputs["template"]
    lines = [f"- {words}" for words in ready["options"]]
    return "\n".join([f"Question: {ready['question']}", "Options:", *lines])


def test_where_nothing_is_kept_nothing_the_models_found_is_kept_either() -> None:
    site = site_with_features(keep_text=Site.KeepText.NOTHING, least_relevant=3)
    message = message_of(author_of(site), "What is the capital city of France, and how old is it?")
    assert ask_now(message.pk) == []
    message.refresh_from_db()
    assert message.text == ""
    assert [stage["data"] for stage in message.stages] == [{}] * len(message.stages)


def test_one_question_is_sent_at_a_time(author: Author) -> None:
    first, second, *_ = asked(author)
    assert next_question(author) == first
    assert next_question(author) == first
    second.refresh_from_db()
    assert second.pushed_at is None


def test_what_the_models_cost_is_written_down() -> None:
    site = site_with_features(model=ModelSpecFactory.create())
    task = taken_up(author_of(site))
    ask(task, models(lambda _: "Final Decision: none"))
    task.message.refresh_from_db()
    # One call of 100 tokens in and 20 out, at 0.15 and 0.60 USD a million.
    assert task.message.cost_nanousd % 27_000 == 0
    assert task.message.cost_nanousd > 0


def test_models_that_are_too_slow_end_as_a_failure(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        async def complete(self, _spec: ModelSpec, _call: Call) -> Completion:
            await asyncio.sleep(5)
            raise AssertionError("nobody waits so long")

    @asynccontextmanager
    async def opened(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Slow]:
        yield Slow()

    monkeypatch.setattr(questions, "LONGEST", 0.05)
    task = taken_up(author)
    assert ask(task, opened) == []
    task.message.refresh_from_db()
    assert (task.message.status, task.message.dropped_at) == (Message.Status.DROPPED, "model")
    assert "0.05 seconds" in task.message.reason
    assert timedelta(seconds=45) < LEASE


def test_who_has_lost_a_message_to_another_writes_nothing_but_what_it_cost() -> None:
    author = author_of(site_with_features(model=ModelSpecFactory.create()))
    slow = taken_up(author)
    Message.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    again = claim_message(Message.objects.select_related("author__site").get())
    assert again is not None
    assert ask(slow, models(sensible)) == []
    alone = SiteUse.objects.get().cost_nanousd
    assert ask(again, models(sensible))
    assert ask(slow, models(ModelUnreachable("Nobody answers."))) == []
    message = Message.objects.get()
    assert (message.status, message.dropped_at) == (Message.Status.ASKED, "")
    assert message.cost_nanousd == SiteUse.objects.get().cost_nanousd == 2 * alone > 0


def test_what_the_models_say_too_late_is_not_asked(author: Author) -> None:
    task = taken_up(author)
    task.message.received_at -= timedelta(minutes=3)
    assert ask(task, models(sensible)) == []
    task.message.refresh_from_db()
    assert (task.message.dropped_at, task.message.status) == ("interrupted", "dropped")


def test_what_a_killed_process_left_is_taken_up_again(author: Author) -> None:
    task = taken_up(author)
    assert unfinished_messages() == []
    late = timezone.now() - timedelta(seconds=1)
    Message.objects.update(lease_until=late, received_at=late - timedelta(seconds=60))
    assert unfinished_messages() == [task.message.pk]
    assert ask_now(task.message.pk)
    assert unfinished_messages() == []


def test_what_was_left_for_minutes_is_dropped_with_the_reason(author: Author) -> None:
    message = message_of(author, WISH)
    Message.objects.update(received_at=timezone.now() - timedelta(minutes=5))
    assert unfinished_messages() == [message.pk]
    assert ask_now(message.pk) == []
    message.refresh_from_db()
    assert (message.status, message.dropped_at) == (Message.Status.DROPPED, "interrupted")


def test_two_messages_at_once_lead_to_one_survey(author: Author) -> None:
    tasks = [taken_up(author, f"{WISH} {number}") for number in range(2)]
    counts = [len(ask(task, models(sensible))) for task in tasks]
    assert counts[0] > 0
    assert counts[1] == 0
    tasks[1].message.refresh_from_db()
    assert tasks[1].message.reason == "open_question"


def test_a_backlog_is_sent_once(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.ask_about_task, "delay", sent.append)
    waiting = [message_of(author, f"{WISH} {number}").pk for number in range(3)]
    Message.objects.update(received_at=timezone.now() - timedelta(seconds=20))
    assert [tasks.resume_messages() for _ in range(10)] == [3] + [0] * 9
    assert sent == waiting
    Message.objects.update(queued_until=timezone.now() - timedelta(seconds=1))
    assert tasks.resume_messages() == 3


def test_who_opts_out_meanwhile_is_not_asked(author: Author) -> None:
    task = taken_up(author)
    opt_out(author)
    assert ask(task, models(sensible)) == []
    assert not Question.objects.exists()


def test_who_is_erased_meanwhile_leaves_nothing(author: Author) -> None:
    task = taken_up(author)
    erase_author(author)
    assert ask(task, models(sensible)) == []
    assert not Message.objects.exists()
    assert not Question.objects.exists()
