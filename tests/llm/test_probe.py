"""The test button's words, by what is found at the address."""

import socket

import pytest

from apps.llm import services
from apps.llm.probe import check_provider
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.fakes.openai_server import FakeServer, completion

pytestmark = pytest.mark.django_db


def test_a_healthy_endpoint_lists_its_models(model_server: FakeServer) -> None:
    model_server.options.models = ("small", "large", "huge")
    found = check_provider(ProviderFactory.create(base_url=model_server.base_url))
    assert (found.ok, found.models) == (True, ("huge", "large", "small"))
    assert found.words.startswith("Reachable, 3 models")


def test_a_wrong_key_is_said_without_the_key(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-wrong")
    model_server.options.key = "sk-right"
    provider = ProviderFactory.create(base_url=model_server.base_url, api_key_env="SOME_API_KEY")
    found = check_provider(provider)
    assert not found.ok
    assert found.words.startswith("Wrong key")
    assert "SOME_API_KEY" in found.words
    assert "sk-" not in found.words


def test_a_missing_v1_is_guessed(model_server: FakeServer) -> None:
    provider = ProviderFactory.create(base_url=model_server.base_url.removesuffix("/v1"))
    assert "lack '/v1'" in check_provider(provider).words


def test_an_endpoint_without_a_list_of_models_is_asked_a_tiny_question(
    model_server: FakeServer,
) -> None:
    model_server.options.lists_models = False
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.words, found.answers) == (f"'{model.name}' answers.", True)
    assert model_server.requests[0]["max_tokens"] == 30


def test_the_question_shows_structured_output_and_log_probabilities(
    model_server: FakeServer,
) -> None:
    answer = completion("any", '{"label": "yes"}')
    likely = {"token": "yes", "logprob": -0.1, "top_logprobs": []}
    answer["choices"][0]["logprobs"] = {"content": [likely]}
    model_server.answer_with(lambda _: (200, answer))
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.structured, found.logprobs) == ("a JSON schema", True)
    assert found.models == ("fake-model",)


def test_an_endpoint_that_ignores_the_form_has_no_structured_output(
    model_server: FakeServer,
) -> None:
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.ok, found.structured, found.logprobs) == (True, "", False)


def test_an_unknown_model_is_said_beside_the_known_ones(model_server: FakeServer) -> None:
    model_server.options.models = ("small",)
    model = ModelSpecFactory.create(name="smal", provider__base_url=model_server.base_url)
    found = check_provider(model.provider)
    assert (found.ok, found.reachable, found.answers) == (False, True, False)
    assert "Model 'smal' is unknown to" in found.words
    assert found.models == ("small",)


def test_a_stored_key_is_sent_and_never_said(model_server: FakeServer) -> None:
    model_server.options.key = "sk-right"
    provider = ProviderFactory.create(base_url=model_server.base_url)
    services.save_provider(provider, key="sk-right")
    assert check_provider(provider).ok
    services.save_provider(provider, key="sk-wrong")
    words = check_provider(provider).words
    assert "the one entered for this provider" in words
    assert "sk-" not in words


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    assert (
        "SOME_API_KEY is not set"
        in check_provider(ProviderFactory.create(api_key_env="SOME_API_KEY")).words
    )


def test_nobody_there_is_said_with_the_address() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        found = check_provider(ProviderFactory.create(base_url=f"http://127.0.0.1:{port}/v1"))
    assert not found.ok
    assert "No connection to provider" in found.words
    assert f"127.0.0.1:{port}" in found.words


def test_the_offline_model_is_always_there() -> None:
    found = check_provider(services.ensure_builtin().provider)
    assert found.ok
    assert "not a language model" in found.words
