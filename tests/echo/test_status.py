"""How far Echo has learnt: what was frozen out or withdrawn is logged and not counted."""

import pytest

from apps.echo.models import Echo
from apps.echo.selectors.learning import status_of
from apps.echo.services.configuration import freeze
from apps.echo.services.events import log_events
from apps.echo.services.learning import keep_up_with
from labelhub.core.echo.events import Restored, Rewarded, Withdrawn
from tests.factories.echo import echo_of, log_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    """Five answers, then three rewards: events 1 to 8."""
    made = echo_of(name="Corner shop")
    log_answers(made, "urgency", [(0.0, 0.5)] * 5)
    log_events(made, [(Rewarded(f"reward-{at}", "a", True, (), 1.0), None) for at in range(3)])
    keep_up_with(made)
    return Echo.objects.get(pk=made.pk)


def learnt(echo: Echo) -> tuple[int, int]:
    """Answers and rewards that count, once the worker has learnt from the log."""
    keep_up_with(echo)
    status = status_of(Echo.objects.get(pk=echo.pk))
    return status.answers, status.rewards


def test_what_came_while_it_was_frozen_does_not(echo: Echo) -> None:
    freeze(echo, on=True)
    log_answers(echo, "budget", [(1.0, 0.5)] * 2)
    assert status_of(echo).frozen
    freeze(echo, on=False)
    log_answers(echo, "format", [(1.0, 0.5)])
    assert learnt(echo) == (6, 3)
    assert not status_of(echo).frozen


def test_what_was_withdrawn_does_not_until_it_is_restored(echo: Echo) -> None:
    first, second = echo.log.filter(kind="answered").values_list("ref", flat=True)[:2]
    log_events(echo, [(Withdrawn("w-1", first), None), (Withdrawn("w-2", second), None)])
    log_events(echo, [(Withdrawn("w-3", "reward-1"), None), (Restored("r-2", second), None)])
    assert learnt(echo) == (4, 2)


def test_who_freezes_what_is_frozen_changes_nothing(echo: Echo) -> None:
    stale = Echo.objects.get()
    assert freeze(echo, on=True)
    assert not freeze(stale, on=True)
    assert echo.log.filter(kind="frozen").count() == 1
