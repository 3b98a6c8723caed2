"""What is kept in order every few seconds, what is loaded ahead, and that looking costs little."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.authors import tasks
from apps.authors.models import Author, Message, Question
from apps.authors.selectors import messages, sites
from apps.authors.selectors.messages import authors_to_wake
from apps.authors.services.message_lease import prompts, unfinished_messages
from apps.authors.services.messages import screen_text
from apps.authors.services.questions import expire_questions, mark_shown, next_question
from apps.authors.tasks import warm_up
from labelhub.core.interview.language import detect_language
from tests.factories.authors import asked, author_of, message_of, site_with_features

pytestmark = pytest.mark.django_db


def test_questions_whose_moment_is_over_are_closed(author: Author) -> None:
    asked(author)
    assert expire_questions(timezone.now()) == 0
    assert expire_questions(timezone.now() + timedelta(minutes=11)) == 2
    assert set(Question.objects.values_list("status", flat=True)) == {"expired"}
    assert next_question(author) is None


def test_authors_are_woken_for_questions_that_nobody_brought(author: Author) -> None:
    stranger = author_of(author.site)
    asked(author)
    assert authors_to_wake([author.pk, stranger.pk]) == [author.pk]
    next_question(author)
    assert authors_to_wake([author.pk, stranger.pk]) == []


def test_strangers_who_are_not_here_hide_nobody(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "AT_ONCE", 2)
    for _ in range(3):
        asked(author_of(author.site))
    asked(author)
    others = [author_of(author.site).pk for _ in range(3)]
    assert authors_to_wake([*others, author.pk]) == [author.pk]


def test_the_first_time_a_question_was_shown_counts(author: Author) -> None:
    asked(author)
    question = next_question(author)
    assert question is not None
    first = timezone.now()
    mark_shown(author.pk, question.uid, first)
    mark_shown(author.pk, question.uid, first + timedelta(seconds=5))
    question.refresh_from_db()
    assert (question.shown_at, question.status) == (first, Question.Status.SHOWN)


def test_nobody_says_what_was_shown_to_others(author: Author) -> None:
    asked(author)
    question = next_question(author)
    assert question is not None
    mark_shown(author_of(author.site).pk, question.uid, timezone.now())
    question.refresh_from_db()
    assert question.shown_at is None


def test_a_site_is_told_whatever_others_forget_meanwhile(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(dict[str, sites.KnownSite]):
        def __setitem__(self, key: str, known: sites.KnownSite) -> None:
            """Another thread clears it at once."""

    monkeypatch.setattr(sites, "_known", Forgetful())
    assert sites.known_site(author.site.public_key).site == author.site


def test_a_quiet_round_writes_nothing_and_reads_by_indexes(author: Author) -> None:
    asked(author)
    Message.objects.filter(pk=message_of(author, "A tent for two, please.").pk).update(
        status=Message.Status.DROPPED
    )
    tasks.run_housekeeping()
    with CaptureQueriesContext(connection) as round_:
        tasks.run_housekeeping()
        unfinished_messages()
        authors_to_wake([author.pk])
    statements = [query["sql"] for query in round_]
    assert len(statements) <= 4
    assert all(statement.startswith("SELECT") for statement in statements)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
                plan = " ".join(str(row) for row in cursor.fetchall())
                assert "INDEX" in plan, statement


def test_prompts_are_read_where_there_is_a_site() -> None:
    site_with_features()
    prompts.cache_clear()
    with patch.object(tasks, "screen_text", wraps=screen_text) as screened:
        warm_up()
    assert screened.call_count == 1
    assert prompts.cache_info().currsize == 1
    assert detect_language("Ich suche eine Lampe", ["de", "en"], "en") == "de"


def test_nothing_is_loaded_where_nobody_could_wait() -> None:
    site_with_features(enabled=False)
    with patch.object(tasks, "screen_text") as screened:
        warm_up()
    assert not screened.called
