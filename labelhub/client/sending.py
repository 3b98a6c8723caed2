"""One request until it is answered: what is tried again, after how long, and what is raised."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, TypeVar

from labelhub.client.endpoints import Repeat
from labelhub.client.errors import (
    BY_STATUS,
    AnswerLost,
    ClientError,
    Fault,
    Problem,
    Refused,
    ServerFault,
    ServerUnreachable,
    TimedOut,
    UnexpectedAnswer,
    WrongUse,
)
from labelhub.client.wire import Broken, Reply, Request, Send, Sleep, Steps

T = TypeVar("T")

#: What stands before a server says these of a moment, not of the request.
MOMENTARY = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often a request is sent, and how long to wait in between.

    The wait before attempt n + 1 is drawn between nothing and ``first * 2 ** (n - 1)`` seconds, at
    most ``longest`` ("full jitter": clients that failed together do not come back together), but
    never less than the server asked for. Who is asked to wait longer than ``patience`` is told at
    once.
    """

    attempts: int = 5
    first: float = 0.5
    longest: float = 20.0
    patience: float = 60.0
    draw: random.Random = field(default_factory=random.Random, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.first, self.longest, self.patience) < 0:
            raise WrongUse("Retries: at least one attempt, and no negative seconds.")

    def pause(self, repeat: Repeat, error: ClientError, attempt: int) -> float | None:
        """Seconds until the next attempt after the ``attempt``-th (from 1); None: give up."""
        allowed = repeat is not Repeat.NEVER or error.problem.undone
        asked = error.retry_after or 0.0
        if not (error.retryable and allowed and attempt < self.attempts and asked <= self.patience):
            return None
        most = min(self.longest, self.first * 2 ** min(attempt - 1, 30))
        return max(asked, self.draw.uniform(0, most))

    def asked(self, request: Request[T]) -> Steps[T]:
        """Send until there is an answer, or nothing speaks for another attempt.

        Raises:
            ClientError: the last failure.
        """
        attempt = 0
        while True:
            attempt += 1
            outcome = yield Send(request)
            error = _fault(request, outcome)
            if error is None and isinstance(outcome, Reply):
                return _parsed(request, outcome)
            error = error or UnexpectedAnswer(f"{request}: no answer.")
            wait = self.pause(request.endpoint.repeat, error, attempt)
            if wait is None:
                raise error
            yield Sleep(wait)


def _fault(request: Request[Any], outcome: Reply | Broken | None) -> ClientError | None:
    if isinstance(outcome, Broken):
        return lost(str(request), outcome)
    if outcome is not None and outcome.status >= HTTPStatus.MULTIPLE_CHOICES:
        return refusal(str(request), outcome)
    return None


def lost(call: str, broken: Broken) -> ClientError:
    """The error of a request that got no answer, or half of one."""
    if not broken.reached:
        words = (
            f"The server cannot be reached ({broken.words}). Is the address right, and is it up?"
        )
        return ServerUnreachable(words, Problem(code="unreachable", retryable=True, undone=True))
    if broken.timeout:
        words = (
            f"{call}: no answer in time; it may be at work on it. `timeout` says how long to wait."
        )
        return TimedOut(words, Problem(code="timed_out", retryable=True))
    words = f"{call}: the connection broke before the whole answer was here ({broken.words})."
    return AnswerLost(words, Problem(code="answer_lost", retryable=True))


def refusal(call: str, reply: Reply) -> ClientError:
    """The error of an answer that is none of success."""
    if reply.status < HTTPStatus.BAD_REQUEST:
        where = reply.headers.get("Location", "elsewhere").partition("?")[0][:200]
        words = (
            f"{call}: the server sends us to {where}; give the client that server's own address."
        )
        return UnexpectedAnswer(words, Problem(code="redirected", status=reply.status))
    said = _problem(reply)
    kind = BY_STATUS.get(reply.status, ServerFault if reply.status >= 500 else Refused)
    marked = said.get("retryable") is True
    problem = Problem(
        code=str(said.get("code") or "http_error"),
        status=reply.status,
        retryable=marked or reply.status in MOMENTARY,
        # A 502 to 504 may come of a request that is still under way behind it.
        undone=marked or reply.status == HTTPStatus.TOO_MANY_REQUESTS,
        retry_after=_seconds(reply.headers.get("Retry-After")),
        errors=tuple(_faults(said.get("errors"))),
        data=said.get("data") or {},
    )
    return kind(f"{said.get('detail') or _reason(reply)} ({call}: {reply.status})", problem)


def _problem(reply: Reply) -> Mapping[str, Any]:
    """The fields of a problem+json; none where a proxy answered with a page of its own."""
    try:
        said = json.loads(reply.content)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _reason(reply: Reply) -> str:
    try:
        return HTTPStatus(reply.status).phrase
    except ValueError:
        return "An error without words"


def _faults(said: Any) -> list[Fault]:
    rows = said if isinstance(said, list) else []
    return [
        Fault(field=str(row.get("field", "")), message=str(row.get("message", "")), row=_row(row))
        for row in rows
        if isinstance(row, dict)
    ]


def _row(row: Mapping[str, Any]) -> int | None:
    number = row.get("row")
    return number if isinstance(number, int) else None


def _seconds(header: str | None) -> float | None:
    """Retry-After: seconds, or a date (RFC 9110, 10.2.3); None for what is neither."""
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


def _parsed(request: Request[T], reply: Reply) -> T:
    if reply.stream is not None:
        return request.parse(reply.stream)
    if reply.status == HTTPStatus.NO_CONTENT:
        return request.parse(None)
    try:
        data = json.loads(reply.content)
    except ValueError:
        kind = reply.headers.get("Content-Type", "nothing")[:80]
        words = f"{request}: answered with {kind} instead of JSON. Is this LabelHub's address?"
        raise UnexpectedAnswer(
            words, Problem(code="unexpected_answer", status=reply.status)
        ) from None
    return request.parse(data)
