"""An endpoint that answers each request as the test's own function says."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

#: Status, JSON body, headers.
Answer = tuple[int, Any, Mapping[str, str]]
Say = Callable[["Heard"], Answer]


@dataclass
class Heard:
    """One request, its headers by lower-case names, and how many came before it."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    before: int


@dataclass
class TinyEndpoint:
    """What was asked; ``base_url`` for a provider."""

    base_url: str = ""
    heard: list[Heard] = field(default_factory=list)


def chat_completion(text: str = "fine", **choice: Any) -> dict[str, Any]:
    """A chat completion; ``choice`` changes its only choice."""
    message = {"role": "assistant", "content": text}
    return {
        "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | choice],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }


def error(message: str, **more: Any) -> dict[str, Any]:
    """An error as OpenAI writes it."""
    return {"error": {"message": message, **more}}


def always(body: Any) -> Say:
    """Every request is answered with ``body``."""
    return lambda _: (200, body, {})


@asynccontextmanager
async def tiny_endpoint(say: Say) -> AsyncIterator[TinyEndpoint]:
    """The endpoint, in the test's own event loop."""
    endpoint = TinyEndpoint()

    async def handle(request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        heard = Heard(request.path, await request.json(), headers, len(endpoint.heard))
        endpoint.heard.append(heard)
        status, body, sent = say(heard)
        return web.json_response(body, status=status, headers=dict(sent))

    app = web.Application()
    app.router.add_post("/v1/{what:.+}", handle)
    async with TestServer(app) as server:
        endpoint.base_url = str(server.make_url("/v1"))
        yield endpoint
