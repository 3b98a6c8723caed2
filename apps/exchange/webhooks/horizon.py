"""Up to which id the ledger is complete.

On PostgreSQL a row with a lower id can appear after one with a higher id: ids are given when rows
are written, and rows appear when their transaction is committed, minutes later for a large import.
Times are of no use either, since imported rows bring their own. So what was looked at (``seen``)
and what is complete (``settled``) are two things: an id is *marked*, then the transactions that
run at that moment are waited for, and only then it counts as settled. Until then what is not
settled is looked at again. On SQLite one transaction writes at a time: everything is settled.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from apps.exchange.models import Webhook

#: Between marking ids and asking which transactions run: whoever had taken a lower id by then has
#: begun to write, so that they are among them.
GRACE = timedelta(seconds=5)


def snapshot() -> tuple[int, int]:
    """(the oldest transaction that still writes, the first that has not begun)."""
    if connection.vendor != "postgresql":
        return 1, 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_snapshot_xmin(now_)::text::bigint, pg_snapshot_xmax(now_)::text::bigint"
            " FROM pg_current_snapshot() AS now_"
        )
        oldest, next_one = cursor.fetchone()
    return oldest, next_one


def is_over(mark: dict[str, Any]) -> bool:
    """Whether every transaction that ran when the mark was completed has come to its end."""
    waits_for = mark.get("before")
    return waits_for is not None and snapshot()[0] >= waits_for


def mark_of(webhook: Webhook, now: datetime) -> dict[str, Any] | None:
    """The webhook's mark, a step further: none, then ids, then what they wait for."""
    if webhook.mark is None:
        behind = (webhook.label_settled, webhook.gold_settled) != (
            webhook.label_seen,
            webhook.gold_seen,
        )
        ids = {"label": webhook.label_seen, "gold": webhook.gold_seen, "at": now.timestamp()}
        return ids if behind else None
    mark: dict[str, Any] = dict(webhook.mark)
    aged = now.timestamp() - mark["at"] >= GRACE.total_seconds()
    if aged and "before" not in mark:
        mark["before"] = snapshot()[1]
    return mark
