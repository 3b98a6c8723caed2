"""What a webhook can be told of."""

import uuid
from datetime import datetime

from apps.exchange.models import Webhook

LABEL = "label.created"
GOLD = "gold.decided"
WITHDRAWN = "gold.withdrawn"
ADJUDICATED = "adjudication.decided"
RUN = "run.finished"
PING = "ping"

#: Every event that can be chosen, with what it means.
EVENTS = {
    LABEL: "Somebody or something labelled an item, revised a label, took one back, or rejected a "
    "suggestion without giving a label.",
    GOLD: "The value of an item was decided, on whatever basis.",
    WITHDRAWN: "The decision of an item was taken back.",
    ADJUDICATED: "An expert decided an item that was in conflict, which is a gold.decided as well, "
    "or found that it cannot be told: then gold is null.",
    RUN: "A run of models came to its end or was cancelled.",
}


def gold_events(*, withdrawn: bool, basis: str) -> list[str]:
    """The events that one row of gold is."""
    if withdrawn:
        return [WITHDRAWN]
    return [GOLD, ADJUDICATED] if basis == "adjudication" else [GOLD]


def label_events(*, unclear: bool) -> list[str]:
    """The events that one label is; ``unclear``: by it an expert settled that it cannot be told."""
    return [LABEL, ADJUDICATED] if unclear else [LABEL]


def event_uid(webhook: Webhook, event: str, row: int, at: datetime | None = None) -> uuid.UUID:
    """The same for the same event, however often it is found: receivers know it again.

    Args:
        row: the id of the ledger's row or the run.
        at: where one row can be the same event several times: when this one was.
    """
    when = f"@{at.isoformat()}" if at else ""
    return uuid.uuid5(webhook.uid, f"{event}:{row}{when}")
