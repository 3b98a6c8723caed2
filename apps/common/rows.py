"""Write one row with a statement that is compiled once.

``save`` takes five times as long to compile its statement as the database to run it, and checks
parents and signals first. Labels and authors' messages need none of that; ``prepared.py`` reads in
the same way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models.base import ModelState

Row = TypeVar("Row", bound=models.Model)


def new_row(model: type[Row], given: Mapping[str, Any]) -> Row:
    """An unsaved row with these values by column attribute (``item_id``), defaults elsewhere.

    Made as Django makes an unpickled row, in a fifth of the time of ``model(**given)``, which looks
    for a related object in each value. It sends no signals.
    """
    row = model.__new__(model)
    row._state = ModelState()
    row.__dict__.update(
        {name: given[name] if name in given else make() for name, make in _defaults(model)}
    )
    return row


def stored_row(model: type[Row], names: Iterable[str], values: Iterable[Any]) -> Row:
    """A row that was read: ``Model.from_db`` without signals, in a fifth of its time."""
    row = model.__new__(model)
    row._state = ModelState()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    row.__dict__.update(zip(names, values, strict=True))
    return row


@lru_cache
def _defaults(model: type[models.Model]) -> list[tuple[str, Callable[[], Any]]]:
    return [(field.attname, field.get_default) for field in model._meta.concrete_fields]


def cursor_of(database: BaseDatabaseWrapper) -> CursorWrapper:
    """A cursor for a statement whose rows are fetched at once. Each connection keeps it: to make
    one takes longer than to run most statements."""
    database.close_if_health_check_failed()
    kept: CursorWrapper | None = vars(database).get("kept_cursor")
    if kept is None or kept.cursor.connection is not database.connection or database.queries_logged:
        kept = database.cursor()
        vars(database)["kept_cursor"] = None if database.queries_logged else kept
    return kept


def insert_row(row: Row, *, if_free: bool = False) -> Row:
    """Insert an unsaved row and set its key, like ``row.save(force_insert=True)``.

    For models of one table; it sends no signals and does not call ``save``. With ``if_free`` a row
    without a key that a unique constraint forbids is not inserted and gets no key.

    Raises:
        IntegrityError: from the database.
    """
    sql, fields = _insert_statement(type(row), row.pk is None, if_free)
    database = connections[DEFAULT_DB_ALIAS]
    values = _values(database, fields, row, add=True)
    with transaction.mark_for_rollback_on_error(database.alias):
        cursor = cursor_of(database)
        cursor.execute(sql, values)
        if row.pk is None:
            inserted = cursor.fetchall()  # to its end, or SQLite cannot commit
            if not inserted:
                return row
            row.pk = inserted[0][0]
    row._state.adding, row._state.db = False, database.alias
    return row


def update_row(row: models.Model, *names: str) -> None:
    """Write these fields of a stored row, like ``row.save(update_fields=names)``.

    Raises:
        DatabaseError: the row does not exist any more.
    """
    if not update_row_if(row, *names):
        raise DatabaseError(f"Row {row.pk} of {type(row).__name__} does not exist any more.")


def update_row_if(row: models.Model, *names: str, **still: Any) -> bool:
    """The same if the stored row still has the values ``still`` (None: NULL). Returns whether."""
    nulls = tuple(name for name, value in still.items() if value is None)
    sql, fields, conditions = _update_statement(type(row), names, tuple(still), nulls)
    database = connections[DEFAULT_DB_ALIAS]
    values = _values(database, fields, row, add=False)
    still[type(row)._meta.pk.name] = row.pk
    values += [field.get_db_prep_save(still[field.name], database) for field in conditions]
    with transaction.mark_for_rollback_on_error(database.alias):
        cursor = cursor_of(database)
        cursor.execute(sql, values)
        return bool(cursor.rowcount)


@lru_cache(maxsize=256)
def _insert_statement(
    model: type[models.Model],
    counted: bool,  # noqa: FBT001 - a cache's key
    if_free: bool,  # noqa: FBT001 - a cache's key
) -> tuple[str, Sequence[Any]]:
    """The statement, and its fields; ``counted``: the database makes the key."""
    meta = model._meta
    fields = [field for field in meta.local_concrete_fields if not (counted and field.primary_key)]
    columns = ", ".join(map(_quote_column, fields))
    marks = ", ".join(["%s"] * len(fields))
    table = connections[DEFAULT_DB_ALIAS].ops.quote_name(meta.db_table)
    ending = " ON CONFLICT DO NOTHING" if if_free else ""
    ending += f" RETURNING {_quote_column(meta.pk)}" if counted else ""
    return f"INSERT INTO {table} ({columns}) VALUES ({marks}){ending}", fields  # noqa: S608 - names of our own models


@lru_cache(maxsize=256)
def _update_statement(
    model: type[models.Model],
    names: tuple[str, ...],
    still: tuple[str, ...],
    nulls: tuple[str, ...],
) -> tuple[str, Sequence[Any], Sequence[Any]]:
    """The statement, the fields that it writes, and the fields that it compares."""
    meta = model._meta
    fields = [meta.get_field(name) for name in names]
    compared = [meta.pk, *(meta.get_field(name) for name in still if name not in nulls)]
    changes = ", ".join(f"{_quote_column(field)} = %s" for field in fields)
    where = [f"{_quote_column(field)} = %s" for field in compared]
    where += [f"{_quote_column(meta.get_field(name))} IS NULL" for name in nulls]
    table = connections[DEFAULT_DB_ALIAS].ops.quote_name(meta.db_table)
    sql = f"UPDATE {table} SET {changes} WHERE {' AND '.join(where)}"  # noqa: S608 - the same
    return sql, fields, compared


#: Most values: the database takes them as they are.
_PLAIN: Mapping[type[models.Field[Any, Any]], type] = {
    models.BooleanField: bool,
    models.CharField: str,
    models.ForeignKey: int,
    models.IntegerField: int,
    models.TextField: str,
}


def _values(
    database: BaseDatabaseWrapper, fields: Sequence[Any], row: models.Model, *, add: bool
) -> list[Any]:
    """The row's values for the database; sets values such as ``auto_now_add`` on it."""
    values = []
    for field in fields:
        value = field.pre_save(row, add=add)
        if value is not None and type(value) is not _PLAIN.get(type(field)):
            value = field.get_db_prep_save(value, database)
        values.append(value)
    return values


def _quote_column(field: Any) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(field.column)
