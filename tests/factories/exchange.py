"""Webhooks and saved exports."""

from typing import Any

from apps.common.jobs import work_on
from apps.exchange.models import Delivery, SavedExport, Webhook
from apps.exchange.saved.services import KIND, save_export
from apps.exchange.webhooks.event_feed import EVENTS, queue_events, settled_ids
from apps.exchange.webhooks.services import create_webhook
from apps.projects.models import Project

FAR = "https://receiver.example.org/hook"


def webhook_of(project: Project, url: str = FAR, **fields: Any) -> Webhook:
    """A webhook that wants everything."""
    usual = {"events": list(EVENTS), "origin": "https://labels.example.org"}
    return create_webhook(project=project, actor=None, url=url, **(usual | fields))[0]


def derived(webhook: Webhook) -> list[Delivery]:
    """One round; then all deliveries, oldest first."""
    webhook.refresh_from_db()
    queue_events(webhook, settled_ids())
    webhook.refresh_from_db()
    return list(webhook.deliveries.order_by("pk"))


def saved(project: Project, format_name: str = "jsonl", only: str = "") -> SavedExport:
    """A saved export that was written."""
    filters = {"only": only} if only else {}
    export = save_export(project=project, actor=None, format_name=format_name, filters=filters)
    run_export(export)
    export.refresh_from_db()
    return export


def run_export(export: SavedExport) -> None:
    """A worker's turn at it."""
    work_on(KIND, export.pk)
