"""Who gets which item."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.reviews.models import Slot
from apps.reviews.queue import selectors
from apps.reviews.queue.leases import claim_next_item, release_leases, renew_leases, take_slot
from apps.reviews.queue.selectors import Look, next_places
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, new_project, reviewer, token

pytestmark = pytest.mark.django_db


def lapse(slot: Slot) -> None:
    Slot.objects.filter(pk=slot.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_asking_twice_gives_the_held_item_with_the_same_token(project: Project) -> None:
    queued_items(project, 3)
    person = reviewer(project)

    first, again = claim(project, person), claim(project, person)

    assert (first.item_id, first.lease_token) == (again.item_id, again.lease_token)
    assert again.lease_until is not None
    assert first.lease_until is not None
    assert again.lease_until >= first.lease_until


def test_a_page_may_hold_a_second_item_and_no_third(project: Project, person: User) -> None:
    queued_items(project, 3)
    shown = claim(project, person)

    ahead = claim(project, person, besides=[token(shown)])
    third = claim_next_item(project=project, user=person, besides=[token(shown), token(ahead)])

    assert ahead.item_id != shown.item_id
    assert third is None


def test_a_lapsed_lease_goes_to_somebody_else(project: Project) -> None:
    queued_items(project, 1)
    lost = claim(project, reviewer(project))
    lapse(lost)

    found = claim(project, reviewer(project))

    assert found.item_id == lost.item_id
    assert found.lease_token != lost.lease_token


@pytest.mark.parametrize("lapsed", [False, True])
def test_one_of_two_who_saw_the_same_place_gets_it(project: Project, lapsed: bool) -> None:
    queued_items(project, 1)
    if lapsed:
        lapse(claim(project, reviewer(project)))
    now, people = timezone.now(), [reviewer(project), reviewer(project)]
    until = now + timedelta(minutes=5)
    seen = [(person, next_places(project, person, now)[0]) for person in people]

    taken = [take_slot(p, project=project, user=person, until=until, now=now) for person, p in seen]

    assert [slot is not None for slot in taken] == [True, False]
    assert Slot.objects.get().holder == people[0]


def test_a_released_item_is_free_at_once(project: Project, person: User) -> None:
    queued_items(project, 1)
    slot = claim(project, person)

    assert release_leases(project=project, user=person, tokens=[token(slot)]) == 1
    assert claim(project, reviewer(project)).item_id == slot.item_id


def test_nobody_releases_or_renews_what_another_holds(project: Project) -> None:
    queued_items(project, 1)
    slot, stranger = claim(project, reviewer(project)), reviewer(project)

    assert release_leases(project=project, user=stranger, tokens=[token(slot)]) == 0
    assert renew_leases(project=project, user=stranger, tokens=[token(slot)]) == []


def test_a_lapsed_lease_that_nobody_took_can_be_renewed(project: Project, person: User) -> None:
    queued_items(project, 1)
    slot = claim(project, person)
    lapse(slot)

    assert renew_leases(project=project, user=person, tokens=[token(slot)]) == [slot.lease_token]
    assert claim_next_item(project=project, user=reviewer(project)) is None


def test_with_overlap_an_item_goes_to_so_many_people_and_no_more(project: Project) -> None:
    project.overlap = 2
    project.save()
    (item,) = queued_items(project, 1)
    people = [reviewer(project) for _ in range(3)]

    claimed = [claim_next_item(project=project, user=person) for person in people]

    assert [slot.item_id if slot else None for slot in claimed] == [item.pk, item.pk, None]


def test_nobody_holds_an_item_twice(project: Project, person: User) -> None:
    project.overlap = 2
    project.save()
    queued_items(project, 1)
    held = claim(project, person)

    assert claim_next_item(project=project, user=person, besides=[token(held)]) is None


def test_who_is_far_ahead_of_the_others_finds_what_is_left(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selectors, "LOOKS", (Look(2), Look(4), Look(8, offered=True)))
    project.overlap = 2
    project.save()
    items = queued_items(project, 12)
    fast = reviewer(project)
    found = []
    while slot := claim_next_item(project=project, user=fast):
        answer(slot, fast, "good")
        found.append(slot.item_id)
    assert found == [item.pk for item in items]


def test_labels_that_were_imported_leave_fewer_places(project: Project) -> None:
    project.overlap = 2
    project.save()
    (item,) = queued_items(project, 1)
    ItemState.objects.filter(item=item).update(labels_by_people=1)
    claim(project, reviewer(project))

    assert claim_next_item(project=project, user=reviewer(project)) is None


def test_other_projects_items_stay_there(project: Project) -> None:
    queued_items(new_project(), 1)

    assert claim_next_item(project=project, user=reviewer(project)) is None


def test_a_claim_takes_few_queries(project: Project, django_assert_num_queries: object) -> None:
    queued_items(project, 30)
    person = reviewer(project)

    # status, held, given by name, membership, places for all and for their kind, insert
    with django_assert_num_queries(6):  # type: ignore[operator]  # a fixture without types
        claim_next_item(project=project, user=person)
