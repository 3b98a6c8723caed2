"""From a log to a state: which events count, in which order, and what comes of them.

The same events make the same state to the last bit, however often and in whatever order they are
handed over: their numbers order them, their ids make each stand once.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labelhub.core.echo.events import (
    Answered,
    Event,
    Expected,
    Frozen,
    Restored,
    Rewarded,
    RolledBack,
    Withdrawn,
)
from labelhub.core.echo.state import EchoState, Lesson, learn


class Entry(NamedTuple):
    """A line of the log: its number, and what happened."""

    number: int
    event: Event


class Controls:
    """What later events say of earlier ones; ``log`` needs to hold no others than these."""

    def __init__(self, log: Iterable[Entry] = ()) -> None:
        entries = once(log)
        told = [each.event for each in entries if isinstance(each.event, Withdrawn | Restored)]
        # The last word counts.
        stands = {event.about: isinstance(event, Restored) for event in told}
        self._withdrawn = {name for name, standing in stands.items() if not standing}
        self._back = [(e.event.to, e.number) for e in entries if isinstance(e.event, RolledBack)]
        self._freezes = [(e.number, e.event.on) for e in entries if isinstance(e.event, Frozen)]

    def counts(self, number: int, event_id: str) -> bool:
        """Whether what has this number and id is learnt from."""
        if event_id in self._withdrawn or self.frozen(number):
            return False
        return not any(to < number < at for to, at in self._back)

    def frozen(self, number: int) -> bool:
        """Whether nothing was learnt when the event with this number came."""
        before = [on for at, on in self._freezes if at < number]
        return bool(before and before[-1])


def lessons(log: Iterable[Entry]) -> list[tuple[int, Lesson]]:
    """What is to be learnt from a log, in order: (number, lesson)."""
    entries = once(log)
    controls = Controls(entries)
    return [
        (number, event)
        for number, event in entries
        if isinstance(event, Answered | Rewarded | Expected) and controls.counts(number, event.id)
    ]


def rebuild(log: Iterable[Entry]) -> EchoState:
    """The state that a log makes."""
    state = EchoState()
    for _, lesson in lessons(log):
        learn(state, lesson)
    return state


def once(log: Iterable[Entry]) -> Sequence[Entry]:
    """In order of the numbers; of events with one id the first."""
    first: dict[str, Entry] = {}
    for entry in sorted(log, key=lambda entry: entry.number):
        first.setdefault(entry.event.id, entry)
    return list(first.values())
