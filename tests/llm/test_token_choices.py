"""Probabilities of labels through the real client, from an endpoint that keeps to the API."""

from typing import Any

import pytest

from apps.llm.models import ModelSpec
from labelhub.core.llm.parsing import label_probabilities
from labelhub.core.llm.types import Completion
from tests.fakes.token_choices import Piece, answer_in_tokens
from tests.llm.asking_helpers import Learnt, make_call, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, TinyEndpoint, error, tiny_endpoint

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


@pytest.mark.parametrize(
    "refusal",
    [
        (403, "You are not allowed to request logprobs from this model."),
        (400, "Logprobs is not enabled for models/flash"),
        (422, "Unknown parameter: 'top_logprobs'."),
        (400, "top_logprobs must be between 0 and 3"),
    ],
)
async def test_a_model_without_them_is_asked_without_them_from_then_on(
    refusal: tuple[int, str],
) -> None:
    def say(heard: Heard) -> Answer:
        if "logprobs" in heard.body:
            return refusal[0], error(refusal[1]), {}
        return answering(heard)

    learnt = Learnt()
    async with tiny_endpoint(say) as endpoint:
        spec = spec_at(endpoint)
        async with opened(spec, learnt=learnt) as gateway:
            first = await gateway.complete(spec, make_call(logprobs=True))
            await gateway.complete(spec, make_call(logprobs=True))
    assert [attempt.http_status for attempt in first.attempts] == [refusal[0], 200]
    assert (len(endpoint.heard), [each.field for each in learnt.seen]) == (3, ["logprobs"])
    assert "top_logprobs" not in endpoint.heard[-1].body
