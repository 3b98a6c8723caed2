"""On PostgreSQL rows appear out of order: a feed passes over none, and tells none twice."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections, transaction
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.common import feeds
from apps.common.bulk import insert_rows
from apps.labels.models import Annotator, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.factories.labels import person, queued_items
from tests.factories.projects import ProjectFactory, member_api

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


def label_of(item: Item, annotator: Annotator) -> Label:
    schema = current_schema(item.project)
    return Label(item=item, annotator=annotator, schema=schema, value="good", action="imported")


def write(label: Label, *, in_bulk: bool) -> None:
    if in_bulk:
        insert_rows([label])
    else:
        label.save()


@contextmanager
def written_and_not_committed(label: Label, *, in_bulk: bool) -> Iterator[threading.Event]:
    """Within, ``label`` has its id in another transaction, which the event commits."""
    written, commit = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with transaction.atomic():
                write(label, in_bulk=in_bulk)
                written.set()
                assert commit.wait(60)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    assert written.wait(60)
    try:
        yield commit
    finally:
        commit.set()
        thread.join()


def poll(client: APIClient, project: Project, since: str, size: int = 2) -> tuple[list[int], str]:
    ids: list[int] = []
    while True:
        query: dict[str, Any] = {"since": since, "page_size": size}
        page = client.get(f"/api/v1/projects/{project.slug}/labels/", query).json()
        ids += [row["id"] for row in page["results"]]
        since = page["since"]
        if page["next"] is None:
            return ids, since


@pytest.mark.parametrize("in_bulk", [False, True])
def test_what_appears_late_is_not_passed_over(
    project: Project, in_bulk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, items = member_api(project, Role.VIEWER), queued_items(project, 3)
    monkeypatch.setattr(feeds, "PATIENCE", 0.2)
    with written_and_not_committed(label_of(items[0], person(project)), in_bulk=in_bulk) as commit:
        visible = label_of(items[1], person(project))
        visible.save()
        assert poll(client, project, "0")[0] == []  # an id below may still appear
        monkeypatch.setattr(feeds, "PATIENCE", 60.0)
        threading.Timer(0.3, commit.set).start()
        ids, since = poll(client, project, "0")
    assert len(ids) == 2
    assert ids[-1] == visible.pk
    assert poll(client, project, since) == ([], since)


def test_a_poller_beside_four_writers_gets_each_label_once(project: Project) -> None:
    client, items = member_api(project, Role.VIEWER), queued_items(project, 60)
    people = [person(project) for _ in range(4)]

    def work(number: int) -> None:
        try:
            for item in items:
                with transaction.atomic():
                    write(label_of(item, people[number]), in_bulk=bool(number % 2))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    got: list[int] = []
    since, over = "0", False
    while not over:
        over = not any(thread.is_alive() for thread in threads)
        ids, since = poll(client, project, since, size=7)
        got += ids
    assert got == sorted(set(got))
    assert got == sorted(Label.objects.values_list("pk", flat=True))
    assert len(got) == 240
