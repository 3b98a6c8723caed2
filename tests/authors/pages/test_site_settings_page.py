"""/sites/<id>/settings/: every field, what authors agree to, and the site's end."""

from typing import Any

import pytest
from django.test import Client

from apps.authors.forms import SiteSettingsForm
from apps.authors.models import Author, Consent, Site
from apps.authors.services.sites import CHANGEABLE
from apps.projects.models import Item
from tests.authors.pages.reading import page, words
from tests.factories.authors import asked, author_of, site_with_features
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db


def shown(site: Site) -> dict[str, Any]:
    """What a browser sends when somebody opens the form and saves it."""
    site.refresh_from_db()
    values = {field.name: field.value() for field in SiteSettingsForm(instance=site)}
    return {
        name: value for name, value in values.items() if value is not None and value is not False
    }


def state(site: Site) -> dict[str, Any]:
    site.refresh_from_db()
    return {field: getattr(site, field) for field in CHANGEABLE}


def save(client: Client, site: Site, **changes: Any) -> Any:
    given = {key: value for key, value in (shown(site) | changes).items() if value is not None}
    return client.post(page(site, "settings/"), given)


def test_opening_and_saving_changes_nothing(manager: Client, site: Site) -> None:
    Site.objects.update(
        sampling=0.125, reask_share=0.3, daily_budget_nanousd=2_500_000_000, languages=["en", "de"]
    )
    before = state(site)
    assert save(manager, site).status_code == 302
    assert state(site) == before


def test_shares_are_typed_as_per_cent_and_budgets_in_dollars(manager: Client, site: Site) -> None:
    model = ModelSpecFactory.create()
    response = save(
        manager, site, sampling="12.5", daily_budget_nanousd="0.25", model=model.pk, enabled=None,
        currency="EUR", keep_text="sealed", every_messages="5",
    )  # fmt: skip
    assert response.status_code == 302
    now = state(site)
    assert (now["sampling"], now["daily_budget_nanousd"]) == (0.125, 250_000_000)
    assert (now["model"], now["enabled"], now["currency"]) == (model, False, "EUR")
    assert (now["keep_text"], now["every_messages"]) == ("sealed", 5)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "Other"}, "name"),
        ({"allowed_origins": "ftp://x"}, "allowed_origins"),
        ({"sampling": "101"}, "sampling"),
        ({"most_questions": "5"}, "most_questions"),
        ({"retention_days": "0"}, "retention_days"),
        ({"privacy_url": "javascript:alert(1)"}, "privacy_url"),
        ({"daily_budget_nanousd": "-1"}, "daily_budget_nanousd"),
        ({"model": "0"}, "model"),
        ({"language": "ja"}, "language"),
        ({"per_day": "99999999"}, "per_day"),
    ],
)
def test_a_fault_is_told_beside_its_field(
    manager: Client, site: Site, changes: dict[str, Any], field: str
) -> None:
    site_with_features(site.project, name="Other")
    before = state(site)
    response = save(manager, site, **changes)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert state(site) == before
    assert "Corner shop" in words(response)


def test_a_group_with_a_fault_is_open(manager: Client, site: Site) -> None:
    def groups(response: Any) -> dict[str, bool]:
        return {key: is_open for key, *_, is_open in response.context["form"].groups()}

    usual = groups(manager.get(page(site, "settings/")))
    assert not usual["data"]
    assert groups(save(manager, site, retention_days="0")) == usual | {"data": True}


def test_a_new_text_is_a_new_version(manager: Client, site: Site) -> None:
    old = site.consent_texts.get()
    Consent.objects.create(author=author_of(site, consent=False), text=old, by="widget")
    manager.post(page(site, "settings/consent/"), {"text_en": "May we ask you things?"})
    assert [text.version for text in site.consent_texts.all()] == [2, 1]
    shown = words(manager.get(page(site, "settings/")))
    assert "Version 1" in shown
    assert "1 author agreed" in shown


def test_the_typed_name_deletes_and_labelled_items_stay(manager: Client, site: Site) -> None:
    author = author_of(site)
    question = asked(author)[0]
    Item.objects.create(project=site.project, external_id="question-1", text="A tent, please")
    assert manager.post(page(site, "settings/delete/"), {"typed": "shop"}).status_code == 422
    assert question.pk
    manager.post(page(site, "settings/delete/"), {"typed": "Corner shop"})
    assert not Site.objects.exists()
    assert not Author.objects.exists()
    assert Item.objects.count() == 1
