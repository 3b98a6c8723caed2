"""What a run asks of whom: its settings, roles and prompts, as at its start."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apps.debates.models import Run, RunRole, Turn
from apps.debates.naming import protocol_title, role_words
from apps.debates.selectors.runs import roles_of
from apps.llm.models import PromptVersion
from labelhub.core.debate import PROTOCOLS
from labelhub.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Asked:
    """``settings`` are titles and values; ``prompts`` the prompts, each once, with the roles that
    speak by them; ``reused`` counts answers that were taken from earlier calls."""

    title: str
    settings: tuple[tuple[str, Any], ...]
    roles: tuple[RunRole, ...]
    prompts: tuple[tuple[PromptVersion, tuple[str, ...]], ...]
    reused: int


def asked_of(run: Run) -> Asked:
    """Everything that decides what the run's models are asked."""
    roles = tuple(roles_of(run))
    prompts: dict[str, tuple[PromptVersion, tuple[str, ...]]] = {}
    for role in roles:
        _, speakers = prompts.get(role.prompt.hash, (role.prompt, ()))
        prompts[role.prompt.hash] = (role.prompt, (*speakers, role_words(role.role)))
    return Asked(
        title=protocol_title(run.protocol),
        settings=tuple(_settings(run)),
        roles=roles,
        prompts=tuple(prompts.values()),
        reused=Turn.objects.filter(debate__run=run, reused=True).count() if run.turns_count else 0,
    )


def _settings(run: Run) -> Iterator[tuple[str, Any]]:
    """Titles and values; settings that this version does not know by their names."""
    titles = {}
    info = PROTOCOLS.get(run.protocol)
    if info is not None:
        try:
            known = info.known_settings(run.protocol_settings)
        except InvalidInput:
            known = info.settings
        own = {each.name: each.title for each in known}
        titles = {name: _within_stage(name, title, own) for name, title in own.items()}
    for name, value in run.protocol_settings.items():
        shown = protocol_title(value) if isinstance(value, str) and info else value
        yield titles.get(name, name), shown


def _within_stage(name: str, title: str, titles: dict[str, str]) -> str:
    """``then.judges`` names the stage that it is about."""
    stage, dot, _ = name.partition(".")
    return f"{titles.get(stage, stage)}: {title[:1].lower()}{title[1:]}" if dot else title
