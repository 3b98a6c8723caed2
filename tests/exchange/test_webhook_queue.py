"""The queue of a webhook: order, retries, what stops it, what a kill leaves, what is never sent."""

import json
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models import Sum
from django.utils import timezone

from apps.authors.services.privacy import erase_author
from apps.common.jobs import waiting_jobs, work_on
from apps.common.models import Job
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import delivery_queue, services
from apps.exchange.webhooks.delivery_queue import KIND, due_webhooks, retry_after, tend_webhooks
from apps.exchange.webhooks.payloads import body_of
from apps.exchange.webhooks.transport import Answer
from apps.labels.services import record_label
from tests.factories.authors import answered_by, author_of, site_with_features
from tests.factories.exchange import derived, webhook_of
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ProjectFactory
from tests.fakes.receiver import Received, Receiver

pytestmark = pytest.mark.django_db
Status = Delivery.Status


def with_labels(hook: Receiver, count: int = 1, **fields: Any) -> Webhook:
    """A webhook to which so many labels are to be told."""
    project = ProjectFactory.create()
    webhook = webhook_of(project, hook.address, **({"events": ["label.created"]} | fields))
    by = person(project)
    for item in queued_items(project, count):
        record_label(draft(item, by, "good", seconds=2.5))
    derived(webhook)
    return webhook


def send_due(webhook_id: int) -> int:
    """A worker's turn at its line; how many were sent."""
    before = attempts()
    work_on(KIND, webhook_id)
    return attempts() - before


def attempts() -> int:
    return Delivery.objects.aggregate(count=Sum("attempts"))["count"] or 0


def messages_of(hook: Receiver) -> list[Any]:
    return [json.loads(got.body) for got in hook.received]


def items(hook: Receiver) -> list[str]:
    return [message["data"]["item"]["id"] for message in messages_of(hook)]


def hurry(webhook: Webhook) -> None:
    """Whatever is waited for has come."""
    past = timezone.now() - timedelta(seconds=1)
    Delivery.objects.filter(webhook=webhook, status=Status.WAITING).update(next_at=past)
    Webhook.objects.filter(pk=webhook.pk).update(next_at=None)


def test_a_label_is_told_with_all_that_a_receiver_needs(hook: Receiver) -> None:
    webhook = with_labels(hook)
    assert send_due(webhook.pk) == 1
    [delivery] = webhook.deliveries.all()
    [message] = messages_of(hook)
    label = delivery.label
    assert label is not None
    assert message["id"] == hook.received[0].headers["webhook-id"] == f"msg_{delivery.uid.hex}"
    assert message["event"] == "label.created"
    assert message["project"]["slug"] == webhook.project.slug
    assert message["data"]["label"]["uid"] == str(label.uid)
    assert message["data"]["label"]["value"] == "good"
    assert message["data"]["annotator"] == {"kind": "crowd", "name": label.annotator.name}
    item = message["data"]["item"]
    assert item["id"] == label.item.external_id
    assert item["links"]["page"].startswith("https://labels.example.org/p/")
    assert "text" not in item
    assert (delivery.status, delivery.response_status, delivery.response) == (
        Status.DELIVERED, 200, "thanks",
    )  # fmt: skip


def test_what_an_author_wrote_never_goes_along_and_is_nowhere_once_erased(hook: Receiver) -> None:
    author = author_of(site_with_features(), "customer")
    webhook = webhook_of(author.site.project, hook.address, with_text=True)
    answered_by(author)
    hook.body = b"You sent me: a, about a quiet laptop"
    derived(webhook)
    assert send_due(webhook.pk) == 2  # a label and the gold it makes
    assert {message["data"]["item"].get("text") for message in messages_of(hook)} == {None}
    kept = answered_by(other := author_of(author.site, "other"))
    derived(webhook)
    erase_author(author)
    left = webhook.deliveries.all()
    assert {(delivery.label or delivery.gold).item_id for delivery in left} == {kept.item_id}  # type: ignore[union-attr]
    erase_author(other)
    assert send_due(webhook.pk) == 0
    assert not webhook.deliveries.exists()
    assert len(hook.received) == 2


def test_deliveries_go_out_in_order(hook: Receiver) -> None:
    webhook = with_labels(hook, 4)
    send_due(webhook.pk)
    order = webhook.deliveries.order_by("label").values_list("label__item__external_id", flat=True)
    assert items(hook) == list(order)


def test_a_failure_is_waited_for_and_then_passed(hook: Receiver) -> None:
    webhook = with_labels(hook, 2)
    bad = str(webhook.deliveries.order_by("pk")[0].label.item.external_id)  # type: ignore[union-attr]

    def status(got: Received) -> int:
        return 500 if json.loads(got.body)["data"]["item"]["id"] == bad else 200

    hook.status = status
    for _ in range(delivery_queue.IN_ORDER):
        assert send_due(webhook.pk) == 1  # those behind it wait
        assert due_webhooks() == []
        assert send_due(webhook.pk) == 0
        hurry(webhook)
    send_due(webhook.pk)
    Webhook.objects.update(next_at=None)
    assert send_due(webhook.pk) == 1
    assert items(hook) == [bad] * 3 + [items(hook)[-1]]
    assert items(hook)[-1] != bad
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.failing_since) == (0, None)
    hook.status = 200
    hurry(webhook)
    send_due(webhook.pk)
    assert items(hook)[-1] == bad
    assert (
        len({message["id"] for message in messages_of(hook)}) == 2
    )  # each attempt has the id of the first


