"""The signal that stops a slice, with its reason."""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn

from django.utils import timezone

from labelhub.core.errors import LabelhubError
from labelhub.core.phrases import Phrase

#: A run pauses when more than this share of the last debates failed.
WINDOW = 50
TOLERATED_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a slice stops: with a ``code``, the run is paused with it and ``message``;
    ``again``: only this slice's time is up; ``fault``: the server failed."""

    code: str = ""
    message: str = ""
    resume_at: datetime | None = None
    again: bool = False
    fault: bool = False


class StopSignal:
    """The stop switch of a slice. The first reason counts, except that its time is up.

    Args:
        recent_ends: whether and why the last debates of earlier slices failed, oldest first.
    """

    def __init__(self, recent_ends: Iterable[tuple[bool, str]] = ()) -> None:
        self.reason: Reason | None = None
        self._failures: deque[bool] = deque(maxlen=WINDOW)
        self._why = ""
        for failed, why in recent_ends:
            self._add(failed, why)

    @property
    def is_set(self) -> bool:
        """Whether no further call may be started."""
        return self.reason is not None

    @property
    def pausing(self) -> bool:
        """Whether the run will be paused because of an error."""
        return self.reason is not None and bool(self.reason.code)

    def stop(self, reason: Reason | None = None) -> None:
        """Ask all debates of the slice to stop."""
        reason = reason or Reason()
        # A slice whose time is up still waits for its last calls, which may fail.
        if self.reason is None or (self.reason.again and reason.code):
            self.reason = reason

    def stop_for(self, error: LabelhubError) -> None:
        """Pause the run for ``error``; ``data['resume_after']``: seconds until it resumes."""
        seconds = error.data.get("resume_after")
        resume_at = timezone.now() + timedelta(seconds=seconds) if seconds else None
        self.stop(Reason(error.code, error.message, resume_at))

    def stop_for_fault(self) -> None:
        """Pause the run because of a server fault. It replaces any other reason, or the next slice
        would fail in the same way at once."""
        self.reason = Reason(fault=True)

    def note(self, failed: bool, why: str) -> None:  # noqa: FBT001 - the one thing to note
        """Count a finished debate; too many failures among the last 50 pause the run. Fewer than
        50 debates prove nothing: failed debates come first when a run is resumed."""
        self._add(failed, why)
        count = sum(self._failures)
        if len(self._failures) == WINDOW and count > WINDOW * TOLERATED_SHARE:
            self.stop(
                Reason(
                    "too_many_failures",
                    Phrase(
                        "%(number)s of the last %(window)s debates failed, the last one: "
                        "%(error)s Fix the cause, then resume: failed debates are tried again.",
                        number=count,
                        window=WINDOW,
                        error=self._why,
                    ),
                )
            )

    def _add(self, failed: bool, why: str) -> None:  # noqa: FBT001 - as above
        self._failures.append(failed)
        self._why = why if failed else self._why

    async def park(self) -> NoReturn:
        """Stop a debate between two calls: wait until the slice cancels it.

        Raising instead would end the protocol and lose the replies to calls made in parallel.
        """
        await asyncio.get_running_loop().create_future()
        raise AssertionError("a parked debate is cancelled, never woken")
