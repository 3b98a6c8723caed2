"""The queue of each webhook: its deliveries one after the other, each stored before the next.

At least once: a delivery is claimed, sent, and its outcome stored; if the process is killed in
between, the lease of its job expires, and the delivery is sent again with the same id. A delivery
that fails holds up the others for two attempts, then they pass it.
"""

import logging
import random
import time
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.common.jobs import JobRun, ensure_jobs, job
from apps.common.sealing import CannotOpen
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks.event_feed import PING, continue_replay, queue_events, settled_ids
from apps.exchange.webhooks.payloads import body_of, message_id, signed_headers
from apps.exchange.webhooks.transport import Answer, Post, sending
from labelhub.core.phrases import Phrase

logger = logging.getLogger(__name__)

KIND = "exchange.webhook"
#: The waits after the first, second, … failed attempt: about three days, ten attempts in all.
WAITS = (5, 30, 180, 900, 3_600, 4 * 3_600, 12 * 3_600, 24 * 3_600, 30 * 3_600)
MOST_ATTEMPTS = len(WAITS) + 1
#: So many failures of one delivery hold up the following ones.
IN_ORDER = 2
#: The longest pause of one webhook's queue after failures in a row, seconds.
LONGEST_PAUSE = 600.0
#: The longest pause that a receiver can ask for, seconds.
LONGEST_RETRY_AFTER = 24 * 3_600.0
#: Without one success for so long, a webhook is paused.
PAUSE_AFTER = timedelta(days=5)
#: How long a queue keeps its thread, seconds.
SLICE = 20.0
#: Ended deliveries of one webhook that are kept at most.
MOST_KEPT = 10_000
#: How long an ended delivery is kept, and how many are deleted in one round.
KEPT = timedelta(days=30)
FORGET = 500

Status = Delivery.Status


def tend_webhooks() -> None:
    """One round: queue new events, and start the jobs that send. One query without webhooks; waits
    for no receiver, and two seconds at most for who writes to the ledger."""
    webhooks = list(Webhook.objects.all())
    if not webhooks:
        return
    top = settled_ids()
    for webhook in webhooks:
        if webhook.active:
            queue_events(webhook, top)
    for webhook in Webhook.objects.filter(status=Webhook.Status.ACTIVE, replay__isnull=False):
        continue_replay(webhook)
    delete_old()
    ensure_jobs(KIND, due_webhooks())


def delete_old() -> None:
    """Delete deliveries that ended long ago, a bounded number."""
    old = Delivery.objects.filter(finished_at__lt=timezone.now() - KEPT).order_by("finished_at")
    ids = list(old.values_list("pk", flat=True)[:FORGET])
    if ids:
        Delivery.objects.filter(pk__in=ids).delete()


def due_webhooks() -> list[int]:
    now = timezone.now()
    ready = Q(webhook__next_at__isnull=True) | Q(webhook__next_at__lte=now) | Q(event=PING)
    open_ = Q(webhook__status=Webhook.Status.ACTIVE) | Q(event=PING)
    ids = _due(now).filter(ready, open_).order_by("webhook").values_list("webhook", flat=True)
    return list(ids.distinct())


# In separate threads: a few slow receivers would leave none for runs.
@job(KIND, threads=32, outward=True)
def send_due(run: JobRun) -> None:
    """Send the due deliveries of one webhook, for :data:`SLICE` seconds at most; the next round
    starts the job again."""
    began = time.monotonic()
    with sending() as post:
        while time.monotonic() - began < SLICE:
            webhook = Webhook.objects.select_related("project").filter(pk=run.subject).first()
            if webhook is None:
                return
            with run.chunk():
                delivery = _claim(webhook)
            if delivery is None:
                break
            _record(webhook, delivery, _send(post, webhook, delivery))
    trim(run.subject)


def trim(webhook_id: int) -> None:
    """Keep the newest ended deliveries of a webhook."""
    ended = Delivery.objects.filter(webhook=webhook_id, finished_at__isnull=False)
    newest = ended.order_by("-pk").values_list("pk", flat=True)
    edge = newest[MOST_KEPT : MOST_KEPT + 1].first()
    if edge is None:
        return
    ids = list(ended.filter(pk__lte=edge).values_list("pk", flat=True)[:2000])
    Delivery.objects.filter(pk__in=ids).delete()


