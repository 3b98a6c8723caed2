"""From what the caller says to requests: one function per endpoint, no I/O."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Generic, TypeVar

import httpx

from labelhub.client import endpoints
from labelhub.client.endpoints import Endpoint
from labelhub.client.errors import Problem, UnexpectedAnswer, WrongUse
from labelhub.client.options import Answer
from labelhub.client.reading import read
from labelhub.client.records import ImportOutcome, Item, Label, Lease, Skipped, Task
from labelhub.client.rows import Part
from labelhub.client.runs import Run
from labelhub.client.wire import Request

T = TypeVar("T")

PAGE_SIZE = 200
SEGMENT = re.compile(r"[-\w]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list, and the request for more."""

    results: tuple[T, ...]
    following: "Request[Page[T]] | None"


def one(endpoint: Endpoint, kind: type[T], /, **options: Any) -> Request[T]:
    """A GET of one record; see :func:`request`."""
    return request(endpoint, partial(read, kind), **options)


def page(endpoint: Endpoint, kind: type[T], /, **options: Any) -> "Request[Page[T]]":
    """The first page of a list of records."""
    first = request(endpoint, partial(read, kind), **options)
    return _page(first, kind, 1)


def _page(like: Request[Any], kind: type[T], number: int) -> "Request[Page[T]]":
    params = {**like.params, "page": str(number), "page_size": str(PAGE_SIZE)}
    return replace(like, params=params, parse=partial(_read_page, like, kind, number))


def _read_page(like: Request[Any], kind: type[T], number: int, data: Any) -> Page[T]:
    rows = data.get("results") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise UnexpectedAnswer(f"{like}: no page of a list.", Problem(code="unexpected_answer"))
    # By number, not by the address in "next": a proxy may have it wrong, and the key would follow.
    following = _page(like, kind, number + 1) if data.get("next") else None
    return Page(tuple(read(kind, row) for row in rows), following)


def request(
    endpoint: Endpoint, parse: Any, /, *, at: Mapping[str, Any] | None = None, **options: Any
) -> Request[Any]:
    """A request without a body: ``at`` fills the path, ``options`` are its query.

    Raises:
        WrongUse: an option that the endpoint does not have, or an impossible name.
    """
    _refuse_unknown(options, endpoint.query, endpoint)
    params = {name: _word(value) for name, value in options.items() if value is not None}
    return Request(endpoint=endpoint, path=_filled(endpoint, at or {}), parse=parse, params=params)


def posted(endpoint: Endpoint, kind: type[T], body: Mapping[str, Any], **at: Any) -> Request[T]:
    """A request with a JSON body.

    Raises:
        WrongUse: a name that the endpoint does not take, or a value that JSON does not have.
    """
    _refuse_unknown(body, endpoint.body, endpoint)
    sent = request(endpoint, partial(read, kind), at=at)
    return replace(sent, body=_dumped(body) if endpoint.body else None)


def next_task(slug: str) -> Request[Task | None]:
    """``next/``: None where nothing is left for you just now."""

    def parse(data: Any) -> Task | None:
        return None if data is None else read(Task, data)

    return request(endpoints.NEXT, parse, at={"slug": slug})


def submitted(slug: str, task: Task | Item | int, value: Any, answer: Answer) -> Request[Label]:
    """The label of a task, or of an item that was not handed out."""
    body: dict[str, Any] = {**answer, "item": item_id(task), "value": value}
    if not isinstance(task, Task):
        return posted(endpoints.SUBMIT_UNLEASED, Label, body, slug=slug)
    # What was shown: a run may change the suggestion meanwhile.
    body |= {"suggestion": task.suggestion.id if task.suggestion else 0, "lease": task.lease.token}
    return posted(endpoints.SUBMIT, Label, body, slug=slug)


def skipped(slug: str, task: Task | Item | int, reason: str, *, postpone: bool) -> Request[Skipped]:
    """A task that is left to others, or put off."""
    left = "postpone" if postpone else "skip"
    body = {"item": item_id(task), left: True, "comment": reason}
    if isinstance(task, Task):
        body["lease"] = task.lease.token
    return posted(endpoints.SKIP, Skipped, body, slug=slug)


def renewed(slug: str, task: Task) -> Request[Lease]:
    """More time for a task."""
    return posted(endpoints.RENEW, Lease, {}, slug=slug, token=task.lease.token)


def released(slug: str, task: Task) -> Request[None]:
    """A task given back."""
    return request(endpoints.RELEASE, lambda _: None, at={"slug": slug, "token": task.lease.token})


def imported(
    slug: str, part: Part, *, strict: bool, columns: Mapping[str, Any]
) -> Request[ImportOutcome]:
    """A part of the rows, or a file."""
    options = {**columns, "name": part.name, "strict": True if strict else None}
    sent = request(endpoints.IMPORT, partial(read, ImportOutcome), at={"slug": slug}, **options)
    return replace(sent, body=part.body, content_type=part.content_type)


def exported(slug: str, format_name: str, only: str | None) -> Request[httpx.Response]:
    """An export, as a response that is yet to be read."""
    return request(
        endpoints.EXPORT, lambda stream: stream, at={"slug": slug}, format=format_name, only=only
    )


def resumed(run_id: int, budget: float | str | Decimal | None) -> Request[Run]:
    """A run that goes on, perhaps with another budget."""
    body = {} if budget is None else {"budget": budget}
    return posted(endpoints.RESUME, Run, body, run_id=run_id)


def item_id(task: Task | Item | int) -> int:
    """The number of what is labelled.

    Raises:
        WrongUse: it is none of the three; None is what ``next`` gives at the end.
    """
    item = task.item if isinstance(task, Task) else task
    number = item.id if isinstance(item, Item) else item
    if isinstance(number, bool) or not isinstance(number, int):
        raise WrongUse(f"Give a task, an item or its number, not {type(task).__name__}.")
    return number


def _filled(endpoint: Endpoint, at: Mapping[str, Any]) -> str:
    for name, value in at.items():
        if not SEGMENT.fullmatch(str(value)):
            raise WrongUse(f"{name}: {str(value)[:80]!r} is none; letters, digits, - and _ only.")
    return endpoint.path.format(**at)


def _refuse_unknown(given: Mapping[str, Any], known: frozenset[str], endpoint: Endpoint) -> None:
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known - endpoints.PAGING)) or "none"
            raise WrongUse(f"{name!r} is no option of {endpoint.path}; known are: {listed}.")


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _dumped(body: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError) as error:
        raise WrongUse(f"This cannot be sent as JSON: {error}.") from None


def _plain(value: Any) -> Any:
    """Sums of money as text; sets, numpy and the like as what they hold."""
    if isinstance(value, Decimal):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, set | frozenset | Mapping):
        return dict(value) if isinstance(value, Mapping) else sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
