"""What finding the next item costs does not grow with what its reviewer has done."""

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.queue.selectors import next_places
from tests.factories.labels import queued_items
from tests.factories.reviews import new_project, reviewer

pytestmark = pytest.mark.django_db


def answer_items(project: Project, user: User, count: int) -> None:
    """``count`` decisions of ``user``, on one item: the queue does not look at which."""
    (item,) = queued_items(project, 1)
    Decision.objects.bulk_create(
        Decision(project=project, item=item, reviewer=user, action=Decision.Action.ACCEPT)
        for _ in range(count)
    )


def steps_of_next(project: Project, user: User) -> int:
    """Instructions of SQLite's virtual machine, in hundreds."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    next_places(project, user, timezone.now())  # prepares the statement
    connection.connection.set_progress_handler(count, 100)
    try:
        assert next_places(project, user, timezone.now())
    finally:
        connection.connection.set_progress_handler(None, 0)
    return steps


@pytest.mark.skipif(
    connection.vendor != "sqlite", reason="only SQLite counts the instructions of a query"
)
def test_the_next_item_takes_no_more_work_after_thousands_of_answers() -> None:
    project = new_project()
    user = reviewer(project)
    queued_items(project, 40)
    before = steps_of_next(project, user)
    answer_items(project, user, 3000)
    assert steps_of_next(project, user) <= 2 * before + 10
