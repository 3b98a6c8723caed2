"""How the people's work goes: pace, forecast, backlog by reason; and a reviewer's own desk."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.dashboards.work import (
    DRAWN,
    desk_of,
    waiting_by_reason,
    work_report,
)
from apps.labels.services import assign_items
from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.queue.drafts import save_draft
from apps.reviews.queue.submission import postpone_item
from apps.reviews.queue.undo import return_to_queue
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest

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


def of(*labels: int) -> dict[date, int]:
    """Four weeks that end with these days."""
    counts = [0] * (DRAWN - len(labels)) + list(labels)
    return {date(2026, 1, 1) + timedelta(days=number): n for number, n in enumerate(counts)}


def test_the_backlog_goes_by_reason(project: Project) -> None:
    items = queued_items(project, 4)
    suggest(items[0], "good")
    suggest(items[1], "good", reasons=["audit"])

    waiting = {group.words: group.items for group in waiting_by_reason(project)}

    # Which item is audited cannot be told: it counts among those never labelled.
    assert waiting == {"pre-annotated, not uncertain": 1, "not labelled": 3}


def test_conflicts_and_second_labels_are_told_apart() -> None:
    project = new_project(overlap=2)
    queued_items(project, 2)
    first, second = reviewer(project), reviewer(project)
    answer(claim(project, first), first, "good")
    answer(claim(project, second), second, "bad")
    answer(claim(project, first), first, "good")

    waiting = {group.words: group.items for group in waiting_by_reason(project)}

    assert waiting == {"reviewers disagree": 1, "needs one more label": 1}


def test_people_are_listed_with_what_they_did(project: Project) -> None:
    busy, idle = reviewer(project), expert(project)
    label(project, busy, 2)
    label(project, busy, 1, days_ago=10)

    workers = {worker.member.user: worker for worker in work_report(project).workers}

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
    assert [(change["kind"], change["version"]) for change in desk.changes] == [("schema", 1)]


def test_the_report_takes_the_same_queries_however_many_people(
    project: Project, django_assert_num_queries: Any
) -> None:
    for _ in range(5):
        label(project, reviewer(project), 1)

    with django_assert_num_queries(7):
        work_report(project)
