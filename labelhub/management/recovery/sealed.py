"""Encrypted values: which keys open them, and encrypting them with the first key.

They fill columns of their own (:class:`SealedField`), except the secrets of second steps, which
``apps.accounts.adapter.TwoStepAdapter`` encrypts and allauth keeps in a JSON column.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field

from apps.common.sealing import SealedField, key_ids, opened_by, reseal
from labelhub.core.errors import Conflict

#: Values that one transaction changes.
CHUNK = 500
#: In between, servers may have encrypted values with another key.
MOST_PASSES = 3


def sealed_fields() -> "Iterator[Field[Any, Any]]":
    """All columns with encrypted values."""
    for model in apps.get_models():
        yield from (field for field in model._meta.local_fields if isinstance(field, SealedField))
    yield Authenticator._meta.get_field("data")


def _values_in(stored: bytes | str) -> list[bytes]:
    """The encrypted values in what a column stores: one, or the secrets of a second step."""
    if isinstance(stored, bytes):
        return [stored] if stored else []
    data = json.loads(stored)  # passkeys have none of these names
    found = [data.get("secret"), data.get("seed"), *data.get("migrated_codes", ())]
    return [value.encode() for value in found if value]


def count_sealed(database: BaseDatabaseWrapper) -> dict[str, dict[str, int]]:
    """Column → id of a key → number of values that it decrypts; see ``Manifest.sealed``. The tables
    may be those of an older version."""
    there = set(database.introspection.table_names())
    counts = {}
    for field in sealed_fields():
        table = field.model._meta.db_table
        if table in there and field.column in _columns(database, table):
            counts[str(field)] = dict(
                Counter(
                    opened_by(value)
                    for rows in _chunks(database, field)
                    for _, stored in rows
                    for value in _values_in(stored)
                )
            )
    return counts


def _columns(database: BaseDatabaseWrapper, table: str) -> set[str]:
    with database.cursor() as cursor:
        return {found.name for found in database.introspection.get_table_description(cursor, table)}


def _chunks(
    database: BaseDatabaseWrapper, field: "Field[Any, Any]"
) -> Iterator[list[tuple[int, bytes | str]]]:
    """Primary keys and what the column stores, in order."""
    quote = database.ops.quote_name
    key, column = quote(field.model._meta.pk.column), quote(field.column)
    table, last = quote(field.model._meta.db_table), 0
    query = (
        f"SELECT {key}, {column} FROM {table} "  # noqa: S608 - our own names
        f"WHERE {key} > %s AND {column} IS NOT NULL ORDER BY {key} LIMIT {CHUNK}"
    )
    while True:
        with database.cursor() as cursor:
            cursor.execute(query, [last])
            rows = [
                (pk, stored if isinstance(stored, str) else bytes(stored))
                for pk, stored in cursor.fetchall()
            ]
        if not rows:
            return
        yield rows
        last = rows[-1][0]


def reseal_all() -> dict[str, dict[str, int]]:
    """Encrypt all values with the first key, while servers go on. Safe to stop and to repeat.

    Returns: column → ``resealed``, ``current`` (had the first key) and ``unreadable`` values.

    Raises:
        Conflict: a server still encrypts with another key.
    """
    totals = {str(field): Counter(resealed=0) for field in sealed_fields()}
    for _ in range(MOST_PASSES):
        found = {str(field): _reseal_column(field) for field in sealed_fields()}
        for name, counts in found.items():
            resealed = totals[name]["resealed"] + counts["resealed"]
            totals[name] = Counter(counts | {"resealed": resealed})
        if not any(counts["resealed"] for counts in found.values()):
            return {name: dict(counts) for name, counts in totals.items()}
    raise Conflict(
        "A server or worker still encrypts with another key: restart all of them with the new "
        "first key, then run this command again."
    )


def _reseal_column(field: "Field[Any, Any]") -> dict[str, int]:
    counts = Counter(resealed=0, current=0, unreadable=0)
    first, quote = key_ids()[0], connection.ops.quote_name
    column, key = quote(field.column), quote(field.model._meta.pk.column)
    # Whoever writes the value at the same time wins.
    update = (
        f"UPDATE {quote(field.model._meta.db_table)} SET {column} = %s "  # noqa: S608 - as above
        f"WHERE {key} = %s AND {column} = %s"
    )
    for rows in _chunks(connection, field):
        changes = []
        for pk, stored in rows:
            changed = stored
            for value in _values_in(stored):
                found = {"": "unreadable", first: "current"}.get(opened_by(value), "resealed")
                counts[found] += 1
                if found == "resealed":
                    changed = _replace(changed, value, reseal(value))
            if changed != stored:
                changes.append((changed, pk, stored))
        if changes:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.executemany(update, changes)
    return counts


def _replace(stored: bytes | str, old: bytes, new: bytes) -> bytes | str:
    if isinstance(stored, str):
        return stored.replace(old.decode(), new.decode())
    return new
