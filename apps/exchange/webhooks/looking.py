"""Webhooks and their deliveries as pages and REST show them."""

from django.db.models import Count, Max, Q, QuerySet

from apps.exchange.models import Delivery, Webhook
from apps.projects.models import Project


def webhook_rows(project: Project) -> "QuerySet[Webhook]":
    """The project's, in the order of their making, each with ``waiting``, ``given_up`` and
    ``last_at``. One query."""
    open_ = [Delivery.Status.WAITING, Delivery.Status.SENDING]
    return project.webhooks.select_related("created_by").annotate(
        waiting=Count("deliveries", filter=Q(deliveries__status__in=open_)),
        given_up=Count("deliveries", filter=Q(deliveries__status=Delivery.Status.FAILED)),
        last_at=Max(
            "deliveries__finished_at", filter=Q(deliveries__status=Delivery.Status.DELIVERED)
        ),
    )


def deliveries_of(webhook: Webhook, *, status: str = "") -> "QuerySet[Delivery]":
    """Newest first."""
    rows = webhook.deliveries.select_related("label__item", "gold__item", "run")
    return rows.filter(status=status) if status else rows
