"""What the providers' pages show and take beyond names and prices: limits, headers, lessons."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.llm import services
from apps.llm.capabilities import Capability
from apps.llm.extras import MASK
from apps.llm.models import Provider
from tests.factories.accounts import UserFactory
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.llm.test_provider_pages import PROVIDER

pytestmark = pytest.mark.django_db
SECRET = "team-secret-token"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_superuser=True, is_staff=True))
    return client


def listed(operator: Client) -> str:
    return operator.get(reverse("provider_list")).content.decode()


def test_a_header_is_named_and_its_value_shown_nowhere(operator: Client) -> None:
    provider = ProviderFactory.create(headers={"X-Team": SECRET})
    edit = reverse("provider_edit", args=[provider.pk])
    admin = reverse("admin:llm_provider_change", args=[provider.pk])
    pages = [listed(operator), operator.get(edit).content.decode()]
    assert all("X-Team" in page and SECRET not in page for page in pages)
    assert SECRET not in operator.get(admin).content.decode()


def test_masked_headers_stay_and_others_change(operator: Client) -> None:
    provider = ProviderFactory.create(
        headers={"X-Team": SECRET, "X-Old": "1"}, base_url=PROVIDER["base_url"].rstrip("/")
    )
    given = f'{{"X-Team": "{MASK}", "X-New": "2"}}'
    edit = reverse("provider_edit", args=[provider.pk])
    assert operator.post(edit, PROVIDER | {"headers": given}).status_code == 302
    provider.refresh_from_db()
    assert provider.headers == {"X-Team": SECRET, "X-New": "2"}
    assert operator.post(edit, PROVIDER | {"headers": ""}).status_code == 302
    provider.refresh_from_db()
    assert provider.headers == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"Authorization": "Bearer x"}', "is set by LabelHub"),
        ('{"host": "other"}', "is set by LabelHub"),
        ('{"X Bad": "1"}', "is not the name of a header"),
        ('{"X-Two": "a\\nb"}', "one line of plain text"),
        ('{"X-Number": 5}', "one line of plain text"),
        ("[1]", "Must be a JSON object"),
        ("{", "valid JSON"),
    ],
)
def test_a_wrong_header_is_said_in_place_and_seen(operator: Client, given: str, words: str) -> None:
    answer = operator.post(reverse("provider_create"), PROVIDER | {"headers": given})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "<details open>" in page
    assert not Provider.objects.exists()


def test_what_was_learnt_is_shown_and_can_be_forgotten(operator: Client) -> None:
    model = ModelSpecFactory.create(structured="json_schema")
    for capability in (
        Capability("takes_temperature", value=False, reason="Only <b>1</b> is supported"),
        Capability("structured", "json_object", "no json_schema"),
        Capability("structured", "none", "no json_object"),
    ):
        services.learn_capability(model, capability)
    page = listed(operator)
    assert "does not accept a temperature, 2" in page
    assert "Only &lt;b&gt;1&lt;/b&gt; is supported" in page
    url = reverse("model_forget", args=[model.provider.pk, model.pk])
    assert "is forgotten" in operator.post(url, follow=True).content.decode()
    model.refresh_from_db()
    assert (model.takes_temperature, model.structured, model.learnt) == (True, "json_schema", [])
    assert "Forget" not in listed(operator)


def test_limits_are_shown_with_where_they_come_from(operator: Client) -> None:
    provider = ProviderFactory.create(rpm=12_000)
    services.keep_limits(provider, {"rpm": 1, "tpm": 30_000})
    page = listed(operator)
    assert "12,000 requests per minute, 30,000 tokens per minute (reported by the" in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fixed_temperature": 1.0}, "fixed temperature 1"),
        ({"structured": "json_schema"}, "JSON by a schema"),
        ({"reasoning_effort": "low"}, "reasoning effort low"),
        ({"context_tokens": 8192}, "context 8,192"),
        ({"purpose": "embedding"}, "texts, for embeddings"),
    ],
)
def test_what_a_model_takes_is_said(operator: Client, changes: dict[str, Any], words: str) -> None:
    ModelSpecFactory.create(**changes)
    assert words in listed(operator)
