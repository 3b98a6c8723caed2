"""Pages of providers and models: operators only, and never a key's value."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.llm import services
from apps.llm.models import ModelSpec, Provider
from tests.factories.accounts import UserFactory
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.fakes.openai_server import FakeServer

pytestmark = pytest.mark.django_db

PROVIDER = {
    "name": "Lab",
    "base_url": "http://vllm:8000/v1/",
    "api_key_env": "LAB_API_KEY",
    "connect_timeout": "5",
    "read_timeout": "60",
    "max_concurrency": "8",
}
MODEL = {
    "name": "llama",
    "purpose": "chat",
    "structured": "none",
    "price_in": "0.2",
    "price_out": "",
    "max_output_tokens": "512",
    "takes_temperature": "on",
    "max_tokens_param": "max_tokens",
    "system_role": "system",
}


def new_model(name: str, price_in: str = "", price_out: str = "") -> dict[str, str]:
    """The fields of a new model as a browser sends them."""
    return {"model-name": name, "model-price_in": price_in, "model-price_out": price_out}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_superuser=True, is_staff=True))
    return client


def paths() -> list[str]:
    model = ModelSpecFactory.create()
    arguments = [model.provider.pk]
    return [
        reverse("provider_list"),
        reverse("provider_create"),
        reverse("provider_edit", args=arguments),
        reverse("provider_check", args=arguments),
        reverse("model_edit", args=[*arguments, model.pk]),
        reverse("model_forget", args=[*arguments, model.pk]),
    ]


def asked(client: Client, path: str) -> Any:
    """``path`` by the method it takes."""
    return client.post(path) if path.endswith(("/check/", "/forget/")) else client.get(path)


def test_the_list_marks_the_offline_model_and_the_state_of_keys(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SET_API_KEY", "sk-very-secret")
    monkeypatch.delenv("UNSET_API_KEY", raising=False)
    services.ensure_builtin()
    ModelSpecFactory.create(
        provider=ProviderFactory.create(api_key_env="SET_API_KEY"), price_in=None
    )
    ProviderFactory.create(api_key_env="UNSET_API_KEY")
    page = operator.get(reverse("provider_list")).content.decode()
    for words in ("not an LLM", "SET_API_KEY", "UNSET_API_KEY", "not set", "unknown"):
        assert words in page
    assert "sk-very-secret" not in page


def test_an_operator_adds_a_provider_and_a_model(operator: Client) -> None:
    assert operator.post(reverse("provider_create"), PROVIDER).status_code == 302
    provider = Provider.objects.get()
    assert (provider.base_url, provider.kind) == ("http://vllm:8000/v1", "openai")
    edit = reverse("provider_edit", args=[provider.pk])
    assert operator.post(edit, PROVIDER | new_model("llama", "0.2")).status_code == 302
    model = ModelSpec.objects.get()
    assert (str(model.price_in), model.price_out) == ("0.200000", None)
    changed = MODEL | {"name": "llama-2"}
    operator.post(reverse("model_edit", args=[provider.pk, model.pk]), changed)
    assert ModelSpec.objects.get().name == "llama-2"


def test_the_test_button_says_what_was_found(operator: Client, model_server: FakeServer) -> None:
    provider = ProviderFactory.create(base_url=model_server.base_url)
    answer = operator.post(reverse("provider_check", args=[provider.pk]), follow=True)
    assert "Reachable, 1 model: fake-model." in answer.content.decode()


def test_any_signed_in_user_lists_models_by_rest_without_addresses(client: Client) -> None:
    services.ensure_builtin()
    ModelSpecFactory.create(name="dear", price_in=None)
    assert client.get("/api/v1/models/").status_code == 401
    client.force_login(UserFactory.create())
    answer = client.get("/api/v1/models/")
    rows = {row["name"]: row for row in answer.json()["results"]}
    assert rows["offline"] == {
        "name": "offline",
        "provider": "Text matcher (demo)",
        "project": None,
        "offline": True,
        "prices_known": True,
    }
    assert not rows["dear"]["prices_known"]
    assert "127.0.0.1" not in answer.content.decode()


def test_a_model_name_given_twice_is_said_in_place(operator: Client) -> None:
    model, other = ModelSpecFactory.create(), ModelSpecFactory.create()
    other.provider = model.provider
    other.save()
    url = reverse("model_edit", args=[model.provider.pk, other.pk])
    answer = operator.post(url, MODEL | {"name": model.name})
    assert answer.status_code == 422
    assert "already exists" in answer.content.decode()


def test_the_built_in_provider_and_what_is_not_there_are_not_found(operator: Client) -> None:
    builtin = services.ensure_builtin().provider
    for name, args in [
        ("provider_edit", [builtin.pk]),
        ("provider_edit", [999]),
        ("model_edit", [ProviderFactory.create().pk, 999]),
    ]:
        assert operator.get(reverse(name, args=args)).status_code == 404
