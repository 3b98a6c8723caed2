"""``since=``: what a program reads on from a cursor, without loss and without doubles."""

import json
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.common.bulk import insert_rows
from apps.common.feeds import read_cursor, write_cursor
from apps.exchange.models import SavedExport
from apps.labels.models import Annotator, Label
from apps.labels.services import import_labels
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.exchange.helpers import url_of
from tests.factories.agreement import decide
from tests.factories.exchange import run_export
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.projects import ProjectFactory, member_api

#: Membership, the highest key, the rows; PostgreSQL is asked who writes.
FEED_QUERIES = 4 if connection.vendor == "postgresql" else 3
pytestmark = pytest.mark.django_db


def labelled(project: Project, count: int) -> list[Label]:
    items = queued_items(project, count)
    annotator = person(project)
    import_labels(project, [draft(item, annotator, "good") for item in items])
    return list(Label.objects.filter(item__in=items).order_by("pk"))


def poll(client: APIClient, project: Project, since: str, **more: Any) -> tuple[list[int], str]:
    """The ids of all labels after the cursor, and the next cursor."""
    ids: list[int] = []
    while True:
        query = {"since": since, "page_size": 2, **more}
        page = client.get(url_of("api_label", project), query).json()
        ids += [row["id"] for row in page["results"]]
        since = page["since"]
        if page["next"] is None:
            return ids, since


def test_each_label_comes_once_and_in_order() -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    client = member_api(project, Role.VIEWER)
    first = labelled(project, 5)
    labelled(other, 3)
    ids, since = poll(client, project, "0")
    assert ids == [label.pk for label in first]
    assert poll(client, project, since) == ([], since)
    later = labelled(project, 3)
    ids, newer = poll(client, project, since)
    assert ids == [label.pk for label in later]
    assert poll(client, project, since)[0] == ids  # an answer that was lost is had again
    assert poll(client, project, newer)[0] == []
    only_llm, _ = poll(client, project, "0", kind="llm")
    assert only_llm == []


def test_the_next_address_leads_on() -> None:
    project = ProjectFactory.create()
    labels = labelled(project, 3)
    client = member_api(project)
    page = client.get(url_of("api_label", project), {"since": "0", "page_size": "2"}).json()
    assert (page["count"], page["previous"]) == (2, None)
    rest = client.get(page["next"]).json()
    assert [row["id"] for row in rest["results"]] == [labels[2].pk]


def test_an_export_since_a_cursor_has_what_came_or_changed() -> None:
    project = ProjectFactory.create()
    items = queued_items(project, 4)
    client = member_api(project)

    def export(since: str | None) -> tuple[list[str], str]:
        query = {} if since is None else {"since": since}
        response: Any = client.get(url_of("api_export", project), query)
        rows = [json.loads(line) for line in b"".join(response.streaming_content).splitlines()]
        return [row["id"] for row in rows], response["LabelHub-Since"]

    names = [item.external_id for item in items]
    everything, since = export(None)
    assert everything == names
    assert export(since)[0] == []
    import_labels(project, [draft(items[1], person(project), "good")])
    decide(items[2], "bad")
    url = url_of("api_project_item", project, items[3].pk)
    assert client.patch(url, {"meta": {"a": 1}}).status_code == 200
    new = open_item(project)
    labelled(ProjectFactory.create(), 2)
    changed, newer = export(since)
    assert changed == [*names[1:], new.external_id]
    assert export(newer)[0] == []
    assert export("0")[0] == [*names, new.external_id]


def test_a_saved_export_reads_on_from_the_one_before() -> None:
    project = ProjectFactory.create()
    items = queued_items(project, 3)
    client = member_api(project)

    def save(**asked: str) -> Any:
        made = client.post(url_of("api_saved_export_list", project), asked).json()
        run_export(SavedExport.objects.get(pk=made["id"]))
        return client.get(url_of("api_saved_export", project, made["id"])).json()

    first = save()
    assert (first["items_done"], first["manifest"]["since"]) == (3, first["since"])
    import_labels(project, [draft(items[1], person(project), "good")])
    second = save(since=first["since"])
    assert second["items_done"] == 1
    assert second["manifest"]["filters"] == {"since": first["since"]}
    url = url_of("api_saved_export_list", project)
    assert client.post(url, {"since": second["since"]}).status_code == 422  # nothing is new
    assert client.post(url, {"since": "x"}).status_code == 422


def test_reviewers_who_may_have_no_file_read_no_feed() -> None:
    project = ProjectFactory.create(blind_share=1)
    open_item(project)
    client = member_api(project, Role.REVIEWER)
    assert client.get(url_of("api_label", project)).status_code == 200
    assert client.get(url_of("api_label", project), {"since": "0"}).status_code == 403


@all_cases(
    "text",
    ["", "x", "1", "٣", "MTox\n", "a" * 100_000, "MQ", "MToxOjE", "LTE6LTE", "\x00", "MTox"],
)
def test_what_is_no_cursor_of_this_list_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_cursor(text, 7, 1)
    if "\x00" not in text:
        project = ProjectFactory.create()
        for name in ("api_label", "api_export", "api_item_changes"):
            response = member_api(project).get(url_of(name, project), {"since": text})
            assert response.status_code in (400, 422), name


def test_a_cursor_belongs_to_its_project() -> None:
    assert read_cursor(write_cursor(7, [1, 2]), 7, 2) == [1, 2]
    for project, count in ((8, 2), (7, 1)):
        with pytest.raises(InvalidInput):
            read_cursor(write_cursor(7, [1, 2]), project, count)


def test_a_page_of_a_hundred_thousand_labels_takes_as_many_queries_as_one_of_few() -> None:
    project = ProjectFactory.create()
    schema, client = current_schema(project), member_api(project, Role.VIEWER)
    names = [str(number) for number in range(1000)]
    items = insert_rows([Item(project=project, external_id=name, text=name) for name in names])
    people = insert_rows(
        [Annotator(project=project, kind="crowd", name=name) for name in names[:100]]
    )

    def add(some: Sequence[Item]) -> None:
        labels = product(some, people)
        fields: dict[str, Any] = {"schema": schema, "value": "good", "action": "imported"}
        insert_rows([Label(item=item, annotator=by, **fields) for item, by in labels])

    add(items[:1])
    first = Label.objects.earliest("pk").pk
    counts, rows = [], []
    for more, passed in ((items[:0], 0), (items[1:], 0), ((), 50_000), ((), 99_500)):
        add(more)
        since = write_cursor(project.pk, [first - 1 + passed])
        with CaptureQueriesContext(connection) as captured:
            query = {"since": since, "page_size": "1000"}
            response = client.get(url_of("api_label", project), query)
        counts.append(len(captured))
        rows.append(response.json()["count"])
    assert counts == [FEED_QUERIES] * 4
    assert rows == [100, 1000, 1000, 500]
