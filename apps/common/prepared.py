"""Queries and conditional updates that are compiled once.

Django takes up to ten times as long to compile a statement as the database to run it. The queries
of the queue differ only in a few values, so their SQL is kept, with marks that the values of each
call replace.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import (  # type: ignore[attr-defined]  # left out of the stubs
    ModelIterable,
    get_related_populators,
)
from django.db.models.sql import UpdateQuery
from django.db.transaction import TransactionManagementError

from apps.common.rows import cursor_of, stored_row

Given = ParamSpec("Given")
Row = TypeVar("Row")

#: Marks for parameters, by type and position; no row holds such a value.
_MARKS: dict[type, Callable[[int], Any]] = {
    int: lambda position: 2_147_000_001 + position,
    str: lambda position: f"\ue000 value {position} \ue000",
    datetime: lambda position: datetime(1970, 1, 1, 7, 7, 7, position, tzinfo=UTC),
    date: lambda position: date(1, 1, 1) + timedelta(days=position),
    UUID: lambda position: UUID(int=7_000_001 + position),
}


#: For each parameter of a statement: the position of its argument, or -1 and a constant.
_Params: TypeAlias = list[tuple[int, Any]]
#: Rows, and the new values of their columns.
Update: TypeAlias = tuple[QuerySet[Any, Any], dict[str, Any]]


class PreparedQuery(Generic[Given, Row]):
    """Call it with values for the parameters of the decorated function; it returns the rows.

    Parameters are positional plain values (int, str, date, datetime, UUID) that reach the statement
    unchanged: the function must not branch on them, and none may be None.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self._build = build
        self._marks = _make_marks(build)
        self._statement: _Statement | None = None

    def __call__(self, *values: Given.args, **_: Given.kwargs) -> list[Row]:
        """All rows, in the order of the query."""
        return list(self._rows(values))

    def first(self, *values: Given.args, **_: Given.kwargs) -> Row | None:
        """The first row, or None."""
        return next(iter(list(self._rows(values))), None)

    def _rows(self, values: Sequence[Any]) -> Iterator[Row]:
        if None in values:
            raise TypeError("A prepared query takes no None: nothing is equal to NULL.")
        if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values):
            return iter(())  # no column holds such a number
        if self._statement is None:
            # Two threads may compile it at once, with the same result.
            self._statement = _Statement.of(self._build(*self._marks), self._marks)
        return cast("Iterator[Row]", self._statement.rows(values))


def prepared(build: Callable[Given, QuerySet[Any, Row]]) -> PreparedQuery[Given, Row]:
    """Turn a function that returns a query into one that runs it, compiled once."""
    return PreparedQuery(build)


class PreparedUpdate(Generic[Given]):
    """Call it with values for the parameters of the decorated function; it returns the number of
    changed rows. Parameters are like those of :class:`PreparedQuery`."""

    def __init__(self, build: Callable[..., Update]) -> None:
        self._build = build
        self._marks = _make_marks(build)
        self._sql = ""
        self._params: _Params = []

    def __call__(self, *values: Given.args, **_: Given.kwargs) -> int:
        """Write the values into the rows that the update selects."""
        if None in values:
            raise TypeError("A prepared update takes no None: nothing is equal to NULL.")
        if not self._sql:
            self._compile()
        database = connections[DEFAULT_DB_ALIAS]
        params = _filled(database, self._params, values)
        with transaction.mark_for_rollback_on_error(database.alias):
            cursor = cursor_of(database)
            cursor.execute(self._sql, params)
            return int(cursor.rowcount)

    def _compile(self) -> None:
        rows, changes = self._build(*self._marks)
        query = cast("UpdateQuery", rows.query.chain(UpdateQuery))
        query.add_update_values(changes)
        sql, params = query.get_compiler(DEFAULT_DB_ALIAS).as_sql()
        # Two threads may compile it at once, with the same result.
        self._params = _marked_params(self._marks, params)
        self._sql = sql


def read_rows(rows: QuerySet[Any, Row]) -> list[Row]:
    """All rows of a query, for thousands that differ in too much to be prepared: Django takes three
    times as long to make them."""
    try:
        statement = _Statement.of(rows, ())
    except EmptyResultSet:  # of an empty list
        return []
    return list(cast("Iterator[Row]", statement.rows(())))


