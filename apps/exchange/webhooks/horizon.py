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


def oldest_writer() -> int:
    """The number of the oldest transaction that still writes, or of the next one."""
    return _ask("pg_snapshot_xmin(pg_current_snapshot())")


def next_writer() -> int:
    """A number above those of all transactions that have begun to write.

    The upper end of a snapshot is no such number: it is one above the newest transaction that has
    *ended*, and a newer one may be writing.
    """
    return _ask("pg_current_xact_id()")


def _ask(number: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {number}::text::bigint")
        return int(cursor.fetchone()[0])


def is_over(mark: dict[str, Any]) -> bool:
    """Whether every transaction that ran when the mark was completed has come to its end."""
    waits_for = mark.get("before")
    return waits_for is not None and oldest_writer() >= waits_for


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
        mark["before"] = next_writer()
    return mark
