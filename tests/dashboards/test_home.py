"""The home page: what is going on, where am I needed?"""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Run
from apps.projects.selectors import current_schema
from tests.factories.accounts import UserFactory
from tests.factories.labels import open_item, queued_items
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

    # session, user, bell; projects, progress, runs and imports under way, memberships, comments
    with django_assert_num_queries(9):
        home(client)


def test_it_says_where_i_am_needed_and_what_runs(client: Client) -> None:
    project = ProjectFactory.create()
    queued_items(project, 3)
    Run.objects.create(
        project=project, protocol="ecj", schema=current_schema(project), status=Run.Status.RUNNING
    )
    client.force_login(member(project, Role.REVIEWER))

    html = home(client)

    assert "3 to review" in html
    assert "1 pre-annotation run in progress" in html


def test_what_only_viewers_see_asks_nothing_of_them(client: Client) -> None:
    project = ProjectFactory.create()
    queued_items(project, 3)
    client.force_login(member(project, Role.VIEWER))

    html = home(client)

    assert "/review/" not in html


def test_managers_and_newcomers_create_projects_and_reviewers_do_not(client: Client) -> None:
    offers = {}
    project = ProjectFactory.create()
    for name, user in {
        "manager": member(project, Role.MANAGER),
        "reviewer": member(project, Role.REVIEWER),
        "newcomer": UserFactory.create(),
    }.items():
        client.force_login(user)
        offers[name] = "/projects/new/" in home(client)

    assert offers == {"manager": True, "reviewer": False, "newcomer": True}


def test_a_sign_in_leads_a_reviewer_of_one_project_into_the_queue(client: Client) -> None:
    project = ProjectFactory.create()
    somebody, manager = member(project, Role.REVIEWER), member(project, Role.MANAGER)
    several = member(project, Role.REVIEWER)
    MembershipFactory.create(user=several, role=Role.REVIEWER)

    assert landing(client, somebody) == f"/p/{project.slug}/review/"
    assert landing(client, manager) == "/"
    assert landing(client, several) == "/"


def landing(client: Client, user: User) -> str:
    """Where a sign-in ends that began on the home page."""
    client.logout()
    door = client.get("/")["Location"]
    user.set_password("a long enough one")
    user.save()
    form = {"login": user.username, "password": "a long enough one"}
    chain = client.post(door, form, follow=True).redirect_chain
    return str(chain[-1][0])
