"""Somebody who may no longer label gives back at once what they held."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import Assignment
from apps.labels.services import assign_items
from apps.projects.models import Project
from apps.projects.services import remove_member, set_member
from apps.reviews.models import Intervention, ReviewerStatus, Slot
from apps.reviews.queue.leases import claim_next_item
from apps.reviews.queue.reviewer_status import pause, resume
from tests.factories.accounts import UserFactory
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, reviewer
from tests.reviews.test_known import with_gold

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


def test_what_they_labelled_and_hold_elsewhere_stays(project: Project, person: User) -> None:
    answer(claim(project, person), person, "good")
    elsewhere = new_project()
    queued_items(elsewhere, 1)
    place(elsewhere, person, Role.REVIEWER)
    held = claim(elsewhere, person)
    remove_member(project=project, user=person, actor=None)
    assert Slot.objects.get(project=project).label is not None
    assert Slot.objects.get(project=elsewhere).lease_token == held.lease_token


class TestItemsGivenByName:
    def test_of_who_is_removed_go_to_others(self, project: Project) -> None:
        person, other = reviewer(project), reviewer(project)
        (item,) = project.items.all()
        assign_items(project, [item.pk], [person])
        assert claim_next_item(project=project, user=other) is None

        remove_member(project=project, user=person, actor=None)

        assert claim(project, other).item_id == item.pk
        assert not Assignment.objects.exists()
        assert (entry := Intervention.objects.get()).subject == person
        assert (entry.action, entry.items) == ("unassign", 1)

    def test_of_who_is_paused_go_to_others(self, project: Project) -> None:
        person, other = reviewer(project), reviewer(project)
        (item,) = project.items.all()
        assign_items(project, [item.pk], [person])

        pause(project=project, user=person, by=member(project, Role.MANAGER), reason="Too fast.")

        assert claim(project, other).item_id == item.pk
        assert Intervention.objects.get().data == {"given_back": 1}

    def test_of_who_did_not_qualify_go_to_others(
        self, project: Project, django_capture_on_commit_callbacks: Any
    ) -> None:
        person, other = reviewer(project), reviewer(project)
        (item,) = project.items.all()
        assign_items(project, [item.pk], [person])
        with_gold(project, 1)
        Project.objects.filter(pk=project.pk).update(qualify_items=1, qualify_accuracy=1.0)
        project.refresh_from_db()

        with django_capture_on_commit_callbacks(execute=True):
            answer(claim(project, person), person, "bad")

        assert ReviewerStatus.objects.get().status == ReviewerStatus.Status.PAUSED
        resume(project=project, user=other, by=member(project, Role.MANAGER), reason="Known.")
        assert claim(project, other).item_id == item.pk
