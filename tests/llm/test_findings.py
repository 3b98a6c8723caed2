"""What is found out about models and providers, and kept."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from pytest_django import Settings

from apps.llm import services
from apps.llm.call_metrics import Use
from apps.llm.capabilities import Capability
from apps.llm.models import DailyUse, ModelSpec
from apps.llm.selectors import UnknownModelName
from labelhub.core.errors import InvalidInput
from tests.factories.llm import ModelSpecFactory, ProviderFactory

pytestmark = pytest.mark.django_db


def test_a_lesson_is_kept_with_what_was_said_and_when() -> None:
    model = ModelSpecFactory.create()
    services.learn_capability(model, Capability("takes_seed", value=False, reason="no seed"))
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
    assert [lesson["field"] for lesson in kept.learnt] == ["takes_seed", "takes_stop"]
    assert not kept.takes_seed


def test_a_day_of_use_adds_up_and_ends() -> None:
    provider = ProviderFactory.create(rpd=10)
    assert services.used_today(provider) == (0, 0)
    services.add_use(provider, Use(3, 100))
    services.add_use(provider, Use(2, -150))  # a reservation of more than was used
    services.add_use(provider, Use(0, 150))
    assert services.used_today(provider) == (5, 150)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    DailyUse.objects.update(day=yesterday)
    assert services.used_today(provider) == (0, 0)


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


def test_a_model_that_is_gone_teaches_nobody() -> None:
    model = ModelSpecFactory.create()
    ModelSpec.objects.all().delete()
    services.learn_capability(model, Capability("takes_seed", value=False))
    assert not ModelSpec.objects.exists()


def test_the_command_line_may_not_run_an_embedding_model(settings: Settings) -> None:
    settings.LABELHUB_LLM_BASE_URL = "http://127.0.0.1:9/v1"
    settings.LABELHUB_LLM_MODEL = "small"
    services.seed_from_environment()
    ModelSpec.objects.update(purpose="embedding")
    with pytest.raises(UnknownModelName, match="makes embeddings"):
        services.model_for_run("small", None)
