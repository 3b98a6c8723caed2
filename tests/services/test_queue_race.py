"""Many people at one queue, in real threads with connections of their own."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from apps.accounts.models import User
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.leases import claim_next_item
from apps.reviews.queue.submission import submit_label
from tests.factories.labels import queued_items
from tests.factories.reviews import new_project, reviewer
from tests.services.threads import shared_database, together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]

PEOPLE, ITEMS = 8, 24


def work_through(project: Project, user: User) -> list[int]:
    """Claim and label until nothing is left; the ids of the items handed out."""
    handed = []
    while slot := claim_next_item(project=project, user=user):
        handed.append(slot.item_id)
        submit_label(
            project=project,
            user=user,
            item_id=slot.item_id,
            answer=Answer(value="good"),
            lease_token=slot.lease_token,
        )
    return handed


@pytest.mark.thorough
@pytest.mark.parametrize("overlap", [1, 2])
def test_every_item_is_handed_to_as_many_people_as_wanted(tmp_path: Path, overlap: int) -> None:
    project = new_project(overlap=overlap)
    items = queued_items(project, ITEMS)
    people = [reviewer(project) for _ in range(PEOPLE)]

    with shared_database(tmp_path):
        handed = together([partial(work_through, project, person) for person in people])
        (labels, extra, queued) = together([partial(_ledger, project)])[0]

    counted = Counter(item for mine in handed for item in mine)
    assert counted == {item.pk: overlap for item in items}
    assert all(len(set(mine)) == len(mine) for mine in handed)
    assert (labels, extra, queued) == (ITEMS * overlap, 0, 0)


def test_a_rush_on_a_short_queue_hands_each_item_out_once(tmp_path: Path) -> None:
    project = new_project()
    queued_items(project, PEOPLE - 2)
    people = [reviewer(project) for _ in range(PEOPLE)]

    with shared_database(tmp_path):
        slots = together(
            [partial(claim_next_item, project=project, user=person) for person in people]
        )

    held = [slot.item_id for slot in slots if slot is not None]
    assert len(held) == len(set(held)) == PEOPLE - 2


def test_one_answer_sent_by_many_threads_is_stored_once(tmp_path: Path) -> None:
    project = new_project()
    queued_items(project, 1)
    person = reviewer(project)
    slot = claim_next_item(project=project, user=person)
    assert slot is not None

    def send() -> int:
        done = submit_label(
            project=project,
            user=person,
            item_id=slot.item_id,
            answer=Answer(value="good"),
            lease_token=slot.lease_token,
        )
        return done.label.pk

    with shared_database(tmp_path):
        stored = together([send] * PEOPLE)

    assert len(set(stored)) == 1


def _ledger(project: Project) -> tuple[int, int, int]:
    """Current labels, decisions marked extra, items still queued."""
    return (
        Label.objects.current().filter(item__project=project).count(),
        Decision.objects.filter(project=project, extra=True).count(),
        ItemState.objects.filter(project=project, queued=True).count(),
    )
