"""GET, PATCH and DELETE of one item, and the list of what was changed."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.roles import Role
from apps.debates.models import Debate
from apps.labels.models import Gold, Label
from apps.labels.services import import_labels
from apps.projects.models import Item, ItemChange, Project
from tests.exchange.helpers import url_of
from tests.factories.agreement import decide, run_of
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ProjectFactory, member_api
from tests.factories.reviews import claim, new_project, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


@pytest.fixture
def item(project: Project) -> Item:
    return open_item(project, external_id="a", text="Old.", meta={"a": 1})


def call(item: Item, method: str, body: Any = None, query: str = "") -> Any:
    url = url_of("api_project_item", item.project, item.pk)
    return getattr(member_api(item.project), method)(url + query, body)


def label(item: Item) -> None:
    import_labels(item.project, [draft(item, person(item.project), "good")])


def test_an_item_is_shown_as_below_items(item: Item) -> None:
    shown = call(item, "get").json()
    assert shown == member_api(item.project).get(f"/api/v1/items/{item.pk}/").json()


def test_what_nobody_has_labelled_can_change_wholly(item: Item) -> None:
    before = item.content_hash
    change = {
        "text": "New.",
        "context": [{"role": "user", "text": "Before."}],
        "question": "Really?",
        "options": ["yes", "no"],
        "meta": {"b": [1, {"c": None}]},
    }
    changed = call(item, "patch", change)
    assert changed.status_code == 200, changed.content
    assert {name: changed.json()[name] for name in change} == change
    item.refresh_from_db()
    assert item.content_hash != before
    assert ItemChange.objects.get().external_id == "a"
    assert call(item, "patch", change).status_code == 200
    assert ItemChange.objects.count() == 1  # nothing changed


def test_the_text_of_what_is_labelled_stays_and_its_meta_may_change(item: Item) -> None:
    label(item)
    refused = call(item, "patch", {"text": "New.", "meta": {"b": 2}})
    assert (refused.status_code, refused.json()["code"]) == (409, "item_in_use")
    assert call(item, "patch", {"text": "Old.", "meta": {"b": 2}}).status_code == 200
    item.refresh_from_db()
    assert (item.text, item.meta) == ("Old.", {"b": 2})


def test_whatever_refers_to_the_text_keeps_it(project: Project) -> None:
    people = new_project()
    held, decided, debated = (open_item(people) for _ in range(3))
    held = claim(people, reviewer(people)).item
    free = [item for item in (decided, debated) if item.pk != held.pk] or [decided]
    decide(free[0], "good")
    Debate.objects.create(run=run_of(people), item=debated)
    for item in {held, free[0], debated}:
        refused = call(item, "patch", {"text": "New."})
        assert (refused.status_code, refused.json()["code"]) == (409, "item_in_use")


def test_what_cannot_be_used_is_refused(item: Item) -> None:
    cases: list[tuple[Any, int]] = [
        ({"text": ""}, 400), ({"text": " "}, 422), ({"text": None}, 400), ({"text": "a\0"}, 400),
        ({"external_id": "b"}, 422), ({"stage": "new"}, 422), ({"options": ["a", "a"]}, 422),
        ({"context": [{"role": "judge", "text": "x"}]}, 422), ({"context": "x"}, 400),
        ({"meta": []}, 400), ([], 400), ({"meta": {"a": float("inf")}}, 400),
    ]  # fmt: skip
    found = []
    for body, _ in cases:
        try:
            found.append(call(item, "patch", body).status_code)
        except ValueError:  # the client does not send it
            found.append(400)
    assert found == [status for _, status in cases]
    item.refresh_from_db()
    assert (item.text, item.meta, ItemChange.objects.count()) == ("Old.", {"a": 1}, 0)


def test_meta_named_like_other_columns_stays_meta(item: Item) -> None:
    meta = {"text": "x", "gold": "good", "labels": [], "id": 7, "annotator_id": "x"}
    assert call(item, "patch", {"meta": meta}).json()["meta"] == meta
    item.refresh_from_db()
    assert (item.text, item.external_id, Gold.objects.count()) == ("Old.", "a", 0)


def test_an_item_is_deleted_with_its_labels_only_if_that_is_said(item: Item) -> None:
    label(item)
    decide(item, "good")
    refused = call(item, "delete")
    assert (refused.status_code, refused.json()["code"]) == (409, "item_in_use")
    assert call(item, "delete", query="?labels=yes").status_code == 400
    assert call(item, "delete", query="?labels=delete").status_code == 204
    assert [model.objects.count() for model in (Item, Label, Gold)] == [0, 0, 0]
    change = ItemChange.objects.get()
    assert (change.item_id, change.external_id, change.deleted) == (item.pk, "a", True)
    assert call(item, "delete").status_code == 404


def test_what_nobody_has_labelled_is_simply_deleted(item: Item) -> None:
    assert call(item, "delete").status_code == 204
    assert not Item.objects.exists()


def test_what_somebody_holds_is_not_deleted() -> None:
    project = new_project()
    open_item(project)
    held = claim(project, reviewer(project)).item
    assert call(held, "delete", query="?labels=delete").status_code == 409


def test_another_projects_item_is_not_found(item: Item) -> None:
    other = ProjectFactory.create()
    url = url_of("api_project_item", other, item.pk)
    client = member_api(other)
    found = [getattr(client, method)(url).status_code for method in ("get", "patch", "delete")]
    assert found == [404, 404, 404]


def test_changes_are_read_on_from_a_cursor(project: Project) -> None:
    items = [open_item(project) for _ in range(3)]
    for item in items:
        call(item, "patch", {"meta": {"n": 1}})
    client, url = member_api(project, Role.VIEWER), url_of("api_item_changes", project)
    first = client.get(url, {"since": "0", "page_size": "2"}).json()
    assert [row["item"] for row in first["results"]] == [items[0].pk, items[1].pk]
    second = client.get(url, {"since": first["since"]}).json()
    assert ([row["item"] for row in second["results"]], second["next"]) == ([items[2].pk], None)
    call(items[0], "delete")
    with CaptureQueriesContext(connection) as captured:
        third = client.get(url, {"since": second["since"]}).json()
    assert [(row["item"], row["deleted"]) for row in third["results"]] == [(items[0].pk, True)]
    # Membership, the highest key, the rows; PostgreSQL is asked who writes.
    assert len(captured) == (4 if connection.vendor == "postgresql" else 3)
