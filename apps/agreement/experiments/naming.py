"""What an arm is called: short enough for a table, told apart from every other."""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from apps.debates.models import Run, RunRole
from apps.debates.services.experiments import setup_key, vote_for
from labelhub.core.debate import protocol
from labelhub.core.schema import LabelType


def letter_of(place: int) -> str:
    """A, B, C … for the arms of an experiment in their order."""
    return ascii_uppercase[place % 26]


def title_of(name: str, settings: Mapping[str, Any]) -> str:
    """``Discussion``, or ``Self-consistency (3 samples)`` where it is not as usual."""
    info = protocol(name)
    shown = [
        f"{settings.get(setting.name)} {setting.title.lower()}"
        if setting.titled
        else f"{setting.title.lower()}: {settings.get(setting.name)}"
        for setting in info.known_settings(settings)
        if setting.titled or settings.get(setting.name, setting.default) != setting.default
    ]
    return f"{info.title} ({', '.join(shown)})" if shown else info.title


def models_of(roles: Sequence[RunRole]) -> str:
    """The models that play, each once."""
    return " + ".join(dict.fromkeys(role.model.name for role in roles))


def votes_for(
    arms: Sequence[tuple[Run, Sequence[RunRole]]], task: LabelType
) -> dict[int, list[int]]:
    """Run id of a vote → run ids of the debates whose budget it equals."""
    models = {run.pk: {role.role: role.model for role in roles} for run, roles in arms}
    by_key = {
        setup_key(run.protocol, run.protocol_settings, models[run.pk]): run.pk for run, _ in arms
    }
    found: dict[int, list[int]] = {}
    for run, _ in arms:
        vote = vote_for(run.protocol, run.protocol_settings, models[run.pk], task)
        same = by_key.get(setup_key(*vote)) if vote else None
        if same is not None:
            found.setdefault(same, []).append(run.pk)
    return found
