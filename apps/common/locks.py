"""Locks with names, held until the transaction ends or its process is killed.

On PostgreSQL only: on SQLite the transaction itself excludes all others that write.
"""

from django.db import connection


def lock(name: str) -> None:
    """Wait until nobody else holds ``name``, and hold it."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def try_lock(name: str) -> bool:
    """Hold ``name`` unless somebody else does; whether we do."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [name])
        return bool(cursor.fetchone()[0])
