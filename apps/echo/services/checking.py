"""Checking what is stored against what the log makes: it may take long, so the worker does it."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from apps.echo.models import Check, Echo
from apps.echo.services.learning import learn_from_log, rebuilt
from apps.echo.states import stored_state
from labelhub.core.echo.packing import digest
from labelhub.core.errors import Conflict

#: Whoever has said nothing for so long is not at it any more.
SILENT = timedelta(seconds=60)
MOST_TRIES = 3


@transaction.atomic
def start_check(echo: Echo) -> Check:
    """Enter a check to be carried out.

    Raises:
        Conflict: one is under way.
    """
    locked = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
    last, now = Check.objects.filter(echo=locked).first(), timezone.now()
    if last is not None and is_going(last, now):
        raise Conflict("A check is under way; wait for what it finds.")
    entered = {"started_at": now, "beat_at": now, "number": locked.learnt}
    fresh = {"ended_at": None, "done": 0, "same": None}
    check, _ = Check.objects.update_or_create(echo=locked, defaults=entered | fresh)
    return check


def is_going(check: Check, now: datetime) -> bool:
    """Whether somebody is at it, or will be soon."""
    return check.ended_at is None and now - check.beat_at < SILENT


def carry_out_check(echo_id: int, started_at: datetime) -> bool | None:
    """Make the state anew and compare it; None where the check has been replaced by another.

    What is learnt meanwhile does not matter: the digest and the events that made it are read at
    once, and the stored parts are looked at only where they are still those.
    """
    ours = Check.objects.filter(echo=echo_id, started_at=started_at, ended_at__isnull=True)
    echo = Echo.objects.filter(pk=echo_id).first()
    if echo is None or not ours.update(number=echo.learnt, beat_at=timezone.now()):
        return None

    def come_to(number: int) -> None:
        ours.update(done=number, beat_at=timezone.now())

    same = _same(echo, come_to)
    ended = ours.update(same=same, ended_at=timezone.now(), done=echo.learnt)
    return same if ended else None


def _same(echo: Echo, come_to: Callable[[int], None]) -> bool:
    """Whether it is the same; once more where somebody's events were erased while one looked."""
    tries = 0
    while True:
        tries += 1
        if echo.erased:
            learn_from_log(echo)
        echo.refresh_from_db()
        before = _told(echo)
        found = digest(rebuilt(echo, come_to))
        same = found == (echo.digest or found) and _stored_as_told(echo)
        if same or tries == MOST_TRIES or _told(echo) == before:
            return same


def _told(echo: Echo) -> int:
    return echo.log.filter(number__lte=echo.learnt).count()


def _stored_as_told(echo: Echo) -> bool:
    """Whether the stored parts have the digest that stands with them, unless they moved on."""
    with transaction.atomic():
        now = Echo.objects.select_for_update(no_key=True).get(pk=echo.pk)
        whole = digest(stored_state(now))
    return now.learnt != echo.learnt or not now.digest or whole == now.digest
