"""Texts to vectors: through the same limits, retries and checks as chats."""

from typing import Any

import pytest

from apps.llm import selectors
from apps.llm.embedding import read_embeddings
from apps.llm.models import ModelSpec
from apps.llm.wire import Malformed
from labelhub.core.llm.errors import ModelError, RequestRejected
from labelhub.core.llm.prices import cost_nanousd, estimate_tokens
from labelhub.core.llm.types import Usage
from tests.factories.llm import ModelSpecFactory
from tests.llm.asking_helpers import Sleeper, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, error, tiny_endpoint


def vectors(heard: Heard) -> Answer:
    """A vector that tells its text, in turned order."""
    rows = [
        {"index": at, "embedding": [float(len(text)), 1.0]}
        for at, text in enumerate(heard.body["input"])
    ]
    usage = {"prompt_tokens": 7 * len(rows)}
    return 200, {"data": rows[::-1], "usage": usage}, {}


def spec_of(base_url: str) -> ModelSpec:
    return make_spec(provider={"base_url": base_url}, purpose="embedding")


async def test_each_text_gets_its_vector_in_batches() -> None:
    texts = ["x" * (at % 9) for at in range(300)]
    async with tiny_endpoint(vectors) as endpoint:
        spec = spec_of(endpoint.base_url)
        async with opened(spec) as gateway:
            found = await gateway.embed(spec, texts)
            nothing = await gateway.embed(spec, [])
    assert [vector[0] for vector in found.vectors] == [max(1, len(text)) for text in texts]
    assert [len(heard.body["input"]) for heard in endpoint.heard] == [128, 128, 44]
    assert endpoint.heard[0].body["encoding_format"] == "float"
    assert found.usage == Usage(tokens_in=2100)
    assert (nothing.vectors, nothing.usage) == ([], Usage())


async def test_a_passing_trouble_is_tried_again() -> None:
    def say(heard: Heard) -> Answer:
        if heard.before == 0:
            return 429, error("Slow down."), {"retry-after": "2"}
        return (503, error("busy"), {}) if heard.before == 1 else vectors(heard)

    sleeper = Sleeper()
    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint.base_url)
        async with opened(spec, sleeper=sleeper) as gateway:
            assert (await gateway.embed(spec, ["abc"])).vectors == [[3.0, 1.0]]
    assert sleeper.slept == [2.0, 0.5]


async def test_an_answer_without_sense_fails_after_its_attempts() -> None:
    async with tiny_endpoint(lambda _: (200, {"data": []}, {})) as endpoint:
        spec = spec_of(endpoint.base_url)
        async with opened(spec) as gateway:
            with pytest.raises(ModelError, match="one embedding for each of 1 texts") as caught:
                await gateway.embed(spec, ["abc"])
    assert len(caught.value.data["attempts"]) == 5
    assert caught.value.data["usage"]["tokens_in"] == 5 * estimate_tokens("abc")


async def test_what_an_answer_without_sense_cost_is_counted() -> None:
    def say(heard: Heard) -> Answer:
        return vectors(heard) if heard.before else (200, {"data": []}, {})

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint.base_url)
        async with opened(spec) as gateway:
            usage = (await gateway.embed(spec, ["abc"])).usage
    assert usage == Usage(tokens_in=7 + estimate_tokens("abc"), estimated=True)


async def test_batches_of_different_lengths_are_refused() -> None:
    def say(heard: Heard) -> Answer:
        rows = [
            {"index": at, "embedding": [1.0] * (heard.before + 1)}
            for at, _ in enumerate(heard.body["input"])
        ]
        return 200, {"data": rows}, {}

    async with tiny_endpoint(say) as endpoint:
        spec = spec_of(endpoint.base_url)
        async with opened(spec) as gateway:
            with pytest.raises(ModelError, match="longer than"):
                await gateway.embed(spec, ["x"] * 129)


async def test_the_offline_model_makes_none() -> None:
    spec = make_spec(provider={"kind": "offline"})
    async with opened(spec) as gateway:
        with pytest.raises(RequestRejected, match="makes no embeddings"):
            await gateway.embed(spec, ["x"])


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{}", b'{"data": 5}', b'{"data": [5]}', b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999]}]}',
        b'{"data": [{"index": 0, "embedding": [true]}]}',
        b'{"data": [{"index": 1, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
        b'{"data": [{"index": null, "embedding": [1]}, {"index": 0, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [' + b"9" * 400 + b"]}]}",
    ],
)  # fmt: skip
def test_no_other_answer_is_read(body: bytes) -> None:
    with pytest.raises(Malformed):
        read_embeddings(body, {"input": ["x"]})


def test_missing_usage_is_estimated() -> None:
    found = read_embeddings(b'{"data": [{"index": 0, "embedding": [1]}]}', {"input": ["abcdef"]})
    assert found.usage == Usage(2, estimated=True)


@pytest.mark.django_db
def test_models_for_embeddings_are_kept_apart_and_have_no_price_of_output() -> None:
    chat, other = ModelSpecFactory.create(), ModelSpecFactory.create(purpose="embedding")
    other.price_out = None
    assert list(selectors.list_models()) == [chat]
    assert list(selectors.embedding_models()) == [other]
    with pytest.raises(selectors.UnknownModelName):
        selectors.find_model(other.name)
    prices: dict[str, Any] = dict(other.prices)
    assert other.prices_known
    assert cost_nanousd(Usage(1000), **prices) == 150_000
