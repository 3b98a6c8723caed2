"""Which annotator a person is: one per kind, theirs for good, counted once an item."""

import pytest

from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import ItemState
from apps.labels.services import annotator_for, annotator_for_user, record_label
from apps.projects.models import Project
from apps.projects.services import set_member
from tests.factories.accounts import UserFactory
from tests.factories.labels import draft, open_item
from tests.factories.projects import ProjectFactory
from tests.factories.reviews import reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Two people label each item."""
    return ProjectFactory.create(overlap=2)


def test_an_imported_annotator_becomes_the_person_of_that_name(project: Project) -> None:
    imported = annotator_for(project, kind="crowd", name="ada")
    ada = UserFactory.create(username="ada")
    own = annotator_for_user(project, ada)
    assert (own.pk, own.user) == (imported.pk, ada)


def test_a_user_name_that_changes_hands_takes_no_labels_along(project: Project) -> None:
    before = reviewer(project)
    first = annotator_for_user(project, before)
    name = before.username
    before.username = "renamed"
    before.save()
    after = UserFactory.create(username=name, email="")
    assert annotator_for_user(project, before) == first
    second = annotator_for_user(project, after)
    assert second != first
    assert annotator_for_user(project, after) == second


def test_the_name_of_a_deleted_user_takes_no_labels_along(project: Project) -> None:
    """Who is gone stays the one who said it; the next of that name is somebody else."""
    before = reviewer(project)
    first = annotator_for_user(project, before)
    name = before.username
    before.delete()
    after = UserFactory.create(username=name)
    second = annotator_for_user(project, after)
    assert (second.user, second.name) == (after, f"{name} ({after.pk})")
    assert annotator_for_user(project, after) == second
    first.refresh_from_db()
    assert (first.user, first.name) == (None, name)


def test_an_imported_annotator_is_claimed_once(project: Project) -> None:
    imported = annotator_for(project, kind="crowd", name="ada")
    ada = UserFactory.create(username="ada")
    annotator_for_user(project, ada)
    ada.delete()
    assert annotator_for_user(project, UserFactory.create(username="ada")) != imported


def test_who_changed_from_crowd_to_expert_counts_once(project: Project) -> None:
    item, user = open_item(project), reviewer(project)
    record_label(draft(item, annotator_for_user(project, user), "good"))
    set_member(project=project, user=user, role=Role.REVIEWER, kind=ReviewerKind.EXPERT, actor=None)
    record_label(draft(item, annotator_for_user(project, user), "bad"))
    state = ItemState.objects.get(item=item)
    assert (state.labels_by_people, state.stage, state.gold) == (1, "in_review", None)
