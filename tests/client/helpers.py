"""What tests of the client share."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from labelhub_client import Client, Retries

KEY = "lh_secret-of-a-test-0123456789"
ADDRESS = "http://labelhub.test"
#: Tries as often as usual, and does not wait.
QUICK = Retries(first=0.0, longest=0.0)

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


@dataclass(frozen=True)
class Served:
    """A running server."""

    address: str
    key: str = field(repr=False)

    def client(self, **more: Any) -> Client:
        """A client of it."""
        return Client(self.address, self.key, progress=False, **more)


@dataclass
class Scripted:
    """Answers in turn, the last one for ever; remembers what was asked. A body is read whole."""

    answers: Sequence[Answer]
    seen: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        request.read()
        answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            return answer(request)
        # Anew each time: a response is read once, and in one way.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def scripted(*answers: Answer, **more: Any) -> tuple[Client, Scripted]:
    """A client that is answered so."""
    script = Scripted(answers)
    made: dict[str, Any] = {
        "retries": QUICK,
        "progress": False,
        "transport": httpx.MockTransport(script),
    } | more
    return Client(ADDRESS, KEY, **made), script


def problem(status: int, code: str = "some", **more: Any) -> httpx.Response:
    """An error as the server words it."""
    headers = more.pop("headers", {})
    body = {"type": "about:blank", "title": "t", "status": status, "code": code, "detail": "No."}
    return httpx.Response(
        status, content=json.dumps(body | more),
        headers={"Content-Type": "application/problem+json", **headers},
    )  # fmt: skip
