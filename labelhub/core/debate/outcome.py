"""What every protocol takes in and gives back."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import Schema, Value


@dataclass(frozen=True, slots=True)
class DebateItem:
    """The text under debate, with what belongs to it. ``key`` is stable across runs."""

    key: str
    text: str
    context: tuple[tuple[str, str], ...] = ()
    question: str = ""
    options: tuple[str, ...] = ()


class CallMaker(Protocol):
    """Renders a role's prompt into a call; the only thing a protocol may ask for."""

    def __call__(
        self, role: str, *, step: str = "", heard: Mapping[str, Reply] | None = None
    ) -> Call:
        """The call for ``role``; ``step`` defaults to the role's name."""
        ...


@dataclass(frozen=True, slots=True)
class DebateSpec:
    """What stays the same for every item of a run."""

    schema: Schema
    call: CallMaker
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a debate ended.

    ``value`` is None when no offered label was reached: the item then goes to people.
    ``reasons`` are the codes that send it to people first; ``uncertainty`` in [0, 1] orders them.
    """

    value: Value | None
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rationale: str = ""
    signals: Mapping[str, Any] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    uncertainty: float = 0.0
    failed: bool = False


#: A protocol yields lists of calls (a list may run in parallel) and hears lists of replies.
Debate: TypeAlias = Generator[list[Call], list[Reply], Outcome]
