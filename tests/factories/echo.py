"""Sites whose Echo is on, and answers given there as authors give them."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.authors.models import Answer, Author, Conversation, Message, Question, Site
from apps.authors.services.answers import SubmittedAnswer, record_answer
from apps.authors.services.message_lease import claim_message
from apps.authors.services.questions import Models, interview, store_questions
from apps.echo.models import Echo, Scored
from apps.echo.services import prediction
from apps.echo.services.configuration import switch_echo
from apps.echo.services.events import log_events
from apps.echo.services.selection import forget_known
from apps.echo.states import stored_state
from apps.llm.models import ModelSpec
from labelhub.core.echo.events import Answered
from labelhub.core.echo.state import digest
from labelhub.core.echo.vectors import vector_of
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.types import Call, Completion
from tests.factories.authors import asked, message_of, site_with_features

#: What an author writes, another one who means nearly the same, and one who means something else.
TEXT = "I need a tent, it must not cost too much, what would you buy?"
NEAR = "We need a tent by Friday evening for the lake, what would you take?"
FAR = "Which lamp is bright enough for reading books at night in bed?"


class Offline:
    """The offline model, without the threads of a gateway."""

    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """Its answer."""
        return await OfflineModel().complete(call)


class Playing(Offline):
    """The offline model, but for calls of some roles, which it answers as told; it keeps all.

    Args:
        roles: by role, what is said to a call of it.
    """

    def __init__(self, **roles: Callable[[Call], str | Completion]) -> None:
        self.roles, self.calls = roles, list[Call]()

    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """What it was told to say."""
        self.calls.append(call)
        if call.role not in self.roles:
            return await super().complete(spec, call)
        reply = self.roles[call.role](call)
        return reply if isinstance(reply, Completion) else Completion(reply)

    def of_role(self, role: str) -> dict[str, Call]:
        """Its calls of that role by the last part of their step."""
        return {call.step.split("/")[1]: call for call in self.calls if call.role == role}


def echo_of(site: Site | None = None, **fields: Any) -> Echo:
    """A site with Echo on."""
    echo = switch_echo(site or site_with_features(**fields), on=True)
    Echo.objects.filter(pk=echo.pk).update(created_at=timezone.now() - timedelta(days=1))
    echo.refresh_from_db()
    # An earlier test's site may have had its number.
    forget_known(echo.site_id)
    forget_examples(echo.site_id)
    return echo


def learnt_digest(echo: Echo) -> str:
    """The digest of what is stored now."""
    return digest(stored_state(Echo.objects.get(pk=echo.pk)))


def forget_examples(site_id: int) -> None:
    """Look at that site's answers anew the next time."""
    prediction._cached.pop(site_id, None)


def ask_author(
    author: Author, text: str, models: Models | None = None, **fields: Any
) -> list[Question]:
    """What an author is asked after writing ``text``, by the offline model unless by others;
    ``fields`` are those of the message."""
    forget_known(author.site_id)
    forget_examples(author.site_id)
    task = claim_message(message_of(author, text, **fields))
    assert task is not None, "nothing may be asked of this author now"
    spent: list[int] = []
    found = asyncio.run(interview(task, models or Offline(), spent))
    return store_questions(task, found, sum(spent))


def processed(author: Author, text: str) -> Message:
    """A message that the asking is through with, by the offline model, and no question left open:
    the author's next message can be asked about too."""
    message = message_of(author, text)
    task = claim_message(message) if message.status == Message.Status.RECEIVED else None
    if task is not None:
        spent: list[int] = []
        store_questions(task, asyncio.run(interview(task, Offline(), spent)), sum(spent))
        Question.objects.filter(message=message).delete()
    return message


def labelled(author: Author, text: str, key: str, value: str, **fields: Any) -> Answer:
    """What an author answered about one feature of what they wrote; a word where it has no
    options."""
    (question,) = asked(author, text, features=[key], **fields)
    ids = {option["value"]: option["id"] for option in question.options}
    if not ids:
        return answer(author, question, "", word=value)
    return answer(author, question, ids[value])


def answer(author: Author, question: Question, option: str = "a", **fields: Any) -> Answer:
    """An answer given a minute after the question, long enough ago that it stands."""
    asked = timezone.now() - timedelta(minutes=2)
    Question.objects.filter(pk=question.pk).update(pushed_at=asked, shown_at=asked)
    given: dict[str, Any] = {"ref": f"answer-{question.pk}", "option": option, **fields}
    return record_answer(
        author, question.uid, SubmittedAnswer(**given), consent=None, received=_later(asked)
    )


def _later(moment: datetime) -> datetime:
    return moment + timedelta(minutes=1)


def answers_about(echo: Echo, key: str, count: int, authors: int = 0) -> list[Answer]:
    """So many answers about one feature, the values in turn, by so many authors (each by one of
    their own without a number); written at once, as they stand a while after they were given."""
    feature = echo.site.features.get(key=key)
    writers = Author.objects.bulk_create(Author(site=echo.site) for _ in range(authors or count))
    talks = Conversation.objects.bulk_create(
        Conversation(author=writer, ref="talk") for writer in writers
    )
    given: list[Answer] = []
    for number in range(count):
        writer, values = writers[number % len(writers)], feature.parsed.values
        message = Message.objects.create(
            author=writer, conversation=talks[number % len(writers)], ref=f"many-{number}",
            role="author", text=f"What would you take, number {number}?", status="asked",
        )  # fmt: skip
        question = Question.objects.create(
            site=echo.site, author=writer, message=message, feature=feature, kind="choice",
            text="Which?", language="en", min_ms=1, status="answered",
            options=[{"id": "a", "label": values[number % len(values)], "value": ""}],
            expires_at=timezone.now(),
        )  # fmt: skip
        given.append(
            Answer(
                question=question,
                author=writer,
                ref=f"many-{number}",
                outcome="answer",
                position=0,
                value=values[number % len(values)],
                server_ms=5000,
                timing="ok",
                received_at=timezone.now() - timedelta(hours=1),
            )
        )
    return Answer.objects.bulk_create(given)


def log_answers(echo: Echo, feature: str, scores: Sequence[tuple[float, float]]) -> None:
    """Answers about a feature as the log has them, each (loss, σ told before); nobody gave them."""
    events = [_answered(echo, feature, number, loss) for number, (loss, _) in enumerate(scores)]
    log_events(echo, [(event, None) for event in events])
    rows = echo.log.filter(ref__in=[event.id for event in events]).order_by("number")
    Scored.objects.bulk_create(
        Scored(event=row, echo=echo, number=row.number, feature=feature, loss=loss, sigma=sigma)
        for row, (loss, sigma) in zip(rows, scores, strict=True)
    )


def _answered(echo: Echo, feature: str, number: int, loss: float) -> Answered:
    return Answered(
        id=f"{feature}-{echo.logged + number}",
        author=f"author-{number % 7}",
        trusted=True,
        feature=feature,
        value="a" if loss < 0.5 else "b",
        predicted="a",
        loss=loss,
        signs=(1.0, 0.4, 0.1, 0.2, -0.4, 0.5),
        vector=vector_of(f"words of {feature} {number}"),
        values=("a", "b", "c"),
    )
