"""Sending again: chosen deliveries, or everything since a time, in the pace of the line."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks.deriving import (
    GOLD_FIELDS,
    LABEL_FIELDS,
    gold_deliveries,
    golds_of,
    has_room,
    label_deliveries,
    labels_of,
    rows_after,
    run_deliveries,
    tops,
)
from apps.exchange.webhooks.events import RUN
from labelhub.core.errors import Conflict, InvalidInput, NotFound

ENDED = (Delivery.Status.DELIVERED, Delivery.Status.FAILED)
#: Deliveries that can be chosen at once.
MOST_CHOSEN = 1000


def replay_since(*, webhook: Webhook, since: datetime) -> Webhook:
    """Send everything again that happened since, by the times the ledger gives; what was sent
    before keeps its id. It is queued in the pace in which it is sent.

    Raises:
        InvalidInput: the time is in the future.
        Conflict: the webhook is not active.
    """
    if since > timezone.now():
        raise InvalidInput.at("since", "This time has not come yet.")
    _check_active(webhook)
    ends = tops()
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
        if RUN in held.events:
            replay["queued"] = _queue_again(held, run_deliveries(held, since))
        Webhook.objects.filter(pk=held.pk).update(replay=replay, turn=F("turn") + 1)
    webhook.refresh_from_db()
    return webhook


def send_again(*, webhook: Webhook, ids: Sequence[int]) -> int:
    """Send chosen deliveries again; how many. Those that are on their way stay as they are.

    Raises:
        InvalidInput: none or too many are chosen.
        NotFound: one of them is none of this webhook.
        Conflict: the webhook is not active.
    """
    if not 1 <= len(ids) <= MOST_CHOSEN:
        raise InvalidInput.at("deliveries", f"Choose between 1 and {MOST_CHOSEN:,} deliveries.")
    _check_active(webhook)
    chosen = Delivery.objects.filter(webhook=webhook, pk__in=ids)
    if chosen.count() != len(set(ids)):
        raise NotFound("One of these deliveries is no longer there; load the page anew.")
    return _wait_again(webhook, [row.uid for row in chosen])


def go_on(webhook: Webhook) -> int:
    """Queue the next part of a replay; how many deliveries."""
    if webhook.replay is None or not has_room(webhook):
        return 0
    replay: dict[str, Any] = dict(webhook.replay)
    since = datetime.fromisoformat(replay["since"])
    labels, replay["label"] = rows_after(
        labels_of(webhook).filter(created_at__gte=since),
        replay["label"],
        replay["label_top"],
        LABEL_FIELDS,
    )
    golds, replay["gold"] = rows_after(
        golds_of(webhook).filter(created_at__gte=since),
        replay["gold"],
        replay["gold_top"],
        GOLD_FIELDS,
    )
    found = [*label_deliveries(webhook, labels), *gold_deliveries(webhook, golds)]
    over = replay["label"] >= replay["label_top"] and replay["gold"] >= replay["gold_top"]
    with transaction.atomic():
        ours = Webhook.objects.filter(pk=webhook.pk, turn=webhook.turn)
        replay["queued"] += len(found)
        if not ours.update(turn=webhook.turn + 1, replay=None if over else replay):
            return 0
        return _queue_again(webhook, found)


def _queue_again(webhook: Webhook, found: Sequence[Delivery]) -> int:
    """Those that are there wait again, the others are made."""
    count = _wait_again(webhook, [each.uid for each in found])
    Delivery.objects.bulk_create(found, ignore_conflicts=True)
    return max(count, len(found))


def _wait_again(webhook: Webhook, uids: Sequence[Any]) -> int:
    now = timezone.now()
    return Delivery.objects.filter(webhook=webhook, uid__in=uids, status__in=ENDED).update(
        status=Delivery.Status.WAITING,
        attempts=0,
        replays=F("replays") + 1,
        next_at=now,
        finished_at=None,
        response_status=None,
        response="",
        error="",
        seconds=None,
    )


def _check_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise Conflict("The webhook is switched off; switch it on before anything is sent again.")
