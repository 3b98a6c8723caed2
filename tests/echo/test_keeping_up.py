"""Rounds of learning over all sites, how far each has learnt, and making a state anew."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.authors.models import Answer
from apps.authors.services.trust import set_ruling
from apps.common.jobs import ensure_jobs, waiting_jobs
from apps.common.models import Job
from apps.echo.models import Echo, LogEvent, ModelState
from apps.echo.selectors.learning import counted_events, status_of
from apps.echo.services import events
from apps.echo.services.configuration import freeze
from apps.echo.services.events import gather_answers, log_events
from apps.echo.services.learning import KIND, echoes_with_news, keep_up_with, rebuild_state
from labelhub.core.echo.events import Event, Frozen, Restored, Rewarded, Withdrawn
from labelhub.core.errors import Conflict
from tests.cases import all_cases
from tests.factories.authors import author_of, site_with_features
from tests.factories.echo import (
    TEXT,
    answer,
    answers_about,
    ask_author,
    echo_of,
    learnt_digest,
    log_answers,
)
from tests.factories.offers import decision_of

pytestmark = pytest.mark.django_db

HOUR, WEEK = timedelta(hours=1), timedelta(days=7)


def answered(echo: Echo, text: str = TEXT) -> Answer:
    author = author_of(echo.site)
    return answer(
        author, next(question for question in ask_author(author, text) if question.options)
    )


def learn() -> int:
    """A round in which workers do all there is; how many events they learnt from."""
    ensure_jobs(KIND, news())
    return sum(keep_up_with(Echo.objects.get(pk=key)) for key in waiting_jobs(KIND))


def queries_of_a_round() -> int:
    with CaptureQueriesContext(connection) as seen:
        ensure_jobs(KIND, news())
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
    author = author_of(echo.site)
    for text in (TEXT, "A normal price is fine for the lamp. My daughter would like one."):
        given = next(question for question in ask_author(author, text) if question.options)
        answer(author, given)
        author.questions.exclude(status="answered").update(status="skipped")
    learn()
    monkeypatch.setattr(events, "AT_ONCE", 1)
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
    queries = queries_of_a_round()
    for _ in range(10):
        answered(echo_of())
    learn()
    assert queries_of_a_round() == queries
    assert queries <= 9


@pytest.fixture
def rewarded_echo() -> Echo:
    """Five answers, then three rewards: events 1 to 8."""
    made = echo_of(name="Corner shop")
    log_answers(made, "urgency", [(0.0, 0.5)] * 5)
    log_events(
        made, [(Rewarded(f"reward-{number}", "a", True, (), 1.0), None) for number in range(3)]
    )
    keep_up_with(made)
    return Echo.objects.get(pk=made.pk)


def counted(rewarded_echo: Echo) -> tuple[int, int]:
    """Answers and rewards that count, once the worker has counted from the log."""
    keep_up_with(rewarded_echo)
    status = status_of(Echo.objects.get(pk=rewarded_echo.pk))
    return status["answers"], status["rewards"]


def test_what_came_while_it_was_frozen_does_not(rewarded_echo: Echo) -> None:
    freeze(rewarded_echo, on=True)
    log_answers(rewarded_echo, "budget", [(1.0, 0.5)] * 2)
    assert status_of(rewarded_echo)["frozen"]
    freeze(rewarded_echo, on=False)
    log_answers(rewarded_echo, "format", [(1.0, 0.5)])
    assert counted(rewarded_echo) == (6, 3)
    assert not status_of(rewarded_echo)["frozen"]


def test_what_was_withdrawn_does_not_until_it_is_restored(rewarded_echo: Echo) -> None:
    first, second = rewarded_echo.log.filter(kind="answered").values_list("ref", flat=True)[:2]
    log_events(rewarded_echo, [(Withdrawn("w-1", first), None), (Withdrawn("w-2", second), None)])
    log_events(
        rewarded_echo, [(Withdrawn("w-3", "reward-1"), None), (Restored("r-2", second), None)]
    )
    assert counted(rewarded_echo) == (4, 2)


@all_cases(
    ("log", "counted"),
    [
        ("aa", "12"),
        ("aaw", "2"),
        ("aawr", "12"),
        ("aawrw", "2"),
        ("afaata", "16"),
        ("affata", "16"),
        ("afafata", "17"),
        ("aftfaa", "1"),
        ("tafawt", ""),
    ],
)
def test_the_last_word_about_an_event_counts_and_what_came_while_frozen_never_does(
    echo: Echo, log: str, counted: str
) -> None:
    """``a`` is an answer, ``w`` withdraws the first one and ``r`` restores it, ``f`` freezes and
    ``t`` thaws."""
    echo.log.all().delete()
    Echo.objects.update(logged=0)
    first = f"e{log.index('a') + 1}"
    events: dict[str, Callable[[str], Event]] = {
        "a": lambda ref: Rewarded(ref, "ada", True, (), 1.0),
        "w": lambda ref: Withdrawn(ref, first),
        "r": lambda ref: Restored(ref, first),
        "f": lambda ref: Frozen(ref, on=True),
        "t": lambda ref: Frozen(ref, on=False),
    }
    log_events(echo, [(events[kind](f"e{n}"), None) for n, kind in enumerate(log, start=1)])
    found = counted_events(echo, len(log)).order_by("number").values_list("number", flat=True)
    assert "".join(map(str, found)) == counted


def test_who_freezes_what_is_frozen_changes_nothing(rewarded_echo: Echo) -> None:
    stale = Echo.objects.get()
    assert freeze(rewarded_echo, on=True)
    assert not freeze(stale, on=True)
    assert rewarded_echo.log.filter(kind="frozen").count() == 1


@pytest.fixture
def learnt_echo() -> Echo:
    """Thirty answers were learnt."""
    learnt_echo = echo_of()
    log_answers(learnt_echo, "urgency", [(float(number % 2), 0.4) for number in range(30)])
    keep_up_with(learnt_echo)
    return learnt_echo


def rebuilt(public_key: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("rebuild_echo", public_key, stdout=out)
    return out.getvalue()


def test_an_intact_state_stays_the_same(learnt_echo: Echo) -> None:
    before = learnt_digest(learnt_echo)
    printed = rebuilt(learnt_echo.site.public_key)
    assert printed == "Rebuilt from 30 events.\nThe stored state was equal.\n"
    assert learnt_digest(learnt_echo) == before


@pytest.mark.parametrize("damage", [b"\0" * 8, b"cut"])
def test_a_damaged_state_is_replaced(learnt_echo: Echo, damage: bytes) -> None:
    before = learnt_digest(learnt_echo)
    row = ModelState.objects.get(echo=learnt_echo)
    row.packed = bytes(row.packed)[:-8] + damage
    row.save()
    assert "was different" in rebuilt(learnt_echo.site.public_key)
    assert learnt_digest(learnt_echo) == before


def test_while_a_worker_is_learning_it_is_refused(learnt_echo: Echo) -> None:
    until = timezone.now() + timedelta(seconds=30)
    Job.objects.create(kind=KIND, subject=learnt_echo.pk, lease_until=until)
    with pytest.raises(Conflict, match="try again"):
        rebuild_state(learnt_echo)


def test_a_site_that_never_had_echo_on_is_refused() -> None:
    with pytest.raises(CommandError, match="never on"):
        rebuilt(site_with_features().public_key)
