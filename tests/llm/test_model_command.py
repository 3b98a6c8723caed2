"""``manage.py model``: shows and changes models; every error is one line."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from apps.llm import services
from apps.llm.models import ModelSpec, Provider
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db


def model(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    call_command("model", *args, "--json")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def seeded(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    settings.LABELHUB_LLM_BASE_URL = "http://127.0.0.1:9/v1"
    settings.LABELHUB_LLM_MODEL = "small"
    monkeypatch.delenv(services.SEEDED_KEY, raising=False)
    return settings


def test_prices_and_limits_are_set(capsys: pytest.CaptureFixture[str]) -> None:
    name = ModelSpecFactory.create(price_in=None, price_out=None).name
    assert not model(capsys, name)["prices_known"]
    found = model(
        capsys, name, "--price-in", "2.5", "--price-out", "10",
        "--max-tokens", "300", "--concurrency", "7",
    )  # fmt: skip
    assert (found["price_in"], found["price_out"], found["prices_known"]) == (2.5, 10, True)
    assert (found["max_tokens"], found["concurrency"]) == (300, 7)
    kept = ModelSpec.objects.get()
    assert (kept.priced_at is not None, kept.provider.max_concurrency) == (True, 7)


def test_a_model_of_the_seeded_endpoint_is_made(
    seeded: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    found = model(capsys, "brand-new", "--free")
    assert (found["provider"], found["free"]) == ("Environment", True)
    assert {model.name for model in ModelSpec.objects.all()} == {"small", "brand-new"}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("other",), "No model 'other' here. Known: "),
        (("llama", "--price-in", "much"), "--price-in: 'much' is not a price"),
        (("llama", "--price-out", "-1"), "--price-out: '-1' is not a price"),
        (("llama", "--price-in", "nan"), "is not a price"),
        (("llama", "--price-in", "1e30"), "price_in"),
        (("llama", "--free", "--price-in", "1"), "without --price-in"),
        (("llama", "--max-tokens", "0"), "--max-tokens: must be 1 or more"),
        (("llama", "--concurrency", "0"), "--concurrency: must be 1 or more"),
        (("llama", "--max-tokens", "5", "--concurrency", "-1"), "--concurrency: must be"),
        (("offline", "--max-tokens", "5"), "built in"),
    ],
)
def test_what_is_wrong_is_one_line_and_changes_nothing(args: tuple[str, ...], words: str) -> None:
    services.ensure_builtin()
    ModelSpecFactory.create(name="llama")
    before = list(ModelSpec.objects.values()), list(Provider.objects.values())
    with pytest.raises(CommandError) as caught:
        call_command("model", *args)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (list(ModelSpec.objects.values()), list(Provider.objects.values())) == before
