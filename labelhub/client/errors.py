"""What can go wrong, as one tree: catch :class:`ClientError`, or what you can do something about.

::

    ClientError
    ├── WrongUse           the call itself; nothing was sent
    │   └── PandasMissing
    ├── ServerUnreachable  the server cannot have seen the request
    ├── AnswerLost         the connection broke: the server may have acted
    │   └── TimedOut
    ├── UnexpectedAnswer   the answer is not LabelHub's
    ├── Refused            problem+json, by status:
    │   ├── Invalid (400, 413, 422)   NotAuthenticated (401)   Forbidden (403)
    │   ├── NotFound (404)   Conflict (409)   TooManyRequests (429)
    │   └── ServerFault (5xx)
    ├── RunStopped         wait(): the run was paused or cancelled
    └── WaitedTooLong      wait(): its timeout is over

No error holds the key, or a request that does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with one field; ``row`` where it is one of a file or list, from 1."""

    field: str
    message: str
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What programs may want to know of an error besides its words."""

    code: str = "client"
    status: int | None = None
    retryable: bool = False
    #: The server surely did nothing: also what must not be done twice may be sent again.
    undone: bool = False
    #: Seconds the server asked to wait.
    retry_after: float | None = None
    errors: tuple[Fault, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


class ClientError(Exception):
    """Base of everything this package raises; ``str(error)`` is fit to be shown to a person."""

    def __init__(self, message: str, problem: Problem | None = None) -> None:
        self.message = message
        self.problem = problem or Problem()
        super().__init__(message, self.problem)

    def __str__(self) -> str:
        return self.message

    @property
    def code(self) -> str:
        """Stable; for programs."""
        return self.problem.code

    @property
    def status(self) -> int | None:
        """HTTP's status, where there was an answer."""
        return self.problem.status

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.problem.retryable

    @property
    def retry_after(self) -> float | None:
        """Seconds the server asked to wait, if it did."""
        return self.problem.retry_after

    @property
    def errors(self) -> tuple[Fault, ...]:
        """What is wrong with which field."""
        return self.problem.errors

    def shifted(self, rows: int) -> None:
        """Count the rows in ``errors`` from the start of the whole list, of which the server saw a
        part that begins after so many rows."""
        moved = (
            replace(fault, row=fault.row + rows) if fault.row is not None else fault
            for fault in self.errors
        )
        self.problem = replace(self.problem, errors=tuple(moved))


class WrongUse(ClientError, ValueError):
    """The call cannot be made as it stands; nothing was sent."""


class PandasMissing(WrongUse, ImportError):
    """DataFrames need pandas; everything else does not."""


class ServerUnreachable(ClientError):
    """No connection: the server is down, or the address is wrong."""


class AnswerLost(ClientError):
    """The connection broke before the whole answer was here: the server may have acted."""


class TimedOut(AnswerLost):
    """The server took longer than ``timeout``; it may still be at work."""


class UnexpectedAnswer(ClientError):
    """Something answered, but not as LabelHub does."""


class Refused(ClientError):
    """The server said no, and why."""


class Invalid(Refused):
    """A value cannot be used (400, 413, 422); ``errors`` names the fields."""


class NotAuthenticated(Refused):
    """The key is unknown or was revoked (401)."""


class Forbidden(Refused):
    """Your role does not allow this, or the key may only read (403)."""


class NotFound(Refused):
    """It does not exist, or you may not know that it does (404)."""


class Conflict(Refused):
    """It changed meanwhile, or is held by somebody else (409)."""


class TooManyRequests(Refused):
    """Slow down (429); see ``retry_after``."""


class ServerFault(Refused):
    """The server, or what stands before it, failed (5xx)."""


class RunStopped(ClientError):
    """A run that was waited for is paused or cancelled; its message says why."""


class WaitedTooLong(ClientError):
    """What was waited for goes on; wait again."""


BY_STATUS: dict[int, type[Refused]] = {
    400: Invalid,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    422: Invalid,
    429: TooManyRequests,
}
