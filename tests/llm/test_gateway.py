"""The gateway through the real client, over loopback: what is asked and what comes back."""

import asyncio

import pytest

from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec
from labelhub.core.llm.errors import WrongKey
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call, make_spec, opened

KEY = "sk-test-0123456789"


async def test_a_completion_carries_what_was_said_and_sent(model_server: FakeServer) -> None:
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        done = await gateway.complete(spec, make_call(temperature=0, replicate=3))
    assert done.text.endswith("Final Decision: Price")
    assert (done.finish_reason, done.model_answered) == ("stop", "model-1")
    assert (done.usage.tokens_in, done.usage.tokens_out, done.usage.estimated) == (100, 20, False)
    assert done.effective_params == {"temperature": 0, "max_tokens": 1024}
    assert [attempt.http_status for attempt in done.attempts] == [200]
    assert "replicate" not in model_server.requests[0]


@pytest.mark.parametrize(("prompt", "completion"), [(0, 20), (100, 0), (0, 0)])
async def test_a_usage_of_nothing_is_none(
    model_server: FakeServer, prompt: int, completion: int
) -> None:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    model_server.script({"text": "Final Decision: none", "usage": usage})
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        done = await gateway.complete(spec, make_call())
    assert done.usage.estimated
    assert done.usage.tokens_in > 20
    assert done.usage.tokens_out > 2


async def test_thinking_that_eats_the_answer_gets_more_room_and_so_do_later_calls(
    model_server: FakeServer,
) -> None:
    model_server.script({"fault": "only_thought"})
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        done = await gateway.complete(spec, make_call(max_tokens=100))
        await gateway.complete(spec, make_call(max_tokens=300))
    assert [body["max_tokens"] for body in model_server.requests] == [100, 4196, 4396]
    assert (done.finish_reason, done.usage.tokens_in) == ("stop", 200)


@pytest.mark.parametrize(
    ("role", "roles", "begins"),
    [
        ("system", ["system", "user"], "These are"),
        ("developer", ["developer", "user"], "These are"),
        ("merge", ["user"], "These are"),
    ],
)
async def test_instructions_go_where_the_model_takes_them(
    model_server: FakeServer, role: str, roles: list[str], begins: str
) -> None:
    spec = make_spec(model_server, system_role=role)
    async with opened(spec) as gateway:
        await gateway.complete(spec, make_call())
    sent = model_server.requests[0]["messages"]
    assert [message["role"] for message in sent] == roles
    assert sent[0]["content"].startswith(begins)
    assert "fair" in sent[-1]["content"]


async def test_two_models_are_never_mixed() -> None:
    with FakeServer() as server, FakeServer() as other_server:
        first = make_spec(server, pk=1, name="shared-name")
        second = make_spec(other_server, pk=2, name="shared-name")
        third = make_spec(other_server, pk=3, name="third")
        third.provider = second.provider
        async with opened(first, second, third) as gateway:
            await asyncio.gather(
                *(
                    gateway.complete(spec, make_call(f"text {spec.pk}"))
                    for spec in (first, second, third) * 20
                )
            )
    assert {body["messages"][1]["content"][15:21] for body in server.requests} == {"text 1"}
    assert sorted({body["model"] for body in other_server.requests}) == ["shared-name", "third"]
    assert (len(server.requests), len(other_server.requests)) == (20, 40)


async def test_never_more_at_once_than_the_provider_allows(model_server: FakeServer) -> None:
    spec = make_spec(model_server, provider={"max_concurrency": 3})
    model_server.options.latency = 0.005
    async with opened(spec) as gateway:
        await asyncio.gather(*(gateway.complete(spec, make_call(f"{n}")) for n in range(30)))
    assert model_server.stats["most_open"] <= 3


@pytest.mark.parametrize(
    ("key", "words"), [("", "SOME_API_KEY is not set"), ("ключ", "cannot be sent")]
)
async def test_a_key_that_is_missing_or_unusable_is_named_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, key: str, words: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", key)
    spec = make_spec(provider={"api_key_env": "SOME_API_KEY", "base_url": "http://127.0.0.1:9/v1"})
    with pytest.raises(WrongKey, match=words):
        async with Gateway.open([spec]):
            pass


async def test_what_is_no_variable_for_keys_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """However its name came into the row."""
    monkeypatch.setenv("PGPASSWORD", "of the database")
    spec = make_spec(provider={"api_key_env": "PGPASSWORD", "base_url": "http://127.0.0.1:9/v1"})
    with pytest.raises(WrongKey, match="PGPASSWORD is not a variable for keys"):
        async with Gateway.open([spec]):
            pass


async def test_texts_that_no_wire_can_carry_are_mended(model_server: FakeServer) -> None:
    model_server.script({"text": "a\0b\ud800c"})
    spec = make_spec(model_server)
    async with opened(spec) as gateway:
        done = await gateway.complete(spec, make_call("lone \ud800 surrogate and \0"))
    assert done.text == "ab?c"


async def test_the_offline_model_answers_without_any_line() -> None:
    spec = make_spec(provider={"kind": "offline"}, name="offline")
    async with opened(spec) as gateway:
        done = await gateway.complete(spec, make_call("The price was far too high."))
    assert "Price" in done.text
    assert isinstance(spec, ModelSpec)
