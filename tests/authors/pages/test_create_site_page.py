"""/p/<slug>/sites/new/: a site in one page, then its snippet."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.projects.models import Project
from labelhub.core.interview.features import starter_library
from tests.authors.pages.reading import words
from tests.cases import all_cases
from tests.factories.authors import PER_ITEM
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
FILLED = {
    "name": "Corner shop",
    "allowed_origins": "https://Shop.example.org/\nhttps://www.example.org:443",
    "questions": "shopping",
    "language": "de",
    "more_languages": ["en", "de", "ja"],
    "identity": "verified",
    "consent_by": "host",
}


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="talk", definition=PER_ITEM)


@pytest.fixture
def manager(client: Client, project: Project) -> Client:
    client.force_login(member(project, Role.MANAGER))
    return client


def post(client: Client, **changes: Any) -> Any:
    data = {name: value for name, value in (FILLED | changes).items() if value is not None}
    return client.post("/p/talk/sites/new/", data)


def test_it_makes_a_site_and_goes_to_its_snippet(manager: Client) -> None:
    response = post(manager)
    site = Site.objects.get()
    assert response["Location"] == f"/p/talk/sites/{site.pk}/install/"
    assert site.allowed_origins == ["https://shop.example.org", "https://www.example.org"]
    assert site.languages == ["de", "en", "ja"]
    assert (site.identity, site.consent_by) == ("verified", "host")
    keys = [item.key for item in starter_library()["shopping"]]
    assert [feature.key for feature in site.features.asked()] == keys
    assert set(site.consent_texts.get().texts) == {"de", "en", "ja"}


@all_cases(
    ("changes", "result"),
    [
        ({"name": " "}, "This field is required"),
        ({"allowed_origins": "shop.example.org"}, "'shop.example.org' is not an origin"),
        ({"allowed_origins": "https://*.example.org"}, "is not an origin"),
        ({"questions": "pick"}, "Select at least one feature"),
        ({"questions": "pick", "picked": ["shopping/nothing"]}, "is not one of the available"),
        ({"language": "tlh"}, "is not one of the available choices"),
        ({"identity": "everybody"}, "is not one of the available choices"),
    ],
)
def test_a_fault_is_told_beside_its_field(
    manager: Client, changes: dict[str, Any], result: str
) -> None:
    response = post(manager, **changes)
    assert response.status_code == 422
    assert result in words(response)
    assert not Site.objects.exists()


def test_single_features_can_be_picked(manager: Client) -> None:
    post(manager, questions="pick", picked=["emotion/cause", "shopping/urgency"])
    assert {feature.key for feature in Site.objects.get().features.asked()} == {"cause", "urgency"}
