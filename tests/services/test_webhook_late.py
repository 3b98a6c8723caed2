"""Rows that appear below an id that was looked at already: on PostgreSQL, with two connections."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from apps.exchange.models import Webhook
from apps.exchange.webhooks import event_feed
from apps.exchange.webhooks.event_feed import highest_ids, queue_events
from apps.labels.models import Annotator, Label
from apps.labels.services import record_label
from apps.projects.models import Item
from tests.factories.exchange import derived, webhook_of
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ProjectFactory
from tests.services.threads import in_thread

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No grace; and only where rows can appear late at all."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time")
    monkeypatch.setattr(event_feed, "GRACE", event_feed.GRACE * 0)


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


def rounds(webhook: Webhook, count: int = 4) -> list[int]:
    """The labels that the webhook is told of, in order, after some rounds."""
    for _ in range(count):
        derived(webhook)
    return [delivery.label_id or 0 for delivery in webhook.deliveries.order_by("pk")]


def settles(webhook: Webhook, label: int) -> bool:
    """Whether it waits for no label before ``label`` any more; other tests write meanwhile."""
    for _ in range(300):
        derived(webhook)
        if (webhook.mark, webhook.label_settled) == (None, label):
            return True
        time.sleep(0.1)
    return False


def ends(mark: dict[str, Any]) -> bool:
    """Whether the transactions that a mark waits for end; other tests write meanwhile."""
    for _ in range(300):
        if event_feed.is_over(mark):
            return True
        time.sleep(0.1)
    return False


def test_a_label_that_is_committed_late_is_told_once() -> None:
    project = ProjectFactory.create()
    webhook = webhook_of(project, events=["label.created"])
    items, by = queued_items(project, 3), person(project)
    late = OpenTransaction(items[0], by)
    second = record_label(draft(items[1], by, "good"))
    assert rounds(webhook) == [second.pk]
    settled = webhook.label_settled
    assert (webhook.label_seen, settled < second.pk) == (second.pk, True)
    late.commit()
    first = Label.objects.get(item=items[0])
    assert first.pk < second.pk
    assert rounds(webhook) == [second.pk, first.pk]
    assert settles(webhook, second.pk)
    third = record_label(draft(items[2], by, "good"))
    assert rounds(webhook) == [second.pk, first.pk, third.pk]
    assert settles(webhook, third.pk)
    assert rounds(webhook) == [second.pk, first.pk, third.pk]


def test_a_late_label_is_told_while_an_older_transaction_is_open() -> None:
    project = ProjectFactory.create()
    webhook = webhook_of(project, events=["label.created"])
    items, by = queued_items(project, 3), person(project)
    older, late = OpenTransaction(items[2], by), OpenTransaction(items[0], by)
    second = record_label(draft(items[1], by, "good"))
    assert rounds(webhook) == [second.pk]
    late.commit()
    assert rounds(webhook) == [second.pk, Label.objects.get(item=items[0]).pk]
    older.commit()


def test_the_newest_transaction_is_waited_for() -> None:
    project = ProjectFactory.create()
    newest = OpenTransaction(queued_items(project, 1)[0], person(project))
    mark = {"before": event_feed.next_writer()}
    assert not event_feed.is_over(mark)
    newest.commit()
    assert ends(mark)


def test_nothing_is_written_while_nothing_happens() -> None:
    project = ProjectFactory.create()
    webhook = webhook_of(project)
    items, by = queued_items(project, 1), person(project)
    label = record_label(draft(items[0], by, "good"))
    assert settles(webhook, label.pk)
    turn = webhook.turn
    assert queue_events(webhook, highest_ids()) == 0
    webhook.refresh_from_db()
    assert webhook.turn == turn
