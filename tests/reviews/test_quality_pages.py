"""The pages about people's work: who sees what, and what the buttons do."""

from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.reviews.models import Intervention, Requeue, ReviewerStatus
from apps.reviews.quality import requeue, views
from apps.reviews.queue.reviewer_status import pause
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.quality import checked, decided, known, worked
from tests.factories.reviews import reviewer, suggest

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def boss(project: Project, client: Client) -> User:
    user = member(project, Role.MANAGER)
    client.force_login(user)
    return user


def page(project: Project, rest: str = "") -> str:
    return f"/p/{project.slug}/quality/{rest}"


@pytest.mark.usefixtures("boss")
def test_the_table_of_all(client: Client, project: Project, person: User) -> None:
    person.first_name = HOSTILE
    person.save()
    items = queued_items(project, 6)
    known(items)
    suggest(items[0], "good")
    checked(items, person, [False] * 6)

    html = client.get(page(project)).content.decode()

    assert HOSTILE not in html
    assert "&lt;script&gt;" in html
    assert "wrong too often" in html
    assert "Every suggestion is shown" in html


def test_figures_of_many_labels_are_kept_and_say_so_but_a_persons_status_is_of_now(
    client: Client, project: Project, boss: User, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = queued_items(project, 2)
    worked(items[:1], person)
    assert "as of" not in client.get(page(project)).content.decode()

    monkeypatch.setattr(views, "MANY", 1)
    renewed: list[Any] = []
    monkeypatch.setattr(views, "Thread", lambda args, **_: Mock(start=lambda: renewed.append(args)))
    first = client.get(page(project))
    assert "Measuring" in first.content.decode()
    assert "report" not in first.context
    counted = client.get(page(project), {"part": "figures"})
    worked(items[1:], person)
    pause(project=project, user=person, by=boss, reason="Too fast.")
    again = client.get(page(project))

    for answer in (counted, again):
        assert "The figures are as of" in answer.content.decode()
    (before,) = counted.context["report"].people
    (after,) = again.context["report"].people
    assert before.counted.labels == after.counted.labels == 1
    assert after.status == ReviewerStatus.Status.PAUSED
    assert not renewed

    monkeypatch.setattr(views, "FRESH", timedelta(0))
    monkeypatch.setattr(views, "connection", Mock())  # that of the test stays open
    old = [client.get(page(project)).context["report"].people[0] for _ in range(2)]
    assert [row.counted.labels for row in old] == [1, 1]
    (once,) = renewed
    views._renew_figures(*once)
    assert client.get(page(project)).context["report"].people[0].counted.labels == 2


@pytest.mark.usefixtures("boss")
def test_one_person_closely(client: Client, project: Project, person: User) -> None:
    project.overlap = 2
    project.save()
    items, other = queued_items(project, 12), reviewer(project)
    known(items[:2])
    checked(items[:2], person, [True, False])
    worked(items[2:], person)
    worked(items[2:5], other)
    decided(items[5], other, "bad")

    html = client.get(page(project, f"{person.pk}/?by=week")).content.decode()

    assert other.display_name in html
    assert f"/p/{project.slug}/items/{items[1].pk}/" in html
    assert f"/p/{project.slug}/items/{items[0].pk}/" not in html
    assert "<svg" in html


def test_a_reviewer_is_led_to_their_own_page_and_learns_no_known_item(
    client: Client, project: Project, person: User
) -> None:
    items = queued_items(project, 3)
    known(items)
    checked(items, person, [True, False, False])
    client.force_login(person)

    moved = client.get(page(project))
    html = client.get(moved["Location"]).content.decode()

    assert moved["Location"] == page(project, f"{person.pk}/")
    assert f"/items/{items[1].pk}/" not in html
    assert "shown after 20 answers to gold questions" in html
    assert "Pause" not in html


def test_pausing_and_letting_go_on(
    client: Client, project: Project, person: User, boss: User
) -> None:
    paused = client.post(page(project, f"{person.pk}/pause/"), {"reason": "Too fast."}, follow=True)
    assert "is paused" in paused.content.decode()
    assert ReviewerStatus.objects.get().status == "paused"

    again = client.post(page(project, f"{person.pk}/pause/"), {"reason": "Too fast."})
    assert "already paused" in again.content.decode()

    client.post(page(project, f"{person.pk}/resume/"), {"reason": "We talked."})
    assert ReviewerStatus.objects.get().status == "active"
    assert set(Intervention.objects.values_list("actor", flat=True)) == {boss.pk}


@pytest.mark.usefixtures("boss")
def test_labels_are_counted_before_they_go_back(
    client: Client, project: Project, person: User
) -> None:
    worked(queued_items(project, 3), person)
    address = page(project, f"{person.pk}/requeue/")

    assert "3 labels will be withdrawn" in client.get(address).content.decode()
    later = client.get(f"{address}?since=2999-01-01").content.decode()
    assert "0 labels will be withdrawn" in later
    assert "Count them first" in client.get(f"{address}?since=soon").content.decode()
    assert Requeue.objects.count() == 0

    done = client.post(address, {"reason": "Did not read."}, follow=True).content.decode()

    assert "3 labels are withdrawn; their items wait again" in done
    assert "Did not read." in done


@pytest.mark.usefixtures("boss")
def test_many_show_their_progress(
    client: Client, project: Project, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requeue, "AT_ONCE", 1)
    worked(queued_items(project, 2), person)

    response = client.post(page(project, f"{person.pk}/requeue/"), {"reason": "No."}, follow=True)
    assert "2 labels are being withdrawn" in response.content.decode()

    part = client.get(page(project, f"{person.pk}/requeue/progress/")).content.decode()
    assert "0 of 2" in part
    requeue.run_requeue(Requeue.objects.get().pk)
    part = client.get(page(project, f"{person.pk}/requeue/progress/")).content.decode()
    assert "2 labels went back" in part
    Requeue.objects.update(status="failed", message="The disk is full.")
    part = client.get(page(project, f"{person.pk}/requeue/progress/")).content.decode()
    assert "The disk is full." in part
