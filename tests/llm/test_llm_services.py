"""Setting up providers and models, and finding them again."""

from dataclasses import dataclass

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from apps.llm import selectors, services
from apps.llm.addresses import AddressRefused
from apps.llm.capabilities import Capability
from apps.llm.gateway import Gateway
from apps.llm.models import ModelSpec, PromptVersion, Provider
from labelhub.core.errors import Conflict, InvalidInput
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call

pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/v1"


@pytest.fixture
def seeded(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    settings.LABELHUB_LLM_BASE_URL = URL
    settings.LABELHUB_LLM_MODEL = "small, large"
    monkeypatch.delenv(services.SEEDED_KEY, raising=False)
    return settings


def test_the_environment_seeds_its_models_once(seeded: Settings) -> None:
    assert [str(model) for model in services.seed_from_environment()] == ["small", "large"]
    services.seed_from_environment()
    assert (Provider.objects.count(), ModelSpec.objects.count()) == (1, 2)
    assert [str(model) for model in selectors.default_models(None)] == ["small", "large"]


def test_a_changed_address_moves_the_seeded_provider(seeded: Settings) -> None:
    services.seed_from_environment()
    seeded.LABELHUB_LLM_BASE_URL = "http://127.0.0.1:10/v1/"
    services.seed_from_environment()
    assert Provider.objects.get().base_url == "http://127.0.0.1:10/v1"


def test_the_seeded_key_is_named_only_where_it_is_set(
    seeded: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.seed_from_environment()
    assert Provider.objects.get().api_key_env == ""
    monkeypatch.setenv(services.SEEDED_KEY, "sk-1")
    services.seed_from_environment()
    monkeypatch.delenv(services.SEEDED_KEY)
    services.seed_from_environment()
    assert Provider.objects.get().api_key_env == services.SEEDED_KEY


def test_a_forbidden_seeded_address_is_refused(seeded: Settings) -> None:
    seeded.LABELHUB_LLM_BASE_URL = "http://169.254.169.254/v1"
    with pytest.raises(AddressRefused):
        services.seed_from_environment()


def test_the_command_line_may_name_any_model_of_the_seeded_endpoint(seeded: Settings) -> None:
    model = services.model_for_run("brand-new", None)
    assert (model.provider.base_url, model.price_in) == (URL, None)
    assert services.model_for_run("brand-new", None) == model


@pytest.mark.parametrize(
    ("field", "given", "words"),
    [
        ("api_key_env", "sk-abc-123", "name of an environment variable"),
        ("api_key_env", "LABELHUB_SECRET_KEY", "not a variable for keys"),
        ("base_url", "http://169.254.169.254", "metadata"),
        ("name", "a/b", "must not contain '/'"),
        ("name", "", "name"),
        ("max_concurrency", 0, "max_concurrency"),
    ],
)
def test_a_wrong_provider_is_refused_by_field(field: str, given: object, words: str) -> None:
    provider = ProviderFactory.build()
    setattr(provider, field, given)
    with pytest.raises(InvalidInput, match=words):
        services.save_provider(provider)
    assert not Provider.objects.exists()


@pytest.mark.parametrize(
    "name",
    [
        "LABELHUB_EMAIL_URL", "LABELHUB_SECRET_KEY", "DATABASE_URL", "REDIS_URL", "PGPASSWORD",
        "AWS_SECRET_ACCESS_KEY", "HOME", "openai_api_key",
    ],
)  # fmt: skip
def test_nothing_else_in_the_environment_is_ever_sent_as_a_key(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} is not a variable for keys.*_API_KEY"):
        services.check_key_name(name)


def test_what_was_learnt_reaches_the_database(model_server: FakeServer) -> None:
    model_server.options.faults = {"no_temperature": 1.0}
    spec = ModelSpecFactory.create(provider__base_url=model_server.base_url)

    async def ask() -> None:
        async with Gateway.open([spec]) as gateway:
            await gateway.complete(spec, make_call(temperature=0))

    async_to_sync(ask)()
    assert not spec.takes_temperature
    spec.refresh_from_db()
    assert not spec.takes_temperature


def room(tokens: int, down_from: int | None = None) -> Capability:
    return Capability("thinking_tokens", tokens, down_from=down_from)


def test_room_for_thinking_that_another_process_has_learnt_stays() -> None:
    ours = ModelSpecFactory.create(thinking_tokens=None)
    theirs = ModelSpec.objects.get(pk=ours.pk)
    services.learn_capability(theirs, room(4096))
    # Of what they have learnt nothing is known here: this answer was just short.
    services.learn_capability(ours, room(0))
    assert ours.thinking_tokens == ModelSpec.objects.get().thinking_tokens == 4096
    # Many answers may take back what was known to whoever got them, and no more.
    services.learn_capability(theirs, room(8192))
    services.learn_capability(ours, room(256, down_from=4096))
    assert ours.thinking_tokens == ModelSpec.objects.get().thinking_tokens == 8192
    services.learn_capability(ours, room(256, down_from=8192))
    assert ours.thinking_tokens == ModelSpec.objects.get().thinking_tokens == 256


def taught() -> ModelSpec:
    """One of which three things are learnt."""
    model = ModelSpecFactory.create(provider__base_url=URL, structured="json_schema")
    for field, value in (("structured", "none"), ("thinking_tokens", 4096), ("output_limit", 2000)):
        services.learn_capability(model, Capability(field, value))
    return ModelSpec.objects.get(pk=model.pk)


def test_another_model_by_the_same_row_is_learnt_anew() -> None:
    model = taught()
    model.name = "another"
    services.save_model(model)
    model.refresh_from_db()
    assert (model.structured, model.thinking_tokens, model.output_limit, model.learnt) == (
        "json_schema", None, None, []
    )  # fmt: skip


@pytest.mark.parametrize("moved", [True, False])
def test_the_models_of_another_endpoint_are_learnt_anew(moved: bool) -> None:
    model = taught()
    services.keep_limited(model.provider, {"since": 1.0, "last": 2.0})
    model.provider.rpm = 9
    if moved:
        model.provider.base_url = "http://127.0.0.1:10/v1"
    services.save_provider(model.provider)
    model = ModelSpec.objects.select_related("provider").get()
    known = (model.structured, model.thinking_tokens, model.learnt == [])
    assert known == (("json_schema", None, True) if moved else ("none", 4096, False))
    assert (model.provider.rate_limited == {}) is moved


def test_a_model_is_found_by_name_or_by_provider_and_name() -> None:
    model = ModelSpecFactory.create(provider__name="Lab", name="meta/llama")
    assert selectors.find_model("meta/llama", selectors.list_models(None)) == model
    assert selectors.find_model(" Lab/meta/llama ", selectors.list_models(None)) == model


def test_an_unknown_name_lists_the_known_ones() -> None:
    ModelSpecFactory.create(name="known-one")
    with pytest.raises(selectors.UnknownModelName, match="known-one"):
        selectors.find_model("other", selectors.list_models(None))


def test_a_name_that_two_providers_have_must_be_told_apart() -> None:
    ModelSpecFactory.create(provider__name="A", name="same")
    ModelSpecFactory.create(provider__name="B", name="same")
    with pytest.raises(selectors.AmbiguousModelName, match="A/same, B/same"):
        services.model_for_run("same", None)


@dataclass(frozen=True)
class SomePrompt:
    name: str = "ecj/judge"
    hash: str = "ab" * 32
    body: str = "Decide."


def test_a_prompt_is_remembered_once_by_its_hash() -> None:
    first = services.remember_prompt(SomePrompt())
    assert services.remember_prompt(SomePrompt(body="anything else")) == first
    assert PromptVersion.objects.get().body == "Decide."


def test_without_an_address_nothing_is_seeded() -> None:
    assert services.seed_from_environment() == []
    services.ensure_builtin()
    assert [model.offline for model in selectors.default_models(None)] == [True]


def test_without_a_seeded_endpoint_an_unknown_name_is_refused() -> None:
    with pytest.raises(selectors.UnknownModelName):
        services.model_for_run("brand-new", None)
    assert services.model_for_run("offline", None).offline


def test_the_offline_model_is_not_edited() -> None:
    model = services.ensure_builtin()
    with pytest.raises(Conflict):
        services.save_model(model)
    with pytest.raises(Conflict):
        services.save_provider(model.provider)
