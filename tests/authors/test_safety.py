"""Whom the service asks, with the offline model, one that agrees to everything, and broken ones."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Self

import pytest
from django.utils import timezone

from apps.authors.database import in_database
from apps.authors.models import Author, Message, Question, Site
from apps.authors.services import questions
from apps.authors.services.answers import undo
from apps.authors.services.message_lease import claim_message
from apps.authors.services.questions import ask_about, ask_now, next_question, store_questions
from labelhub.core.interview.calls import JUDGED_DANGER, ORDINARY
from labelhub.core.interview.pipeline import InterviewResult, StageVerdict
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call, Completion, Output
from tests.core.safety.test_safety import PLAIN
from tests.factories.authors import (
    TEXT,
    answered_by,
    asked,
    author_of,
    message_of,
    site_with_features,
)

pytestmark = pytest.mark.django_db(transaction=True)

CRISIS = [text for texts in PLAIN.values() for text in texts[:3]]
OFF_TOPIC = (
    "what is the capital of France?", "asdfghjkl qwertyuiop", "how tall is mount everest",
    "for (int i = 0; i < 10; i++) {\n  sum += i;\n}", "who won the world cup in 1998?",
    "write a haiku about the sea", "lol", "hello there, how are you?", "thank you so much!",
    "sdfkjh sdkfjhsdkf", "what time is it in Tokyo", "12345 67890", "translate dog into French",
)  # fmt: skip


class Scripted:
    """A model whose answers are one function's of the call."""

    def __init__(self, answer: Callable[[Call], str]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def complete(self, spec: object, call: Call) -> Completion:
        self.asked.append(call.step)
        return Completion(self.answer(call))


def agreeable(call: Call) -> str:
    """Says that all is relevant and fine."""
    if call.output == Output.QUESTION:
        return (
            "Question: How did you feel when you wrote this message?\nOptions:\n- a\n- b\n- c\n- d"
        )
    if call.role == "relevance":
        keys = [name for name in call.schema.names if " " not in name]
        return f"Final Decision: {', '.join([ORDINARY, *keys])}"
    return f"Final Decision: {(call.schema.names or ['fine'])[0]}"


def _broken(_: Call) -> str:
    raise ModelError("No answer.")


async def asked_about(message: Message, models: Scripted) -> list[Question]:
    task = await in_database(claim_message, message)
    return await ask_about(task, lambda *_: models) if task else []


def test_nobody_in_danger_is_asked_though_the_model_agrees_to_everything(author: Author) -> None:
    models = Scripted(agreeable)
    wrong = []
    for text in CRISIS:
        message = message_of(author, text)
        if message.dropped_at != "sensitive" or message.text:
            wrong.append(text)
    assert (wrong, models.asked, Question.objects.count()) == ([], [], 0)


async def test_an_ordinary_message_is_asked_about(author: Author) -> None:
    message = await in_database(message_of, author)
    assert await asked_about(message, Scripted(agreeable))


@pytest.mark.parametrize(
    "answer",
    [_broken, lambda _: "", lambda _: "I think it is fine!", lambda _: '{"a": 1}',
     lambda _: "Final Decision: happy", lambda _: "Final Decision: none",
     lambda _: "Final Decision: urgency", lambda _: "Final Decision: unsure what, urgency",
     lambda _: f"Final Decision: {ORDINARY}, spam or noise, urgency"],
)  # fmt: skip
async def test_where_the_model_gives_no_clear_verdict_nothing_is_asked(
    author: Author, answer: Callable[[Call], str]
) -> None:
    models = Scripted(answer)
    message = await in_database(message_of, author)
    assert await asked_about(message, models) == []
    await message.arefresh_from_db()
    assert (message.dropped_at, models.asked) == ("relevance", ["relevance"])
    assert message.reason


async def test_what_a_model_holds_for_a_danger_is_forgotten_and_ends_the_asking(
    author: Author,
) -> None:
    models = Scripted(lambda _: "Final Decision: person in danger")
    first = await in_database(message_of, author, "It all feels a bit grey and slow to me.")
    assert await asked_about(first, models) == []
    await first.arefresh_from_db()
    assert (first.dropped_at, first.reason, first.text) == ("sensitive", JUDGED_DANGER, "")
    second = await in_database(message_of, author)
    assert await asked_about(second, Scripted(agreeable)) == []
    await second.arefresh_from_db()
    assert (second.dropped_at, second.reason) == ("sensitive", "crisis_before")


def test_after_a_crisis_nothing_is_asked_and_nothing_waits(author: Author) -> None:
    asked(author)
    message_of(author, "I want to kill myself")
    assert set(Question.objects.values_list("status", flat=True)) == {Question.Status.RETRACTED}
    Question.objects.all().delete()
    for conversation in ("talk", "another"):
        message = message_of(
            author, "I need a cheap laptop by next week.", conversation=conversation
        )
        assert ask_now(message.pk) == []
        message.refresh_from_db()
        assert message.reason == "crisis_before"


def test_a_crisis_that_comes_while_the_models_are_asked_ends_it(author: Author) -> None:
    message = message_of(author)
    task = claim_message(message)
    assert task is not None
    message_of(author, "i took all the pills")
    stages = (StageVerdict("relevance", passed=True),)
    assert store_questions(task, InterviewResult((), stages)) == []
    message.refresh_from_db()
    assert (message.dropped_at, message.reason) == ("sensitive", "crisis_before")


def test_a_question_that_is_taken_back_while_it_is_looked_for_is_not_sent(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(author)
    push = questions._mark_pushed

    def late(pk: int, now: datetime) -> bool:
        message_of(author, "I want to kill myself")
        return bool(push(pk, now))

    monkeypatch.setattr(questions, "_mark_pushed", late)
    assert questions.next_question(author) is None
    assert set(Question.objects.values_list("status", flat=True)) == {Question.Status.RETRACTED}


def test_an_answer_that_is_undone_after_a_crisis_brings_no_question_back(author: Author) -> None:
    question = answered_by(author)
    answer = question.answers.get()
    message_of(author, "I want to kill myself")
    undo(author, question.uid)
    answer.refresh_from_db()
    question.refresh_from_db()
    assert answer.undone_at is not None
    assert question.status == Question.Status.RETRACTED
    assert next_question(author) is None


def test_what_the_assistant_says_of_a_danger_counts(author: Author) -> None:
    message_of(author, "If you are thinking about suicide, please call 988.", role="assistant")
    message = message_of(author)
    assert ask_now(message.pk) == []
    message.refresh_from_db()
    assert message.reason == "crisis_before"


UNJUDGED = (
    "It all feels a bit grey and slow to me.",
    "The ship has sailed for me, friends.",
)


class Reading(Scripted):
    """Agrees to everything, and keeps what it read to judge a message."""

    def __init__(self) -> None:
        super().__init__(agreeable)
        self.judged: list[str] = []

    async def complete(self, spec: object, call: Call) -> Completion:
        if call.role == "relevance":
            self.judged.append(str(call.messages[-1].content))
        return await super().complete(spec, call)


@pytest.mark.parametrize("last", ["talk", "another"])
async def test_what_the_throttle_dropped_is_judged_with_what_is_asked_about(last: str) -> None:
    author = await in_database(author_of, await in_database(site_with_features, every_messages=3))
    models = Reading()
    for text in UNJUDGED:
        assert await asked_about(await in_database(message_of, author, text), models) == []
    message = await in_database(message_of, author, conversation=last)
    assert await asked_about(message, models)
    (judged,) = models.judged
    assert all(text in judged for text in UNJUDGED)


async def test_what_was_judged_on_its_own_is_not_judged_again(author: Author) -> None:
    models = Reading()
    first = await in_database(message_of, author)
    assert await asked_about(first, models)
    await Question.objects.all().aupdate(status="skipped")
    text = "Which lamp would you take for the kitchen?"
    await asked_about(await in_database(message_of, author, text, conversation="another"), models)
    assert len(models.judged) == 2
    assert TEXT not in models.judged[1]


async def test_nothing_is_asked_after_what_nobody_judged_and_nobody_can() -> None:
    site = await in_database(site_with_features, every_messages=3, keep_text=Site.KeepText.NOTHING)
    author = await in_database(author_of, site)
    models = Scripted(agreeable)
    for text in UNJUDGED:
        await asked_about(await in_database(message_of, author, text), models)
    message = await in_database(message_of, author)
    assert await asked_about(message, models) == []
    await message.arefresh_from_db()
    assert (message.dropped_at, message.reason) == ("throttle", "not_judged")
    await Message.objects.all().aupdate(received_at=timezone.now() - timedelta(minutes=6))
    later = await in_database(message_of, author, f"{TEXT} A red one.")
    assert await asked_about(later, models)


def test_off_topic_messages_are_not_asked_about(author: Author) -> None:
    asked_about = [text for text in OFF_TOPIC if ask_now(message_of(author, text).pk)]
    assert asked_about == []
