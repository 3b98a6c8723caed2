"""The items of a chosen filter come first, those that are imported later too."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.jobs import waiting_jobs, work_on
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.reviews.models import Intervention, SavedFilter
from apps.reviews.queue.undo import return_to_queue
from apps.reviews.search.query import read_query
from apps.reviews.search.saved_filters import (
    KIND,
    delete_filter,
    filter_rows,
    first_settings,
    projects_to_apply,
    save_filter,
    set_first_filter,
    start_first_filters,
)
from labelhub.core.errors import InvalidInput
from labelhub.worker import KEEPERS
from tests.cases import present
from tests.factories.bulk import done
from tests.factories.labels import open_item
from tests.factories.projects import member
from tests.factories.reviews import claim, reviewer, suggest

pytestmark = pytest.mark.django_db


def saved(project: Project, name: str, **query: Any) -> SavedFilter:
    return save_filter(project=project, actor=None, name=name, query=read_query(query))


def first(project: Project) -> list[str]:
    """External ids of what comes first."""
    found = ItemState.objects.filter(project=project, promoted=True).order_by("item")
    return list(found.values_list("item__external_id", flat=True))


def keep() -> None:
    """A round of the keeper and of the worker it calls."""
    start_first_filters()
    for project_id in waiting_jobs(KIND):
        work_on(KIND, project_id)


def test_matching_items_come_first_and_later_ones_follow(project: Project) -> None:
    open_item(project, external_id="plain")
    open_item(project, external_id="cold", text="Cold soup")
    assert projects_to_apply() == []

    set_first_filter(project=project, chosen=saved(project, "Cold", q="cold"))
    assert projects_to_apply() == [project.pk]
    keep()
    assert first(project) == ["cold"]
    assert claim(project, reviewer(project)).item.external_id == "cold"
    assert projects_to_apply() == []

    open_item(project, external_id="colder", text="Colder soup")
    keep()
    assert first(project) == ["cold", "colder"]
    settings = present(first_settings(project))
    assert settings.first_at is not None
    assert list(Intervention.objects.values_list("items", flat=True)) == [1, 1]


def test_another_filter_or_none_takes_the_others_back(project: Project) -> None:
    open_item(project, external_id="cold", text="Cold soup")
    open_item(project, external_id="warm", text="Warm soup")
    cold, warm = saved(project, "Cold", q="cold"), saved(project, "Warm", q="warm")

    set_first_filter(project=project, chosen=cold)
    keep()
    set_first_filter(project=project, chosen=warm)
    keep()
    assert first(project) == ["warm"]
    saved(project, "Warm", q="soup")  # saved anew: the queue follows
    keep()
    assert first(project) == ["cold", "warm"]
    set_first_filter(project=project, chosen=None)
    keep()
    assert first(project) == []
    assert projects_to_apply() == []


def test_what_was_put_first_by_hand_stays(project: Project) -> None:
    manager: User = member(project, Role.MANAGER)
    hand = open_item(project, external_id="hand")
    open_item(project, external_id="cold", text="Cold soup")
    done(project, manager, "promote", query={"items": [hand.pk]})
    set_first_filter(project=project, chosen=saved(project, "Cold", q="cold"))
    keep()
    set_first_filter(project=project, chosen=None)
    keep()

    assert first(project) == ["hand"]


def test_a_filter_whose_label_is_gone_stops_nobody(project: Project) -> None:
    open_item(project)
    broken = saved(project, "Broken", label="good")
    SavedFilter.objects.filter(pk=broken.pk).update(query={"label": "gone"})
    set_first_filter(project=project, chosen=broken)
    keep()

    assert projects_to_apply() == []
    (row,) = filter_rows(project)
    assert row.count is None
    assert "is not offered" in row.fault


def test_a_filter_needs_a_name_and_a_condition(project: Project) -> None:
    for name, query in (
        ("", {"q": "a"}),
        ("x" * 101, {"q": "a"}),
        ("ok", {}),
        ("ok", {"gold": "x"}),
    ):
        with pytest.raises(InvalidInput):
            saved(project, name, **query)


def test_every_worker_keeps_jobs_and_filters_going() -> None:
    assert start_first_filters in KEEPERS


def test_a_filter_that_is_deleted_before_it_was_applied_whole_leaves_nothing(
    project: Project,
) -> None:
    open_item(project, external_id="cold", text="Cold soup")
    open_item(project, external_id="warm", text="Warm soup")
    chosen = saved(project, "Soup", q="soup")
    set_first_filter(project=project, chosen=chosen)
    keep()
    saved(project, "Soup", q="cold")  # saved anew, and deleted before a worker came
    delete_filter(project=project, filter_id=chosen.pk)
    keep()
    assert first(project) == []


def test_what_was_returned_to_the_queue_stays_in_it(project: Project) -> None:
    project.review_scope = "doubtful"
    project.save()
    returned = open_item(project, external_id="returned")
    doubtful = open_item(project, external_id="doubtful", text="Cold soup")
    suggest(returned, "good")
    suggest(doubtful, "good", reasons=["tie"])
    boss = member(project, Role.MANAGER)
    return_to_queue(project=project, item_ids=[returned.pk], by=boss, reason="Look again.")
    assert first(project) == ["returned"]

    set_first_filter(project=project, chosen=saved(project, "Soup", q="soup"))
    keep()
    set_first_filter(project=project, chosen=None)
    keep()

    assert first(project) == ["returned"]
    assert ItemState.objects.get(item=returned).queued


def test_filters_are_counted_for_a_while_only(project: Project) -> None:
    for name in ("One", "Two"):
        saved(project, name, q="soup")

    assert [row.count for row in filter_rows(project)] == [0, 0]
    assert [row.count for row in filter_rows(project, seconds=-1)] == [None, None]
