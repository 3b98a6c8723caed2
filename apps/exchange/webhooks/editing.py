"""Making and changing webhooks, their secrets and state; looking them up."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks.deriving import tops
from apps.exchange.webhooks.events import EVENTS, PING, event_uid
from apps.exchange.webhooks.signing import new_secret, sealed
from apps.exchange.webhooks.targets import check_url
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput, NotFound

MOST_WEBHOOKS = 20
MOST_PINGS = 10
#: How long a secret that was replaced signs beside the new one.
OVERLAP = timedelta(hours=24)
CHANGEABLE = frozenset({"url", "description", "events", "with_text", "origin"})


def webhook_of(project: Project, webhook_id: int) -> Webhook:
    """One webhook of the project.

    Raises:
        NotFound: there is none.
    """
    found = project.webhooks.select_related("project").filter(pk=webhook_id).first()
    if found is None:
        raise NotFound(f"The project {project} has no webhook {webhook_id}.")
    return found


def troubled(project: Project) -> int:
    """How many of the project's webhooks were stopped by what their receivers did."""
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
    """A webhook that is told of what happens from now on, and its secret, told this once.

    Args:
        origin: of this server, for links in messages.
        more: ``description``, ``with_text``.

    Raises:
        InvalidInput: an address that cannot be one, no event or an unknown one.
        Conflict: the project has too many.
    """
    secret = new_secret()
    webhook = Webhook(project=project, origin=origin, secret=sealed(secret), created_by=actor)
    _change(webhook, {"url": url, "events": events, **more})
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.webhooks.count() >= MOST_WEBHOOKS:
            raise Conflict(f"A project has {MOST_WEBHOOKS} webhooks at most; delete one first.")
        for name, value in _from_now().items():
            setattr(webhook, name, value)
        webhook.save(force_insert=True)
    return webhook, secret


def update_webhook(*, webhook: Webhook, **changes: Any) -> Webhook:
    """Change what a webhook is told, and where.

    Raises:
        InvalidInput: as :func:`create_webhook`.
    """
    unknown = sorted(set(changes) - CHANGEABLE)
    if unknown:
        raise InvalidInput(f"'{unknown[0]}' cannot be changed.")
    before = webhook.url
    _change(webhook, changes)
    # The turn moves on: a round that looks at this moment looks for the old events.
    fields = {name: getattr(webhook, name) for name in changes}
    if webhook.url != before:  # what did not arrive at the old address is tried at the new one
        fields |= {"failures": 0, "failing_since": None, "next_at": None}
        waiting = Delivery.objects.filter(webhook=webhook, status=Delivery.Status.WAITING)
        waiting.update(next_at=timezone.now())
    Webhook.objects.filter(pk=webhook.pk).update(turn=F("turn") + 1, **fields)
    webhook.refresh_from_db()
    return webhook


def switch_on(*, webhook: Webhook) -> Webhook:
    """From now on it is told again; what waited is sent, what happened meanwhile can be replayed.
    One that is active stays as it is."""
    if not webhook.active:
        _set(webhook, status=Webhook.Status.ACTIVE, stopped_at=None, next_at=None, **_from_now())
    return webhook


def switch_off(*, webhook: Webhook) -> Webhook:
    """Tell it nothing more until it is switched on; what waits stays."""
    if webhook.active:
        _set(webhook, status=Webhook.Status.OFF, stopped_at=timezone.now(), replay=None)
    return webhook


def rotate_secret(*, webhook: Webhook) -> str:
    """A new secret, told this once; the old one signs beside it for a day."""
    secret = new_secret()
    _set(
        webhook,
        old_secret=bytes(webhook.secret),
        old_secret_until=timezone.now() + OVERLAP,
        secret=sealed(secret),
    )
    return secret


def delete_webhook(*, webhook: Webhook) -> None:
    """With its deliveries; what is being sent at this moment still arrives."""
    Webhook.objects.filter(pk=webhook.pk).delete()


def ping(*, webhook: Webhook) -> Delivery:
    """Send a test message at once, also where the webhook is switched off; it is tried once.

    Raises:
        Conflict: many are on their way.
    """
    open_ = [Delivery.Status.WAITING, Delivery.Status.SENDING]
    if webhook.deliveries.filter(event=PING, status__in=open_).count() >= MOST_PINGS:
        raise Conflict("Some test messages are still on their way; wait for them.")
    now = timezone.now()
    return Delivery.objects.create(
        webhook=webhook, uid=event_uid(webhook, PING, 0, now), event=PING, event_at=now
    )


def _set(webhook: Webhook, **fields: Any) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(turn=F("turn") + 1, **fields)
    webhook.refresh_from_db()


def _from_now() -> dict[str, Any]:
    ends, now = tops(), timezone.now()
    return {
        "label_seen": ends.label,
        "label_settled": ends.label,
        "gold_seen": ends.gold,
        "gold_settled": ends.gold,
        "runs_seen": now,
        "began_at": now,
        "mark": None,
        "replay": None,
        "failures": 0,
        "failing_since": None,
    }


def _change(webhook: Webhook, changes: dict[str, Any]) -> None:
    if "url" in changes:
        changes["url"] = check_url(changes["url"])
    if "events" in changes:
        changes["events"] = _checked(changes["events"])
    if "description" in changes:
        changes["description"] = " ".join(str(changes["description"]).split())[:200]
    for name, value in changes.items():
        setattr(webhook, name, value)


def _checked(events: Sequence[str]) -> list[str]:
    strange = next((event for event in events if event not in EVENTS), None)
    if strange is not None:
        raise InvalidInput.at("events", f"'{str(strange)[:40]}' is not one of {', '.join(EVENTS)}.")
    if not events:
        raise InvalidInput.at("events", "Choose at least one event.")
    return [event for event in EVENTS if event in events]
