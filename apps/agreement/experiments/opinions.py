"""Which opinions a debate went through, told from its signals; see ``core/debate/signals.py``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labelhub.core.debate.ballots import tally
from labelhub.core.schema import Schema, Value

#: Protocols with a first opinion that may change: what comes first, what in the end.
FIRST_AND_LAST = {
    "ecj": ("Extractor", "judge"),
    "self_refine": ("Draft", "refined"),
    "self_consistency": ("First sample", "vote"),
    "vote": ("First annotator", "vote"),
    "discussion": ("Majority before", "after the discussion"),
    "courtroom": ("Hearing", "verdict"),
    "cascade": ("First protocol", "in the end"),
}
#: Where opinions follow on each other: the signal that has them, what one is called, the first.
ROUNDS = {"discussion": ("rounds", "Round", 0), "courtroom": ("verdicts", "Judge", 1)}
#: Who votes, in words; a protocol that is not here has no voters.
VOTERS = {
    "self_consistency": "samples",
    "vote": "annotators",
    "discussion": "annotators",
    "courtroom": "judges",
    "cascade": "voters of its last stage",
}


def signals_for(protocol: str) -> tuple[str, ...]:
    """The signals that a report reads of debates by ``protocol``."""
    names: list[str] = ["first"] if protocol in FIRST_AND_LAST else []
    if protocol == "ecj":
        names.append("flips")
    if protocol in VOTERS:
        names += ["votes", "d_rate"]
    if protocol == "discussion":
        names.append("first_d_rate")
    if protocol in ROUNDS:
        names.append(ROUNDS[protocol][0])
    return tuple(names)


@dataclass(slots=True)
class Rounds:
    """What stood after each round of debates: the majority of a discussion, a judge's verdict.

    Thousands of rounds end in few ways: each way is counted only once.
    """

    protocol: str
    schema: Schema
    known: dict[str, Value | None] = field(default_factory=dict)

    def of(self, told: Any) -> Sequence[Value | None]:
        """Of one debate; ``told`` is the signal that ``ROUNDS`` names."""
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
