"""Probabilities of labels through the real client, from an endpoint that keeps to the API."""

from typing import Any

import pytest

from apps.llm.models import ModelSpec
from labelhub.core.llm.parsing import label_probabilities
from labelhub.core.llm.types import Completion
from tests.fakes.token_choices import Piece, answer_in_tokens
from tests.llm.asking_helpers import make_call, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, TinyEndpoint, tiny_endpoint

ANSWER: list[Piece] = ["Final Decision:", (" Dov", {" Dov": 0.6, " Hawk": 0.3, " The": 0.1}), "ish"]


def answering(heard: Heard) -> Answer:
    return answer_in_tokens(heard.body, ANSWER)


def spec_at(endpoint: TinyEndpoint, **changes: Any) -> ModelSpec:
    return make_spec(provider={"base_url": endpoint.base_url}, **changes)


def probabilities(done: Completion) -> dict[str, float]:
    found = label_probabilities(done.text, done.logprobs, ("Dovish", "Hawkish"))
    return {name: round(share, 3) for name, share in found.items()}


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({"logprobs": True}, (True, 5)),
        ({"logprobs": True, "top_logprobs": 2}, (True, 2)),
        ({"logprobs": False, "top_logprobs": 5}, (False, None)),
        ({"top_logprobs": 5}, (None, None)),
        ({}, (None, None)),
    ],
)
async def test_alternatives_are_asked_for_with_log_probabilities_and_never_without(
    asked: dict[str, Any], sent: tuple[bool | None, int | None]
) -> None:
    async with tiny_endpoint(answering) as endpoint:
        spec = spec_at(endpoint)
        async with opened(spec) as gateway:
            await gateway.complete(spec, make_call(**asked))
    (heard,) = endpoint.heard
    assert (heard.body.get("logprobs"), heard.body.get("top_logprobs")) == sent
