"""Roles in projects by groups of the company's provider."""

import pytest
from django.conf import LazySettings

from apps.accounts.directory import apply_groups, set_groups
from apps.accounts.models import GroupMember, User
from apps.accounts.roles import Role
from apps.projects.group_roles import remove_group_role, set_group_role
from apps.projects.models import Membership, Project
from apps.projects.services import set_member
from tests.factories.accounts import UserFactory, browser_of
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
SIGN_IN, SCIM = GroupMember.Source


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


def give(project: Project, group: str, role: str = "reviewer", kind: str = "crowd") -> None:
    set_group_role(project=project, group=group, role=role, kind=kind, actor=None)


def place(project: Project, user: User) -> tuple[str, str, str] | None:
    return project.memberships.filter(user=user).values_list("role", "kind", "group").first()


def test_a_group_gives_a_role_and_takes_it(project: Project, ada: User) -> None:
    give(project, "labelers")
    set_groups(ada, ["labelers", "staff"], SIGN_IN)
    assert place(project, ada) == ("reviewer", "crowd", "labelers")
    set_groups(ada, ["staff"], SIGN_IN)
    assert place(project, ada) is None


def test_people_who_are_in_the_group_already_get_the_role_at_once(
    project: Project, ada: User
) -> None:
    set_groups(ada, ["labelers"], SIGN_IN)
    give(project, "labelers")
    assert place(project, ada) == ("reviewer", "crowd", "labelers")
    give(project, "labelers", "viewer")
    assert place(project, ada) == ("viewer", "crowd", "labelers")
    remove_group_role(project=project, rule_id=project.group_roles.get().pk, actor=None)
    assert place(project, ada) is None


def test_the_group_that_allows_most_counts(project: Project, ada: User) -> None:
    for group, role, kind in (
        ("a", "viewer", "expert"), ("b", "reviewer", "crowd"), ("c", "reviewer", "expert"),
    ):  # fmt: skip
        give(project, group, role, kind)
    set_groups(ada, ["a", "b", "c"], SIGN_IN)
    assert place(project, ada) == ("reviewer", "expert", "c")
    set_groups(ada, ["a", "b"], SIGN_IN)
    assert place(project, ada) == ("reviewer", "crowd", "b")


def test_a_role_by_hand_stays_whatever_the_groups_say(project: Project, ada: User) -> None:
    give(project, "labelers", "viewer")
    set_member(project=project, user=ada, role=Role.REVIEWER, kind="expert", actor=None)
    set_groups(ada, ["labelers"], SIGN_IN)
    assert place(project, ada) == ("reviewer", "expert", "")
    set_groups(ada, [], SIGN_IN)
    assert place(project, ada) == ("reviewer", "expert", "")


def test_each_source_takes_only_what_it_gave(project: Project, ada: User) -> None:
    give(project, "labelers")
    set_groups(ada, ["labelers"], SCIM)
    set_groups(ada, ["labelers"], SIGN_IN)
    set_groups(ada, [], SIGN_IN)
    assert place(project, ada) == ("reviewer", "crowd", "labelers")
    set_groups(ada, [], SCIM)
    assert place(project, ada) is None


def test_names_count_letter_by_letter(project: Project, ada: User) -> None:
    give(project, "labelers")
    set_groups(ada, ["Labelers", "labelers ", "lаbelers", "x" * 256], SIGN_IN)
    assert place(project, ada) is None


def test_even_the_last_manager_loses_what_a_group_gave(project: Project, ada: User) -> None:
    Membership.objects.filter(project=project).delete()
    give(project, "leads", "manager")
    set_groups(ada, ["leads"], SIGN_IN)
    set_groups(ada, [], SIGN_IN)
    assert place(project, ada) is None


def test_groups_make_operators_and_people_who_create_accounts_and_unmake_them(
    ada: User, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_OPERATORS = ["ops"]
    settings.LABELHUB_SSO_ACCOUNT_CREATORS = ["hr"]
    root = UserFactory.create(is_superuser=True, is_staff=True)
    for user in (ada, root):
        set_groups(user, ["ops", "hr"], SIGN_IN)
    ada = User.objects.get(pk=ada.pk)
    assert (ada.is_superuser, ada.is_staff, ada.makes_accounts) == (True, True, True)
    for user in (ada, root):
        set_groups(user, [], SIGN_IN)
    ada = User.objects.get(pk=ada.pk)
    assert (ada.is_superuser, ada.is_staff, ada.makes_accounts) == (False, False, False)
    assert User.objects.get(pk=root.pk).is_superuser


def test_inactive_people_have_no_role_by_a_group(project: Project, ada: User) -> None:
    give(project, "labelers")
    set_groups(ada, ["labelers"], SCIM)
    ada.is_active = False
    ada.save()
    apply_groups(ada)
    assert place(project, ada) is None


def test_a_manager_maps_groups_on_the_page(project: Project, settings: LazySettings) -> None:
    settings.LABELHUB_OIDC = {"issuer": "https://id.example", "name": "Example"}
    manager = browser_of(member(project, Role.MANAGER))
    page = f"/p/{project.slug}/people/"
    fields = {"group-group": "<b>labelers</b>", "group-role": "reviewer", "group-kind": "expert"}
    manager.post(f"{page}groups/", fields)
    rule = project.group_roles.get()
    shown = manager.get(page).content.decode()
    assert "&lt;b&gt;labelers&lt;/b&gt;" in shown
    assert manager.post(f"{page}groups/", {**fields, "group-group": ""}).status_code == 422
    manager.post(f"{page}groups/{rule.pk}/remove/")
    assert not project.group_roles.exists()


def test_without_a_provider_the_page_asks_for_no_groups(
    project: Project, settings: LazySettings
) -> None:
    settings.LABELHUB_SCIM_TOKEN = ""
    page = browser_of(member(project, Role.MANAGER)).get(f"/p/{project.slug}/people/")
    assert "Groups of your company" not in page.content.decode()
