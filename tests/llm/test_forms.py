"""Answers in JSON: what prompts and schemas ask for, and what is learnt where a form is refused."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.llm.capabilities import Capability
from apps.llm.models import ModelSpec
from apps.llm.structured import answer_schema
from labelhub.core.debate import PROTOCOLS
from labelhub.core.debate.calls import Caller
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call
from labelhub.core.prompts import PromptLibrary
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.llm.asking_helpers import Learnt, make_json_call, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, chat_completion, error, tiny_endpoint

LIBRARY = PromptLibrary(Path(settings.PROMPTS_DIR))
POINTS = [{"name": "low", "point": 1}, {"name": "high", "point": 2}]
SCHEMAS: dict[str, Schema] = {
    "single": schema_from_names("single", ["Low", "High"]),
    "multi": schema_from_names("multi", ["Low", "High"]),
    "ordinal": parse_schema({"task": "ordinal", "labels": POINTS}),
    "text": parse_schema({"task": "text", "labels": []}),
    "per_item": parse_schema({"task": "per_item", "labels": []}),
}
ANSWERED = chat_completion('{"labels": ["Price"]}')
#: Inputs of prompts beside those that every item has.
GIVEN: dict[str, Any] = {"name": "A", "history": [], "arguments": [], "precedents": [],
                         "examples": [], "opinions": [], "extractor": "x", "critic": "x",
                         "drafter": "x", "reviewer": "x"}  # fmt: skip


def in_json() -> Iterator[Any]:
    """Every prompt that may be answered in JSON, for every kind of question."""
    for name in LIBRARY.names():
        prompt = LIBRARY.get(*name.split("/"))
        if prompt.protocol in PROTOCOLS and prompt.fields:
            yield from ((name, task) for task in SCHEMAS)


def rendered(name: str, task: str) -> Call:
    prompt = LIBRARY.get(*name.split("/"))
    item = DebateItem("1", "The text.", options=("Low", "High") if task == "per_item" else ())
    caller = Caller(item=item, schema=SCHEMAS[task], prompts={prompt.role: prompt}, salt="s",
                    json_roles=[prompt.role])  # fmt: skip
    given = {key: value for key, value in GIVEN.items() if key in prompt.inputs}
    return caller(prompt.role, inputs=given)


def example_in(call: Call) -> Any:
    """The example of an answer that the prompt ends with."""
    asked = call.json_messages[-1].content.rpartition("</text id=")[2]
    return json.loads(asked[asked.index("{") : asked.rindex("}") + 1])


@all_cases(("name", "task"), list(in_json()))
def test_a_prompt_shows_exactly_the_keys_of_the_schema(name: str, task: str) -> None:
    call = rendered(name, task)
    words, asked = call.messages[-1].content, call.json_messages[-1].content
    assert "JSON" in asked
    assert "JSON" not in words
    assert "Final Decision:" not in asked
    _is_alike(example_in(call), answer_schema(call))


def _is_alike(example: Any, schema: Any) -> None:
    kinds = {"object": dict, "array": list, "string": str}
    assert isinstance(example, kinds[schema["type"]])
    if isinstance(example, dict):
        assert list(example) == schema["required"]
        for key, part in example.items():
            _is_alike(part, schema["properties"][key])
    for part in example if isinstance(example, list) else ():
        _is_alike(part, schema["items"])


def refusing(*kinds: str, status: int, message: str = "Internal error") -> Any:
    """An endpoint that refuses these kinds of forms."""

    def say(heard: Heard) -> Answer:
        kind = heard.body.get("response_format", {}).get("type", "text")
        return (status, error(message), {}) if kind in kinds else (200, ANSWERED, {})

    return say


def kinds_asked(heard: list[Heard]) -> list[str]:
    return [request.body.get("response_format", {}).get("type", "text") for request in heard]


@pytest.mark.parametrize("status", [400, 403, 422])
async def test_a_refused_schema_is_asked_for_as_any_json_then_as_text(status: int) -> None:
    say = refusing("json_schema", "json_object", status=status, message="response_format: no")
    learnt = Learnt()
    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, structured="json_schema")
        async with opened(spec, learnt=learnt) as gateway:
            await gateway.complete(spec, make_json_call())
            await gateway.complete(spec, make_json_call())
    assert kinds_asked(endpoint.heard) == ["json_schema", "json_object", "text", "text"]
    assert [capability.value for capability in learnt.seen] == ["json_object", "none"]
    shown = ["JSON" in request.body["messages"][-1]["content"] for request in endpoint.heard]
    assert shown == [True, True, False, False], "the prompt asks for the form that is sent"


@pytest.mark.parametrize(
    "message", ["failed to parse grammar", "JSON schema conversion failed: Unrecognized schema"]
)
async def test_http_500_on_a_schema_teaches_once_another_form_is_answered(message: str) -> None:
    """As llama.cpp does."""
    learnt = Learnt()
    say = refusing("json_schema", status=500, message=message)
    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, structured="json_schema")
        async with opened(spec, learnt=learnt) as gateway:
            await gateway.complete(spec, make_json_call())
            await gateway.complete(spec, make_json_call())
    assert kinds_asked(endpoint.heard) == ["json_schema", "json_object", "json_object"]
    assert [
        (capability.field, capability.value, capability.reason) for capability in learnt.seen
    ] == [("structured", "json_object", message)]


async def test_a_form_that_http_500_names_costs_no_attempt() -> None:
    """As the server of llama-cpp-python answers, also to the test of a provider."""
    message = "Input should be 'text' or 'json_object' (response_format.type)"
    say = refusing("json_schema", "json_object", status=500, message=message)
    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, structured="json_schema")
        async with opened(spec, attempts=1) as gateway:
            await gateway.complete(spec, make_json_call())
    assert kinds_asked(endpoint.heard) == ["json_schema", "json_object", "text"]


async def test_an_endpoint_that_refuses_every_form_is_given_up() -> None:
    say = refusing("json_schema", "json_object", "text", status=500, message="json_schema: no")
    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, structured="json_schema")
        async with opened(spec, attempts=2) as gateway:
            with pytest.raises(ModelError):
                await gateway.complete(spec, make_json_call())
    assert kinds_asked(endpoint.heard) == ["json_schema", "json_object", "text", "json_schema"]


ODD = "Invalid schema for response_format 'answer': 'enum' values must not contain newlines"
NO_SCHEMA = "response_format of type json_schema is not supported"


@pytest.mark.parametrize(
    ("status", "message", "asked", "kept"),
    [
        (400, ODD, ["json_schema", "json_object", "json_schema"], "json_schema"),
        (500, ODD, ["json_schema", "json_object", "json_schema"], "json_schema"),
        (400, NO_SCHEMA, ["json_schema", "json_object", "json_object"], "json_object"),
    ],
)
async def test_what_one_items_options_are_refused_for_the_others_are_not(
    status: int, message: str, asked: list[str], kept: str
) -> None:
    def say(heard: Heard) -> Answer:
        form = heard.body.get("response_format", {})
        odd = form.get("type") == "json_schema" and "ODD" in json.dumps(form)
        return (status, error(message, param="response_format"), {}) if odd else (200, ANSWERED, {})

    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, structured="json_schema")
        own = replace(make_json_call(), schema=SCHEMAS["per_item"])
        async with opened(spec) as gateway:
            await gateway.complete(spec, replace(own, options=("yes", "ODD")))
            await gateway.complete(spec, replace(own, options=("yes", "no")))
    assert kinds_asked(endpoint.heard) == asked
    assert spec.structured == kept


async def test_an_answer_that_teaches_does_not_wait_for_the_database() -> None:
    """Whoever is cancelled meanwhile would lose what is paid for."""
    kept = asyncio.Event()

    class Slow(Learnt):
        async def learn(self, spec: ModelSpec, capability: Capability) -> None:
            await kept.wait()
            await super().learn(spec, capability)

    learnt = Slow()
    say = refusing("json_schema", status=500, message="failed to parse grammar")
    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, structured="json_schema")
        async with opened(spec, learnt=learnt) as gateway:
            await asyncio.wait_for(gateway.complete(spec, make_json_call()), 5)
            assert (spec.structured, learnt.seen) == ("json_object", [])
            kept.set()
    assert [capability.value for capability in learnt.seen] == ["json_object"]
