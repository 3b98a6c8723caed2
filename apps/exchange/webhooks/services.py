"""Webhooks of a project: create, change, switch, replace secrets and send again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, differences, record
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks.event_feed import (
    EVENTS,
    PING,
    event_uid,
    highest_ids,
    position,
    queue_again,
    wait_again,
    work_deliveries,
)
from apps.exchange.webhooks.payloads import new_secret, sealed
from apps.exchange.webhooks.transport import check_url
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput, NotFound

MOST_WEBHOOKS = 20
MOST_PINGS = 10
#: How long a replaced secret also signs.
OVERLAP = timedelta(hours=24)
#: Deliveries that can be chosen at once.
MOST_CHOSEN = 1000


def webhook_rows(project: Project) -> "QuerySet[Webhook]":
    """The project's webhooks, oldest first, with ``waiting``, ``given_up`` and ``last_at``. One
    query."""
    return project.webhooks.select_related("created_by").annotate(
        waiting=Count("deliveries", filter=Q(deliveries__status__in=Delivery.UNSENT)),
        given_up=Count("deliveries", filter=Q(deliveries__status=Delivery.Status.FAILED)),
        last_at=Max(
            "deliveries__finished_at", filter=Q(deliveries__status=Delivery.Status.DELIVERED)
        ),
    )


def deliveries_of(webhook: Webhook, *, status: str = "") -> "QuerySet[Delivery]":
    """Newest first."""
    rows = webhook.deliveries.select_related("label__item", "gold__item", "run", "batch", "export")
    return rows.filter(status=status) if status else rows


def webhook_of(project: Project, webhook_id: int) -> Webhook:
    """One webhook of the project; NotFound if there is none."""
    found = project.webhooks.filter(pk=webhook_id).first()
    if found is None:
        raise NotFound(
            "The project %(project)s has no webhook %(webhook_id)s.",
            project=project,
            webhook_id=str(webhook_id),
        )
    return found


def count_stopped(project: Project) -> int:
    """How many of the project's webhooks were stopped because of their receivers."""
    stopped = [Webhook.Status.PAUSED, Webhook.Status.GONE]
    return project.webhooks.filter(status__in=stopped).count()


def create_webhook(
    *,
    project: Project,
    actor: User | None,
    url: str,
    events: Sequence[str],
    origin: str = "",
    **more: Any,
) -> tuple[Webhook, str]:
    """A webhook that gets the events from now on, and its secret, which is shown only once.

    Args:
        origin: of this server, for links in messages.
        more: ``description``, ``with_text``.

    Raises:
        InvalidInput: an invalid address, no event or an unknown one.
        Conflict: the project has too many.
    """
    secret = new_secret()
    webhook = Webhook(project=project, origin=origin, secret=sealed(secret), created_by=actor)
    _set_fields(webhook, {"url": url, "events": events, **more})
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.webhooks.count() >= MOST_WEBHOOKS:
            raise Conflict(
                "A project has %(most_webhooks)s webhooks at most; delete one first.",
                most_webhooks=MOST_WEBHOOKS,
            )
        for name, value in _start_of_feed().items():
            setattr(webhook, name, value)
        webhook.save(force_insert=True)
        record(
            Action.WEBHOOK_CREATED,
            webhook,
            name=_host(webhook),
            changes={"events": (None, webhook.events), "with_text": (None, webhook.with_text)},
        )
    return webhook, secret


@transaction.atomic
def update_webhook(*, webhook: Webhook, **changes: Any) -> Webhook:
    """Change the ``url``, ``description``, ``events``, ``with_text`` or ``origin`` of a webhook.

    Raises:
        InvalidInput: as :func:`create_webhook`.
    """
    before = webhook.url
    known = {name: getattr(webhook, name) for name in ("events", "with_text")}
    known["url"] = _host(webhook)
    _set_fields(webhook, changes)
    # The turn moves on, as a round that is reading now looks for the old events.
    fields = {name: getattr(webhook, name) for name in changes}
    if webhook.url != before:  # failed deliveries are tried again at the new address
        fields |= {"failures": 0, "failing_since": None, "next_at": None}
        waiting = Delivery.objects.filter(webhook=webhook, status=Delivery.Status.WAITING)
        waiting.update(next_at=timezone.now())
    Webhook.objects.filter(pk=webhook.pk).update(turn=F("turn") + 1, **fields)
    webhook.refresh_from_db()
    now = {name: getattr(webhook, name) for name in ("events", "with_text")}
    changed = differences(known, {**now, "url": _host(webhook)})
    record(Action.WEBHOOK_CHANGED, webhook, name=_host(webhook), changes=changed)
    return webhook


@transaction.atomic
def switch_on(*, webhook: Webhook) -> Webhook:
    """Send events again from now on; waiting ones are sent too, later ones can be replayed. An
    active webhook is not changed."""
    if not webhook.active:
        feed = _start_of_feed()
        was = webhook.status
        _set(webhook, status=Webhook.Status.ACTIVE, stopped_at=None, next_at=None, **feed)
        _record_switch(webhook, was)
    return webhook


