"""What is kept of exports, and webhooks, in the background."""

from apps.exchange.saved.running import drop_outdated, sweep_exports
from apps.exchange.webhooks.keeping import tend_webhooks

__all__ = ["keep_exports", "tend_webhooks"]


def keep_exports() -> None:
    """Delete what may not be kept."""
    drop_outdated()
    sweep_exports()
