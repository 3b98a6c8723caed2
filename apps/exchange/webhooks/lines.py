"""The line of one webhook: its deliveries one after the other, each stored before the next.

At least once: a delivery is claimed, sent, and its outcome stored; a process that is killed between
leaves a lease that lapses, and it is sent again with the same id. Order is kept as far as a
receiver allows: a delivery that fails is waited for twice, then the others pass it.
"""

import logging
import random
import time
import uuid
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.common.sealing import CannotOpen
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks.events import PING
from apps.exchange.webhooks.payloads import body_of, message_id
from apps.exchange.webhooks.sending import Answer, Sender
from apps.exchange.webhooks.signing import signed_headers

logger = logging.getLogger(__name__)

#: After the first, second, … failed attempt: about three days, ten attempts in all.
WAITS = (5, 30, 180, 900, 3_600, 4 * 3_600, 12 * 3_600, 24 * 3_600, 30 * 3_600)
MOST_ATTEMPTS = len(WAITS) + 1
#: So many failures of one delivery hold up those behind it.
IN_ORDER = 2
#: The longest that one webhook's line stands still after failures in a row.
LONGEST_PAUSE = 600.0
#: The longest that a receiver can ask for.
LONGEST_RETRY_AFTER = 24 * 3_600.0
#: Without one success for so long, a webhook is paused.
PAUSE_AFTER = timedelta(days=5)
LEASE = timedelta(seconds=60)
#: How long a line goes on before another may have its thread.
SLICE = 20.0

Status = Delivery.Status


def due_webhooks() -> list[int]:
    """Ids of webhooks with something to send now that no living process sends."""
    now = timezone.now()
    due = _due(now).filter(_free("webhook__lease_until", now))
    ready = Q(webhook__next_at__isnull=True) | Q(webhook__next_at__lte=now) | Q(event=PING)
    open_ = Q(webhook__status=Webhook.Status.ACTIVE) | Q(event=PING)
    ids = due.filter(ready, open_).order_by("webhook").values_list("webhook", flat=True)
    return list(ids.distinct())


def work_line(webhook_id: int) -> int:
    """Send what is due of one webhook, for :data:`SLICE` seconds at most; how many were sent."""
    token, began, sent = uuid.uuid4(), time.monotonic(), 0
    if not _hold(webhook_id, token):
        return 0
    try:
        with Sender() as sender:
            while time.monotonic() - began < SLICE and _renew(webhook_id, token):
                webhook = Webhook.objects.select_related("project").get(pk=webhook_id)
                delivery = _claim(webhook)
                if delivery is None:
                    break
                _record(webhook, delivery, _send(sender, webhook, delivery))
                sent += 1
    finally:
        _held(webhook_id, token).update(lease_token=None, lease_until=None)
    return sent


def _hold(webhook_id: int, token: uuid.UUID) -> bool:
    now = timezone.now()
    free = Webhook.objects.filter(_free("lease_until", now), pk=webhook_id)
    return bool(free.update(lease_token=token, lease_until=now + LEASE))


def _held(webhook_id: int, token: uuid.UUID) -> "QuerySet[Webhook]":
    return Webhook.objects.filter(pk=webhook_id, lease_token=token)


def _renew(webhook_id: int, token: uuid.UUID) -> bool:
    return bool(_held(webhook_id, token).update(lease_until=timezone.now() + LEASE))


def _free(field: str, now: datetime) -> Q:
    return Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__lt": now})


def _due(now: datetime) -> "QuerySet[Delivery]":
    """What may be claimed: it waits and its time has come, or its sender was killed."""
    waits = Q(status=Status.WAITING, next_at__lte=now)
    orphaned = Q(status=Status.SENDING, lease_until__lt=now)
    return Delivery.objects.filter(waits | orphaned)


def _claim(webhook: Webhook) -> Delivery | None:
    """The first that is due; its attempt counts from here, whatever becomes of this process."""
    now = timezone.now()
    due = _due(now).filter(webhook=webhook)
    if not webhook.active or (webhook.next_at and webhook.next_at > now):
        due = due.filter(event=PING)
    found = due.order_by("pk").first()
    if found is None:
        return None
    taken = _due(now).filter(pk=found.pk)
    claim = {"status": Status.SENDING, "lease_until": now + LEASE, "attempts": F("attempts") + 1}
    if not taken.update(**claim):
        return None
    return Delivery.objects.filter(pk=found.pk).first()


