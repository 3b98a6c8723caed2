"""What is stored is compared with what the log makes, by the worker, one check at a time."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.echo.models import Check, Echo, ModelState
from apps.echo.services.checking import SILENT, carry_out_check, start_check
from apps.echo.services.learning import learn_from_log
from apps.echo.services.switching import freeze
from apps.echo.tasks import check_log_task, launch_check
from labelhub.core.errors import Conflict
from tests.factories.echo import echo_of, log_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    echo = echo_of()
    log_answers(echo, "urgency", [(float(at % 2), 0.4) for at in range(30)])
    learn_from_log(echo)
    echo.refresh_from_db()
    return echo


def test_what_the_log_makes_is_found_the_same(echo: Echo) -> None:
    check = start_check(echo)
    assert carry_out_check(echo.pk, check.started_at) is True
    check.refresh_from_db()
    assert (check.same, check.done, check.number) == (True, 30, 30)
    assert check.ended_at


def test_what_somebody_changed_behind_its_back_is_found(echo: Echo) -> None:
    row = ModelState.objects.get(echo=echo)
    row.packed = bytes(row.packed)[:-8] + b"\0" * 8
    row.save()
    check = start_check(echo)
    assert carry_out_check(echo.pk, check.started_at) is False


def test_an_empty_log_makes_an_empty_state() -> None:
    echo = echo_of()
    assert carry_out_check(echo.pk, start_check(echo).started_at) is True


def test_one_is_under_way_at_a_time_until_it_is_silent(echo: Echo) -> None:
    first = start_check(echo)
    with pytest.raises(Conflict, match="under way"):
        start_check(echo)
    Check.objects.update(beat_at=timezone.now() - SILENT - timedelta(seconds=1))
    start_check(echo)
    assert carry_out_check(echo.pk, first.started_at) is None


def test_what_is_erased_meanwhile_is_no_fault(echo: Echo) -> None:
    Echo.objects.update(erased=1)
    echo.log.filter(number=7).delete()
    check = start_check(echo)
    assert carry_out_check(echo.pk, check.started_at) is True


def test_the_task_is_sent_once_it_is_entered_and_carries_it_out(
    echo: Echo, django_capture_on_commit_callbacks: Any
) -> None:
    check = start_check(echo)
    with django_capture_on_commit_callbacks() as sent:
        launch_check(check)
    assert len(sent) == 1
    check_log_task(echo.pk, check.started_at.isoformat())
    assert Check.objects.get().same is True


def test_who_freezes_what_is_frozen_changes_nothing(echo: Echo) -> None:
    stale = Echo.objects.get()
    assert freeze(echo, on=True)
    assert not freeze(stale, on=True)
    assert echo.log.filter(kind="frozen").count() == 1
