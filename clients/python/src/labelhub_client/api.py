"""The generic layer: every operation of the REST interface by its id, with retries and pages."""

import json as json_module
import random
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from string import Formatter
from typing import Any, Self
from urllib.parse import quote

import httpx

from labelhub_client.errors import (
    ClientError,
    NotFound,
    UnexpectedAnswer,
    WrongUse,
    connection_error,
    refusal,
)
from labelhub_client.progress import ProgressCallback, choose_callback
from labelhub_client.records import Record, make_records

PREFIX = "/api/v1/"
TIMEOUT = 30.0
#: Imports, reports and files may take the server minutes.
SLOW_FACTOR = 20
SLOW = {
    "agreement", "anchoring", "automation_read", "evaluation", "labels_import", "project_import",
    "quality", "saved_export_verify", "site_echo_catalogue_import", "site_echo_off_policy",
    "site_echo_report",
}  # fmt: skip
#: Operations that may be repeated, beside every GET and PUT; if fields are named, only with one of
#: them.
REPEATABLE: dict[str, tuple[str, ...]] = {
    # The server knows a row by its id, or else by its text; known rows stay unchanged.
    "project_import": (),
    "labels_import": (),
    # It replaces what it names.
    "projects_items_partial_update": (),
    # The item that you already hold comes first, under the same lease.
    "queue_next": (),
    # It sets when the lease expires.
    "lease_renew": (),
    # A released lease stays released.
    "lease_release": (),
    # The same answer under the same lease is stored once, and a skipped or postponed item stays so;
    # without a lease a second answer revises the first.
    "label_create": ("lease", "skip", "postpone"),
}
PAGING = {"page", "page_size"}
PAGE_SIZE = 200
CHUNK_BYTES = 256 * 1024
KEY = re.compile(r"[!-~]{8,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one address below ``/api/v1/``, with the names of its options; ``fields`` is
    None if the body is not a JSON object, or may have any fields."""

    id: str
    method: str
    path: str
    query: frozenset[str]
    fields: frozenset[str] | None

    def may_repeat(self, body: Any) -> bool:
        """Whether the request may be sent again when its outcome is unknown."""
        if self.method in ("GET", "PUT"):
            return True
        needed = REPEATABLE.get(self.id)
        return needed is not None and (not needed or any(name in body for name in needed))


@cache
def operations() -> Mapping[str, Operation]:
    """Everything that can be called, by operation id, as in the server's OpenAPI document."""
    table = json_module.loads((files(__package__) / "operations.json").read_text("utf-8"))
    return {
        name: Operation(
            id=name,
            method=method,
            path=path,
            query=frozenset(query),
            fields=None if fields is None else frozenset(fields),
        )
        for name, (method, path, query, fields) in table.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """The number of attempts of a request, and the waits between them.

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

    def pause(self, error: ClientError, attempt: int, *, repeatable: bool) -> float | None:
        """Seconds until the next attempt after the ``attempt``-th (from 1); None: give up."""
        allowed = repeatable or error.undone
        asked = error.retry_after or 0.0
        if not (error.retryable and allowed and attempt < self.attempts and asked <= self.patience):
            return None
        most = min(self.longest, self.first * 2 ** min(attempt - 1, 30))
        return max(asked, self.draw.uniform(0, most))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; ``path`` is below ``/api/v1/``. A ``content`` that is a file is read anew with
    each attempt, and ``on_sent`` is called with the number of bytes sent."""

    method: str
    path: str
    params: Mapping[str, str]
    content: bytes | Path | None
    content_type: str
    repeatable: bool
    slow: bool
    headers: Mapping[str, str] = field(default_factory=dict)
    on_sent: Callable[[int], None] | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def build_request(
    operation_id: str,
    *,
    json: Any = None,
    content: bytes | str | Path | None = None,
    content_type: str = "application/json",
    on_sent: Callable[[int], None] | None = None,
    idempotency_key: str | None = None,
    if_match: str | None = None,
    **options: Any,
) -> Request:
    """A request whose path and query are filled with ``options``; None leaves one out.

    Raises:
        WrongUse: no such operation, an option or field that it does not have, a name that cannot
            be part of a path, a value that JSON cannot represent, or a missing file.
    """
    operation = operations().get(operation_id)
    if operation is None:
        raise WrongUse(f"{operation_id!r} is not an operation; `operations()` lists them.")
    names = {name for _, name, _, _ in Formatter().parse(operation.path) if name}
    if missing := names - options.keys():
        raise WrongUse(f"{operation_id} needs {', '.join(sorted(missing))}.")
    path = operation.path.format(**{name: quote_segment(name, options[name]) for name in names})
    query = {name: value for name, value in options.items() if name not in names}
    check_options(operation_id, query, operation.query)
    if isinstance(json, Mapping) and operation.fields is not None:
        check_options(operation_id, json, operation.fields)
    if isinstance(content, str | Path):
        content = Path(content)
        if not content.is_file():
            raise WrongUse(f"There is no file {str(content)!r}.")
    return Request(
        method=operation.method,
        path=path,
        params={
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in query.items()
            if value is not None
        },
        content=content if json is None else encode_json("This", json),
        content_type=content_type,
        repeatable=idempotency_key is not None or operation.may_repeat(json or {}),
        headers={
            name: value
            for name, value in (("Idempotency-Key", idempotency_key), ("If-Match", if_match))
            if value is not None
        },
        slow=operation_id in SLOW,
        on_sent=on_sent,
    )


def check_options(operation_id: str, given: Mapping[str, Any], known: frozenset[str]) -> None:
    """Refuse unknown options, which the server might ignore."""
    for option in given:
        if option not in known:
            options = ", ".join(sorted(known - PAGING)) or "none"
            raise WrongUse(f"{option!r} is no option of {operation_id}; known are: {options}.")


def quote_segment(name: str, value: Any) -> str:
    """A value as one part of a path, which it cannot leave."""
    text = str(value)
    if text in ("", ".", "..") or "/" in text or not text.isprintable():
        raise WrongUse(f"{name}: {text[:80]!r} cannot be part of an address.")
    return quote(text, safe="")


def encode_json(what: str, value: Any) -> bytes:
    """JSON in UTF-8; half of a surrogate pair is escaped, for the server to refuse and name."""
    try:
        text = json_module.dumps(value, ensure_ascii=False, allow_nan=False, default=to_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongUse(f"{what} cannot be sent as JSON: {error}.") from None
    return text.encode(errors="backslashreplace")


def to_json(value: Any) -> Any:
    """Dates as ISO 8601, amounts of money as text; sets, numpy values and so on as content."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping | Record):
        return dict(value if isinstance(value, Mapping) else vars(value))
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be represented in JSON")


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
        raise WrongUse(f"address: {shown!r} is not an address such as http://127.0.0.1:8000.")
    if url.userinfo:
        raise WrongUse("address: leave out name and password: the key identifies you.")
    return str(url).rstrip("/").removesuffix(PREFIX.rstrip("/")).rstrip("/")


class Feed:
    """The rows of a list after a cursor, fetched page by page; ``since`` is the cursor of what was
    read, to go on from another day."""

    def __init__(self, api: "Api", operation_id: str, since: str, **options: Any) -> None:
        self._api, self._operation_id, self._options = api, operation_id, options
        self.since = since

    def __iter__(self) -> Iterator[Any]:
        while True:
            page = self._api.record(
                self._operation_id, since=self.since, page_size=PAGE_SIZE, **self._options
            )
            yield from page.results
            self.since = page.since
            if page.next is None:
                return


class Api:
    """The REST interface by operation ids; several threads may use it at once. Its key never shows.

    Args:
        timeout: seconds to wait for an answer; imports, reports and exports get twenty times that.
        retries: the attempts of requests that may be repeated.
        progress: True for a bar on stderr, False for none, or a function that is called with a
            :class:`~labelhub_client.Progress`; by default a bar if stderr is a terminal.
        transport: the transport of requests, such as ``httpx.HTTPTransport(verify=...)``.

    Every method raises :class:`~labelhub_client.ClientError` or a subclass.
    """

    def __init__(
        self,
        address: str,
        key: str,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
        progress: bool | ProgressCallback | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.address = check_address(address)
        if not KEY.fullmatch(str(key).strip()):
            raise WrongUse("key: this is not an API key; create one under API keys on the web.")
        if not timeout > 0:
            raise WrongUse("timeout: must be more than 0 seconds.")
        self.timeout, self.retries = timeout, retries or Retries()
        self.on_progress = choose_callback(progress)
        self._http = httpx.Client(
            base_url=f"{self.address}{PREFIX}",
            headers={"Authorization": f"Token {key.strip()}", "User-Agent": "labelhub-client"},
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; ``with`` does it too."""
        self._http.close()

    def call(self, operation_id: str, **options: Any) -> Any:
        """The answer of an operation as records; None if it is empty.

        ``options`` are the names in its path and its query. ``json=`` is its body, or ``content=``
        (bytes or the path of a file) with ``content_type=``. With an ``idempotency_key=`` of your
        own a write is done once however often it is sent, so that it is also repeated; with
        ``if_match=`` (an ``ETag``) it is refused if somebody else was faster.
        """
        return make_records(self._fetch(build_request(operation_id, **options)))

    def record(self, operation_id: str, **options: Any) -> Record:
        """The answer of an operation that is an object."""
        answer = self.call(operation_id, **options)
        if not isinstance(answer, Record):
            kind = type(answer).__name__
            raise UnexpectedAnswer(
                f"{operation_id}: the answer should be an object, but is {kind}."
            )
        return answer

    def rows(self, operation_id: str, **options: Any) -> Iterator[Any]:
        """All rows of a list, fetched page by page; wrong options are refused at once."""
        return self._pages(build_request(operation_id, **options))

    def download(
        self,
        operation_id: str,
        *,
        on_headers: Callable[[Mapping[str, str]], None] | None = None,
        **options: Any,
    ) -> Generator[bytes, None, None]:
        """A file as it arrives; raises :class:`~labelhub_client.AnswerLost` if it is incomplete."""
        request = replace(build_request(operation_id, **options), slow=True)
        return self._pieces(request, on_headers)

    def _fetch(self, request: Request) -> Any:
        response = self._send(request)
        if response.status_code == httpx.codes.NO_CONTENT:
            return None
        try:
            return json_module.loads(response.content)
        except ValueError:
            kind = response.headers.get("Content-Type", "nothing")[:80]
            raise UnexpectedAnswer(
                f"{request}: answered with {kind} instead of JSON. Check the address.",
                status=response.status_code,
            ) from None

    def _pages(self, request: Request) -> Iterator[Any]:
        for number in count(1):
            params = {"page_size": str(PAGE_SIZE), **request.params, "page": str(number)}
            try:
                page = self._fetch(replace(request, params=params))
            except NotFound:  # the list has become shorter than it was
                if number == 1:
                    raise
                return
            rows = page.get("results") if isinstance(page, dict) else None
            if not isinstance(rows, list):
                raise UnexpectedAnswer(f"{request}: the answer is not a page of a list.")
            yield from make_records(rows)
            # By number, not by the address in "next": a proxy may have it wrong, and the key would
            # be sent there.
            if not page.get("next"):
                return

    def _pieces(
        self, request: Request, on_headers: Callable[[Mapping[str, str]], None] | None
    ) -> Generator[bytes, None, None]:
        with closing(self._send(request, stream=True)) as response:
            if on_headers is not None:
                on_headers(response.headers)
            try:
                yield from response.iter_bytes()
            except httpx.RequestError as error:
                failure = connection_error(str(request), error)
            else:
                return
        raise failure  # outside of the block: httpx's error holds the key

    def _send(self, request: Request, *, stream: bool = False) -> httpx.Response:
        """The answer, after several attempts if necessary, or the last error."""
        attempt = 1
        while isinstance(outcome := self._send_once(request, stream=stream), ClientError):
            pause = self.retries.pause(outcome, attempt, repeatable=request.repeatable)
            if pause is None:
                raise outcome
            time.sleep(pause)
            attempt += 1
        return outcome

    def _send_once(self, request: Request, *, stream: bool) -> httpx.Response | ClientError:
        """The answer, or the error to raise: not raised here, where httpx's error, which holds the
        key, would be its context."""
        try:
            response = self._http.send(self._build(request), stream=True)
            if stream and response.is_success:
                return response
            with closing(response):
                response.read()
        except httpx.RequestError as error:
            return connection_error(str(request), error)
        return response if response.is_success else refusal(str(request), response)

    def _build(self, request: Request) -> httpx.Request:
        headers = dict(request.headers)
        if request.content is not None:
            headers["Content-Type"] = request.content_type
        content: bytes | Iterator[bytes] | None
        if isinstance(request.content, Path):
            # With a known length the server or a proxy can refuse at once.
            headers["Content-Length"] = str(request.content.stat().st_size)
            content = read_file(request.content, request.on_sent)
        else:
            content = request.content
        seconds = self.timeout * (SLOW_FACTOR if request.slow else 1)
        return self._http.build_request(
            request.method,
            request.path,
            params=dict(request.params),
            content=content,
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=min(self.timeout, 10.0)),
        )


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
    """Seconds between two polls of a long operation: few at first, then more."""
    pause = 0.2
    while True:
        yield pause
        pause = min(3.0, pause * 1.4)
