"""REST: projects/{slug}/members/."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.projects.selectors import role_in
from tests.common.openapi import assert_matches_schema
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory, member, member_api

pytestmark = pytest.mark.django_db
PATH = "/api/v1/projects/{slug}/members/"


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels")


@pytest.fixture
def client(project: Project) -> APIClient:
    return member_api(project)


URL = PATH.format(slug="hotels")


def test_the_team_is_listed(
    client: APIClient, project: Project, django_assert_num_queries: Any
) -> None:
    for _ in range(4):
        member(project, Role.VIEWER)
    # project with own membership, count, members with people
    with django_assert_num_queries(3):
        response = client.get(URL)
    assert_matches_schema(response, "GET", URL)
    assert response.json()["count"] == 5


def test_somebody_is_added_then_changed(client: APIClient, project: Project) -> None:
    user = UserFactory.create(email="ada@example.org")
    added = client.post(URL, {"username": "ada@example.org", "role": "viewer"})
    assert added.status_code == 201
    assert_matches_schema(added, "POST", URL)
    changed = client.post(URL, {"username": user.username, "role": "reviewer", "kind": "expert"})
    assert (changed.status_code, changed.json()["kind"]) == (200, "expert")
    assert role_in(user, project) is Role.REVIEWER


def test_somebody_is_removed(client: APIClient, project: Project) -> None:
    user = member(project, Role.VIEWER)
    response = client.delete(f"{URL}?username={user.username}")
    assert_matches_schema(response, "DELETE", URL)
    assert role_in(user, project) is None


def test_removing_nobody_is_refused(client: APIClient) -> None:
    assert client.delete(URL).status_code == 422
    assert client.delete(f"{URL}?username={UserFactory.create().username}").status_code == 404
