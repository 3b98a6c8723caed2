"""Items given to people by name, kept for one kind, put first."""

import pytest

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import Assignment, ItemState
from apps.labels.services import assign_items, keep_for_kind
from apps.projects.models import Item, Project
from apps.reviews.queue.leases import claim_next_item, release_all, release_leases
from apps.reviews.queue.submission import skip_item
from apps.reviews.queue.undo import undo_last
from tests.factories.bulk import done, undone
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, token

pytestmark = pytest.mark.django_db


def state(item: Item) -> ItemState:
    return ItemState.objects.get(item=item)


def test_what_somebody_was_given_comes_first_for_them(project: Project, person: User) -> None:
    items = queued_items(project, 5)
    assign_items(project, [items[3].pk], [person])

    assert claim(project, person).item_id == items[3].pk


def test_places_beyond_those_kept_are_for_everybody() -> None:
    project = new_project(overlap=3)
    (item,) = queued_items(project, 1)
    named, second, third = (reviewer(project) for _ in range(3))
    assign_items(project, [item.pk], [named])

    claim(project, second)
    claim(project, third)

    assert claim_next_item(project=project, user=reviewer(project)) is None
    assert claim(project, named).item_id == item.pk


def test_a_label_closes_the_assignment_and_undo_opens_it(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    assign_items(project, [item.pk], [person])
    answer(claim(project, person), person, "good")
    assert not Assignment.objects.get(item=item).open

    undo_last(project=project, user=person)

    assert Assignment.objects.get(item=item).open


def test_what_they_skip_goes_back_to_all(project: Project, item: Item, person: User) -> None:
    assign_items(project, [item.pk], [person])
    slot = claim(project, person)

    skip_item(project=project, user=person, item_id=item.pk, lease_token=slot.lease_token)

    assert state(item).assignees == []
    assert claim(project, reviewer(project)).item_id == item.pk


def test_a_second_label_by_name_where_one_was_enough_is_asked_for_once(project: Project) -> None:
    (item,) = queued_items(project, 1)
    assignee, other = reviewer(project), reviewer(project)
    assign_items(project, [item.pk], [assignee, other])
    answer(claim(project, assignee), assignee, "good")

    assert claim_next_item(project=project, user=other) is None
    assert not Assignment.objects.filter(open=True).exists()


def test_items_of_other_projects_stay_as_they_are(project: Project) -> None:
    (foreign,) = queued_items(new_project(), 1)

    changed = assign_items(project, [foreign.pk], [reviewer(project)])

    assert (changed, state(foreign).assignees) == (0, [])


@pytest.mark.parametrize(("kind", "who"), [("crowd", reviewer), ("expert", expert)])
def test_kept_for_a_kind_only_that_kind_gets_it(project: Project, kind: str, who: object) -> None:
    (item,) = queued_items(project, 1)
    keep_for_kind(project, [item.pk], kind)
    people = {reviewer: reviewer(project), expert: expert(project)}

    for maker, person in people.items():
        slot = claim_next_item(project=project, user=person)
        assert (slot is not None) == (maker is who)
        if slot:
            release_leases(project=project, user=person, tokens=[token(slot)])


def test_what_is_for_all_and_what_is_for_a_kind_come_in_one_order(project: Project) -> None:
    items = queued_items(project, 4)
    keep_for_kind(project, [items[0].pk, items[2].pk], "crowd")
    person = reviewer(project)

    got = []
    for _ in items:
        slot = claim(project, person)
        got.append(slot.item_id)
        answer(slot, person, "good")

    assert got == [item.pk for item in items]


def test_who_had_skipped_an_item_gets_it_when_it_is_given_to_them(project: Project) -> None:
    manager = member(project, Role.MANAGER, ReviewerKind.EXPERT)
    (item,) = queued_items(project, 1)
    somebody = reviewer(project)
    skip_item(project=project, user=somebody, item_id=item.pk)

    job = done(project, manager, "assign", users=[somebody.pk])
    assert claim_next_item(project=project, user=somebody) is not None
    release_all(project=project, user=somebody)

    undone(job, manager)
    assert claim_next_item(project=project, user=somebody) is None
    assert claim_next_item(project=project, user=reviewer(project)) is not None
