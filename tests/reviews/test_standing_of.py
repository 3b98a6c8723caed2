"""What the queue asks before it hands out an item: whether somebody may work here."""

import pytest

from apps.reviews.models import Standing
from apps.reviews.selectors.standing import standing_of
from tests.factories.reviews import new_project, reviewer

pytestmark = pytest.mark.django_db


def test_nobody_is_kept_from_work_unless_it_was_said() -> None:
    project = new_project()

    assert standing_of(project, reviewer(project)) is None


def test_a_standing_is_of_one_person_in_one_project() -> None:
    project, other = new_project(), new_project()
    one, two = reviewer(project), reviewer(project)
    paused = Standing.objects.create(
        project=project, user=one, status=Standing.Status.PAUSED, reason="Too fast."
    )

    assert standing_of(project, one) == paused
    assert standing_of(project, two) is None
    assert standing_of(other, one) is None


def test_it_costs_one_query(django_assert_num_queries: object) -> None:
    project = new_project()
    person = reviewer(project)
    standing_of(project, person)

    with django_assert_num_queries(1):  # type: ignore[operator]
        standing_of(project, person)
