"""Other reasons for items that were routed before: the queue follows, the ledger stands."""

from collections.abc import Mapping

import pytest

from apps.labels.models import ItemState
from apps.labels.services import reroute_items
from apps.projects.models import Project
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory
from tests.factories.reviews import suggest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(review_scope="doubtful")


def test_reasons_queue_and_priority_follow(project: Project) -> None:
    doubtful, sure = queued_items(project, 2)
    suggest(doubtful, "good", reasons=["tie"])
    suggest(sure, "good")
    wanted = {doubtful.pk: [], sure.pk: ["dissent"]}

    assert reroute_items(project, wanted, lambda _: wanted) == 2

    states = ItemState.objects.in_bulk()
    assert (states[doubtful.pk].reasons, states[doubtful.pk].queued) == ([], False)
    assert (states[sure.pk].reasons, states[sure.pk].queued) == (["dissent"], True)
    assert states[sure.pk].priority > 100 > states[doubtful.pk].priority


def test_what_is_not_named_or_not_new_is_left_alone(
    project: Project, django_assert_num_queries: object
) -> None:
    items = queued_items(project, 3)
    for item in items:
        suggest(item, "good", reasons=["tie"])
    with django_assert_num_queries(3):  # type: ignore[operator]  # transaction and one look
        assert reroute_items(project, [items[0].pk], lambda _: {items[0].pk: ["tie"]}) == 0
    assert reroute_items(project, [items[0].pk], lambda _: {items[1].pk: []}) == 0
    assert ItemState.objects.filter(reasons=["tie"]).count() == 3


def test_the_decision_is_taken_with_the_items_locked(project: Project) -> None:
    items = queued_items(project, 3)
    for item in items:
        suggest(item, "good", reasons=["tie"])
    seen: list[list[int]] = []
    ids = [item.pk for item in items]

    def look(states: Mapping[int, ItemState]) -> dict[int, list[str]]:
        seen.append(list(states))
        return {}

    reroute_items(project, reversed(ids), look)
    assert seen == [ids]
