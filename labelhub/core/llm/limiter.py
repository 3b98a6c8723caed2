"""Find how many calls may be in flight at once, by additive increase and multiplicative decrease.

The limit doubles after each clean, saturated round until the first cut and grows by 5 % after it.
It is cut only if refusals (HTTP 429) exceed 5 % of the last 50 answers, because a single refusal is
noise, and at most once per cooldown, because one burst is one signal. The caller decides how long a
refused call waits: a wait shared by all calls would starve the others.

Time-outs of the same share also cut the limit: a server that handles one call at a time queues the
others and works on calls that nobody waits for any more. This cut is to a half, or to one call if
no answer came for as long as a call may take. With a limit of one call the endpoint then rests for
as long as the wait was, twice as long the next time. After the first such cut the limit only grows
while answers come within half the time that a call may take.

A limiter belongs to one event loop.
"""

import asyncio
import math
import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from labelhub.core.phrases import Phrase

WINDOW = 50
TOLERATED_SHARE = 0.05
CUT = 0.75
GROWTH = 1.05
SATURATED = 0.8
SHORTEST_COOLDOWN = 0.5
CHANGES_KEPT = 50


@dataclass(frozen=True, slots=True)
class LimitChange:
    """One change of the limit, ``seconds`` after the start of the limiter."""

    seconds: float
    old: int
    new: int
    why: str


@dataclass(slots=True)
class Slot:
    """The place of one call in flight, to report what went wrong; the first of these counts.

    Attributes:
        refused: the endpoint had too many requests.
        timed_out: no answer came in time.
        troubled: a server error, no reason to cut the limit, nor to raise it.
    """

    begun: float = 0.0
    refused: bool = False
    timed_out: bool = False
    troubled: bool = False


@dataclass(frozen=True, slots=True)
class TimeOuts:
    """A limiter's knowledge of time-outs, which the next limiter of the endpoint continues from.

    Attributes:
        unanswered: time-outs since the last answer.
        cut: whether time-outs ever cut the limit.
        rest_until: no call is sent earlier, in seconds of the clock.
        rests: the number of rests since the last answer.
    """

    unanswered: int = 0
    cut: bool = False
    rest_until: float = -math.inf
    rests: int = 0


