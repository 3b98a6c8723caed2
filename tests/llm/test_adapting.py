"""How a call is adapted to what an endpoint takes and how far it gets; through the real client."""

import asyncio
from typing import Any

import pytest

from apps.llm.gateway import Gateway
from apps.llm.wire import MOST_ROOM
from labelhub.core.llm.errors import RequestRejected
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import Learnt, make_call, make_json_call, make_spec, opened
from tests.llm.tiny_endpoint import (
    Answer,
    Heard,
    TinyEndpoint,
    always,
    chat_completion,
    error,
    tiny_endpoint,
)


def spec_of(endpoint: TinyEndpoint, **changes: Any) -> Any:
    provider = {"base_url": endpoint.base_url} | changes.pop("provider", {})
    return make_spec(provider=provider, **changes)


async def test_a_model_that_never_ends_is_asked_with_ever_larger_caps_up_to_the_largest() -> None:
    def say(_: Heard) -> Answer:
        return 200, chat_completion("", finish_reason="length"), {}

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint, structured="json_schema")
        async with opened(spec) as gateway:
            done = await gateway.complete(spec, make_json_call(max_tokens=9))
    bodies = [heard.body for heard in endpoint.heard]
    assert [body["max_tokens"] for body in bodies] == [9, 4105, 16429, MOST_ROOM + 9]
    assert ["response_format" in body for body in bodies] == [True, False, False, False]
    assert done.finish_reason == "length"


def _no_form(heard: Heard) -> Answer:
    form = heard.body.get("response_format", {}).get("type", "")
    if form:
        return 400, error(f"response_format of type {form} is not supported"), {}
    return 200, chat_completion(), {}


async def test_calls_in_flight_together_never_unlearn_what_one_of_them_learnt() -> None:
    learnt = Learnt()
    async with tiny_endpoint(_no_form) as endpoint:
        spec = spec_of(endpoint, structured="json_schema")
        async with opened(spec, learnt=learnt) as gateway:
            await asyncio.gather(*(gateway.complete(spec, make_json_call()) for _ in range(8)))
    assert spec.structured == "none"
    assert [capability.value for capability in learnt.seen] == ["json_object", "none"]


async def test_a_refused_extra_field_is_not_learnt_around() -> None:
    def say(_: Heard) -> Answer:
        return 400, error("Unknown parameter: 'seed'."), {}

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint, extra_body={"seed": 5})
        async with opened(spec) as gateway:
            with pytest.raises(RequestRejected, match="seed"):
                await gateway.complete(spec, make_call())
    assert len(endpoint.heard) == 1


async def test_what_the_filter_refuses_to_read_is_a_refusal_and_no_failure() -> None:
    filtered = error("Filtered by our policy.", code="content_filter", param="prompt")
    async with tiny_endpoint(lambda _: (400, filtered, {})) as endpoint:
        spec = spec_of(endpoint)
        async with opened(spec) as gateway:
            done = await gateway.complete(spec, make_call(temperature=0))
    assert (done.finish_reason, done.refusal) == ("content_filter", "Filtered by our policy.")
    assert done.usage.estimated
    assert [attempt.http_status for attempt in done.attempts] == [400]
    assert done.effective_params["temperature"] == 0


async def test_our_headers_and_fields_are_sent_and_their_values_told_nobody() -> None:
    def say(heard: Heard) -> Answer:
        return 400, error(f"bad team {heard.headers['x-team']}"), {}

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(
            endpoint, provider={"headers": {"X-Team": "team-secret"}}, extra_body={"top_k": 5}
        )
        async with opened(spec) as gateway:
            with pytest.raises(RequestRejected) as caught:
                await gateway.complete(spec, make_call())
    assert endpoint.heard[0].body["top_k"] == 5
    assert "team-secret" not in f"{caught.value} {caught.value.data}"


async def test_headers_from_elsewhere_are_checked_again() -> None:
    """However they came into the row."""
    spec = make_spec(provider={"base_url": "http://127.0.0.1:9", "headers": {"Host": "other"}})
    with pytest.raises(Exception, match="is set by LabelHub"):
        async with Gateway.open([spec], memory=Learnt()):
            pass


def _of_context(size: int, message: str) -> Any:
    """An endpoint whose context is taken up by 500 tokens of text."""

    def say(heard: Heard) -> Answer:
        if 500 + heard.body["max_tokens"] > size:
            return 400, error(message, code=400), {}
        usage = {"prompt_tokens": 500, "completion_tokens": 5}
        return 200, chat_completion() | {"usage": usage}, {}

    return say


@pytest.mark.parametrize(
    ("message", "caps", "context"),
    [
        (("This model's maximum context length is 4096 tokens. However, you requested 34292 tokens "
         "(500 in the messages, 33792 in the completion). Please reduce the length."),
         [33_792, 3072, 3072], 4096),
        ("the request exceeds the available context size (4,096 tokens)",
         [33_792, 3072, 3072], 4096),
        ("Please reduce the length of the messages or completion.",
         [33_792, 16_896, 8448, 4224, 2112, 1959], 2612),
    ],
)  # fmt: skip
async def test_a_context_that_is_too_small_is_learnt_once(
    message: str, caps: list[int], context: int
) -> None:
    learnt = Learnt()
    async with tiny_endpoint(_of_context(4096, message)) as endpoint:
        spec = spec_of(endpoint, thinking_tokens=MOST_ROOM)
        async with opened(spec, learnt=learnt) as gateway:
            await gateway.complete(spec, make_call())
            await gateway.complete(spec, make_call())
    assert [heard.body["max_tokens"] for heard in endpoint.heard] == caps
    assert spec.context_tokens == context
    assert [capability.field for capability in learnt.seen] == ["context_tokens"]


