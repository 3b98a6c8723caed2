"""The home page: what is going on, where am I needed?"""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from tests.factories.accounts import UserFactory
from tests.factories.labels import open_item
from tests.factories.projects import MembershipFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db


def home(client: Client) -> str:
    """The page's HTML."""
    response = client.get("/")
    assert response.status_code == 200
    return response.content.decode()


def test_only_my_projects_are_there(client: Client) -> None:
    ProjectFactory.create(name="Somebody else's secret")
    client.force_login(member(ProjectFactory.create(name="Mine"), Role.REVIEWER))

    html = home(client)

    assert "Mine" in html
    assert "secret" not in html


def test_names_of_projects_are_escaped(client: Client) -> None:
    project = ProjectFactory.create(name="<script>x</script>", description="<b>bold</b>")
    client.force_login(member(project, Role.VIEWER))

    html = home(client)

    assert "<script>x" not in html
    assert "<b>" not in html


def test_it_takes_the_same_queries_however_many_projects(
    client: Client, django_assert_num_queries: Any
) -> None:
    user = UserFactory.create()
    for _ in range(6):
        project = ProjectFactory.create()
        open_item(project)
        MembershipFactory.create(project=project, user=user)
    client.force_login(user)

    # session, user; projects, item states, runs in progress, memberships
    with django_assert_num_queries(7):
        home(client)
