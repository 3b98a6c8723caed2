"""Rounds of learning over all sites: what has happened is found, and quiet sites cost nothing."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.authors.models import Answer
from apps.authors.services.trust import set_ruling
from apps.common.jobs import waiting_jobs
from apps.echo.models import Echo, LogEvent
from apps.echo.services import events
from apps.echo.services.events import gather_answers
from apps.echo.services.learning import KIND, echoes_with_news, keep_up, keep_up_with
from tests.factories.authors import author_of
from tests.factories.echo import TEXT, answer, answers_about, ask_author, echo_of
from tests.factories.offers import decision_of

pytestmark = pytest.mark.django_db

HOUR, WEEK = timedelta(hours=1), timedelta(days=7)


def answered(echo: Echo, text: str = TEXT) -> Answer:
    author = author_of(echo.site)
    return answer(author, next(each for each in ask_author(author, text) if each.options))


def learn() -> int:
    """A round in which workers do all there is; how many events they learnt from."""
    keep_up()
    return sum(keep_up_with(Echo.objects.get(pk=key)) for key in waiting_jobs(KIND))


def queries_of_a_round() -> int:
    with CaptureQueriesContext(connection) as seen:
        keep_up()
    return len(seen)


def news(within: timedelta = WEEK, *, trust: bool = True) -> set[int]:
    return echoes_with_news(timezone.now(), within, trust=trust)


def test_answers_of_which_nothing_was_expected_do_not_hold_up_the_others(
    echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "AT_ONCE", 2)
    answers_about(echo, echo.site.features.asked()[0].key, 3)
    expected = answered(echo)
    assert gather_answers(echo, timezone.now()) == 1
    assert echo.log.get(kind="answered").ref == f"answer-{expected.pk}"


def test_a_site_where_something_happened_is_found_and_the_others_are_not(echo: Echo) -> None:
    quiet = echo_of()
    learn()
    assert news() == set()
    answered(echo)
    assert news(trust=False) == {echo.pk}
    assert learn() == 1
    assert news() == set()
    assert quiet.logged == 0


def test_what_is_older_is_found_when_one_looks_further_back(echo: Echo) -> None:
    learn()
    Answer.objects.filter(pk=answered(echo).pk).update(received_at=timezone.now() - 2 * HOUR)
    assert news(HOUR) == set()
    assert news(WEEK) == {echo.pk}


def test_an_offer_is_news_once_it_was_clicked_or_its_time_is_over(echo: Echo) -> None:
    learn()
    author, now = author_of(echo.site), timezone.now()
    ask_author(author, TEXT)
    chosen = echo.selections.get()
    made = decision_of(echo, author, now - HOUR / 10, selection=chosen, shown_at=now - HOUR / 10)
    assert news() == set()
    Echo.objects.update(reward_minutes=5)
    assert news() == {echo.pk}
    Echo.objects.update(reward_minutes=30)
    made.events.create(kind="clicked", ref="c1")
    assert news() == {echo.pk}


@pytest.mark.thorough
def test_everything_of_who_is_not_believed_is_withdrawn_in_one_round(
    echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "AT_ONCE", 1)
    author = author_of(echo.site)
    for text in (TEXT, "A normal price is fine for the lamp. My daughter would like one."):
        given = next(each for each in ask_author(author, text) if each.options)
        answer(author, given)
        author.questions.exclude(status="answered").update(status="skipped")
    learn()
    set_ruling(author, trusted=False, reason="clicks without reading")
    assert news(trust=False) == set()
    learn()
    assert LogEvent.objects.filter(kind="withdrawn").count() == 2
    assert news() == set()
    set_ruling(author, trusted=True, reason="was a test")
    learn()
    assert LogEvent.objects.filter(kind="restored").count() == 2
    assert news() == set()


@pytest.mark.thorough
def test_eleven_quiet_sites_cost_as_many_queries_as_one(echo: Echo) -> None:
    answered(echo)
    learn()
    one = queries_of_a_round()
    for _ in range(10):
        answered(echo_of())
    learn()
    assert queries_of_a_round() == one
    assert one <= 9