@transaction.atomic
def switch_off(*, webhook: Webhook) -> Webhook:
    """Send nothing more until it is switched on; waiting deliveries stay."""
    if webhook.active:
        was = webhook.status
        _set(webhook, status=Webhook.Status.OFF, stopped_at=timezone.now(), replay=None)
        _record_switch(webhook, was)
    return webhook


@transaction.atomic
def rotate_secret(*, webhook: Webhook) -> str:
    """A new secret, shown only once; the old one signs as well for a day."""
    secret = new_secret()
    _set(
        webhook,
        old_secret=bytes(webhook.secret),
        old_secret_until=timezone.now() + OVERLAP,
        secret=sealed(secret),
    )
    record(Action.WEBHOOK_SECRET_CHANGED, webhook, name=_host(webhook))
    return secret


@transaction.atomic
def delete_webhook(*, webhook: Webhook) -> None:
    """Delete it with its deliveries; one that is being sent still arrives."""
    record(Action.WEBHOOK_DELETED, webhook, name=_host(webhook))
    Webhook.objects.filter(pk=webhook.pk).delete()


def ping(*, webhook: Webhook) -> Delivery:
    """Send a test message at once, also where the webhook is switched off; it is tried once.

    Raises:
        Conflict: too many are unsent.
    """
    if webhook.deliveries.filter(event=PING, status__in=Delivery.UNSENT).count() >= MOST_PINGS:
        raise Conflict("Some test messages are still on their way; wait for them.")
    now = timezone.now()
    return Delivery.objects.create(
        webhook=webhook, uid=event_uid(webhook, PING, 0, now), event=PING, event_at=now
    )


def replay_since(*, webhook: Webhook, since: datetime) -> Webhook:
    """Send all events again since a time of the ledger; messages keep their ids. They are queued at
    the pace at which they are sent.

    Raises:
        InvalidInput: the time is in the future.
        Conflict: the webhook is not active.
    """
    if since > timezone.now():
        raise InvalidInput.at("since", "This time is in the future.")
    _check_active(webhook)
    ends = highest_ids()
    replay = {
        "since": since.isoformat(),
        "label": 0,
        "gold": 0,
        "label_top": ends.label,
        "gold_top": ends.gold,
        "queued": 0,
    }
    with transaction.atomic():
        held = Webhook.objects.select_for_update().get(pk=webhook.pk)
        replay["queued"] = queue_again(held, work_deliveries(held, since))
        Webhook.objects.filter(pk=held.pk).update(replay=replay, turn=F("turn") + 1)
        record(
            Action.WEBHOOK_REPLAYED,
            webhook,
            name=_host(webhook),
            changes={"since": (None, since.isoformat())},
        )
    webhook.refresh_from_db()
    return webhook


def send_again(*, webhook: Webhook, ids: Sequence[int]) -> int:
    """Send chosen deliveries again; how many. Unsent ones are not changed.

    Raises:
        InvalidInput: none or too many are chosen.
        NotFound: one of them is not of this webhook.
        Conflict: the webhook is not active.
    """
    if not 1 <= len(ids) <= MOST_CHOSEN:
        raise InvalidInput.at(
            "deliveries",
            "Choose between 1 and %(most_chosen)s deliveries.",
            most_chosen=MOST_CHOSEN,
        )
    _check_active(webhook)
    chosen = Delivery.objects.filter(webhook=webhook, pk__in=ids)
    if chosen.count() != len(set(ids)):
        raise NotFound("One of these deliveries no longer exists; reload the page.")
    with transaction.atomic():
        count = wait_again(webhook, [row.uid for row in chosen])
        changes = {"deliveries": (None, count)}
        record(Action.WEBHOOK_REPLAYED, webhook, name=_host(webhook), changes=changes)
    return count


def _host(webhook: Webhook) -> str:
    """What the audit log says of the address: its path may be a secret."""
    return urlsplit(webhook.url).netloc.rpartition("@")[2]


def _record_switch(webhook: Webhook, was: str) -> None:
    changes = {"status": (was, webhook.status)}
    record(Action.WEBHOOK_CHANGED, webhook, name=_host(webhook), changes=changes)


def _check_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise Conflict("The webhook is switched off; switch it on to send again.")


def _set(webhook: Webhook, **fields: Any) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(turn=F("turn") + 1, **fields)
    webhook.refresh_from_db()


def _start_of_feed() -> dict[str, Any]:
    """The fields of a webhook that gets the events from now on."""
    now = timezone.now()
    return {
        **position(highest_ids()),
        "runs_seen": now,
        "began_at": now,
        "replay": None,
        "failures": 0,
        "failing_since": None,
    }


def _set_fields(webhook: Webhook, changes: dict[str, Any]) -> None:
    if "url" in changes:
        changes["url"] = check_url(changes["url"])
    if "events" in changes:
        events = changes["events"]
        strange = next((event for event in events if event not in EVENTS), None)
        if strange is not None:
            raise InvalidInput.at(
                "events",
                "'%(strange)s' is not one of %(events)s.",
                strange=str(strange)[:40],
                events=", ".join(EVENTS),
            )
        if not events:
            raise InvalidInput.at("events", "Choose at least one event.")
        changes["events"] = [event for event in EVENTS if event in events]
    if "description" in changes:
        changes["description"] = " ".join(str(changes["description"]).split())[:200]
    for name, value in changes.items():
        setattr(webhook, name, value)
