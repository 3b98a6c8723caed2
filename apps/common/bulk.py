"""Insert tens of thousands of rows in a second or two.

``bulk_create`` spends most of its time on preparing every value of every field. Imported rows hold
mostly texts, numbers and few distinct values, which need no preparation or only one.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

from django.db import connection, connections, models, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

Row = TypeVar("Row", bound=models.Model)
_Field = models.Field[Any, Any]

#: Fields that store values of the types in ``_SCALARS`` unchanged.
_PLAIN = (
    models.CharField,
    models.TextField,
    models.IntegerField,
    models.FloatField,
    models.BooleanField,
    models.ForeignKey,
)
_NOTHING = {type(None)}
_SCALARS = {type(None), str, int, float, bool}
#: Types whose equal values are one parameter.
_HASHED = (str, int, float, bool, datetime)
_MOST_REMEMBERED = 1000


def insert_rows(rows: Sequence[Row], *, keyed: bool = False) -> Sequence[Row]:
    """Insert unsaved rows of one model, in order, and set their ascending primary keys; ``keyed``:
    they have keys, of :func:`reserve_block`.

    Like ``bulk_create`` without options: no signals, no conflicts, one table. Related rows must
    have been saved before the rows were made.
    """
    if not rows:
        return rows
    model = type(rows[0])
    meta = model._meta
    fields = list(meta.local_concrete_fields)
    _set_timestamps(rows, fields)
    with transaction.atomic(), connection.cursor() as cursor:
        if meta.auto_field is not None and not keyed:
            keys = _reserve_keys(cursor, meta.db_table, meta.auto_field.column, len(rows))
            for row, key in zip(rows, keys, strict=True):
                row.pk = key
        _write(cursor, meta.db_table, fields, _parameters(fields, rows))
    for row in rows:
        row._state.adding, row._state.db = False, connection.alias
    return rows


def upsert_rows(rows: Sequence[Row], fields: Sequence[str]) -> None:
    """Insert rows that have their keys; where a key is there already, update ``fields``.

    Like ``bulk_create`` with ``update_conflicts``: no signals.
    """
    if not rows:
        return
    meta = type(rows[0])._meta
    columns = list(meta.local_concrete_fields)
    _set_timestamps(rows, columns)
    quoted = connection.ops.quote_name
    column_of = {field.name: quoted(field.column) for field in columns}
    updated = ", ".join(f"{column_of[name]}=EXCLUDED.{column_of[name]}" for name in fields)
    clause = f" ON CONFLICT ({quoted(meta.pk.column)}) DO UPDATE SET {updated}"
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        _write(cursor, meta.db_table, columns, _parameters(columns, rows), clause)


def insert_copies(row: models.Model, name: str, values: Iterable[Any]) -> None:
    """Insert a copy of ``row`` for each of ``values``, with that value as attribute ``name``.

    For models without automatic keys; values from defaults are the same in all copies.
    """
    meta = type(row)._meta
    fields = list(meta.local_concrete_fields)
    _set_timestamps([row], fields)
    same = [_make_preparer(field)(getattr(row, field.attname)) for field in fields]
    position = [field.attname for field in fields].index(name)
    before, prepare, after = same[:position], _make_preparer(fields[position]), same[position + 1 :]
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        rows = ([*before, prepare(value), *after] for value in values)
        _write(cursor, meta.db_table, fields, rows)


def refresh_statistics(*tables: type[models.Model]) -> None:
    """Have PostgreSQL count the rows of ``tables`` now. Autovacuum does it after about a minute;
    until then each query scans a large new table, which PostgreSQL believes to be empty.

    Does nothing within a transaction, as a rollback would not restore the old statistics.
    """
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            for model in tables:
                cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def empty_write_ahead_log() -> None:
    """Move everything from SQLite's write-ahead log into the file and empty the log, which holds
    erased texts until then. While others read, some of it waits for the next time."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _set_timestamps(rows: Sequence[models.Model], fields: Sequence[_Field]) -> None:
    now = timezone.now()
    for field in fields:
        if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False):
            for row in rows:
                setattr(row, field.attname, now)


