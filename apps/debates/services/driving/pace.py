"""How often a slice claims, writes and looks around, and how long it lasts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """The rhythm of a slice; times in seconds. ``width`` None: what the providers allow. ``grace``
    is for calls under way once time is up, at least as long as a provider may take to answer."""

    width: int | None = None
    claim: int = 100
    lease: float = 10.0
    beat: float = 2.5
    flush_rows: int = 100
    flush: float = 0.25
    slice: float = 75.0
    grace: float = 130.0
    announce: float = 0.5


PACE = Pace()
#: How often the loop looks at the clock, seconds.
TICK = 0.25
