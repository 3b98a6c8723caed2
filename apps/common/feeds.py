"""Reading tables in the order of their keys, without missing a row: positions and cursors.

Keys are given when rows are written, and rows appear when their transaction is committed. So on
PostgreSQL a row can appear below a key that was read already. Whoever writes to a table holds a
lock on it from before a key is given until the transaction ends: when all who held it as the
highest key was read have ended, no row can appear below that key any more. On SQLite one
transaction writes at a time.
"""

import base64
import binascii
import re
import time
from collections.abc import Sequence

from django.db import connection, models

from labelhub.core.errors import InvalidInput

#: Seconds to wait for transactions that write; if they take longer, nothing new is told.
PATIENCE = 2.0
PAUSE = 0.02
#: The cursor of the beginning.
BEGINNING = "0"
_PLAIN = re.compile(r"[0-9]{1,18}(:[0-9]{1,18}){1,8}")


def settled_keys(tables: Sequence[type[models.Model]]) -> list[int] | None:
    """For each table, a key up to which all rows are visible; None while a long transaction writes.

    The rows must be read afterwards, in another statement.
    """
    names = [connection.ops.quote_name(model._meta.db_table) for model in tables]
    tops = ", ".join(f"(SELECT COALESCE(MAX(id), 0) FROM {name})" for name in names)  # noqa: S608 - as below
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {tops}")
        found = [int(top) for top in cursor.fetchone()]
    if connection.vendor == "postgresql" and not _await_writers(names):
        return None
    return found


def _await_writers(names: Sequence[str]) -> bool:
    """Whether all transactions that write to the tables now have ended in time."""
    until, waited_for = time.monotonic() + PATIENCE, _writers(names)
    while waited_for:
        if time.monotonic() > until:
            return False
        time.sleep(PAUSE)
        waited_for &= _writers(names)
    return True


def _writers(names: Sequence[str]) -> set[str]:
    """The other transactions that hold a lock to write to one of the tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation'"
            " AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid()"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND relation = ANY(%s::regclass[])",
            [list(names)],
        )
        return {name for (name,) in cursor.fetchall()}


def write_cursor(project: int, keys: Sequence[int]) -> str:
    """An opaque text for a position in the tables of one project."""
    plain = ":".join(str(number) for number in (project, *keys))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def read_cursor(text: str, project: int, count: int) -> list[int]:
    """The ``count`` keys of a cursor of that project.

    Raises:
        InvalidInput: it is none.
    """
    if text == BEGINNING:
        return [0] * count
    try:
        padded = text.encode("ascii")[:400] + b"=" * (-len(text) % 4)
        plain = base64.b64decode(padded, altchars=b"-_", validate=True).decode("ascii")
    except (ValueError, binascii.Error):
        plain = ""
    keys = [int(part) for part in plain.split(":")] if _PLAIN.fullmatch(plain) else []
    if len(keys) != count + 1 or keys[0] != project:
        raise InvalidInput.at("since", "Send the cursor of the last answer, or 0 to begin.")
    return keys[1:]