def _parameters(
    fields: Sequence[_Field], rows: Sequence[models.Model]
) -> Iterable[tuple[Any, ...]]:
    """The parameters of each row. Prepared by column, as most columns need nothing."""
    columns = []
    for field in fields:
        values = list(map(attrgetter(field.attname), rows))
        kinds = set(map(type, values))
        if not kinds <= (_SCALARS if isinstance(field, _PLAIN) else _NOTHING):
            values = list(map(_make_preparer(field), values))
        columns.append(values)
    return zip(*columns, strict=True)


def _make_preparer(field: _Field) -> Callable[[Any], Any]:
    """A function that turns values of ``field`` into parameters; it caches repeated ones."""
    convert = _make_converter(field)
    known: dict[tuple[type, Any], Any] = {}

    def prepare(value: Any) -> Any:
        if value is None:
            return None
        kind = value.__class__
        if kind in _HASHED:
            key = (kind, value)
        elif kind in (dict, list) and not value:
            key = (kind, None)
        else:
            return convert(value)
        if key not in known:
            if len(known) > _MOST_REMEMBERED:
                known.clear()
            known[key] = convert(value)
        return known[key]

    return prepare


def _make_converter(field: _Field) -> Callable[[Any], Any]:
    database = connections[connection.alias]  # not a proxy, which looks it up for each value
    if isinstance(field, models.JSONField):  # as text, which COPY takes and which can be cached
        return partial(json.dumps, cls=field.encoder)
    if isinstance(field, models.UUIDField) and not database.features.has_native_uuid_field:
        return attrgetter("hex")
    return partial(field.get_db_prep_save, connection=database)


def _reserve_keys(cursor: CursorWrapper, table: str, column: str, count: int) -> Iterable[int]:
    """Ascending keys that no other row has or will get; call within a write transaction."""
    if connection.vendor == "postgresql":
        # Whoever reads in the order of the keys waits for those who hold this lock (``feeds``).
        cursor.execute(f"LOCK TABLE {connection.ops.quote_name(table)} IN ROW EXCLUSIVE MODE")
        sql = "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)"
        cursor.execute(sql, [table, column, count])
        return [key for (key,) in cursor.fetchall()]
    cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
    last = cursor.fetchone()
    first = last[0] + 1 if last else 1
    return range(first, first + count)


def reserve_block(model: type[models.Model], count: int) -> int:
    """The first of ``count`` successive keys that no other row has or will get."""
    meta = model._meta
    table, column = meta.db_table, meta.auto_field.column  # type: ignore[union-attr]  # has one
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Whoever inserts takes a key only once the table is locked, so nobody takes one now.
            cursor.execute(
                f"LOCK TABLE {connection.ops.quote_name(table)} IN SHARE ROW EXCLUSIVE MODE"
            )
            cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, %s))", [table, column])
            first = int(cursor.fetchone()[0])
            last = first + count - 1
            cursor.execute(
                "SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (table, column, last)
            )
            return first
        first = next(iter(_reserve_keys(cursor, table, column, 1)))
        taken = (first + count - 1, table)
        cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", taken)
        if not cursor.rowcount:
            cursor.execute("INSERT INTO sqlite_sequence (seq, name) VALUES (%s, %s)", taken)
        return first


def _write(
    cursor: CursorWrapper,
    table: str,
    fields: Sequence[_Field],
    rows: Iterable[Sequence[Any]],
    on_conflict: str = "",
) -> None:
    """Insert rows: with COPY into PostgreSQL, where no conflict is expected, and row by row into
    SQLite, which is as fast there."""
    quoted = connection.ops.quote_name
    into = f"{quoted(table)} ({', '.join(quoted(field.column) for field in fields)})"
    if connection.vendor == "postgresql" and not on_conflict:
        copying = cursor.copy(f"COPY {into} FROM STDIN")  # its errors need translation
        with connection.wrap_database_errors, copying as copy:
            for row in rows:
                copy.write_row(row)
    else:
        marks = ", ".join(["%s"] * len(fields))
        cursor.executemany(f"INSERT INTO {into} VALUES ({marks}){on_conflict}", list(rows))  # noqa: S608 - names of our own models
