"""What is found out about models and providers, and kept."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from pytest_django import Settings

from apps.llm import services
from apps.llm.capabilities import Capability
from apps.llm.models import DailyUse, ModelSpec
from apps.llm.selectors import UnknownModelName
from labelhub.core.errors import InvalidInput
from tests.factories.llm import ModelSpecFactory, ProviderFactory

pytestmark = pytest.mark.django_db


def test_a_lesson_is_kept_with_what_was_said_and_when() -> None:
    model = ModelSpecFactory.create()
    services.learn_capability(model, Capability("takes_seed", value=False, said="no seed"))
    kept = ModelSpec.objects.get()
    (lesson,) = kept.learnt
    assert (kept.takes_seed, model.takes_seed, model.learnt) == (False, False, kept.learnt)
    assert (lesson["field"], lesson["value"], lesson["was"]) == ("takes_seed", False, True)
    assert lesson["said"] == "no seed"
    assert datetime.fromisoformat(lesson["at"]).tzinfo is not None


def test_lessons_of_two_processes_are_both_kept() -> None:
    model = ModelSpecFactory.create()
    other = ModelSpec.objects.get()
    services.learn_capability(model, Capability("takes_seed", value=False))
    services.learn_capability(other, Capability("takes_stop", value=False))
    kept = ModelSpec.objects.get()
    assert [each["field"] for each in kept.learnt] == ["takes_seed", "takes_stop"]
    assert not kept.takes_seed


def test_what_calls_in_flight_learn_alike_is_one_lesson() -> None:
    model, other = ModelSpecFactory.create(), ModelSpec.objects.get()
    for each in (model, other, model):
        services.learn_capability(each, Capability("takes_seed", value=False))
    assert len(ModelSpec.objects.get().learnt) == len(other.learnt) == 1


def test_a_newer_lesson_replaces_the_older_and_both_can_be_forgotten() -> None:
    model = ModelSpecFactory.create(thinking_tokens=None)
    for tokens in (0, 4096, 8192):
        services.learn_capability(model, Capability("thinking_tokens", tokens))
    assert [each["value"] for each in ModelSpec.objects.get().learnt] == [8192]
    assert services.forget_learnt(model).thinking_tokens is None


def test_a_model_that_is_gone_teaches_nobody() -> None:
    model = ModelSpecFactory.create()
    ModelSpec.objects.all().delete()
    services.learn_capability(model, Capability("takes_seed", value=False))
    assert not ModelSpec.objects.exists()


def test_a_day_of_use_adds_up_and_ends() -> None:
    provider = ProviderFactory.create(rpd=10)
    assert services.used_today(provider) == (0, 0)
    services.add_use(provider, 3, 100)
    services.add_use(provider, 2, 50)
    assert services.used_today(provider) == (5, 150)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    DailyUse.objects.update(day=yesterday)
    assert services.used_today(provider) == (0, 0)


def test_the_date_of_a_price_is_that_of_its_last_change() -> None:
    model = services.save_model(ModelSpecFactory.build(provider=ProviderFactory.create()))
    assert model.priced_at is not None
    long_ago = date(2020, 1, 1)
    ModelSpec.objects.update(priced_at=long_ago)
    model.refresh_from_db()
    model.max_output_tokens = 5
    assert services.save_model(model).priced_at == long_ago
    model.price_cached_in = Decimal("0.01")
    assert services.save_model(model).priced_at not in (None, long_ago)
    model.price_in = model.price_out = None
    assert services.save_model(model).priced_at is None


def test_free_and_known_prices() -> None:
    model = ModelSpecFactory.build(price_in=Decimal(0), price_out=Decimal(0))
    assert (model.free, model.prices_known) == (True, True)
    model.price_reasoning = Decimal(1)
    assert not model.free
    model.price_out = None
    assert (model.free, model.prices_known) == (False, False)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("price_in", Decimal(-1)),
        ("extra_body", {"stream": True}),
        ("extra_body", [1]),
        ("fixed_temperature", -1),
        ("reasoning_effort", "enormous"),
        ("structured", "xml"),
    ],
)
def test_a_wrong_model_is_refused_by_field(field: str, given: object) -> None:
    model = ModelSpecFactory.create()
    setattr(model, field, given)
    with pytest.raises(InvalidInput, match=field):
        services.save_model(model)


@pytest.mark.parametrize(
    ("field", "given"),
    [("rpm", 0), ("tpm", -5), ("headers", {"Authorization": "x"}), ("headers", "x")],
)
def test_a_wrong_limit_or_header_is_refused_by_field(field: str, given: object) -> None:
    provider = ProviderFactory.build()
    setattr(provider, field, given)
    with pytest.raises(InvalidInput, match=field):
        services.save_provider(provider)


def test_the_command_line_may_not_run_an_embedding_model(settings: Settings) -> None:
    settings.LABELHUB_LLM_BASE_URL = "http://127.0.0.1:9/v1"
    settings.LABELHUB_LLM_MODEL = "small"
    services.seed_from_environment()
    ModelSpec.objects.update(purpose="embedding")
    with pytest.raises(UnknownModelName, match="makes embeddings"):
        services.model_for_run("small")