async def test_only_the_first_call_to_an_unknown_model_goes_alone(model_server: FakeServer) -> None:
    model_server.options.latency = 0.2
    spec = make_spec(model_server, thinking_tokens=None)
    most = {"unknown": 0, "known": 0}
    async with opened(spec) as gateway:
        calls = [gateway.complete(spec, make_call(f"Text {number}.")) for number in range(9)]
        asking = asyncio.gather(*calls)
        while not asking.done():
            now = "unknown" if spec.thinking_tokens is None else "known"
            most[now] = max(most[now], gateway.in_flight())
            await asyncio.sleep(0.01)
        await asking
    assert most == {"unknown": 1, "known": 8}


def _bare_500(*refused: str, before: int = 99) -> Any:
    """An endpoint that answers each of the ``refused`` forms with an error that says nothing, to
    the first ``before`` requests."""

    def say(heard: Heard) -> Answer:
        form = heard.body.get("response_format", {}).get("type", "text")
        if form in refused and heard.before < before:
            return 500, error("Internal Server Error"), {}
        return 200, chat_completion(), {}

    return say


async def test_an_answer_at_its_cap_is_cut_off_however_its_endpoint_says_so() -> None:
    capped = {"prompt_tokens": 10, "completion_tokens": 9}
    longer = {"prompt_tokens": 10, "completion_tokens": 90}
    cases = {
        "max_tokens": (chat_completion("Half", finish_reason="max_tokens"), "length"),
        "MAX_TOKENS": (chat_completion("Half", finish_reason="MAX_TOKENS"), "length"),
        "LENGTH": (chat_completion("Half", finish_reason="LENGTH"), "length"),
        "model_length": (chat_completion("Half", finish_reason="model_length"), "length"),
        "all tokens used": (chat_completion("Half") | {"usage": capped}, "length"),
        "all tokens used without a reason": (
            chat_completion("Half", finish_reason=None) | {"usage": capped}, "length"),
        "a wrong count": (chat_completion("Whole") | {"usage": longer}, "stop"),
        "filtered at its cap": (
            chat_completion("Half", finish_reason="content_filter") | {"usage": capped},
            "content_filter"),
        "no reason": (chat_completion("Whole", finish_reason=None), "stop"),
    }  # fmt: skip
    failures = []
    for case, (answer, reason) in cases.items():
        async with tiny_endpoint(always(answer)) as endpoint:
            spec = spec_of(endpoint)
            async with opened(spec) as gateway:
                done = await gateway.complete(spec, make_call(max_tokens=9))
        if done.finish_reason != reason:
            failures.append((case, done.finish_reason))
    assert not failures


async def test_an_answer_in_a_form_that_has_no_end_is_asked_for_as_free_text() -> None:
    def say(heard: Heard) -> Answer:
        if "response_format" in heard.body:
            return 200, chat_completion('{"reasoning": "' + " " * 50, finish_reason="length"), {}
        return 200, chat_completion("Final Decision: Price"), {}

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint, structured="json_schema")
        async with opened(spec) as gateway:
            done = await gateway.complete(spec, make_json_call(max_tokens=9))
    assert [heard.body["max_tokens"] for heard in endpoint.heard] == [9, 9]
    assert (done.text, len(done.attempts)) == ("Final Decision: Price", 2)
    assert (done.usage.tokens_in, done.usage.tokens_out) == (20, 10)
    assert done.effective_params == {"max_tokens": 9}


async def test_a_form_that_a_server_fails_at_without_a_word_of_it_is_given_up_for_good() -> None:
    schema, json_object, text = "json_schema", "json_object", "text"
    cases = {
        "no schema": (_bare_500(schema), json_object, [500, 500, 200, 200]),
        "no form at all": (_bare_500(schema, json_object), "none", [500, 500, 500, 200, 200]),
        "one passing trouble": (_bare_500(schema, before=1), schema, [500, 200, 200]),
        "trouble without a form too": (
            _bare_500(schema, json_object, text, before=4), schema, [500, 500, 500, 500, 200, 200]),
    }  # fmt: skip
    failures = []
    for case, (say, form, statuses) in cases.items():
        learnt = Learnt()
        async with tiny_endpoint(say) as endpoint:
            spec = spec_of(endpoint, structured="json_schema")
            async with opened(spec, learnt=learnt) as gateway:
                asked = [await gateway.complete(spec, make_json_call()) for _ in range(2)]
        found = [attempt.http_status for answer in asked for attempt in answer.attempts]
        messages = {capability.reason for capability in learnt.seen} - {"Internal Server Error"}
        if (spec.structured, found) != (form, statuses) or messages:
            failures.append((case, spec.structured, found, messages))
    assert not failures
