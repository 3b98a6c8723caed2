"""Azure resources: a deployment in the address, a version in the query, a key in its own header."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from labelhub.core.llm.errors import UnknownModel, WrongKey
from labelhub.core.llm.types import Message
from tests.llm.asking_helpers import make_call, make_spec, opened
from tests.llm.streaming_endpoint import DONE, text_event

KEY = "azure-key-0123456789"
VERSION = "2024-10-21"
FORM = {
    "name": "Azure",
    "kind": "azure",
    "base_url": "https://lab.openai.azure.com",
    "api_version": VERSION,
    "api_key_env": "AZURE_API_KEY",
    "max_concurrency": 8,
    "connect_timeout": 5,
    "read_timeout": 60,
    "headers": "{}",
}


def refusal(status: int, code: str) -> web.Response:
    """As the service words it."""
    return web.json_response({"error": {"code": code, "message": "No."}}, status=status)


@asynccontextmanager
async def azure() -> AsyncIterator[tuple[str, list[web.Request]]]:
    """The address of a resource with the deployment ``model-1``, and what was asked of it."""
    heard: list[web.Request] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        heard.append(request)
        if request.query.get("api-version") != VERSION:
            return refusal(404, "404")
        if request.headers.get("api-key") != KEY or "Authorization" in request.headers:
            return refusal(401, "401")
        answers: dict[str, Any] = {
            "/openai/models": {"data": [{"id": "gpt-4o"}]},
            "/openai/deployments/model-1/embeddings": {
                "data": [{"index": 0, "embedding": [1.0, 0.0]}],
                "usage": {"prompt_tokens": 3},
            },
            "/openai/deployments/model-1/chat/completions": {
                "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]
            },
        }
        if request.path not in answers:
            return refusal(404, "DeploymentNotFound")
        if request.can_read_body and (await request.json()).get("stream"):
            return web.Response(body=text_event("Yes.") + DONE, content_type="text/event-stream")
        return web.json_response(answers[request.path])

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with TestServer(app) as server:
        yield str(server.make_url("/")), heard


@pytest.mark.parametrize("path", ["", "openai", "openai/"])
async def test_an_azure_resource_is_asked_by_deployment(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    # Of these none counts: all that matters is in the provider's row.
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://other.example")
    monkeypatch.setenv("OPENAI_API_VERSION", "1999-01-01")
    async with azure() as (address, heard):
        provider = {"kind": "azure", "api_version": VERSION, "api_key_env": "LAB_API_KEY"}
        spec = make_spec(provider={"base_url": address + path, **provider})
        async with opened(spec) as gateway:
            assert (await gateway.complete(spec, make_call())).text == "Yes."
            deltas = gateway.stream(spec, [Message("user", "Hm?")])
            assert [text async for text in deltas] == ["Yes."]
            assert (await gateway.embed(spec, ["Hm?"])).vectors == [[1.0, 0.0]]
            assert await gateway.model_names(spec.provider) == ["gpt-4o"]
    assert len(heard) == 4


async def test_what_azure_refuses_is_said_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    monkeypatch.setenv("OTHER_API_KEY", "other")
    async with azure() as (address, _):
        row = {
            "base_url": address,
            "kind": "azure",
            "api_version": VERSION,
            "api_key_env": "LAB_API_KEY",
        }
        missing = make_spec(provider=dict(row), name="other")
        async with opened(missing) as gateway:
            with pytest.raises(UnknownModel, match=r"Deployment 'other' .* or the API version is"):
                await gateway.complete(missing, make_call())
        wrong = make_spec(provider=row | {"api_key_env": "OTHER_API_KEY"})
        async with opened(wrong) as gateway:
            with pytest.raises(WrongKey, match="OTHER_API_KEY"):
                await gateway.complete(wrong, make_call())
