"""Who plays what: the part behind a role's name, and how demanding its player is.

Annotators at one table, samples of one annotator and judges of one court differ in temperament, so
that they differ about doubtful texts and agree about clear ones.
"""

from dataclasses import dataclass
from enum import StrEnum

from labelhub.core.llm.types import Call


class Role(StrEnum):
    """How a text is looked at; an unknown role looks at it as an annotator."""

    EXTRACTOR = "extractor"
    CRITIC = "critic"
    JUDGE = "judge"
    ANNOTATOR = "annotator"


@dataclass(frozen=True, slots=True)
class Temper:
    """How much somebody wants to see in a text before they are convinced.

    ``bar`` is added to what a label needs; ``faint`` and ``against`` multiply what signs that do
    not carry a label by themselves count, and what speaks for the opposite takes away.
    """

    bar: float = 0.0
    faint: float = 1.0
    against: float = 1.0


BALANCED = Temper()
GENEROUS = Temper(-0.12, 1.3, 0.6)
STRICT = Temper(0.12, 0.5, 1.5)
EASY = Temper(-0.06, 1.15, 0.8)
CAREFUL = Temper(0.06, 0.75, 1.25)
#: In turn: any first three, and any first five, have the balanced one in their middle.
_IN_TURN = (BALANCED, GENEROUS, STRICT, EASY, CAREFUL)


@dataclass(frozen=True, slots=True)
class Cast:
    """A part and the temperament of who plays it."""

    role: Role
    temper: Temper = BALANCED


_CAST = {
    "extractor": Cast(Role.EXTRACTOR),
    "critic": Cast(Role.CRITIC),
    "judge": Cast(Role.JUDGE),
    "drafter": Cast(Role.ANNOTATOR, EASY),
    "reviewer": Cast(Role.ANNOTATOR, STRICT),
    "refiner": Cast(Role.ANNOTATOR),
}


def cast_of(call: Call) -> Cast:
    """Who answers a call: ``judge/2`` is a judge, ``then_annotator_b`` the second annotator."""
    name = _plain(call.role)
    if name == "judge" and call.inputs.get("arguments"):
        return Cast(Role.JUDGE, _temper(call.sample))
    return _CAST.get(name) or Cast(Role.ANNOTATOR, _temper(_seat(name) or call.sample))


def _plain(role: str) -> str:
    """A role's name without its stage in a cascade, and without a number."""
    name = role.split("/", maxsplit=1)[0].casefold()
    return name.removeprefix("first_").removeprefix("then_")


def _seat(name: str) -> int:
    """The number of an annotator's seat: 2 for ``annotator_b``, 0 for one without a seat."""
    letter = name.removeprefix("annotator_")
    seated = name != letter and len(letter) == 1 and "a" <= letter <= "z"
    return ord(letter) - ord("a") + 1 if seated else 0


def _temper(number: int) -> Temper:
    return _IN_TURN[(number - 1) % len(_IN_TURN)]
