"""The client reads on from cursors, changes items, brings labels and manages keys."""

import json
from collections.abc import Callable

import httpx
import pytest

from apps.accounts.models import User
from apps.labels.models import Label
from apps.projects.models import Item, Project
from labelhub_client import Client, Conflict, ProjectClient
from tests.client.helpers import scripted
from tests.factories.accounts import ApiKeyFactory, UserFactory
from tests.factories.labels import open_item, queued_items


def test_labels_are_brought_and_read_on_from_a_cursor(
    project: Project, managed: ProjectClient
) -> None:
    items = queued_items(project, 3)
    row = {"annotator_id": "bert", "annotator_type": "model", "label": "good", "confidence": 0.8}
    done = managed.import_labels([row | {"item_id": item.external_id} for item in items[:2]])
    assert (done.created, done.labels_created) == (2, 2)
    feed = managed.labels_since()
    assert [label.item for label in feed] == [item.pk for item in items[:2]]
    managed.import_labels([row | {"item_number": items[2].pk}])
    assert [label.item for label in managed.labels_since(feed.since)] == [items[2].pk]
    assert Label.objects.count() == 3


def test_exports_go_on_from_where_the_last_one_was(
    project: Project, managed: ProjectClient
) -> None:
    first, second = queued_items(project, 2)
    export = managed.export()
    assert [row["id"] for row in export.rows()] == [first.external_id, second.external_id]
    managed.change_item(first.pk, meta={"a": 1})
    later = managed.export(since=export.since)
    assert [row["id"] for row in later.rows()] == [first.external_id]
    managed.delete_item(second.pk)
    assert [row.deleted for row in managed.item_changes_since()] == [False, True]
    assert Item.objects.count() == 1


def test_what_another_has_changed_is_a_conflict(project: Project, managed: ProjectClient) -> None:
    item = open_item(project)
    with pytest.raises(Conflict) as refused:
        managed.change_item(item.pk, meta={"a": 1}, if_match='"seen"')
    assert (refused.value.status, refused.value.code) == (412, "precondition_failed")


def test_a_write_with_an_idempotency_key_is_sent_again(
    client_of: Callable[[User], Client],
) -> None:
    made = httpx.Response(201, json={"id": 1, "key": "k"})
    client, sent = scripted(httpx.ReadError("broke"), made)
    client.call("api_key_create", json={"name": "a"}, idempotency_key="mine")
    assert [request.headers["Idempotency-Key"] for request in sent.seen] == ["mine", "mine"]
    assert json.loads(sent.seen[0].content) == {"name": "a"}


def test_keys_and_accounts(db: None, client_of: Callable[[User], Client]) -> None:
    operator = UserFactory.create(is_superuser=True)
    client = client_of(operator)
    made = client.create_key("nightly", scope="read")
    rotated = client.rotate_key(made.id, grace_hours=1)
    assert {made.id, rotated.id} <= {key.id for key in client.keys(user=operator.username)}
    operator.api_keys.update(scope="admin")
    assert client.create_user("ann").password
    assert "ann" in {user.username for user in client.users()}
    assert ApiKeyFactory._meta.model.objects.count() == 3
