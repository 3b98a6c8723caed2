"""What the queue says of itself."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.services import assign_items
from apps.projects.models import Item, Project
from apps.reviews.models import Decision
from apps.reviews.queue.status import queue_progress, queue_status
from apps.reviews.queue.submission import postpone_item, skip_item
from apps.reviews.queue.undo import return_to_queue
from tests.factories.agreement import decide
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, expert, reviewer

pytestmark = pytest.mark.django_db


def test_it_says_who_holds_what_and_until_when(project: Project) -> None:
    queued_items(project, 1)
    holder = reviewer(project)
    slot = claim(project, holder)

    status = queue_status(project, reviewer(project))

    assert status.nothing_left
    (holding,) = status.held
    assert (holding.name, holding.items) == (holder.username, 1)
    assert holding.until == slot.lease_until


def test_skips_and_conflicts_are_told(project: Project) -> None:
    project.overlap = 2
    project.save()
    first, second = queued_items(project, 2)
    ada, other = reviewer(project), reviewer(project)
    for person, value in ((ada, "good"), (other, "bad")):
        slot = claim(project, person)
        assert slot.item_id == first.pk
        answer(slot, person, value)
    skip_item(project=project, user=ada, item_id=second.pk)

    status = queue_status(project, ada)

    assert (status.skipped_by_me, status.for_experts, status.done_by_me) == (1, 1, 1)
    assert status.nothing_left
    assert queue_status(project, expert(project)).for_experts == 0


def test_yesterdays_work_is_not_todays(project: Project, person: User) -> None:
    queued_items(project, 1)
    answer(claim(project, person), person, "good")
    Decision.objects.update(created_at=timezone.now() - timedelta(days=1))

    status = queue_status(project, person)

    assert (status.done_by_me, status.done_today) == (1, 0)


def test_it_takes_a_fixed_number_of_queries(
    project: Project, person: User, django_assert_num_queries: object
) -> None:
    queued_items(project, 9)
    for _ in range(6):
        claim(project, reviewer(project))

    with django_assert_num_queries(19):  # type: ignore[operator]  # a fixture without types
        queue_status(project, person)


def test_what_is_left_is_what_waits_for_this_person(project: Project) -> None:
    project.overlap = 2
    project.save()
    answered, skipped, later, named, _ = queued_items(project, 5)
    person, other = reviewer(project), reviewer(project)
    assert queue_progress(project, person).left == 5
    assert answer(claim(project, person), person, "good").label.item_id == answered.pk
    skip_item(project=project, user=person, item_id=skipped.pk)
    postpone_item(project=project, user=person, item_id=later.pk)
    assign_items(project, [named.pk], [other, reviewer(project)])

    # What was put off comes back, and the last is for everybody.
    assert queue_progress(project, person).left == 2
    assert queue_progress(project, other).left == 5


def test_items_with_gold_are_left_too_and_come_last(project: Project, person: User) -> None:
    known, unknown = queued_items(project, 2)
    decide(known, "good")
    progress = queue_progress(project, person)
    assert (progress.left, progress.with_gold) == (2, 1)
    assert answer(claim(project, person), person, "good").label.item_id == unknown.pk
    assert answer(claim(project, person), person, "good").label.item_id == known.pk
    progress = queue_progress(project, person)
    assert (progress.left, progress.with_gold) == (0, 0)


def test_what_was_sent_back_is_left_again(project: Project, item: Item, person: User) -> None:
    answer(claim(project, person), person, "good")
    assert queue_progress(project, person).left == 0

    return_to_queue(project=project, item_ids=[item.pk], by=expert(project), reason="Read again.")

    assert queue_progress(project, person).left == 1
