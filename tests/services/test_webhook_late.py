"""Rows that appear below an id that was looked at already: on PostgreSQL, with two connections."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from apps.common import feeds
from apps.exchange.models import Webhook
from apps.labels.models import Annotator, Label
from apps.labels.services import record_label
from apps.projects.models import Item
from tests.factories.exchange import derived, webhook_of
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ProjectFactory
from tests.services.threads import in_thread

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


class OpenTransaction:
    """Somebody who writes a label and does not commit until told to."""

    def __init__(self, item: Item, by: Annotator) -> None:
        self._written, self._commit = threading.Event(), threading.Event()
        work: Callable[[], None] = lambda: in_thread(lambda: self._write(item, by))  # noqa: E731
        self._thread = threading.Thread(target=work)
        self._thread.start()
        assert self._written.wait(20)

    def _write(self, item: Item, by: Annotator) -> None:
        with transaction.atomic():
            record_label(draft(item, by, "good"))
            self._written.set()
            assert self._commit.wait(60)

    def commit(self) -> None:
        """Make it visible."""
        self._commit.set()
        self._thread.join(20)


def told(webhook: Webhook) -> list[int]:
    """The labels that the webhook is told of after another round, in order."""
    return [delivery.label_id or 0 for delivery in derived(webhook)]


def test_a_label_that_is_committed_late_is_told_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    monkeypatch.setattr(feeds, "PATIENCE", 0.1)
    project = ProjectFactory.create()
    webhook = webhook_of(project, events=["label.created"])
    items, by = queued_items(project, 3), person(project)
    late = OpenTransaction(items[0], by)
    second = record_label(draft(items[1], by, "good"))
    assert told(webhook) == []  # a label with a lower id may still appear
    late.commit()
    monkeypatch.setattr(feeds, "PATIENCE", 60.0)
    first = Label.objects.get(item=items[0])
    assert told(webhook) == [first.pk, second.pk]
    third = record_label(draft(items[2], by, "good"))
    for _ in range(2):
        assert told(webhook) == [first.pk, second.pk, third.pk]
