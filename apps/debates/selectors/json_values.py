"""JSON values compared by the database, the same way on every database."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, TextField
from django.db.models.sql.compiler import SQLCompiler

_SQLITE = """(CASE JSON_TYPE(%(expressions)s, '$%(at)s')
    WHEN 'array' THEN (SELECT JSON_GROUP_ARRAY(value) FROM (
        SELECT value FROM JSON_EACH(%(expressions)s, '$%(at)s') ORDER BY value))
    ELSE JSON_EXTRACT(%(expressions)s, '$%(at)s') END)"""
_POSTGRESQL = """(CASE JSONB_TYPEOF(%(expressions)s #> '{%(key)s}')
    WHEN 'array' THEN (SELECT COALESCE(JSONB_AGG(each ORDER BY each), '[]'::jsonb)
        FROM JSONB_ARRAY_ELEMENTS(%(expressions)s #> '{%(key)s}') AS found(each))
    WHEN 'null' THEN NULL
    ELSE %(expressions)s #> '{%(key)s}' END)"""


class JsonValue(Func):
    """A value in a JSON column, or that of its member ``key``, to be compared with others such.

    Sets of labels are equal in any order; JSON's null is NULL. Only ``=`` and ``IS NULL`` mean
    anything: what it looks like differs from database to database.
    """

    arity = 1
    output_field = TextField()

    def __init__(self, column: Any, key: str = "") -> None:
        if key and not key.isidentifier():
            raise ValueError(f"'{key}' is no plain name of a member.")
        super().__init__(column, key=key, at=f".{key}" if key else "")

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **rest: Any
    ) -> tuple[str, Any]:
        """By the JSON functions of SQLite."""
        return self.as_sql(compiler, connection, template=_SQLITE, **rest)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **rest: Any
    ) -> tuple[str, Any]:
        """By ``jsonb``."""
        return self.as_sql(compiler, connection, template=_POSTGRESQL, **rest)
