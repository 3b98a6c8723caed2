"""REST: projects/{slug}/invitations/."""

import pytest
from django.conf import LazySettings
from django.core.mail import EmailMessage
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.common.openapi import assert_matches_schema
from tests.factories.accounts import api_of
from tests.factories.projects import ProjectFactory, invited, member

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/hotels/invitations/"


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels")


@pytest.fixture
def boss(project: Project) -> User:
    return member(project, Role.MANAGER)


@pytest.fixture
def client(boss: User) -> APIClient:
    return api_of(boss)


def test_a_link_is_made_listed_and_revoked(client: APIClient) -> None:
    made = client.post(URL, {"role": "reviewer", "kind": "expert", "uses": 30, "days": 2})
    assert made.status_code == 201
    assert_matches_schema(made, "POST", URL)
    assert made.json()["link"].startswith("http://testserver/join/")
    listed = client.get(URL)
    assert_matches_schema(listed, "GET", URL)
    [row] = listed.json()["results"]
    assert (row["state"], row["uses_allowed"]) == ("open", 30)
    assert "link" not in row
    assert client.delete(f"{URL}{row['id']}/").status_code == 204
    assert client.get(URL).json()["results"][0]["state"] == "revoked"


def test_an_address_gets_the_link_and_nobody_else(
    client: APIClient, mailoutbox: list[EmailMessage], settings: LazySettings
) -> None:
    settings.LABELHUB_SENDS_MAIL = True
    made = client.post(URL, {"role": "viewer", "email": "ada@example.org"}).json()
    assert (made["link"], made["email"]) == (None, "ada@example.org")
    assert "http://testserver/join/" in mailoutbox[0].body
    assert (
        client.post(URL, {"role": "viewer", "email": "a@example.org", "uses": 2}).status_code == 422
    )


def test_mails_of_one_person_are_limited(client: APIClient, settings: LazySettings) -> None:
    settings.LABELHUB_SENDS_MAIL = True
    settings.INVITATION_RATE_LIMITS = {"mail": "1/h/user"}
    answers = [client.post(URL, {"role": "viewer", "email": f"a{n}@example.org"}) for n in (1, 2)]
    assert [answer.status_code for answer in answers] == [201, 429]
    assert answers[1].json()["code"] == "rate_limited"


def test_what_cannot_be_is_refused(client: APIClient, project: Project) -> None:
    assert client.post(URL, {"role": "boss"}).status_code == 400
    assert client.post(URL, {"role": "viewer", "days": 91}).status_code == 400
    other = invited(ProjectFactory.create())
    assert client.delete(f"{URL}{other.pk}/").status_code == 404
