"""Webhooks in pages and over REST."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.common.sealing import unseal
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import services
from apps.exchange.webhooks.event_feed import EVENTS
from apps.labels.services import record_label
from apps.projects.models import Project
from labelhub.core.errors import Conflict
from tests.exchange.helpers import url_of
from tests.factories.exchange import FAR, derived, webhook_of
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ProjectFactory, member_api, member_browser

pytestmark = pytest.mark.django_db
FORM = {"url": FAR, "events": ["label.created"], "description": "Nightly <b>training</b>"}


@pytest.fixture
def project() -> Project:
    """An empty one."""
    return ProjectFactory.create()


def ended(project: Project, webhook: Webhook, count: int = 2) -> list[Delivery]:
    """Deliveries of labels that were sent."""
    by = person(project)
    for item in queued_items(project, count):
        record_label(draft(item, by, "good"))
    derived(webhook)
    answer = {"response_status": 500, "response": "<script>x</script>", "error": "No."}
    now = timezone.now()
    Delivery.objects.update(status="failed", attempts=10, finished_at=now, seconds=0.5, **answer)
    return list(webhook.deliveries.order_by("pk"))


def secret_in(page: str) -> str:
    return "whsec_" + page.split("whsec_", 1)[1].split("<", 1)[0]


def test_a_webhook_is_made_and_its_secret_shown_once(project: Project) -> None:
    client = member_browser(project)
    assert b"No webhooks yet" in client.get(url_of("webhook_list", project)).content
    answer = client.post(url_of("webhook_create", project), FORM, follow=True)
    webhook, page = project.webhooks.get(), answer.content.decode()
    assert unseal(webhook.secret).decode() == secret_in(page)
    assert "no-store" in answer["Cache-Control"]
    assert webhook.origin == "http://testserver"
    for address in (url_of("webhook_detail", project, webhook.pk), url_of("webhook_list", project)):
        shown = client.get(address).content
        assert b"whsec_" not in shown
        assert b"&lt;b&gt;training" in shown
        assert b"<b>training" not in shown


def test_it_is_changed_switched_pinged_and_deleted(project: Project) -> None:
    client, webhook = member_browser(project), webhook_of(project)
    there = url_of("webhook_detail", project, webhook.pk)
    assert client.post(there, FORM | {"with_text": "on"}).status_code == 302
    client.post(url_of("webhook_switch", project, webhook.pk), {"to": "off"})
    webhook.refresh_from_db()
    assert (webhook.events, webhook.with_text) == (["label.created"], True)
    assert webhook.status == Webhook.Status.OFF
    client.post(url_of("webhook_ping", project, webhook.pk))
    assert webhook.deliveries.get().event == "ping"
    client.post(url_of("webhook_switch", project, webhook.pk), {"to": "on"})
    webhook.refresh_from_db()
    assert webhook.active
    assert b"every 2s" in client.get(there).content
    client.post(url_of("webhook_delete", project, webhook.pk))
    assert Webhook.objects.count() == 0


def test_a_replaced_secret_is_shown_once_and_the_old_one_lasts_a_day(project: Project) -> None:
    client, webhook = member_browser(project), webhook_of(project)
    old = unseal(webhook.secret)
    page = client.post(url_of("webhook_secret", project, webhook.pk), follow=True).content.decode()
    webhook.refresh_from_db()
    assert unseal(webhook.secret).decode() == secret_in(page)
    assert webhook.old_secret is not None
    assert unseal(webhook.old_secret) == old
    assert webhook.old_secret_until is not None
    assert timedelta(hours=23) < webhook.old_secret_until - timezone.now() < timedelta(hours=25)


def test_deliveries_are_shown_and_sent_again(project: Project) -> None:
    client, webhook = member_browser(project), webhook_of(project)
    rows = ended(project, webhook)
    page = client.get(url_of("webhook_detail", project, webhook.pk), {"status": "failed"}).content
    assert page.count(b"Given up") > 1  # the filter is one
    assert b"&lt;script&gt;x" in page
    assert b"<script>x" not in page
    part = client.get(url_of("webhook_deliveries", project, webhook.pk), {"status": "waiting"})
    assert b"No deliveries found" in part.content
    address = url_of("webhook_replay", project, webhook.pk)
    again = client.post(address, {"delivery": [rows[0].pk, "x", "9" * 5000]}, follow=True).content
    assert b"1 delivery will be sent again" in again
    assert webhook.deliveries.filter(status="waiting").get() == rows[0]
    since = client.post(address, {"since": "2026-01-02T03:04"}, follow=True).content
    assert b"Everything since 2 Jan 2026" in since
    assert b"Replaying" in since
    assert b"Choose deliveries" in client.post(address, {"since": "soon"}, follow=True).content
    future = client.post(address, {"since": "2999-01-01T00:00"}, follow=True).content
    assert b"is in the future" in future


def test_there_is_an_end_to_how_many(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST_WEBHOOKS", 1)
    monkeypatch.setattr(services, "MOST_PINGS", 1)
    webhook = webhook_of(project)
    with pytest.raises(Conflict, match="1 webhooks at most"):
        webhook_of(project)
    assert member_browser(project).post(url_of("webhook_create", project), FORM).status_code == 422
    services.ping(webhook=webhook)
    with pytest.raises(Conflict, match="still on their way"):
        services.ping(webhook=webhook)


def test_over_rest(project: Project) -> None:
    client = member_api(project)
    made = client.post(url_of("api_webhook_list", project), {"url": FAR})
    body = made.json()
    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")
    assert (body["events"], body["status"]) == (list(EVENTS), "active")
    number = body["id"]
    assert body["secret"].startswith("whsec_")
    listed = client.get(url_of("api_webhook_list", project)).json()
    assert (listed["count"], "secret" in listed["results"][0]) == (1, False)
    there = url_of("api_webhook", project, number)
    changed = client.patch(there, {"active": False, "events": ["run.finished"]}).json()
    assert (changed["status"], changed["events"]) == ("off", ["run.finished"])
    assert client.patch(there, {"active": True}).json()["status"] == "active"
    assert client.get(there).json()["url"] == FAR
    pinged = client.post(url_of("api_webhook_ping", project, number))
    assert (pinged.status_code, pinged.json()["event"]) == (202, "ping")
    renewed = client.post(url_of("api_webhook_secret", project, number)).json()["secret"]
    assert renewed != body["secret"]
    assert client.delete(there).status_code == 204
    assert client.get(there).status_code == 404


def test_replay_over_rest(project: Project) -> None:
    webhook, client = webhook_of(project, events=["label.created"]), member_api(project)
    rows = ended(project, webhook)
    listed = client.get(url_of("api_webhook_deliveries", project, webhook.pk), {"status": "failed"})
    first = listed.json()["results"][0]
    assert (listed.json()["count"], first["response_status"]) == (2, 500)
    assert rows[1].label is not None
    assert first["item"] == rows[1].label.item.external_id
    assert first["message_id"] == f"msg_{rows[1].uid.hex}"
    address = url_of("api_webhook_replay", project, webhook.pk)
    assert client.post(address, {"deliveries": [rows[0].pk]}).json() == {"queued": 1}
    assert client.post(address, {"since": "2026-01-01T00:00:00Z"}).status_code == 202
    assert client.post(address, {}).status_code == 422
    assert client.post(address, {"deliveries": [9_999_999]}).status_code == 404
    strange = client.get(url_of("api_webhook_deliveries", project, webhook.pk), {"status": "x"})
    assert strange.status_code == 400
