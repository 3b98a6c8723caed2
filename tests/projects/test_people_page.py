"""/p/<slug>/people/."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Project
from apps.projects.selectors import reviewer_kind, role_in
from tests.factories.accounts import UserFactory, allow_accounts
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
URL = "/p/hotels/people/"


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels")


@pytest.fixture
def boss(project: Project) -> User:
    return member(project, Role.MANAGER)


@pytest.fixture
def manager(client: Client, boss: User) -> Client:
    client.force_login(boss)
    return client


@pytest.fixture
def account_maker(client: Client, project: Project) -> Client:
    """A manager whom an operator allowed to make accounts."""
    client.force_login(allow_accounts(member(project, Role.MANAGER)))
    return client


def place(prefix: str, **fields: str) -> dict[str, str]:
    sent = {"role": "viewer", "kind": "expert", **fields}
    return {f"{prefix}-{key}": value for key, value in sent.items()}


def test_a_large_team_takes_no_more_queries(
    manager: Client, project: Project, django_assert_num_queries: Any
) -> None:
    others = [member(project, Role.REVIEWER) for _ in range(6)]
    # session, person, project, members, and what the person and their groups are permitted
    with django_assert_num_queries(7):
        page = manager.get(URL).content.decode()
    assert all(user.username in page for user in others)


@pytest.mark.parametrize("person", ["ada", "ADA@example.org"])
def test_somebody_with_an_account_is_added(manager: Client, project: Project, person: str) -> None:
    ada = UserFactory.create(username="ada", email="ada@example.org")
    response = manager.post(f"{URL}add/", place("add", person=person), follow=True)
    assert "is now a member" in response.content.decode()
    assert role_in(ada, project) is Role.VIEWER
    assert reviewer_kind(ada, project) is ReviewerKind.EXPERT


def test_managing_a_project_is_not_enough_to_make_accounts(manager: Client) -> None:
    """Anybody may make a project, and so be its manager."""
    page = manager.get(URL).content.decode()
    assert "Create the account" not in page
    assert "Ask an operator to create the account" in page
    assert "Can add user" in page
    refused = manager.post(f"{URL}new/", place("new", username="ceo", email="ceo@example.org"))
    assert refused.status_code == 403
    assert not User.objects.filter(username="ceo").exists()


def test_being_allowed_to_make_accounts_opens_no_project(client: Client, project: Project) -> None:
    client.force_login(allow_accounts(UserFactory.create()))
    assert client.post(f"{URL}new/", place("new", username="ada")).status_code == 404
    client.force_login(allow_accounts(member(project, Role.REVIEWER)))
    assert client.post(f"{URL}new/", place("new", username="ada")).status_code == 403
    assert not User.objects.filter(username="ada").exists()


def test_a_new_account_shows_its_password_once(account_maker: Client, project: Project) -> None:
    response = account_maker.post(
        f"{URL}new/", place("new", username="ada", email="ada@example.org")
    )
    made = response.context["made"]
    assert response.content.decode().count(made.password) == 1
    assert "no-store" in response["Cache-Control"]
    assert made.user.check_password(made.password)
    assert role_in(made.user, project) is Role.VIEWER
    assert not made.user.is_staff
    assert made.password not in account_maker.get(URL).content.decode()


def test_a_refused_account_leaves_nothing(account_maker: Client) -> None:
    UserFactory.create(username="ada")
    response = account_maker.post(f"{URL}new/", place("new", username="ada"))
    assert response.status_code == 422
    assert "already exists" in response.content.decode()
    response = account_maker.post(f"{URL}new/", place("new", username="bob", role="boss"))
    assert response.status_code == 422
    assert not User.objects.filter(username="bob").exists()


def test_a_role_is_changed(manager: Client, project: Project) -> None:
    user = member(project, Role.VIEWER)
    manager.post(f"{URL}{user.pk}/", {"role": "reviewer", "kind": "expert"})
    assert role_in(user, project) is Role.REVIEWER
    assert manager.post(f"{URL}{user.pk}/", {"role": "boss", "kind": "x"}).status_code == 422


def test_somebody_is_removed(manager: Client, project: Project) -> None:
    user = member(project, Role.VIEWER)
    manager.post(f"{URL}{user.pk}/remove/")
    assert role_in(user, project) is None


def test_nobody_and_members_cannot_be_added(manager: Client, boss: User) -> None:
    nobody = manager.post(f"{URL}add/", place("add", person="nobody"))
    assert nobody.status_code == 422
    assert "There is no account with that" in nobody.content.decode()
    again = manager.post(f"{URL}add/", place("add", person=boss.username))
    assert "is already a member" in again.content.decode()
