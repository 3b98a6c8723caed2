"""Encrypted columns: which keys open their values, and encrypting them with the first key."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from allauth.mfa.models import Authenticator
from django.apps import apps
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from apps.common.sealing import SealedField, key_ids, opened_by, reseal
from labelhub.core.errors import Conflict

#: Values that one transaction changes.
CHUNK = 500
#: In between, servers may have encrypted values with another key.
MOST_PASSES = 3
#: Where second steps have their secrets, and under which names; the rest of the JSON is plain.
STEPS, SECRETS = "mfa.Authenticator.data", ("secret", "seed")


def sealed_fields() -> "Iterator[SealedField]":
    """All encrypted columns."""
    for model in apps.get_models():
        yield from (field for field in model._meta.local_fields if isinstance(field, SealedField))


def count_sealed(database: BaseDatabaseWrapper) -> dict[str, dict[str, int]]:
    """Column → id of a key → number of values that it decrypts; see ``Manifest.sealed``. The tables
    may be those of an older version."""
    there = set(database.introspection.table_names())
    counts = {}
    for field in sealed_fields():
        table = field.model._meta.db_table
        if table in there and field.column in _columns(database, table):
            chunks = _chunks(database, field)
            counts[str(field)] = dict(Counter(opened_by(row[1]) for rows in chunks for row in rows))
    if Authenticator._meta.db_table in there:
        with database.cursor() as cursor:
            cursor.execute(f"SELECT data FROM {Authenticator._meta.db_table}")  # noqa: S608 - as below
            rows = [json.loads(row[0]) for row in cursor.fetchall()]
        counts[STEPS] = dict(Counter(opened_by(part) for row in rows for part in _secrets(row)))
    return counts


def _secrets(data: Mapping[str, Any]) -> list[bytes]:
    return [data[name].encode() for name in SECRETS if name in data]


def _columns(database: BaseDatabaseWrapper, table: str) -> set[str]:
    with database.cursor() as cursor:
        return {found.name for found in database.introspection.get_table_description(cursor, table)}


def _chunks(database: BaseDatabaseWrapper, field: SealedField) -> Iterator[list[tuple[int, bytes]]]:
    """Primary keys and values, in order."""
    quote = database.ops.quote_name
    key, column = quote(field.model._meta.pk.column), quote(field.column)
    table, last = quote(field.model._meta.db_table), 0
    query = (
        f"SELECT {key}, {column} FROM {table} "  # noqa: S608 - our own names
        f"WHERE {key} > %s AND LENGTH({column}) > 0 ORDER BY {key} LIMIT {CHUNK}"
    )
    while True:
        with database.cursor() as cursor:
            cursor.execute(query, [last])
            rows = [(pk, bytes(value)) for pk, value in cursor.fetchall()]
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
    columns: dict[str, Callable[[], dict[str, int]]] = {
        str(field): partial(_reseal_column, field) for field in sealed_fields()
    }
    columns[STEPS] = _reseal_second_steps
    totals = {name: Counter(resealed=0) for name in columns}
    for _ in range(MOST_PASSES):
        found = {name: reseal_column() for name, reseal_column in columns.items()}
        for name, counts in found.items():
            resealed = totals[name]["resealed"] + counts["resealed"]
            totals[name] = Counter(counts | {"resealed": resealed})
        if not any(counts["resealed"] for counts in found.values()):
            return {name: dict(counts) for name, counts in totals.items()}
    raise Conflict(
        "A server or worker still encrypts with another key: restart all of them with the new "
        "first key, then run this command again."
    )


def _reseal_column(field: SealedField) -> dict[str, int]:
    counts = Counter(resealed=0, current=0, unreadable=0)
    first, quote = key_ids()[0], connection.ops.quote_name
    column, key = quote(field.column), quote(field.model._meta.pk.column)
    # Whoever writes the value at the same time wins.
    update = (
        f"UPDATE {quote(field.model._meta.db_table)} SET {column} = %s "  # noqa: S608 - as above
        f"WHERE {key} = %s AND {column} = %s"
    )
    for rows in _chunks(connection, field):
        found = [(pk, value, opened_by(value)) for pk, value in rows]
        changes = [(reseal(value), pk, value) for pk, value, by in found if by not in ("", first)]
        if changes:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.executemany(update, changes)
        counts["resealed"] += len(changes)
        counts["unreadable"] += sum(by == "" for *_, by in found)
        counts["current"] += sum(by == first for *_, by in found)
    return counts


def _reseal_second_steps() -> dict[str, int]:
    counts = Counter(resealed=0, current=0, unreadable=0)
    first = key_ids()[0]
    for step in Authenticator.objects.order_by("pk").iterator(chunk_size=CHUNK):
        by = {opened_by(part) for part in _secrets(step.data)}
        if by <= {first}:
            counts["current"] += len(by)
        elif "" in by:
            counts["unreadable"] += 1
        else:
            sealed = {name: step.data[name] for name in SECRETS if name in step.data}
            new = {name: reseal(value.encode()).decode() for name, value in sealed.items()}
            # Whoever writes it at the same time wins.
            same = Authenticator.objects.filter(pk=step.pk, data=step.data)
            counts["resealed"] += same.update(data={**step.data, **new})
    return counts
