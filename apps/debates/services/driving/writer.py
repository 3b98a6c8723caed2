"""What a slice has to write down, gathered so that one transaction takes many rows."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from apps.debates.models import Turn
from apps.debates.services.driving.results import Finished


@dataclass(frozen=True, slots=True)
class FailedTries:
    """The failed tries at calls of a debate that are not answered yet, by step, as they are to be
    kept; and what a provider may charge for the last one, in nano-USD."""

    debate_id: int
    tries: Mapping[str, Sequence[Mapping[str, Any]]]
    unread_nanousd: int = 0


Write: TypeAlias = Callable[
    [Sequence[Turn], Sequence[Finished], Sequence[FailedTries]], Awaitable[None]
]


class Writer:
    """Buffers turns and results; :meth:`run` writes them every ``rows`` rows or ``seconds``.

    A debate's result is added after its last turn and both leave in one batch or in order, so a
    result that is written implies all of its turns.
    """

    def __init__(self, write: Write, *, rows: int, seconds: float) -> None:
        self._write = write
        self._rows = rows
        self._seconds = seconds
        self._turns: list[Turn] = []
        self._finished: list[Finished] = []
        self._tries: list[FailedTries] = []
        self._full = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._closed = False

    def add(self, turn: Turn) -> None:
        """Take a turn."""
        self._turns.append(turn)
        self._note_fill()

    def conclude(self, finished: Finished) -> None:
        """Take the end of a debate whose turns were all added before."""
        self._finished.append(finished)
        self._note_fill()

    def note(self, tries: FailedTries) -> None:
        """Take failed tries."""
        self._tries.append(tries)
        self._note_fill()

    async def run(self) -> None:
        """Write until :meth:`close`; raises what the database raised."""
        while not self._closed:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), self._seconds)
            await self.flush()

    def close(self) -> None:
        """Let :meth:`run` write what there is and end. It is not cancelled: a transaction whose
        outcome nobody hears could not be tried again."""
        self._closed = True
        self._full.set()

    async def flush(self) -> None:
        """Write what is there now. What could not be written stays, for the next try."""
        async with self._one_at_a_time:
            turns, finished, tries = self._turns, self._finished, self._tries
            self._turns, self._finished, self._tries = [], [], []
            self._full.clear()
            if not turns and not finished and not tries:
                return
            try:
                await self._write(turns, finished, tries)
            except Exception:
                self._turns[:0], self._finished[:0], self._tries[:0] = turns, finished, tries
                raise

    def _note_fill(self) -> None:
        if len(self._turns) + len(self._finished) + len(self._tries) >= self._rows:
            self._full.set()
