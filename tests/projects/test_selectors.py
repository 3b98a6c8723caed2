"""Who finds which project, as what; and items by their ids."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection

from apps.accounts.roles import ReviewerKind, Right, Role
from apps.projects.models import Item, Project
from apps.projects.selectors import get_project, reviewer_kind, role_in
from labelhub.core.errors import Forbidden, NotFound
from tests.factories.accounts import UserFactory
from tests.factories.labels import open_item
from tests.factories.projects import ItemFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("role", "right", "allowed"),
    [
        (Role.MANAGER, Right.MANAGE, True),
        (Role.MANAGER, Right.REVIEW, True),
        (Role.MANAGER, Right.VIEW, True),
        (Role.REVIEWER, Right.MANAGE, False),
        (Role.REVIEWER, Right.REVIEW, True),
        (Role.REVIEWER, Right.VIEW, True),
        (Role.VIEWER, Right.MANAGE, False),
        (Role.VIEWER, Right.REVIEW, False),
        (Role.VIEWER, Right.VIEW, True),
    ],
)
def test_a_role_holds_its_rights_and_no_more(role: Role, right: Right, allowed: bool) -> None:
    project = ProjectFactory.create()
    user = member(project, role)
    assert Project.objects.open_to(user, right).contains(project) is allowed
    if allowed:
        assert get_project(user, project.slug, right) == project
    else:
        with pytest.raises(Forbidden):
            get_project(user, project.slug, right)


@pytest.mark.parametrize("right", Right)
def test_a_stranger_cannot_tell_a_hidden_project_from_none(right: Right) -> None:
    project = ProjectFactory.create()
    member(project, Role.MANAGER)
    for person in (UserFactory.create(), AnonymousUser()):
        with pytest.raises(NotFound) as hidden:
            get_project(person, project.slug, right)
        with pytest.raises(NotFound) as absent:
            get_project(person, "absent", right)
        assert str(hidden.value).replace(project.slug, "x") == str(absent.value).replace(
            "absent", "x"
        )


def test_an_operator_manages_everything_as_an_expert() -> None:
    project = ProjectFactory.create()
    operator = UserFactory.create(is_superuser=True)
    assert get_project(operator, project.slug, Right.MANAGE) == project
    assert role_in(operator, project) is Role.MANAGER
    assert reviewer_kind(operator, project) is ReviewerKind.EXPERT


def test_a_member_labels_as_their_kind() -> None:
    project = ProjectFactory.create()
    expert = member(project, Role.REVIEWER, ReviewerKind.EXPERT)
    assert reviewer_kind(expert, project) is ReviewerKind.EXPERT
    assert reviewer_kind(UserFactory.create(), project) is ReviewerKind.CROWD
    assert role_in(expert, project) is Role.REVIEWER
    assert role_in(UserFactory.create(), project) is None
    assert role_in(AnonymousUser(), project) is None


def test_items_are_visible_to_members_only() -> None:
    item = ItemFactory.create()
    viewer = member(item.project, Role.VIEWER)
    assert list(Item.objects.visible_to(viewer)) == [item]
    assert list(Item.objects.visible_to(UserFactory.create(is_superuser=True))) == [item]
    assert not Item.objects.visible_to(UserFactory.create()).exists()
    assert not Item.objects.visible_to(AnonymousUser()).exists()


def test_finding_a_project_takes_one_query(django_assert_num_queries: Any) -> None:
    project = ProjectFactory.create()
    user = member(project, Role.VIEWER)
    with django_assert_num_queries(1):
        get_project(user, project.slug, Right.VIEW)


def test_only_the_projects_own_come_in_order() -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    for name in ("b", "a", "c"):
        open_item(project, external_id=name)
    open_item(other, external_id="a")

    found = Item.objects.named(project, {"b", "a", "none"})

    assert [(item.external_id, item.project) for item in found] == [("a", project), ("b", project)]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL counts its rows by itself")
def test_each_id_is_looked_up_however_large_the_project() -> None:
    """SQLite went through the whole project for each thousand rows of an import."""
    plan = Item.objects.named(
        ProjectFactory.create(), [f"t{number}" for number in range(1000)]
    ).explain()

    assert "project_id=? AND external_id=?" in plan
