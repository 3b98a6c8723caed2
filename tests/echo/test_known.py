"""What a state goes by: what was rolled back, frozen out or withdrawn is logged and not counted."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.roles import Role
from apps.echo.models import Echo
from apps.echo.selectors.known import kept_states, known_of, merged
from apps.echo.services.learning import learn_from_log
from apps.echo.services.logging import log
from apps.echo.services.switching import freeze, roll_back
from apps.echo.states import stored_state, take_snapshot
from labelhub.core.echo.events import Restored, Rewarded, Withdrawn
from tests.authors.pages.conftest import browser
from tests.authors.pages.reading import page, words
from tests.factories.echo import echo_of, log_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    """Five answers, then three rewards: events 1 to 8."""
    made = echo_of(name="Corner shop")
    log_answers(made, "urgency", [(0.0, 0.5)] * 5)
    log(made, [(Rewarded(f"reward-{at}", "a", True, (), 1.0), None) for at in range(3)])
    learn_from_log(made)
    return Echo.objects.get(pk=made.pk)


def learnt(echo: Echo) -> tuple[int, int]:
    """Answers and rewards that it goes by, once the worker has been at it."""
    learn_from_log(echo)
    known = known_of(Echo.objects.get(pk=echo.pk))
    return known.answers, known.rewards


def test_all_counts_until_it_is_rolled_back(echo: Echo) -> None:
    assert learnt(echo) == (5, 3)
    roll_back(echo, to=3)
    assert learnt(echo) == (3, 0)
    known = known_of(Echo.objects.get())
    assert (known.answers_logged, known.rewards_logged) == (5, 3)
    assert known.back is not None
    assert (known.back.to, known.back.number) == (3, 9)
    assert known.back.until == echo.log.get(number=3).at


def test_what_comes_after_a_roll_back_counts(echo: Echo) -> None:
    roll_back(echo, to=0)
    log_answers(echo, "budget", [(1.0, 0.5)] * 2)
    assert learnt(echo) == (2, 0)
    roll_back(echo, to=7)
    assert learnt(echo) == (0, 0)


def test_what_came_while_it_was_frozen_does_not(echo: Echo) -> None:
    freeze(echo, on=True)
    log_answers(echo, "budget", [(1.0, 0.5)] * 2)
    assert known_of(echo).frozen
    freeze(echo, on=False)
    log_answers(echo, "format", [(1.0, 0.5)])
    assert learnt(echo) == (6, 3)
    assert not known_of(echo).frozen


def test_what_was_withdrawn_does_not_until_it_is_restored(echo: Echo) -> None:
    first, second = echo.log.filter(kind="answered").values_list("ref", flat=True)[:2]
    log(echo, [(Withdrawn("w-1", first), None), (Withdrawn("w-2", second), None)])
    log(echo, [(Withdrawn("w-3", "reward-1"), None), (Restored("r-2", second), None)])
    assert learnt(echo) == (4, 2)
    roll_back(echo, to=3)
    assert learnt(echo) == (2, 0)


def test_each_stored_state_tells_how_far_it_reaches(echo: Echo) -> None:
    take_snapshot(echo, stored_state(echo), 8)
    roll_back(echo, to=4)
    learn_from_log(echo)
    take_snapshot(echo, stored_state(echo), 4)
    (kept,) = kept_states(echo)
    assert (kept.number, kept.answers, kept.rewards, kept.stored) == (4, 4, 0, True)
    assert kept.until == echo.log.get(number=4).at


def test_the_end_of_each_day_can_be_gone_back_to(echo: Echo) -> None:
    yesterday = timezone.now() - timedelta(days=1)
    echo.log.filter(number__lte=6).update(at=yesterday)
    (kept,) = kept_states(echo)
    assert (kept.number, kept.answers, kept.rewards, kept.stored) == (6, 5, 1, False)
    assert kept.until == yesterday


def test_the_page_tells_what_a_roll_back_did(echo: Echo) -> None:
    take_snapshot(echo, stored_state(echo), 2)
    manager = browser(echo.site, Role.MANAGER)
    before = _page(manager, echo)
    assert "Rolled back" not in before
    assert re.search(
        r"the states that are stored.* 8 now 5 3 2 \d.* stored 2 0 0 nothing 0 0", before
    )
    roll_back(echo, to=2)
    learn_from_log(echo)
    after = _page(manager, echo)
    assert re.search(r"Rolled back .{9,20} UTC to event 2 of .{9,20} UTC", after)
    assert "It goes by 2 of the 5 answers and 0 of the 3 rewards" in after


def test_ranges_are_put_together() -> None:
    assert merged([(5, 9), (1, 3), (2, 4), (6, 7)]) == [(1, 4), (5, 9)]
    assert merged([(4, None), (1, 2), (6, 9)]) == [(1, 2), (4, None)]


def _page(client: Client, echo: Echo) -> str:
    return words(client.get(page(echo.site, "echo/")))
