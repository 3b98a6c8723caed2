"""How the people's work goes: pace, forecast, backlog by reason; and a reviewer's own desk."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.charts import Bar
from apps.dashboards.work import (
    DRAWN,
    Day,
    days_chart,
    days_of,
    desk_of,
    forecast,
    waiting_by_reason,
    work_report,
)
from apps.labels.services import assign_items
from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.queue.drafts import save_draft
from apps.reviews.queue.submission import postpone_item
from apps.reviews.queue.undo import return_to_queue
from tests.factories.projects import member
from tests.factories.reviews import (
    answer,
    claim,
    expert,
    new_project,
    queued_items,
    reviewer,
    suggest,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return new_project()


def label(project: Project, user: User, count: int, *, days_ago: int = 0) -> None:
    """``count`` items labelled so many days ago."""
    queued_items(project, count)
    before = set(Decision.objects.values_list("pk", flat=True))
    for _ in range(count):
        answer(claim(project, user), user, "good")
    made = Decision.objects.exclude(pk__in=before)
    made.update(created_at=timezone.now() - timedelta(days=days_ago))


def of(*labels: int) -> list[Day]:
    """Four weeks that end with these days."""
    counts = [0] * (DRAWN - len(labels)) + list(labels)
    return [Day(date(2026, 1, 1) + timedelta(days=at), n) for at, n in enumerate(counts)]


class TestPace:
    def test_every_day_of_four_weeks_is_there(self, project: Project) -> None:
        person = reviewer(project)
        label(project, person, 2)
        label(project, person, 4, days_ago=3)

        days = days_of(project)

        assert len(days) == DRAWN
        assert [day.labels for day in days[-4:]] == [4, 0, 0, 2]
        bars = [mark for mark in days_chart(days).marks if isinstance(mark, Bar)]
        assert [bar.top for bar in bars] == [day.labels for day in days]

    def test_one_person_alone(self, project: Project) -> None:
        label(project, reviewer(project), 3)

        assert days_of(project, reviewer(project))[-1].labels == 0

    def test_what_was_undone_does_not_count(self, project: Project) -> None:
        label(project, reviewer(project), 1)
        Decision.objects.update(undone_at=timezone.now())

        assert sum(day.labels for day in days_of(project)) == 0


class TestForecast:
    def test_by_the_last_seven_whole_days(self, project: Project) -> None:
        queued_items(project, 100)

        found = forecast(project, of(9, 11, 10, 9, 11, 10, 10, 3))

        assert found is not None
        assert (found.wanted, found.a_day, found.days) == (100, 10.0, 10)
        assert found.high is not None
        assert found.low <= 10 <= found.high < 12

    def test_days_that_differ_much_have_no_end(self, project: Project) -> None:
        queued_items(project, 100)

        found = forecast(project, of(70, 0, 0, 0, 0, 0, 0, 0))

        assert found is not None
        assert (found.days, found.high) == (10, None)

    def test_who_began_today_is_measured_by_today(self, project: Project) -> None:
        queued_items(project, 100)

        found = forecast(project, of(20))

        assert found is not None
        assert (found.days, found.low, found.high) == (5, 5, 5)

    def test_several_people_per_item_are_several_labels(self) -> None:
        project = new_project(overlap=3)
        queued_items(project, 10)

        found = forecast(project, of(10, 10, 1))

        assert found is not None
        assert found.wanted == 30

    @pytest.mark.parametrize("days", [(0,), (0, 0, 0)])
    def test_nobody_at_work_is_no_forecast(self, project: Project, days: tuple[int, ...]) -> None:
        queued_items(project, 10)

        assert forecast(project, of(*days)) is None


def test_the_backlog_goes_by_reason(project: Project) -> None:
    items = queued_items(project, 4)
    suggest(items[0], "good")
    suggest(items[1], "good", reasons=["audit"])

    waiting = {one.words: one.items for one in waiting_by_reason(project)}

    # Which item is audited cannot be told: it counts among those never labelled.
    assert waiting == {"suggested, nothing doubtful": 1, "not labelled yet": 3}


def test_conflicts_and_second_labels_are_told_apart() -> None:
    project = new_project(overlap=2)
    queued_items(project, 2)
    first, second = reviewer(project), reviewer(project)
    answer(claim(project, first), first, "good")
    answer(claim(project, second), second, "bad")
    answer(claim(project, first), first, "good")

    waiting = {one.words: one.items for one in waiting_by_reason(project)}

    assert waiting == {"reviewers disagree": 1, "one more label is wanted": 1}


def test_people_are_listed_with_what_they_did(project: Project) -> None:
    busy, idle = reviewer(project), expert(project)
    label(project, busy, 2)
    label(project, busy, 1, days_ago=10)

    workers = {one.member.user: one for one in work_report(project).workers}

    assert (workers[busy].labels, workers[busy].this_week) == (3, 2)
    assert (workers[idle].labels, workers[idle].last) == (0, None)


def test_a_desk_shows_what_is_for_somebody(project: Project) -> None:
    person, manager = reviewer(project), member(project, Role.MANAGER)
    items = queued_items(project, 3)
    assign_items(project, [items[2].pk], [person])
    slot = claim(project, person)
    answer(slot, person, "good")
    return_to_queue(project=project, item_ids=[slot.item_id], by=manager, reason="Look again.")
    later = claim(project, person)
    postpone_item(project=project, user=person, item_id=later.item_id)
    save_draft(
        project=project, user=person, item_id=items[1].pk, fields={"comment": ["half a thought"]}
    )

    desk = desk_of(project, person)

    assert desk.postponed == 1
    assert [draft.item_id for draft in desk.drafts] == [items[1].pk]
    assert [label.provenance["reason"] for label in desk.returned] == ["Look again."]
    assert [(change.words, change.version) for change in desk.changes] == [("Labels", 1)]


def test_the_pages_open_for_those_they_are_for(project: Project) -> None:
    queued_items(project, 1)
    pages: dict[str, dict[Role, int]] = {
        "workload": {Role.MANAGER: 200, Role.REVIEWER: 403},
        "mine": {Role.MANAGER: 200, Role.REVIEWER: 200, Role.VIEWER: 403},
    }
    for name, expected in pages.items():
        for role, status in expected.items():
            client = Client()
            client.force_login(member(project, role))
            assert client.get(f"/p/{project.slug}/{name}/").status_code == status


def test_the_report_takes_the_same_queries_however_many_people(
    project: Project, django_assert_num_queries: Any
) -> None:
    for _ in range(5):
        label(project, reviewer(project), 1)

    with django_assert_num_queries(7):
        work_report(project)
