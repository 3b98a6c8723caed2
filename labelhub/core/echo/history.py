"""Which events of a log count: what was withdrawn, or came while learning was frozen, does not."""

from collections.abc import Iterable
from typing import NamedTuple

from labelhub.core.echo.events import Event, Frozen, Restored, Withdrawn


class Entry(NamedTuple):
    """A line of the log: its number, and what happened."""

    number: int
    event: Event


class Controls:
    """What later events say of earlier ones; ``log`` needs to hold no others than these.

    Withdrawals and restorations come in the order of their numbers, and so do freezes.
    """

    def __init__(self, log: Iterable[Entry] = ()) -> None:
        self._withdrawn: set[str] = set()
        self._freezes: list[tuple[int, bool]] = []
        for number, event in log:
            match event:
                case Withdrawn():
                    self._withdrawn.add(event.about)
                case Restored():
                    self._withdrawn.discard(event.about)
                case Frozen():
                    self._freezes.append((number, event.on))

    def counts(self, number: int, event_id: str) -> bool:
        """Whether what has this number and id is learnt from."""
        return event_id not in self._withdrawn and not self.frozen(number)

    def frozen(self, number: int) -> bool:
        """Whether nothing was learnt when the event with this number came."""
        before = [on for freeze, on in self._freezes if freeze < number]
        return bool(before and before[-1])
