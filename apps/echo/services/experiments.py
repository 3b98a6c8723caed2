"""Experiments: their design, start and end, and the arm of a message."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from apps.authors.models import Author
from apps.common.audit import Action, record
from apps.common.sealing import seal, unseal
from apps.echo.models import Echo, Experiment
from labelhub.core.echo.experiments.assignment import Arm, arm_of_author, check_design
from labelhub.core.echo.recommending.policies import ECHO
from labelhub.core.errors import Conflict, InvalidInput


@dataclass(frozen=True, slots=True)
class ArmPlace:
    """The policy, arm, unit and experiment of a message; without an experiment, Echo's policy."""

    policy: str = ECHO
    arm: str = ""
    unit: str = ""
    experiment: Experiment | None = None


def create_experiment(
    echo: Echo, *, name: str, arms: Sequence[Arm], control: str, planned_days: int = 28
) -> Experiment:
    """Create an experiment; its design never changes.

    Raises:
        InvalidInput: the design is not valid.
    """
    check_design(arms, control)
    if not name.strip():
        raise InvalidInput.at("name", "must not be empty.")
    if not 1 <= planned_days <= 365:
        raise InvalidInput.at("planned_days", "must be from 1 to 365.")
    with transaction.atomic():
        made = Experiment.objects.create(
            echo=echo,
            name=name.strip()[:100],
            design={"arms": [asdict(arm) for arm in arms], "control": control},
            sealed_key=seal(secrets.token_bytes(32)),
            planned_days=planned_days,
        )
        _record(made, "created")
    return made


def _record(experiment: Experiment, state: str) -> None:
    project = experiment.echo.site.project
    changes = {"state": (None, state)}
    record(Action.EXPERIMENT_CHANGED, experiment, project=project, changes=changes)


def start_experiment(experiment: Experiment) -> Experiment:
    """Start an experiment: from now on it assigns authors to arms.

    Raises:
        Conflict: another one is running at this site, or it was already started, or its arms were
            to take turns by time, as older versions could.
    """
    if takes_turns(experiment):
        raise Conflict("Arms can no longer take turns by time; design a new experiment.")
    unstarted = Experiment.objects.filter(pk=experiment.pk, started_at__isnull=True)
    try:
        with transaction.atomic():
            started = unstarted.update(started_at=timezone.now())
            if started:
                _record(experiment, "started")
    except IntegrityError:
        raise Conflict("Another experiment is running at this site; end it first.") from None
    if not started:
        raise Conflict("This experiment was already started.")
    experiment.refresh_from_db(fields=["started_at"])
    return experiment


def end_experiment(experiment: Experiment) -> Experiment:
    """End an experiment: it includes no later messages; its results stay.

    Raises:
        Conflict: it is not running.
    """
    running = Experiment.objects.filter(
        pk=experiment.pk, started_at__isnull=False, ended_at__isnull=True
    )
    with transaction.atomic():
        if not running.update(ended_at=timezone.now()):
            raise Conflict("This experiment is not running.")
        _record(experiment, "ended")
    experiment.refresh_from_db()
    return experiment


def place_of(echo: Echo, author: Author, time: datetime) -> ArmPlace:
    """The arm that decides about a message of an author."""
    # Also one that has ended since: it includes messages that were written while it ran.
    lasted = Q(ended_at__isnull=True) | Q(ended_at__gt=time)
    running = echo.experiments.filter(lasted, started_at__lte=time).first()
    if running is None or takes_turns(running):
        return ArmPlace()
    arm = arm_of(running, author.uid.hex)
    return ArmPlace(arm.policy, arm.name, author.uid.hex, running)


def arm_of(experiment: Experiment, author: str) -> Arm:
    """The arm of an author."""
    return arm_of_author(arms_of(experiment), unseal(bytes(experiment.sealed_key)), author)


def takes_turns(experiment: Experiment) -> bool:
    """Whether its arms took turns by time, as older versions could."""
    return bool(experiment.design.get("windows"))


def arms_of(experiment: Experiment) -> list[Arm]:
    """The arms as designed."""
    return [Arm(**arm) for arm in experiment.design["arms"]]
