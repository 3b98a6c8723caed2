"""The errors of this package: catch :class:`ClientError`, or those that you can handle.

::

    ClientError
    ├── WrongUse           the call itself; nothing was sent
    │   └── PandasMissing
    ├── ServerUnreachable  the server cannot have seen the request
    ├── AnswerLost         the connection broke: the server may have acted
    │   └── TimedOut
    ├── UnexpectedAnswer   the answer is not LabelHub's
    │   └── FieldMissing
    ├── Refused            problem+json, by status:
    │   ├── Invalid (400, 413, 422)   NotAuthenticated (401)   Forbidden (403)
    │   ├── NotFound (404)   Conflict (409)   TooManyRequests (429)
    │   └── ServerFault (5xx)
    ├── RunStopped         wait(): the run was paused or cancelled
    └── WaitedTooLong      wait(): its timeout is over

No error holds the key, or a request that does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

#: Raised before anything was written to a connection.
BEFORE_SENDING = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
#: Temporary statuses of proxies, for any request.
MOMENTARY = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The error of one field; ``row``, from 1, if it is from a file or list."""

    field: str
    message: str
    row: int | None = None


class ClientError(Exception):
    """Base of everything this package raises; ``str(error)`` can be shown to a person."""

    #: A stable name for programs.
    code: str = "client"
    #: The HTTP status, if there was an answer.
    status: int | None = None
    #: The same call may succeed later.
    retryable: bool = False
    #: The server certainly did nothing, so that any request may be sent again.
    undone: bool = False
    #: Seconds that the server asked to wait.
    retry_after: float | None = None
    errors: tuple[Fault, ...] = ()
    #: Further details of the server, by name.
    data: Mapping[str, Any] = {}

    def __init__(self, message: str, **details: Any) -> None:
        self.message = message
        vars(self).update(details)
        super().__init__(message)


class WrongUse(ClientError, ValueError):
    """The call is not valid; nothing was sent."""


class PandasMissing(WrongUse, ImportError):
    """DataFrames need pandas; everything else does not."""


class ServerUnreachable(ClientError):
    """No connection: the server is down, or the address is wrong."""

    code, retryable, undone = "unreachable", True, True


class AnswerLost(ClientError):
    """The connection broke before the answer was complete: the server may have acted."""

    code, retryable = "answer_lost", True


class TimedOut(AnswerLost):
    """The server took longer than ``timeout``; it may still be working."""

    code = "timed_out"


class UnexpectedAnswer(ClientError):
    """The answer is not one of LabelHub's."""

    code = "unexpected_answer"


class FieldMissing(UnexpectedAnswer, AttributeError):
    """The answer lacks the field: its name is wrong, or the server is too old."""


class Refused(ClientError):
    """The server refused the request."""


class Invalid(Refused):
    """A value cannot be used (400, 413, 422); ``errors`` names the fields."""


class NotAuthenticated(Refused):
    """The key is unknown or was revoked (401)."""


class Forbidden(Refused):
    """Your role does not allow this, or the key may only read (403)."""


class NotFound(Refused):
    """It does not exist, or you may not know that it does (404)."""


class Conflict(Refused):
    """It changed in the meantime (409, 412), or somebody else holds it."""


class TooManyRequests(Refused):
    """Slow down (429); see ``retry_after``."""


class ServerFault(Refused):
    """The server, or a proxy in front of it, failed (5xx)."""


class RunStopped(ClientError):
    """The run was paused or cancelled; its message has the reason."""


class WaitedTooLong(ClientError):
    """The run continues; wait again."""

    code, retryable = "waited_too_long", True


BY_STATUS: dict[int, type[Refused]] = {
    400: Invalid, 401: NotAuthenticated, 403: Forbidden, 404: NotFound, 409: Conflict,
    412: Conflict, 413: Invalid, 422: Invalid, 429: TooManyRequests,
}  # fmt: skip


def connection_error(call: str, error: httpx.RequestError) -> ClientError:
    """The error of a request without a complete answer; it does not refer to httpx's error, which
    holds the key."""
    reason = str(error) or type(error).__name__
    if isinstance(error, BEFORE_SENDING):
        return ServerUnreachable(
            f"The server cannot be reached ({reason}). Check the address, and that the server runs."
        )
    if isinstance(error, httpx.TimeoutException):
        return TimedOut(
            f"{call}: no answer in time; the server may still be working. `timeout` sets the limit."
        )
    return AnswerLost(f"{call}: the connection broke before the answer was complete ({reason}).")


def refusal(call: str, response: httpx.Response) -> ClientError:
    """The error of an answer with an error status."""
    status = response.status_code
    if status < 400:
        where = response.headers.get("Location", "elsewhere").partition("?")[0][:200]
        return UnexpectedAnswer(
            f"{call}: the server redirects to {where}: give the client that address.",
            code="redirected",
            status=status,
        )
    try:
        body = json.loads(response.content)
    except ValueError:
        body = {}
    if not isinstance(body, dict):  # not problem+json: a proxy's own page
        body = {}
    marked = body.get("retryable") is True
    kind = BY_STATUS.get(status, ServerFault if status >= 500 else Refused)
    reason = httpx.codes.get_reason_phrase(status) or "An error without a message"
    return kind(
        f"{body.get('detail') or reason} ({call}: {status})",
        code=str(body.get("code") or "http_error"),
        status=status,
        retryable=marked or status in MOMENTARY,
        # A request may still be under way behind a 502, 503 or 504.
        undone=marked or status == 429,
        retry_after=parse_retry_after(response.headers.get("Retry-After")),
        errors=read_faults(body.get("errors")),
        data=body.get("data") or {},
    )


def read_faults(rows: Any) -> tuple[Fault, ...]:
    """The faults in an answer; other entries are ignored."""
    return tuple(
        Fault(
            field=str(row.get("field", "")),
            message=str(row.get("message", "")),
            row=row["row"] if isinstance(row.get("row"), int) else None,
        )
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    )


def parse_retry_after(header: str | None) -> float | None:
    """Seconds, also from a date (RFC 9110, 10.2.3); None for anything else."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
