"""From the ledger to deliveries: everything once, nothing before its time, nothing of others."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.debates.models import Run
from apps.exchange.models import Delivery, SavedExport, Webhook
from apps.exchange.webhooks import delivery_queue, event_feed, services
from apps.exchange.webhooks.event_feed import highest_ids, queue_events
from apps.exchange.webhooks.payloads import body_of
from apps.exchange.webhooks.services import switch_off
from apps.labels.models import Label
from apps.labels.services import record_label, withdraw_label
from apps.projects.models import ImportBatch, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from tests.factories.exchange import derived, webhook_of
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ImportBatchFactory, ProjectFactory

pytestmark = pytest.mark.django_db


def labelled(project: Project, count: int = 1) -> list[Label]:
    """Items that somebody has labelled, which decides them."""
    by = person(project)
    return [record_label(draft(item, by, "good")) for item in queued_items(project, count)]


def run_of(project: Project, **fields: Any) -> Run:
    now = timezone.now()
    usual = {"status": "done", "finished_at": now, "protocol": "single"}
    return Run.objects.create(project=project, schema=current_schema(project), **(usual | fields))


def work_of(project: Project) -> tuple[ImportBatch, SavedExport]:
    """An import and a saved export that have just ended, beside some that have not."""
    now, export = timezone.now(), {"project": project, "format": "csv", "file_name": "a.csv"}
    ImportBatchFactory.create(project=project, status="running")
    SavedExport.objects.create(**export)
    batch = ImportBatchFactory.create(project=project, status="failed", finished_at=now)
    return batch, SavedExport.objects.create(status="done", finished_at=now, **export)


def events(webhook: Webhook) -> list[str]:
    return [delivery.event for delivery in derived(webhook)]


def test_a_new_webhook_is_told_of_nothing_that_was_before() -> None:
    project = ProjectFactory.create()
    labelled(project, 3)
    run_of(project)
    webhook = webhook_of(project)
    assert events(webhook) == []


def test_every_event_is_queued_once_however_often_it_is_looked_for() -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    webhook = webhook_of(project)
    [label] = labelled(project)
    labelled(other)
    run = run_of(project)
    run_of(project, status="running", finished_at=None)
    batch, export = work_of(project)
    withdraw_label(label=label)
    for _ in range(3):
        derived(webhook)
        # The position is lost: everything is looked at anew.
        Webhook.objects.update(label_settled=0, gold_settled=0)
    found = list(webhook.deliveries.all())
    assert sorted(delivery.event for delivery in found) == [
        "export.finished", "gold.decided", "gold.withdrawn", "import.finished", "label.created",
        "label.created", "run.finished",
    ]  # fmt: skip
    assert {delivery.run_id for delivery in found} == {None, run.pk}
    assert {delivery.batch_id for delivery in found} == {None, batch.pk}
    assert {delivery.export_id for delivery in found} == {None, export.pk}


def test_messages_about_files_say_how_they_ended_and_where_they_are() -> None:
    project = ProjectFactory.create(slug="hotels")
    webhook = webhook_of(project, events=["import.finished", "export.finished"])
    batch, export = work_of(project)
    about = {
        delivery.event: json.loads(body_of(webhook, delivery))["data"]
        for delivery in derived(webhook)
    }
    assert about["import.finished"]["import"]["status"] == "failed"
    assert about["import.finished"]["import"]["file"] == batch.file_name
    assert about["export.finished"]["export"]["uid"] == str(export.uid)
    origin = "https://labels.example.org"
    assert about["import.finished"]["links"] == {
        "page": f"{origin}/p/hotels/import/{batch.pk}/",
        "api": f"{origin}/api/v1/projects/hotels/imports/{batch.pk}/",
    }
    assert about["export.finished"]["links"] == {
        "page": f"{origin}/p/hotels/export/saved/",
        "api": f"{origin}/api/v1/projects/hotels/exports/{export.pk}/",
    }


def test_batches_are_bounded_and_a_long_line_takes_up_nothing_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_feed, "BATCH", 2)
    monkeypatch.setattr(event_feed, "MOST_WAITING", 3)
    project = ProjectFactory.create()
    webhook = webhook_of(project, events=["label.created"])
    labels = labelled(project, 5)
    counts = [len(derived(webhook)) for _ in range(4)]
    assert counts == [2, 4, 4, 4]  # the ledger keeps what does not fit
    Delivery.objects.update(status="delivered")
    assert [delivery.label_id for delivery in derived(webhook)] == [label.pk for label in labels]


def test_rows_of_others_are_passed_over_in_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_feed, "SPAN", 2)
    monkeypatch.setattr(event_feed, "SPANS", 2)
    project, other = ProjectFactory.create(), ProjectFactory.create()
    labelled(other)  # ids need not begin at 1
    webhook = webhook_of(project, events=["label.created"])
    labelled(other, 6)
    labelled(project)
    counts = [len(derived(webhook)) for _ in range(3)]
    assert counts[-1] == 1
    assert webhook.label_settled == highest_ids().label


def test_of_two_that_look_at_once_one_writes() -> None:
    project = ProjectFactory.create()
    webhook = webhook_of(project)
    slow = Webhook.objects.get(pk=webhook.pk)
    labelled(project)
    first = len(derived(webhook))
    assert queue_events(slow, highest_ids()) == 0
    assert webhook.deliveries.count() == first


def test_a_quiet_round_costs_few(django_assert_num_queries: Any) -> None:
    project = ProjectFactory.create()
    labelled(project, 2)
    webhook_of(project)
    delivery_queue.tend_webhooks()
    # Webhooks, tops, three of work, replays, old, due; PostgreSQL is asked who writes.
    with django_assert_num_queries(9 if connection.vendor == "postgresql" else 8):
        delivery_queue.tend_webhooks()


def delivered(webhook: Webhook) -> list[Delivery]:
    """What there is, sent."""
    rows = derived(webhook)
    Delivery.objects.update(status="delivered", attempts=1, finished_at=timezone.now())
    return rows


def replayed(webhook: Webhook) -> list[tuple[str, int]]:
    """All rounds of a replay; then status and replays of each delivery."""
    for _ in range(10):
        webhook.refresh_from_db()
        event_feed.continue_replay(webhook)
    webhook.refresh_from_db()
    assert webhook.replay is None
    return list(webhook.deliveries.order_by("pk").values_list("status", "replays"))


def test_replay_sends_again_what_was_sent_and_what_was_before() -> None:
    project = ProjectFactory.create()
    before = labelled(project, 2)
    webhook = webhook_of(project, events=["label.created", "run.finished", "import.finished"])
    [after] = labelled(project)
    run_of(project)
    work_of(project)
    rows = delivered(webhook)
    services.replay_since(webhook=webhook, since=timezone.now() - timedelta(hours=1))
    assert replayed(webhook) == [*[("waiting", 1)] * 3, ("waiting", 0), ("waiting", 0)]
    assert rows[0].label_id == after.pk
    sent = set(webhook.deliveries.exclude(label=None).values_list("label", flat=True))
    assert sent == {after.pk, *(label.pk for label in before)}


def test_old_deliveries_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_queue, "MOST_KEPT", 2)
    project = ProjectFactory.create()
    webhook = webhook_of(project, events=["label.created"])
    labelled(project, 5)
    rows = delivered(webhook)
    Delivery.objects.filter(pk=rows[0].pk).update(finished_at=timezone.now() - timedelta(days=31))
    delivery_queue.delete_old()
    assert webhook.deliveries.count() == 4
    delivery_queue.trim(webhook.pk)
    assert [delivery.pk for delivery in webhook.deliveries.order_by("pk")] == [
        rows[3].pk,
        rows[4].pk,
    ]


def test_what_cannot_be_replayed() -> None:
    project = ProjectFactory.create()
    webhook, other = webhook_of(project), webhook_of(project)
    labelled(project)
    theirs = derived(other)
    with pytest.raises(InvalidInput, match="in the future"):
        services.replay_since(webhook=webhook, since=timezone.now() + timedelta(days=1))
    with pytest.raises(InvalidInput, match="Choose between"):
        services.send_again(webhook=webhook, ids=[])
    with pytest.raises(NotFound):
        services.send_again(webhook=webhook, ids=[theirs[0].pk])
    switch_off(webhook=webhook)
    with pytest.raises(Conflict, match="switch it on"):
        services.replay_since(webhook=webhook, since=timezone.now())
