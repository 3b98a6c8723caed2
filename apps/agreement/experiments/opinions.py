"""Which opinions a debate went through, told from its signals; see ``core/debate/signals.py``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labelhub.core.debate import protocol
from labelhub.core.debate.ballots import tally
from labelhub.core.schema import Schema, Value


def signals_for(name: str) -> tuple[str, ...]:
    """The signals that a report reads of debates by the protocol ``name``."""
    opinions = protocol(name).opinions
    if opinions is None:
        return ()
    votes = ("votes", "d_rate") if opinions.voters else ()
    rounds = (opinions.rounds,) if opinions.rounds else ()
    return ("first", *votes, *opinions.signals, *rounds)


@dataclass(slots=True)
class Rounds:
    """What stood after each round of debates: the majority of a discussion, a judge's verdict.

    Thousands of rounds end in few ways: each way is counted only once.
    """

    protocol: str
    schema: Schema
    known: dict[str, Value | None] = field(default_factory=dict)

    def of(self, told: Any) -> Sequence[Value | None]:
        """Of one debate; ``told`` is the signal that its ``Opinions.rounds`` names."""
        if not isinstance(told, list):
            return []
        if self.protocol == "courtroom":
            return told
        return [self._majority(list(said.values())) for said in told if said]

    def _majority(self, voices: list[Value | None]) -> Value | None:
        if all(voice == voices[0] for voice in voices):
            return voices[0]
        key = repr(voices)
        if key not in self.known:
            self.known[key] = tally(voices, self.schema).value
        return self.known[key]


def first_voices(told: Any) -> list[Value | None]:
    """What everybody said before they heard anybody: the first of a discussion's ``rounds``."""
    return list(told[0].values()) if isinstance(told, list) and told else []


def own_d_rate(told: Mapping[str, Any]) -> float | None:
    """How sure a debate's votes were, in a discussion before it began; None without a vote."""
    before = told.get("first_d_rate")
    return told.get("d_rate") if before is None else before