def test_it_is_given_up_after_days_of_attempts(hook: Receiver) -> None:
    hook.status, hook.body = 503, b"closed"
    webhook = with_labels(hook)
    waits, row = [], webhook.deliveries.get()
    for _ in range(delivery_queue.MOST_ATTEMPTS):
        now = timezone.now()
        assert send_due(webhook.pk) == 1
        row = webhook.deliveries.get()
        waits.append((row.next_at - now).total_seconds())
        hurry(webhook)
    assert (row.status, row.attempts) == (Status.FAILED, 10)
    assert (row.error, row.response) == ("The receiver answered 503.", "closed")
    for wait, usual in zip(waits, delivery_queue.WAITS, strict=False):
        assert 0.8 * usual <= wait <= 1.2 * usual + 5
    assert 2.5 < sum(delivery_queue.WAITS) / 86_400 < 3.5
    assert send_due(webhook.pk) == 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("120", 120), ("999999999999", 86_400), ("-5", 0), ("soon", 0), ("", 0), ("①", 0)],
)
def test_what_a_receiver_asks_for(header: str, seconds: float) -> None:
    answer = Answer(503, 0.1, headers={"retry-after": header})
    assert retry_after(answer, timezone.now()) == seconds


def test_a_receiver_may_ask_to_be_left_alone_until_a_time(hook: Receiver) -> None:
    until = timezone.now() + timedelta(hours=2)
    hook.status, hook.headers = 429, {"retry-after": format_datetime(until)}
    webhook = with_labels(hook, 2)
    send_due(webhook.pk)
    webhook.refresh_from_db()
    assert webhook.next_at is not None
    assert abs((webhook.next_at - until).total_seconds()) < 5
    assert send_due(webhook.pk) == 0


def test_gone_switches_it_off(hook: Receiver) -> None:
    hook.status = 410
    webhook = with_labels(hook, 2)
    send_due(webhook.pk)
    webhook.refresh_from_db()
    assert (webhook.status, webhook.stopped_at is None) == (Webhook.Status.GONE, False)
    assert len(hook.received) == 1
    assert services.count_stopped(webhook.project) == 1


def test_days_of_failures_pause_it_and_it_can_go_on(hook: Receiver) -> None:
    hook.status = 500
    webhook = with_labels(hook, 2)
    send_due(webhook.pk)
    Webhook.objects.update(failing_since=timezone.now() - delivery_queue.PAUSE_AFTER)
    hurry(webhook)
    send_due(webhook.pk)
    webhook.refresh_from_db()
    assert webhook.status == Webhook.Status.PAUSED
    hurry(webhook)
    assert send_due(webhook.pk) == 0
    hook.status = 200
    services.ping(webhook=webhook)
    assert due_webhooks() == [webhook.pk]
    send_due(webhook.pk)
    assert messages_of(hook)[-1]["event"] == "ping"  # also while it is paused
    services.switch_on(webhook=webhook)
    assert send_due(webhook.pk) == 2  # what waited is sent


def test_a_killed_process_leaves_it_to_another_which_sends_it_again(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook, send = with_labels(hook), delivery_queue._send

    def killed(*given: Any) -> Answer:
        send(*given)
        raise SystemExit

    monkeypatch.setattr(delivery_queue, "_send", killed)
    with pytest.raises(SystemExit):
        send_due(webhook.pk)
    monkeypatch.setattr(delivery_queue, "_send", send)
    assert webhook.deliveries.get().status == Status.SENDING
    tend_webhooks()
    assert send_due(webhook.pk) == 0  # its job is held still
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert waiting_jobs(KIND) == [webhook.pk]
    assert send_due(webhook.pk) == 1
    row = webhook.deliveries.get()
    assert (row.status, row.attempts, len(hook.received)) == (Status.DELIVERED, 2, 2)
    assert not Job.objects.exists()


def test_a_secret_that_nobody_can_open_is_told(hook: Receiver, settings: LazySettings) -> None:
    webhook = with_labels(hook)
    settings.LABELHUB_TEXT_KEYS = ["another key than before"]
    send_due(webhook.pk)
    assert "LABELHUB_TEXT_KEYS" in webhook.deliveries.get().error
    assert hook.received == []


def test_a_message_that_cannot_be_made_holds_up_no_other(
    hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = with_labels(hook, 2)
    bad, good = webhook.deliveries.order_by("pk")

    def made(webhook: Webhook, delivery: Delivery) -> bytes:
        return body_of(webhook, delivery) if delivery.pk == good.pk else "\ud800".encode()

    monkeypatch.setattr(delivery_queue, "body_of", made)
    for _ in range(delivery_queue.IN_ORDER + 1):
        hurry(webhook)
        send_due(webhook.pk)
    Webhook.objects.update(next_at=None)
    send_due(webhook.pk)
    bad.refresh_from_db()
    good.refresh_from_db()
    assert (bad.status, good.status) == ("waiting", "delivered")
    assert "UnicodeEncodeError" in bad.error
    assert len(hook.received) == 1
