"""Where a turn belongs, by its step and role: which stage, which row, where within the row."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.cascade import FIRST, THEN, settings_of
from labelhub.core.errors import InvalidInput


class Kind(StrEnum):
    """What a row is, in the order in which rows follow each other."""

    ROLES = "roles"
    HEARING = "hearing"
    ARGUMENTS = "arguments"
    PRECEDENTS = "precedents"
    BALLOTS = "ballots"
    ROUND = "round"
    JUDGES = "judges"


RANKS = {kind: at for at, kind in enumerate(Kind)}

#: Rows of the roles that speak once, where that is not simply beside all others.
_OF_ROLES = {
    "clerk": Kind.HEARING,
    "prosecutor": Kind.ARGUMENTS,
    "defence": Kind.ARGUMENTS,
    "reporter": Kind.PRECEDENTS,
}
_NUMBERED = {
    "sample": (Kind.BALLOTS, "Sample"),
    "precedent": (Kind.PRECEDENTS, "Precedent"),
    "judge": (Kind.JUDGES, "Judge"),
}
_TITLES = {
    "prosecutor": "Prosecution",
    "defence": "Defence",
    "drafter": "Draft",
    "reviewer": "Review",
    "refiner": "Refined",
}
_ROUND = re.compile(r"r(\d{1,3})/([A-Z])")
_ORDER = re.compile(r"(sample|precedent|judge)/(\d{1,4})")
_SEAT = re.compile(r"annotator_([a-z])")


@dataclass(frozen=True, slots=True)
class Place:
    """``number`` tells rows of one kind apart (rounds); ``order`` sorts within a row."""

    kind: Kind
    name: str
    number: int = 0
    order: int = 0


def stage_of(step: str, role: str) -> tuple[str, str, str]:
    """The stage of a cascade (else ""), and step and role as the stage's protocol knows them."""
    stage, _, rest = step.partition("/")
    if stage in (FIRST, THEN) and role.startswith(f"{stage}_"):
        return stage, rest, role.removeprefix(f"{stage}_")
    return "", step, role


def place_of(step: str, role: str) -> Place:
    """The place of a turn within its stage."""
    if found := _ROUND.fullmatch(step):
        return Place(Kind.ROUND, f"Annotator {found[2]}", int(found[1]), ord(found[2]))
    if found := _ORDER.fullmatch(step):
        kind, word = _NUMBERED[found[1]]
        return Place(kind, f"{word} {found[2]}", order=int(found[2]))
    if found := _SEAT.fullmatch(role):
        letter = found[1].upper()
        return Place(Kind.BALLOTS, f"Annotator {letter}", order=ord(letter))
    return Place(_OF_ROLES.get(role, Kind.ROLES), _TITLES.get(role, role.capitalize()))


def stage_settings(
    protocol: str, settings: Mapping[str, Any], stage: str
) -> tuple[str, dict[str, Any]]:
    """The protocol that a stage plays, and its settings as far as they are known."""
    if stage:
        protocol, settings = str(settings.get(stage, "")), settings_of(stage, settings)
    info = PROTOCOLS.get(protocol)
    try:
        return protocol, info.read_settings(settings) if info else dict(settings)
    except InvalidInput:  # of another version of this program
        return protocol, dict(settings)


def expected(protocol: str, settings: Mapping[str, Any]) -> list[Place]:
    """The places that are sure to be spoken from, in their order; empty where nobody knows."""
    info = PROTOCOLS.get(protocol)
    if info is None:
        return []
    try:
        return [place_of(step, role) for step, role in info.sure_steps(settings)]
    except (KeyError, TypeError):  # settings of another version
        return []