class Limiter:
    """Slots for calls in flight; ``limit`` is their present number.

    Args:
        start: the first limit, at least 1.
        ceiling: the highest limit.
        found: whether an earlier limiter found ``start``: it then grows as after a cut.
        longest: seconds that a call may take.
        time_outs: those of an earlier limiter of the same endpoint and clock.
        clock: seconds from any origin, monotonic.
    """

    def __init__(
        self,
        *,
        start: int = 8,
        ceiling: int = 64,
        found: bool = False,
        longest: float = math.inf,
        time_outs: TimeOuts = TimeOuts(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ceiling = max(1, ceiling)
        self.limit = max(1, min(start, self.ceiling))
        self.in_flight = 0
        self.found = found
        self.refused_last = False
        self.time_outs = time_outs
        self._longest = longest
        self._held = False
        self._waking: asyncio.TimerHandle | None = None
        self._clock = clock
        self._begun = clock()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._refusals: deque[bool] = deque(maxlen=WINDOW)
        self._unanswered: deque[bool] = deque(maxlen=WINDOW)
        self._answered_at = self._cut_at = -math.inf
        self._latencies: deque[float] = deque(maxlen=WINDOW)
        self._changes: deque[LimitChange] = deque(maxlen=CHANGES_KEPT)
        self._cut_until = -math.inf
        self._clean = self._refused = self._most_in_flight = 0

    @property
    def waiting(self) -> int:
        """The number of calls that wait for a slot."""
        return sum(not turn.done() for turn in self._waiting)

    @property
    def changes(self) -> tuple[LimitChange, ...]:
        """The last changes of the limit, oldest first."""
        return tuple(self._changes)

    @property
    def refused_share(self) -> float:
        """The share of refusals in the last answers, 0 to 1; 0 without answers."""
        return sum(self._refusals) / len(self._refusals) if self._refusals else 0.0

    @property
    def resting(self) -> bool:
        """Whether no calls are sent to the endpoint for now, after time-outs."""
        return self._clock() < self.time_outs.rest_until

    def hold(self) -> None:
        """Hand out no more slots; calls that wait stay waiting until they are cancelled."""
        self._held = True

    async def enter(self) -> Slot:
        """Wait for a free slot, first come, first served; give it to :meth:`leave` at the end."""
        # A new call may not overtake those that wait.
        if not self._waiting and self._has_room():
            self._take()
            return Slot(self._clock())
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._wake_after_rest()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()  # the slot was already handed over
            raise
        return Slot(self._clock())

    def leave(self, slot: Slot) -> None:
        """Give ``slot`` back and learn from it."""
        self._heed(slot)
        self._release()

    def _take(self) -> None:
        self.in_flight += 1
        self._most_in_flight = max(self._most_in_flight, self.in_flight)

    def _release(self) -> None:
        self.in_flight -= 1
        self._hand_out()

    def _has_room(self) -> bool:
        return self.in_flight < self.limit and not self._held and not self.resting

    def _wake_after_rest(self) -> None:
        """Hand out slots again once the rest is over."""
        if self.resting and self._waking is None:
            seconds = self.time_outs.rest_until - self._clock()
            self._waking = asyncio.get_running_loop().call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._waking = None
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self._has_room():
            turn = self._waiting.popleft()
            if not turn.done():
                self._take()
                turn.set_result(None)
        if self._waiting:
            self._wake_after_rest()

    def _heed(self, slot: Slot) -> None:
        now = self._clock()
        self.refused_last = slot.refused
        self._refusals.append(slot.refused)
        self._unanswered.append(slot.timed_out and not slot.refused)
        if slot.refused:
            self._refused += now >= self._cut_until
            if now >= self._cut_until and sum(self._refusals) > TOLERATED_SHARE * WINDOW:
                self._cut(now)
        elif slot.timed_out:
            self._heed_time_out(slot, now)
        elif slot.troubled:
            self._start_round()
        else:
            self.time_outs = TimeOuts(cut=self.time_outs.cut)
            self._answered_at = now
            self._latencies.append(now - slot.begun)
            # Answers during a cooldown belong to the old limit and prove nothing.
            self._clean += now >= self._cut_until
            self._grow()

    def _heed_time_out(self, slot: Slot, now: float) -> None:
        self._start_round()
        self.time_outs = replace(self.time_outs, unanswered=self.time_outs.unanswered + 1)
        if slot.begun < self._cut_at:
            return  # sent before the last cut or rest: nothing new
        waited = now - slot.begun
        many = max(sum(self._unanswered), self.time_outs.unanswered)
        if self.limit > 1 and many > TOLERATED_SHARE * WINDOW:
            half = 1 if self._answered_at < slot.begun else self.limit // 2
            self._change(half, Phrase("no answer came within %(seconds)s s", seconds=round(waited)))
            self.found = True
            self.time_outs = replace(self.time_outs, cut=True)
            self._cut_at = now
            self._unanswered.clear()
        if self.limit == 1:
            rests = self.time_outs.rests + 1
            until = now + waited * min(rests, 2)
            self.time_outs = replace(self.time_outs, rests=rests, rest_until=until)
            self._cut_at = now

    def _cut(self, now: float) -> None:
        refused = sum(self._refusals)
        self._change(
            max(1, math.floor(self.limit * CUT)),
            Phrase("%(number)s of the last answers were 429", number=refused),
        )
        self.found = True
        # The median: one call of minutes must not stop all growth for as long.
        median = statistics.median(self._latencies) if self._latencies else 0.0
        self._cut_until = now + max(SHORTEST_COOLDOWN, 2 * median)
        self._refusals.clear()
        self._start_round()

    def _grow(self) -> None:
        if self._clean < self.limit:
            return
        calm = self._refused <= TOLERATED_SHARE * self._clean
        if calm and self._most_in_flight >= SATURATED * self.limit:
            grown = math.ceil(self.limit * GROWTH) if self.found else 2 * self.limit
            if not self.time_outs.cut or self._in_good_time(grown):
                self._change(min(self.ceiling, grown), Phrase("a full round went well"))
        self._start_round()

    def _in_good_time(self, grown: int) -> bool:
        """Whether answers would come within half the allowed time with a limit of ``grown``."""
        lately = list(self._latencies)[-self.limit :]
        return statistics.median(lately) * grown / self.limit <= self._longest / 2

    def _change(self, new: int, why: str) -> None:
        if new != self.limit:
            seconds = round(self._clock() - self._begun, 3)
            self._changes.append(LimitChange(seconds, self.limit, new, why))
            self.limit = new

    def _start_round(self) -> None:
        self._clean = self._refused = 0
        self._most_in_flight = self.in_flight
