"""What one message to its question, and what follows it, costs in statements and commits."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.authors.consumers.handlers import _dismiss, _store_and_claim
from apps.authors.errors import OptedOut
from apps.authors.models import Author, DailyUse, Message, Question, SiteUse
from apps.authors.selectors.sites import known_site
from apps.authors.services.authors import opt_out
from apps.authors.services.message_lease import AskingTask
from apps.authors.services.messages import RECENT, Incoming, store_message
from apps.authors.services.questions import interview, mark_shown, store_questions
from apps.dashboards.demo_site import Offline
from tests.factories.authors import TEXT, author_of, message_of, site_with_features

pytestmark = pytest.mark.django_db(transaction=True)

ORDERS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


@dataclass
class Cost:
    """Statements and commits of the steps so far."""

    steps: dict[str, tuple[int, int]]

    def of(self, step: str, work: Callable[[], Any]) -> Any:
        with CaptureQueriesContext(connection) as caught:
            result = work()
        sql = [query["sql"] for query in caught.captured_queries]
        statements = sum(not line.startswith(ORDERS) for line in sql)
        self.steps[step] = (statements, sql.count("COMMIT"))
        return result


def sent(author: Author, ref: str, text: str = TEXT, *, ask: bool = True) -> AskingTask | None:
    incoming = Incoming(ref=ref, conversation="talk", role="author", text=text, language="en")
    return _store_and_claim(author.pk, known_site(author.site.public_key), incoming, ask)[1]


def test_each_step_takes_few_statements_and_one_commit() -> None:
    author = author_of(site_with_features(most_questions=1, reask_share=0.0))
    sent(author, "first")  # the conversation, the day's rows, what a process remembers
    Question.objects.update(status=Question.Status.EXPIRED)
    cost = Cost({})
    task = cost.of("stored and claimed", lambda: sent(author, "second", f"{TEXT} A red one."))
    asked = asyncio.run(interview(task, Offline(), []))
    (question,) = cost.of("question stored", lambda: store_questions(task, asked, 0, 2, send=True))
    cost.of("shown", lambda: mark_shown(author.pk, question.uid, timezone.now()))
    cost.of("dismissed", lambda: _dismiss(author, question.uid, "timeout"))
    assert cost.steps == {
        "stored and claimed": (11, 1),
        "question stored": (6, 1),
        "shown": (1, 0),
        "dismissed": (4, 1),
    }


def test_a_message_that_is_sent_again_is_one_however_late(author: Author) -> None:
    texts = [f"Which of these {number} lamps is the warmest one?" for number in range(RECENT + 2)]
    for number, text in enumerate(texts):
        sent(author, f"m-{number}", text)
    for number in (0, RECENT):
        again = Incoming(ref=f"m-{number}", conversation="talk", role="author", text=texts[number])
        assert not store_message(author.site, author.pk, again).fresh
    assert Message.objects.count() == len(texts)


def test_of_who_opted_out_at_that_moment_nothing_is_stored(author: Author) -> None:
    opt_out(author)
    with pytest.raises(OptedOut):
        sent(author, "late")
    assert not Message.objects.exists()


def test_a_message_beyond_the_limits_is_stored_and_no_call_is_counted() -> None:
    author = author_of(site_with_features(calls_per_day=1))
    assert sent(author, "first") is not None
    assert sent(author, "second", f"{TEXT} A red one.") is None
    dropped = Message.objects.get(ref="second")
    assert (dropped.dropped_at, dropped.status) == ("budget", Message.Status.DROPPED)
    # The person is not charged for what the site had no room for.
    assert list(DailyUse.objects.values_list("count", flat=True)) == [1]
    assert list(SiteUse.objects.values_list("calls", "refused")) == [(1, 1)]


def test_a_worker_is_left_what_a_socket_has_no_turn_for(author: Author) -> None:
    assert sent(author, "busy", ask=False) is None
    message = Message.objects.get()
    assert (message.status, message.lease_until) == (Message.Status.RECEIVED, None)
    assert message_of(author, ref="busy") == message
