"""What a worker process does for webhooks every few seconds: look, queue, send, forget."""

import logging
import threading
from datetime import timedelta

from django.db import connections
from django.db.models import F, Q
from django.utils import timezone

from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import deriving, replaying
from apps.exchange.webhooks.lines import due_webhooks, work_line

logger = logging.getLogger(__name__)

#: How long a delivery that has ended is shown, and how many are forgotten in one round.
KEPT = timedelta(days=30)
FORGET = 500
#: Ended deliveries of one webhook that are kept at most.
MOST_KEPT = 10_000
#: Lines of one process that are worked at the same time.
LINES = 32


def tend_webhooks() -> None:
    """One round. Costs one query where there are no webhooks; waits for no receiver."""
    webhooks = list(Webhook.objects.all())
    if not webhooks:
        return
    ends = deriving.tops()
    for webhook in webhooks:
        if webhook.active:
            deriving.derive(webhook, ends)
    for webhook in Webhook.objects.filter(status=Webhook.Status.ACTIVE, replay__isnull=False):
        replaying.go_on(webhook)
    forget_old()
    for webhook_id in due_webhooks():
        start_line(webhook_id)


def forget_old() -> None:
    """Delete deliveries that ended long ago, a bounded number."""
    old = Delivery.objects.filter(finished_at__lt=timezone.now() - KEPT).order_by("finished_at")
    ids = list(old.values_list("pk", flat=True)[:FORGET])
    if ids:
        Delivery.objects.filter(pk__in=ids).delete()


def trim(webhook_id: int) -> None:
    """Keep the newest ended deliveries of a webhook. Those that say what of the ledger is not
    settled (see ``horizon``) stay: without them it would be queued again."""
    ended = Delivery.objects.filter(webhook=webhook_id, finished_at__isnull=False)
    newest = ended.order_by("-pk").values_list("pk", flat=True)
    edge = newest[MOST_KEPT : MOST_KEPT + 1].first()
    if edge is None:
        return
    open_ = Q(label__gt=F("webhook__label_settled")) | Q(gold__gt=F("webhook__gold_settled"))
    ids = list(ended.filter(pk__lte=edge).exclude(open_).values_list("pk", flat=True)[:2000])
    Delivery.objects.filter(pk__in=ids).delete()


class _Lines:
    """The lines that this process works, each in a thread of its own.

    Not Celery's threads: a few receivers that take their time would leave none for runs. Daemons:
    a process that ends waits for no receiver, and the lease of what it was sending lapses.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._at_work: set[int] = set()

    def start(self, webhook_id: int) -> None:
        """Work a line, unless this process does already or has no room."""
        with self._lock:
            if webhook_id in self._at_work or len(self._at_work) >= self._most:
                return
            self._at_work.add(webhook_id)
        name = f"webhook-{webhook_id}"
        threading.Thread(target=self._work, args=(webhook_id,), name=name, daemon=True).start()

    def _work(self, webhook_id: int) -> None:
        try:
            if work_line(webhook_id):
                trim(webhook_id)
        except Exception:  # the next round tries again, in a new thread
            logger.exception("The line of webhook %s stopped.", webhook_id)
        finally:
            connections.close_all()
            with self._lock:
                self._at_work.discard(webhook_id)


start_line = _Lines(LINES).start
