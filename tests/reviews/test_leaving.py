"""Somebody who may no longer label gives back at once what they held."""

import pytest

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Project
from apps.projects.services import remove_member, set_member
from apps.reviews.models import Slot
from apps.reviews.services import claim_next_item
from tests.factories.accounts import UserFactory
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, queued_items, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = new_project()
    queued_items(project, 1)
    return project


def place(project: Project, user: User, role: Role) -> None:
    set_member(project=project, user=user, role=role, kind=ReviewerKind.CROWD, actor=None)


def test_who_is_removed_holds_nothing(project: Project) -> None:
    person, other = reviewer(project), reviewer(project)
    held = claim(project, person)
    assert claim_next_item(project=project, user=other) is None
    remove_member(project=project, user=person, actor=None)
    assert claim(project, other).item_id == held.item_id


def test_who_becomes_a_viewer_holds_nothing(project: Project) -> None:
    person = reviewer(project)
    held = claim(project, person)
    place(project, person, Role.VIEWER)
    assert claim(project, reviewer(project)).item_id == held.item_id


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.MANAGER])
def test_who_may_still_label_keeps_what_they_hold(project: Project, role: Role) -> None:
    person = reviewer(project)
    held = claim(project, person)
    place(project, person, role)
    assert claim(project, person).lease_token == held.lease_token


def test_an_operator_may_label_without_any_place(project: Project) -> None:
    operator = UserFactory.create(is_superuser=True)
    place(project, operator, Role.REVIEWER)
    held = claim(project, operator)
    remove_member(project=project, user=operator, actor=None)
    assert claim(project, operator).lease_token == held.lease_token


def test_what_they_labelled_and_hold_elsewhere_stays(project: Project) -> None:
    person = reviewer(project)
    answer(claim(project, person), person, "good")
    elsewhere = new_project()
    queued_items(elsewhere, 1)
    place(elsewhere, person, Role.REVIEWER)
    held = claim(elsewhere, person)
    remove_member(project=project, user=person, actor=None)
    assert Slot.objects.get(project=project).label is not None
    assert Slot.objects.get(project=elsewhere).lease_token == held.lease_token


def test_who_stays_takes_nothing_from_others(project: Project) -> None:
    leaving, staying = member(project, Role.REVIEWER), reviewer(project)
    held = claim(project, staying)
    remove_member(project=project, user=leaving, actor=None)
    assert claim(project, staying).lease_token == held.lease_token
