"""Writing one row with a statement that is put together once.

``save`` takes five times as long to put its statement together as the database to run it, and asks
first whether there are parents, signals and validators. On the paths of a label and of an author's
message none of that varies; see also ``prepared.py``, which reads in the same way.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

from django.db import DatabaseError, connection, models, transaction

Row = TypeVar("Row", bound=models.Model)


def insert_row(row: Row, *, if_free: bool = False) -> Row:
    """Insert an unsaved row and give it its key, as ``row.save(force_insert=True)`` does.

    For models of one table; no signals are sent, and ``save`` is not called. With ``if_free`` a row
    without a key that a unique constraint forbids is not inserted and gets no key.

    Raises:
        IntegrityError: as the database says.
    """
    sql, fields = _insertion(type(row), row.pk is None, if_free)
    # What is made when a row is stored, such as ``auto_now_add``, is written on the row as well.
    values = [_prepared(field, field.pre_save(row, add=True)) for field in fields]
    with transaction.mark_for_rollback_on_error(connection.alias), connection.cursor() as cursor:
        cursor.execute(sql, values)
        if row.pk is None:
            inserted = cursor.fetchone()
            if inserted is None:
                return row
            row.pk = inserted[0]
    row._state.adding, row._state.db = False, connection.alias
    return row


def update_row(row: models.Model, *names: str) -> None:
    """Write these fields of a stored row, as ``row.save(update_fields=names)`` does.

    Raises:
        DatabaseError: the row is no more.
    """
    if not update_row_if(row, *names):
        raise DatabaseError(f"Row {row.pk} of {type(row).__name__} is no more.")


def update_row_if(row: models.Model, *names: str, **still: Any) -> bool:
    """The same where the stored row still has these values (None: NULL); whether it had."""
    nulls = tuple(name for name, value in still.items() if value is None)
    sql, fields, conditions = _change(type(row), names, tuple(still), nulls)
    values = [_prepared(field, field.pre_save(row, add=False)) for field in fields]
    expected = [_prepared(field, still[field.name]) for field in conditions]
    key = _prepared(type(row)._meta.pk, row.pk)
    with transaction.mark_for_rollback_on_error(connection.alias), connection.cursor() as cursor:
        cursor.execute(sql, [*values, key, *expected])
        return bool(cursor.rowcount)


@lru_cache(maxsize=256)
def _insertion(
    model: type[models.Model],
    counted: bool,  # noqa: FBT001 - a cache's key
    if_free: bool,  # noqa: FBT001 - a cache's key
) -> tuple[str, Sequence[Any]]:
    """The statement, and the fields whose values it takes; ``counted``: the key is made there."""
    meta = model._meta
    fields = [field for field in meta.local_concrete_fields if not (counted and field.primary_key)]
    columns = ", ".join(map(_quoted, fields))
    marks = ", ".join(["%s"] * len(fields))
    table = connection.ops.quote_name(meta.db_table)
    ending = " ON CONFLICT DO NOTHING" if if_free else ""
    ending += f" RETURNING {_quoted(meta.pk)}" if counted else ""
    return f"INSERT INTO {table} ({columns}) VALUES ({marks}){ending}", fields  # noqa: S608 - names of our own models


@lru_cache(maxsize=256)
def _change(
    model: type[models.Model],
    names: tuple[str, ...],
    still: tuple[str, ...],
    nulls: tuple[str, ...],
) -> tuple[str, Sequence[Any], Sequence[Any]]:
    """The statement, the fields that it writes, and those whose values it compares."""
    meta = model._meta
    fields = [meta.get_field(name) for name in names]
    compared = [meta.get_field(name) for name in still if name not in nulls]
    changes = ", ".join(f"{_quoted(field)} = %s" for field in fields)
    where = [f"{_quoted(field)} = %s" for field in (meta.pk, *compared)]
    where += [f"{_quoted(meta.get_field(name))} IS NULL" for name in nulls]
    table = connection.ops.quote_name(meta.db_table)
    sql = f"UPDATE {table} SET {changes} WHERE {' AND '.join(where)}"  # noqa: S608 - the same
    return sql, fields, compared


def _prepared(field: Any, value: Any) -> Any:
    return field.get_db_prep_save(value, connection)


def _quoted(field: Any) -> str:
    return connection.ops.quote_name(field.column)
