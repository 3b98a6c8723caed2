"""Values of labels in conditions: equal to one, or a set that holds a name."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q
from django.db.models.lookups import Lookup
from django.db.models.sql.compiler import SQLCompiler

from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema

#: How the empty set is written in a form.
NONE_PRESENT = "[]"


@models.JSONField.register_lookup
class Names(Lookup[Any]):
    """``value__names="Food"``: the field holds a list with that name in it."""

    lookup_name = "names"
    prepare_rhs = False

    def get_db_prep_lookup(self, value: Any, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        """The name as it is, not as JSON."""
        return "%s", [value]

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, list[Any]]:
        """SQLite looks at each; PostgreSQL's ``?`` asks the list as a whole."""
        field, of_field = self.process_lhs(compiler, connection)
        name, of_name = self.process_rhs(compiler, connection)
        params = [*of_field, *of_name]
        if connection.vendor == "postgresql":
            return f"jsonb_exists({field}, {name})", params
        return f"EXISTS (SELECT 1 FROM json_each({field}) WHERE value = {name})", params  # noqa: S608 - parts of Django's own


def value_is(field: str, name: str, raw: str, schema: Schema) -> Q:
    """Where the JSON field ``field`` says ``raw``: that value, or a set with that name in it.

    Raises:
        InvalidInput: the schema does not offer it; the fault is that of the search field ``name``.
    """
    if schema.task.several:
        if raw == NONE_PRESENT:
            return Q(**{field: []})
        known = schema.label(raw)
        if known is None:
            raise InvalidInput.at(name, f"'{raw}' is none of the labels: {_menu(schema)}.")
        return Q(**{f"{field}__names": known.name})
    if not schema.task.labelled:
        return Q(**{field: raw})
    try:
        return Q(**{field: schema.normalise(raw)})
    except InvalidInput as error:
        raise InvalidInput.at(name, error.message) from None


def _menu(schema: Schema) -> str:
    return ", ".join(schema.names[:12]) + (" …" if len(schema.names) > 12 else "")
