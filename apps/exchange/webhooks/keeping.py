"""What a worker process does for webhooks every few seconds: look, queue, send, forget."""

from datetime import timedelta

from django.utils import timezone

from apps.common.jobs import ensure_job
from apps.exchange.models import Delivery, Webhook
from apps.exchange.webhooks import deriving, replaying
from apps.exchange.webhooks.lines import KIND, due_webhooks

#: How long a delivery that has ended is shown, and how many are forgotten in one round.
KEPT = timedelta(days=30)
FORGET = 500


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
        ensure_job(KIND, webhook_id)


def forget_old() -> None:
    """Delete deliveries that ended long ago, a bounded number."""
    old = Delivery.objects.filter(finished_at__lt=timezone.now() - KEPT).order_by("finished_at")
    ids = list(old.values_list("pk", flat=True)[:FORGET])
    if ids:
        Delivery.objects.filter(pk__in=ids).delete()
