"""rebuild_echo: the state is made anew from the log, and compared with what was stored."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.common.models import Job
from apps.echo.models import Echo, ModelState
from apps.echo.services.learning import KIND, keep_up_with, rebuild_state
from labelhub.core.errors import Conflict
from tests.factories.authors import site_with_features
from tests.factories.echo import echo_of, learnt_digest, log_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    """Thirty answers were learnt."""
    echo = echo_of()
    log_answers(echo, "urgency", [(float(number % 2), 0.4) for number in range(30)])
    keep_up_with(echo)
    return echo


def rebuilt(public_key: str) -> str:
    """What the command prints."""
    out = StringIO()
    call_command("rebuild_echo", public_key, stdout=out)
    return out.getvalue()


def test_an_intact_state_stays_the_same(echo: Echo) -> None:
    before = learnt_digest(echo)
    printed = rebuilt(echo.site.public_key)
    assert printed == "Rebuilt from 30 events.\nThe stored state was the same.\n"
    assert learnt_digest(echo) == before


@pytest.mark.parametrize("damage", [b"\0" * 8, b"cut"])
def test_a_damaged_state_is_replaced(echo: Echo, damage: bytes) -> None:
    before = learnt_digest(echo)
    row = ModelState.objects.get(echo=echo)
    row.packed = bytes(row.packed)[:-8] + damage
    row.save()
    assert "was different" in rebuilt(echo.site.public_key)
    assert learnt_digest(echo) == before


def test_while_a_worker_is_learning_it_is_refused(echo: Echo) -> None:
    until = timezone.now() + timedelta(seconds=30)
    Job.objects.create(kind=KIND, subject=echo.pk, lease_until=until)
    with pytest.raises(Conflict, match="try again"):
        rebuild_state(echo)


def test_a_site_that_never_had_echo_on_is_refused() -> None:
    with pytest.raises(CommandError, match="never on"):
        rebuilt(site_with_features().public_key)