def _due(now: datetime) -> "QuerySet[Delivery]":
    """Waiting deliveries whose time has come, and those that a killed worker was sending, for the
    worker that has the webhook's job."""
    return Delivery.objects.filter(
        Q(status=Status.WAITING, next_at__lte=now) | Q(status=Status.SENDING)
    )


def _claim(webhook: Webhook) -> Delivery | None:
    """The first due delivery; its attempt is counted before it is sent."""
    now = timezone.now()
    due = _due(now).filter(webhook=webhook)
    if not webhook.active or (webhook.next_at and webhook.next_at > now):
        due = due.filter(event=PING)
    found = due.order_by("pk").first()
    if found is None:
        return None
    taken = Delivery.objects.filter(pk=found.pk)
    taken.update(status=Status.SENDING, attempts=F("attempts") + 1)
    return taken.first()


def _send(post: Post, webhook: Webhook, delivery: Delivery) -> Answer:
    try:
        body = body_of(webhook, delivery)
        headers = signed_headers(webhook, message_id(delivery), body, timezone.now())
    except ObjectDoesNotExist:
        return Answer(None, 0.0, error=Phrase("What it is about was deleted."))
    except CannotOpen as error:
        return Answer(None, 0.0, error=error.message)
    except DatabaseError:
        raise
    except Exception as error:  # the following ones must not wait for it
        logger.exception("Delivery %s cannot be made.", delivery.pk)
        words = Phrase(
            "A fault of this server (%(name)s): the message cannot be made.",
            name=type(error).__name__,
        )
        return Answer(None, 0.0, error=words)
    return post(webhook.url, body, headers)


def _record(webhook: Webhook, delivery: Delivery, answer: Answer) -> None:
    now, error = timezone.now(), answer.error
    if not answer.ok and answer.status is not None:
        error = Phrase("The receiver answered %(status)s.", status=str(answer.status))
        if 300 <= answer.status < 400:
            error = Phrase(
                "The receiver redirects, which is not followed. Enter the address of the redirect."
            )
    fields: dict[str, Any] = {
        "response_status": answer.status,
        "response": answer.text,
        "error": error,
        "seconds": round(answer.seconds, 3),
    }
    if answer.ok:
        fields |= {"status": Status.DELIVERED, "finished_at": now}
    elif answer.status == 410 or delivery.attempts >= MOST_ATTEMPTS or delivery.event == PING:
        fields |= {"status": Status.FAILED, "finished_at": now}
    else:
        # Longer each time, not the same for many, and never sooner than the receiver asks for.
        usual = WAITS[min(delivery.attempts, len(WAITS)) - 1] * random.uniform(0.8, 1.2)  # noqa: S311
        wait = timedelta(seconds=max(usual, retry_after(answer, now)))
        fields |= {"status": Status.WAITING, "next_at": now + wait}
    Delivery.objects.filter(pk=delivery.pk, status=Status.SENDING).update(**fields)
    if answer.ok:
        if webhook.failures or webhook.failing_since or webhook.next_at:
            clean = {"failures": 0, "failing_since": None, "next_at": None}
            Webhook.objects.filter(pk=webhook.pk).update(**clean)
    elif delivery.event != PING or answer.status == 410:
        _count_failure(webhook, delivery, answer, fields.get("next_at"))


def retry_after(answer: Answer, now: datetime) -> float:
    """Seconds until the receiver wants another request; 0 where it does not say."""
    header = answer.headers.get("retry-after", "").strip()
    if header.isascii() and header.isdigit():
        seconds = float(header[:9])
    else:
        try:
            until = parsedate_to_datetime(header)
            seconds = (until - now).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def _count_failure(
    webhook: Webhook, delivery: Delivery, answer: Answer, next_at: datetime | None
) -> None:
    """Pause the queue for a while; switch off a webhook that is gone or fails for days."""
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
