"""What an expert has on their desk is no part of their queue."""

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.adjudication.services import claim_to_adjudicate
from apps.reviews.models import Slot
from apps.reviews.queue.leases import claim_next_item
from apps.reviews.queue.status import queue_status
from tests.cases import present
from tests.factories.accounts import browser_of
from tests.factories.labels import queued_items
from tests.factories.reviews import claim
from tests.reviews.test_adjudication import in_conflict

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}


def desk(project: Project, judge: User) -> Slot:
    """An item that they have before them to decide."""
    slot = claim_to_adjudicate(project=project, user=judge, item_id=in_conflict(project).pk)
    assert slot is not None
    return slot


def test_the_queue_hands_out_another_item(project: Project, judge: User) -> None:
    held = desk(project, judge)
    (other,) = queued_items(project, 1)

    assert claim(project, judge).item_id == other.pk
    assert Slot.objects.get(pk=held.pk).lease_token == held.lease_token


def test_the_end_of_the_queue_tells_of_the_desk(project: Project, judge: User) -> None:
    desk(project, judge)
    client = browser_of(judge)

    html = client.get(reverse("review", args=[project.slug])).content.decode()
    status = queue_status(project, judge)

    assert (status.mine, status.on_desk, status.nothing_left) == (0, 1, True)
    assert "1 item waits for your decision" in html


def test_taken_to_the_desk_it_leaves_the_queue(project: Project, judge: User) -> None:
    item = in_conflict(project)
    slot = claim(project, judge)

    taken = present(claim_to_adjudicate(project=project, user=judge, item_id=item.pk))

    assert taken.pk == slot.pk
    assert claim_next_item(project=project, user=judge) is None
