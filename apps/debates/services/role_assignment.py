"""The assignment of models and prompts to the roles of a run."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings as django_settings

from apps.llm.models import ModelSpec, PromptVersion
from labelhub.core.debate import protocol
from labelhub.core.debate.panel import ANNOTATORS
from labelhub.core.errors import InvalidInput
from labelhub.core.prompts import Prompt, PromptLibrary, parse_prompt

#: Roles of a vote or discussion: ``annotator`` means all of them.
EVERY_SEAT = "annotator"
_SEAT = re.compile(r"(?P<stage>(?:first_|then_)?)annotator_[a-z]")


@dataclass(frozen=True, slots=True)
class CastMember:
    """The model and the prompt of a role."""

    model: ModelSpec
    prompt: Prompt


@cache
def prompt_library() -> PromptLibrary:
    """The prompt files of this installation, each read once per process."""
    return PromptLibrary(django_settings.PROMPTS_DIR)


def cast_of(
    protocol_name: str,
    settings: Mapping[str, Any],
    models: Mapping[str, ModelSpec],
    prompts: Mapping[str, PromptVersion],
) -> dict[str, CastMember]:
    """Each role of the protocol with its model and its prompt.

    Args:
        protocol_name: one of ``PROTOCOLS``.
        settings: the complete settings of the protocol.
        models: role → model.
        prompts: the versions to use in place of the files, by prompt name (``ecj/critic``).

    Raises:
        InvalidInput: a role has no model, or there is no such role or prompt.
    """
    parts = protocol(protocol_name).parts(settings)
    _check_roles(protocol_name, [part.role for part in parts], models)
    names = {part.prompt for part in parts}
    for name, given in prompts.items():
        if name not in names or given.name != name:
            raise InvalidInput(
                "prompts: '%(protocol_name)s' has no prompt '%(name)s' of which this is a version.",
                protocol_name=protocol_name,
                name=name,
            )
    missing = next((part.role for part in parts if part.role not in models), None)
    if missing is not None:
        raise InvalidInput(
            "model: the role '%(missing)s' of '%(protocol_name)s' has none.",
            missing=missing,
            protocol_name=protocol_name,
        )
    return {
        part.role: CastMember(
            models[part.role],
            parse_prompt(version.name, version.body)
            if (version := prompts.get(part.prompt))
            else prompt_library().get(*part.prompt.split("/")),
        )
        for part in parts
    }


def models_for_roles(
    protocol_name: str,
    given: Mapping[str, ModelSpec],
    others: Sequence[ModelSpec],
    settings: Mapping[str, Any] | None = None,
) -> dict[str, ModelSpec]:
    """A model for each role: the given one, else one of ``others``.

    Annotators of a vote or discussion get ``others`` in turn, all other roles get the first.
    ``annotator`` in ``given`` means all annotators of a vote or discussion.

    Raises:
        InvalidInput: an unknown protocol or setting, or a role that it does not have.
    """
    info = protocol(protocol_name)
    roles = info.roles(info.read_settings(settings or {}))
    _check_roles(protocol_name, roles, given)
    turns: dict[str, int] = {}
    chosen = {}
    for role in roles:
        seat = _SEAT.fullmatch(role)
        turn = turns.get(seat["stage"], 0) if seat else 0
        for_table = given.get(f"{seat['stage']}{EVERY_SEAT}") if seat else None
        chosen[role] = given.get(role) or for_table or others[turn % len(others)]
        if seat:
            turns[seat["stage"]] = turn + 1
    return chosen


def with_annotator_count(
    protocol_name: str, models: Sequence[ModelSpec], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """``settings`` with as many annotators as models, unless they have a number."""
    names = {setting.name for setting in protocol(protocol_name).settings}
    if len(models) < 2 or ANNOTATORS.name not in names or ANNOTATORS.name in settings:
        return dict(settings)
    return {**settings, ANNOTATORS.name: len(models)}


def _check_roles(protocol_name: str, roles: Sequence[str], given: Mapping[str, ModelSpec]) -> None:
    known = set(roles) | {
        f"{seat['stage']}{EVERY_SEAT}" for role in roles if (seat := _SEAT.fullmatch(role))
    }
    unknown = next((role for role in given if role not in known), None)
    if unknown is not None:
        raise InvalidInput(
            "model: '%(protocol_name)s' has no role '%(unknown)s'; its roles are %(roles)s.",
            protocol_name=protocol_name,
            unknown=unknown,
            roles=", ".join(roles),
        )
