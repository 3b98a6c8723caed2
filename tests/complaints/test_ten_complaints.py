"""What users of labeling platforms have complained of for years, each shown not to happen here.

Each test goes through the doors that people and their programs use. The fifth, that roles do not
hold, is in ``tests/architecture/test_access.py``; the ninth, that keys do not last, in
``tests/accounts/test_authentication.py``.
"""

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Project
from apps.reviews.models import Slot
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.leases import claim_next_item
from apps.reviews.queue.submission import submit_label
from apps.reviews.schema_changes.services import run_change
from tests.factories.accounts import browser_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import expert, new_project, reviewer
from tests.services.threads import shared_database, together

pytestmark = pytest.mark.django_db


class Door:
    """The REST surface of one project, as one person's program sees it."""

    def __init__(self, project: Project, user: User) -> None:
        self.project = project
        self.client = APIClient()
        self.client.force_authenticate(user)

    def get(self, rest: str) -> Any:
        """A GET of something in the project."""
        return self.client.get(f"/api/v1/projects/{self.project.slug}/{rest}")

    def post(self, rest: str, body: Any = None) -> Any:
        """A POST to something in the project."""
        address = f"/api/v1/projects/{self.project.slug}/{rest}"
        return self.client.post(address, body, format="json")

    def label_next(self, value: str) -> int:
        """Take the next item and label it; its id."""
        handed = self.post("next/").json()
        item: int = handed["item"]["id"]
        answer = {"item": item, "value": value, "lease": handed["lease"]["token"]}
        assert self.post("labels/", answer).status_code == 201
        return item


def manager(project: Project) -> User:
    """Somebody who manages the project, an expert."""
    return member(project, Role.MANAGER, ReviewerKind.EXPERT)


def test_complaint_1_several_people_label_each_item_blind_and_an_expert_decides() -> None:
    project = new_project(overlap=2)
    (item,) = queued_items(project, 1)
    first, second = Door(project, reviewer(project)), Door(project, reviewer(project))
    first.label_next("good")

    handed = second.post("next/").json()
    assert (handed["item"]["id"], handed["suggestion"]) == (item.pk, None)
    second.post("labels/", {"item": item.pk, "value": "bad", "lease": handed["lease"]["token"]})
    settles = Door(project, expert(project))
    assert settles.label_next("bad") == item.pk

    (gold,) = settles.get("gold/").json()["results"]
    assert (gold["value"], gold["basis"]) == ("bad", "adjudication")


def test_complaint_2_agreement_comes_with_its_doubt() -> None:
    project = new_project(overlap=2)
    queued_items(project, 6)
    for person in (reviewer(project), reviewer(project)):
        door = Door(project, person)
        for value in ("good", "good", "bad", "good", "bad", "bad"):
            door.label_next(value)

    found = Door(project, manager(project)).get("agreement/").json()["within"]["crowd"]

    assert found["percent"]["value"] == 1.0
    assert found["alpha_nominal"]["value"] == 1.0
    assert {"low", "high", "n", "method"} <= set(found["percent"])


def test_complaint_3_work_is_given_to_people_and_never_done_twice() -> None:
    project = new_project()
    items = queued_items(project, 4)
    first, other = Door(project, reviewer(project)), Door(project, reviewer(project))

    handed = [door.post("next/").json()["item"]["id"] for door in (first, other)]

    assert handed == [items[0].pk, items[1].pk]
    done = [door.label_next("good") for _ in range(2) for door in (first, other)]
    assert sorted(done) == [item.pk for item in items]


def test_complaint_4_nothing_left_is_said_only_when_it_is_true() -> None:
    project = new_project()
    (item,) = queued_items(project, 1)
    holder, waits = reviewer(project), reviewer(project)
    Door(project, holder).post("next/")
    client = browser_of(waits)
    door = Door(project, waits)

    assert door.post("next/").status_code == 204
    page = client.get(f"/p/{project.slug}/review/status/").content.decode()
    assert "Nothing left for you just now" in page
    assert f"{holder.username}: 1 item until" in page

    lapsed = timezone.now() - timedelta(seconds=1)
    Slot.objects.filter(item=item).update(lease_until=lapsed)
    assert door.post("next/").json()["item"]["id"] == item.pk


@pytest.mark.thorough
@pytest.mark.parametrize("format_", ["jsonl", "json", "csv", "labelstudio"])
def test_complaint_6_an_export_begins_at_once_whatever_its_size(format_: str) -> None:
    project = new_project()
    queued_items(project, 1200)
    door = Door(project, manager(project))

    answer = door.client.get(f"/api/v1/projects/{project.slug}/export/?format={format_}")

    assert isinstance(answer, StreamingHttpResponse)
    parts = list(answer.streaming_content)
    assert len(parts) > 1
    assert all(len(part) < 1_000_000 for part in parts)


@pytest.mark.django_db(transaction=True)
def test_complaint_7_the_embedded_database_is_never_locked(tmp_path: Path) -> None:
    project = new_project()
    queued_items(project, 32)
    people = [reviewer(project) for _ in range(8)]

    with shared_database(tmp_path):
        done = together([partial(_label_four, project, person) for person in people])

    assert len({item for mine in done for item in mine}) == 32


def _label_four(project: Project, user: User) -> list[int]:
    """Claim and label four items; any error of the database is the test's."""
    items = []
    for _ in range(4):
        slot = claim_next_item(project=project, user=user)
        assert slot is not None
        answer = Answer(value="good")
        submit_label(
            project=project,
            user=user,
            item_id=slot.item_id,
            answer=answer,
            lease_token=slot.lease_token,
        )
        items.append(slot.item_id)
    assert connection.vendor in {"sqlite", "postgresql"}
    return items


def test_complaint_8_labels_change_midway_and_nothing_is_lost() -> None:
    project = new_project()
    queued_items(project, 2)
    door = Door(project, manager(project))
    done = door.label_next("good")
    rename = [{"op": "rename", "label": "good", "to": "splendid"}]

    change = door.post("schema-changes/", {"operations": rename}).json()["id"]
    run_change(change)  # as the server's worker does

    (gold,) = door.get("gold/").json()["results"]
    assert (gold["item"], gold["value"]) == (done, "splendid")
    before, now = door.get("labels/").json()["results"]
    assert (before["value"], before["schema_version"], before["current"]) == ("good", 1, False)
    assert (now["value"], now["schema_version"], now["current"]) == ("splendid", 2, True)
    assert door.label_next("splendid") != done


def test_complaint_10_a_prediction_is_shown_and_carried_into_the_answer() -> None:
    project = new_project()
    prediction = {"annotator": "gpt", "kind": "llm", "value": "good"}
    sent = [{"id": "a", "text": "Fine.", "labels": [prediction]}]
    door = Door(project, manager(project))
    assert door.post("import/", sent).json()["created"] == 1

    handed = door.post("next/").json()
    assert handed["suggestion"]["value"] == "good"
    answer = {"item": handed["item"]["id"], "value": "good", "lease": handed["lease"]["token"]}
    label = door.post("labels/", answer).json()

    assert (label["action"], label["proposed_from"]) == ("accepted", handed["suggestion"]["uid"])


def test_complaint_10_a_prediction_that_cannot_be_is_refused_by_row_and_field() -> None:
    project = new_project()
    prediction = {"annotator": "gpt", "kind": "llm", "value": "splendid"}
    sent = [{"id": "a", "text": "Fine.", "labels": [prediction]}]

    (error,) = Door(project, manager(project)).post("import/", sent).json()["errors"]

    assert error["row"] == 1
    assert "splendid" in error["message"]
