"""Experiments: designed, started, ended; and whose arm a message is in."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from apps.authors.models import Author
from apps.common.sealing import seal, unseal
from apps.echo.models import Echo, Experiment
from labelhub.core.echo.experiments.assignment import (
    Arm,
    Design,
    Window,
    arm_of_author,
    arm_of_window,
    design,
    fingerprint,
    grid,
    window_of,
)
from labelhub.core.echo.recommending.policies import ECHO
from labelhub.core.errors import Conflict, InvalidInput


@dataclass(frozen=True, slots=True)
class ArmPlace:
    """Where a message stands: in which arm of which experiment, assigned as what; outside of
    experiments Echo decides."""

    policy: str = ECHO
    arm: str = ""
    unit: str = ""
    experiment: Experiment | None = None


def create_experiment(
    echo: Echo,
    *,
    name: str,
    arms: Sequence[Arm],
    control: str,
    windows: Sequence[Window] = (),
    planned_days: int = 28,
) -> Experiment:
    """An experiment as it will be: what is fixed here is never changed.

    Raises:
        InvalidInput: the design cannot be used.
    """
    found = design(arms, control, windows)
    if not name.strip():
        raise InvalidInput.at("name", "must not be empty.")
    if not 1 <= planned_days <= 365:
        raise InvalidInput.at("planned_days", "must be from 1 to 365.")
    key = secrets.token_bytes(32)
    return Experiment.objects.create(
        echo=echo,
        name=name.strip()[:100],
        design={
            "arms": [asdict(arm) for arm in found.arms],
            "control": found.control,
            "windows": [
                [window.start.isoformat(), window.end.isoformat()] for window in found.windows
            ],
        },
        sealed_key=seal(key),
        fingerprint=fingerprint(found, key),
        planned_days=planned_days,
    )


def start_experiment(experiment: Experiment) -> Experiment:
    """From now on authors or windows are in its arms.

    Raises:
        Conflict: another one runs at this site, or it was started before, or it was changed since
            it was designed.
    """
    if experiment.started_at is not None:
        raise Conflict("This experiment was started before.")
    found, key = design_of(experiment), key_of(experiment)
    if fingerprint(found, key) != experiment.fingerprint:
        raise Conflict("The design is not the one that was fixed; design a new experiment.")
    unstarted = Experiment.objects.filter(pk=experiment.pk, started_at__isnull=True)
    try:
        with transaction.atomic():
            started = unstarted.update(started_at=timezone.now())
    except IntegrityError:
        raise Conflict("Another experiment runs at this site; end it first.") from None
    if not started:  # somebody was faster
        raise Conflict("This experiment was started before.")
    experiment.refresh_from_db(fields=["started_at"])
    return experiment


def end_experiment(experiment: Experiment) -> Experiment:
    """It takes no more messages; what it has found stays.

    Raises:
        Conflict: it does not run.
    """
    ended = Experiment.objects.filter(
        pk=experiment.pk, started_at__isnull=False, ended_at__isnull=True
    ).update(ended_at=timezone.now())
    if not ended:
        raise Conflict("This experiment does not run.")
    experiment.refresh_from_db()
    return experiment


def place_of(echo: Echo, author: Author, time: datetime) -> ArmPlace:
    """Which arm decides about a message of an author."""
    # Of one that has ended since, too: who wrote while it ran was assigned.
    lasted = Q(ended_at__isnull=True) | Q(ended_at__gt=time)
    running = echo.experiments.filter(lasted, started_at__lte=time).first()
    if running is None:
        return ArmPlace()
    found, key = design_of(running), key_of(running)
    if not found.windows:
        arm = arm_of_author(found, key, author.uid.hex)
        return ArmPlace(arm.policy, arm.name, author.uid.hex, running)
    window = window_of(found, time)
    if window is None:
        return ArmPlace()
    arm = arm_of_window(found, key, window)
    return ArmPlace(arm.policy, arm.name, str(window), running)


def design_of(experiment: Experiment) -> Design:
    """The design as it was fixed."""
    stored = experiment.design
    windows = [
        Window(datetime.fromisoformat(start), datetime.fromisoformat(end))
        for start, end in stored["windows"]
    ]
    return Design(tuple(Arm(**arm) for arm in stored["arms"]), stored["control"], tuple(windows))


def key_of(experiment: Experiment) -> bytes:
    """The secret by which arms are assigned."""
    return unseal(bytes(experiment.sealed_key))


def hourly(start: datetime, hours: int, days: int) -> tuple[Window, ...]:
    """Windows of so many hours over so many days."""
    return grid(start, hours * 3600.0, days * 24 // hours)