def prepared_update(build: Callable[Given, Update]) -> PreparedUpdate[Given]:
    """Turn a function that returns rows and new values into one that writes them."""
    return PreparedUpdate(build)


def _make_marks(build: Callable[..., Any]) -> list[Any]:
    kinds = inspect.get_annotations(build, eval_str=True)
    names = inspect.signature(build).parameters
    return [_MARKS[kinds[name]](position) for position, name in enumerate(names)]


def _marked_params(marks: Sequence[Any], params: Sequence[Any]) -> _Params:
    """Where the arguments are in ``params``.

    Raises:
        TypeError: some of them are missing there.
    """
    database = connections[DEFAULT_DB_ALIAS]
    adapted = [_adapt_value(database, mark) for mark in marks]
    missing = [mark for mark in adapted if mark not in params]
    if missing:
        raise TypeError(f"{len(missing)} parameters do not reach the statement unchanged.")
    return [(adapted.index(param) if param in adapted else -1, param) for param in params]


def _filled(database: BaseDatabaseWrapper, params: _Params, values: Iterable[Any]) -> list[Any]:
    given = [_adapt_value(database, value) for value in values]
    return [given[position] if position >= 0 else constant for position, constant in params]


@dataclass(frozen=True, slots=True)
class _Statement:
    """SQL with marked parameters, and how to turn its rows into results."""

    sql: str
    params: _Params
    converters: Sequence[tuple[int, Sequence[Callable[..., Any]], Any]]
    model: type[Model] | None
    columns: slice
    fields: Sequence[str]
    annotations: Sequence[tuple[str, int]]
    related: Sequence[Any]
    locks: bool

    @classmethod
    def of(cls, rows: QuerySet[Any, Any], marks: Sequence[Any]) -> "_Statement":
        compiler = rows.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])
        whole = issubclass(rows._iterable_class, ModelIterable)  # noqa: SLF001 - rows or values?
        info = compiler.klass_info if whole else None
        columns = info["select_fields"] if info else []
        fields = [compiler.select[column][0].target.attname for column in columns]
        return cls(
            sql=sql,
            params=_marked_params(marks, params),
            converters=[
                (column, convert, expression)
                for column, (convert, expression) in converters.items()
            ],
            model=info["model"] if info else None,
            columns=slice(columns[0], columns[-1] + 1) if columns else slice(None),
            fields=fields,
            annotations=list(compiler.annotation_col_map.items()) if info else [],
            related=get_related_populators(info, compiler.select, DEFAULT_DB_ALIAS) if info else [],
            locks=rows.query.select_for_update,
        )

    def rows(self, values: Iterable[Any]) -> Iterator[Any]:
        database = connections[DEFAULT_DB_ALIAS]
        if self.locks and not database.in_atomic_block:
            raise TransactionManagementError("Rows can be locked within a transaction only.")
        cursor = cursor_of(database)
        cursor.execute(self.sql, _filled(database, self.params, values))
        for read in cursor.fetchall():
            row = list(read)
            for column, converters, expression in self.converters:
                if row[column] is not None:
                    for convert in converters:
                        row[column] = convert(row[column], expression, database)
            yield tuple(row) if self.model is None else self._instance(self.model, row)

    def _instance(self, model: type[Model], row: Sequence[Any]) -> Model:
        made = stored_row(model, self.fields, row[self.columns])
        _relate(made, self.related, row)
        for name, place in self.annotations:
            setattr(made, name, row[place])
        return made


def _relate(made: Model, related: Iterable[Any], row: Sequence[Any]) -> None:
    """Set the related objects of ``select_related`` that ``row`` holds."""
    for part in related:
        values = row[part.cols_start : part.cols_end]
        found = None
        if values[part.pk_idx] is not None:
            found = stored_row(part.model_cls, part.init_list, values)
            _relate(found, part.related_populators, row)
            part.remote_setter(found, made)
        part.local_setter(made, found)


def _adapt_value(database: BaseDatabaseWrapper, value: Any) -> Any:
    """The value in the form in which Django passes it to the cursor."""
    if isinstance(value, datetime):
        return database.ops.adapt_datetimefield_value(value)
    if isinstance(value, date):
        return database.ops.adapt_datefield_value(value)
    if isinstance(value, UUID):
        return value if database.features.has_native_uuid_field else value.hex
    return value
