"""Requests and answers: checks, retries, pages, and files that are sent and read in pieces."""

import json
import random
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx

from labelhub.client.endpoints import PAGING, PREFIX, Endpoint, Repeat
from labelhub.client.errors import (
    ClientError,
    NotFound,
    Problem,
    UnexpectedAnswer,
    WrongUse,
    connection_error,
    refusal,
)
from labelhub.client.progress import ProgressCallback
from labelhub.client.records import read

T = TypeVar("T")

TIMEOUT = 30.0
#: Imports, reports and exports may take the server minutes.
SLOW_FACTOR = 20
PAGE_SIZE = 200
CHUNK_BYTES = 256 * 1024
KEY = re.compile(r"[!-~]{8,200}")
PATH_SEGMENT = re.compile(r"[-\w]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often a request is sent, and how long to wait in between.

    The wait before attempt n + 1 is drawn between nothing and ``first * 2 ** (n - 1)`` seconds, at
    most ``longest`` ("full jitter": clients that failed together do not come back together), but
    never less than the server asked for. If the server asks for more than ``patience``, the error
    is raised at once.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; ``path`` is below ``/api/v1/``.

    A ``body`` that is a file is read anew with each attempt, and ``on_sent`` is called with the
    number of bytes sent.
    """

    endpoint: Endpoint[Any]
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Path | None = None
    content_type: str = "application/json"
    on_sent: Callable[[int], None] | None = None

    def __str__(self) -> str:
        return f"{self.endpoint.method} {self.path}"


def build_request(
    endpoint: Endpoint[Any],
    query: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
    /,
    **names: Any,
) -> Request:
    """A request to an endpoint, whose path is filled with ``names``.

    Raises:
        WrongUse: an option that the endpoint does not have, a name that cannot be part of a path,
            or a value that JSON does not have.
    """
    for given, known in ((query, endpoint.query), (body, endpoint.body)):
        for option in given or ():
            if option not in known:
                options = ", ".join(sorted(known - PAGING)) or "none"
                raise WrongUse(f"{option!r} is no option of {endpoint.path}; known are: {options}.")
    for name, value in names.items():
        if not PATH_SEGMENT.fullmatch(str(value)):
            raise WrongUse(f"{name}: {str(value)[:80]!r} is none; letters, digits, - and _ only.")
    params = {
        option: str(value).lower() if isinstance(value, bool) else str(value)
        for option, value in (query or {}).items()
        if value is not None
    }
    content = None
    try:
        if body is not None:
            content = json.dumps(body, allow_nan=False, default=to_json).encode()
    except (TypeError, ValueError) as error:
        raise WrongUse(f"This cannot be sent as JSON: {error}.") from None
    return Request(
        endpoint=endpoint, path=endpoint.path.format(**names), params=params, body=content
    )


def to_json(value: Any) -> Any:
    """Dates as ISO 8601, amounts of money as text; sets, numpy and the like as what they hold."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def check_address(address: str) -> str:
    """The server's address without its final slash and without ``/api/v1``.

    Raises:
        WrongUse: it cannot be used; the message holds no password and no query.
    """
    try:
        url = httpx.URL(address.strip())
    except (httpx.InvalidURL, TypeError, AttributeError):
        raise WrongUse("address: give one such as http://127.0.0.1:8000.") from None
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        shown = str(url.copy_with(username=None, password=None, query=None))[:80]
        raise WrongUse(f"address: {shown!r} is none; give one such as http://127.0.0.1:8000.")
    if url.userinfo:
        raise WrongUse("address: leave out name and password; the key says who you are.")
    return str(url).rstrip("/").removesuffix(PREFIX.rstrip("/")).rstrip("/")


class Session:
    """The connections of a client; several threads may use it at once. Its key never shows."""

    def __init__(
        self,
        address: str,
        key: str,
        *,
        timeout: float,
        retries: Retries,
        on_progress: ProgressCallback,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.address = check_address(address)
        if not KEY.fullmatch(str(key).strip()):
            raise WrongUse("key: this is no API key; make one in the web interface under API keys.")
        if not timeout > 0:
            raise WrongUse("timeout: give seconds, more than none.")
        self.timeout, self.retries, self.on_progress = timeout, retries, on_progress
        self._http = httpx.Client(
            base_url=f"{self.address}{PREFIX}",
            headers={"Authorization": f"Token {key.strip()}", "User-Agent": "labelhub-client"},
            transport=transport,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(
        self, endpoint: Endpoint[T], query: Mapping[str, Any] | None = None, /, **names: Any
    ) -> T:
        """The record that an endpoint gives."""
        return self._ask(endpoint, build_request(endpoint, query, **names))

    def post(
        self, endpoint: Endpoint[T], body: Mapping[str, Any] | None = None, /, **names: Any
    ) -> T:
        """The record that an endpoint gives for a body."""
        return self._ask(endpoint, build_request(endpoint, None, body, **names))

    def list_rows(
        self, endpoint: Endpoint[T], query: Mapping[str, Any] | None = None, /, **names: Any
    ) -> Iterator[T]:
        """All rows of a list, fetched page by page; wrong options are refused at once."""
        return self._rows(endpoint, build_request(endpoint, query, **names))

    def read_pieces(self, request: Request) -> Generator[bytes, None, None]:
        """A file as it arrives.

        Raises:
            AnswerLost: the connection broke; the pieces so far are not all.
        """
        with closing(self.send(request)) as response:
            try:
                yield from response.iter_bytes()
            except httpx.RequestError as error:
                failure = connection_error(str(request), error)
            else:
                return
        raise failure  # outside of the block: httpx's error holds the key

    def fetch(self, request: Request) -> Any:
        """The JSON of an answer; None where it has no body."""
        response = self.send(request)
        if response.status_code == httpx.codes.NO_CONTENT:
            return None
        try:
            return json.loads(response.content)
        except ValueError:
            kind = response.headers.get("Content-Type", "nothing")[:80]
            raise UnexpectedAnswer(
                f"{request}: answered with {kind} instead of JSON. Is this LabelHub's address?",
                Problem(code="unexpected_answer", status=response.status_code),
            ) from None

    def send(self, request: Request) -> httpx.Response:
        """The answer after as many attempts as it takes; that of a file is yet to be read.

        Raises:
            ClientError: the last failure.
        """
        attempt = 0
        while True:
            attempt += 1
            outcome = self._send_once(request)
            if isinstance(outcome, httpx.Response):
                return outcome
            pause = self.retries.pause(request.endpoint.repeat, outcome, attempt)
            if pause is None:
                raise outcome
            time.sleep(pause)

    def _send_once(self, request: Request) -> httpx.Response | ClientError:
        """The answer, or the error to raise: not raised here, where httpx's error, which holds the
        key, would be its context."""
        try:
            response = self._http.send(self._build(request), stream=True)
            if response.status_code == httpx.codes.OK and request.endpoint.streamed:
                return response
            with closing(response):
                response.read()
        except httpx.RequestError as error:
            return connection_error(str(request), error)
        if response.status_code >= httpx.codes.MULTIPLE_CHOICES:
            return refusal(str(request), response)
        return response

    def _build(self, request: Request) -> httpx.Request:
        headers = {"Content-Type": request.content_type} if request.body is not None else {}
        content: bytes | Iterator[bytes] | None
        if isinstance(request.body, Path):
            # With a known length the server or a proxy can refuse at once.
            headers["Content-Length"] = str(request.body.stat().st_size)
            content = read_file(request.body, request.on_sent)
        else:
            content = request.body
        seconds = self.timeout * (SLOW_FACTOR if request.endpoint.slow else 1)
        return self._http.build_request(
            request.endpoint.method,
            request.path,
            params=dict(request.params),
            content=content,
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(self.timeout, 10.0)),
        )

    def _ask(self, endpoint: Endpoint[T], request: Request) -> T:
        return read(cast("type[T]", endpoint.answer), self.fetch(request))

    def _rows(self, endpoint: Endpoint[T], request: Request) -> Iterator[T]:
        for number in count(1):
            params = {**request.params, "page": str(number), "page_size": str(PAGE_SIZE)}
            try:
                page = self.fetch(replace(request, params=params))
            except NotFound:  # the list has become shorter than it was
                if number == 1:
                    raise
                return
            rows = page.get("results") if isinstance(page, dict) else None
            if not isinstance(rows, list):
                raise UnexpectedAnswer(f"{request}: no page of a list.")
            yield from [read(cast("type[T]", endpoint.answer), row) for row in rows]
            # By number, not by the address in "next": a proxy may have it wrong, and the key would
            # be sent there.
            if not page.get("next"):
                return


def read_file(path: Path, on_read: Callable[[int], None] | None) -> Iterator[bytes]:
    """The file in pieces; ``on_read`` is called with the number of bytes so far."""
    size = 0
    with path.open("rb") as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece
            size += len(piece)
            if on_read is not None:
                on_read(size)


def polling_pauses() -> Iterator[float]:
    """Seconds between two looks at something that takes time: few at first, then more."""
    pause = 0.2
    while True:
        yield pause
        pause = min(3.0, pause * 1.4)