def _send(sender: Sender, webhook: Webhook, delivery: Delivery) -> Answer:
    try:
        body = body_of(webhook, delivery)
        headers = signed_headers(webhook, message_id(delivery), body, timezone.now())
    except ObjectDoesNotExist:
        return Answer(None, 0.0, error="What it tells of was deleted.")
    except CannotOpen as error:
        return Answer(None, 0.0, error=error.message)
    except DatabaseError:
        raise
    except Exception as error:  # those behind it must not wait for one that cannot be told
        logger.exception("Delivery %s cannot be made.", delivery.pk)
        words = f"A fault of this server ({type(error).__name__}): the message cannot be made."
        return Answer(None, 0.0, error=words)
    return sender.post(webhook.url, body, headers)


def _record(webhook: Webhook, delivery: Delivery, answer: Answer) -> None:
    now = timezone.now()
    told: dict[str, Any] = {
        "lease_until": None,
        "response_status": answer.status,
        "response": answer.text,
        "error": _error(answer),
        "seconds": round(answer.seconds, 3),
    }
    if answer.ok:
        told |= {"status": Status.DELIVERED, "finished_at": now}
    elif answer.status == 410 or delivery.attempts >= MOST_ATTEMPTS or delivery.event == PING:
        told |= {"status": Status.FAILED, "finished_at": now}
    else:
        told |= {"status": Status.WAITING, "next_at": now + _wait(delivery.attempts, answer, now)}
    Delivery.objects.filter(pk=delivery.pk, status=Status.SENDING).update(**told)
    if answer.ok:
        _succeeded(webhook)
    elif delivery.event != PING or answer.status == 410:
        _failed(webhook, delivery, answer, told.get("next_at"))


def _error(answer: Answer) -> str:
    if answer.ok or answer.status is None:
        return answer.error
    if 300 <= answer.status < 400:
        return "A redirect: it is not followed. Enter the address that it leads to."
    return f"The receiver answered {answer.status}."


def _wait(attempts: int, answer: Answer, now: datetime) -> timedelta:
    """How long until the next attempt: longer each time, never the same for many, and never
    sooner than the receiver asks for."""
    usual = WAITS[min(attempts, len(WAITS)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311
    return timedelta(seconds=max(usual, retry_after(answer, now)))


def retry_after(answer: Answer, now: datetime) -> float:
    """Seconds that the receiver asks to be left alone for; 0 where it does not."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        seconds = float(said[:9])
    else:
        try:
            until = parsedate_to_datetime(said)
            seconds = (until - now).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def _succeeded(webhook: Webhook) -> None:
    if webhook.failures or webhook.failing_since or webhook.next_at:
        clean = {"failures": 0, "failing_since": None, "next_at": None}
        Webhook.objects.filter(pk=webhook.pk).update(**clean)


def _failed(webhook: Webhook, delivery: Delivery, answer: Answer, next_at: datetime | None) -> None:
    """Let the line stand a while; switch off what is gone, and pause what fails for days."""
    now = timezone.now()
    row = Webhook.objects.filter(pk=webhook.pk)
    if delivery.attempts <= IN_ORDER and next_at is not None:
        until = next_at
    else:
        pause = min(WAITS[0] * 2.0 ** min(webhook.failures, 20), LONGEST_PAUSE)
        until = now + timedelta(seconds=max(pause, retry_after(answer, now)))
    since = Coalesce(F("failing_since"), now)
    row.update(failures=F("failures") + 1, failing_since=since, next_at=until)
    active = row.filter(status=Webhook.Status.ACTIVE)
    if answer.status == 410:
        active.update(status=Webhook.Status.GONE, stopped_at=now)
        logger.warning("webhook %s is gone (410) and was switched off", webhook.pk)
    elif active.filter(failing_since__lt=now - PAUSE_AFTER).update(
        status=Webhook.Status.PAUSED, stopped_at=now
    ):
        logger.warning("webhook %s has failed for days and was paused", webhook.pk)
