"""A million whole numbers out of the database as a few long texts.

Handing rows to Python one by one takes longer than reading them. The database joins the numbers of
half a million items into one text, and numpy reads the text.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import Aggregate, BigIntegerField, Func, QuerySet, TextField
from django.db.models.sql.compiler import SQLCompiler

from labelhub.core.agreement.ratings import Ints

#: Items whose numbers are joined: a text of some ten megabytes.
ITEMS_A_TEXT = 1 << 19


class Numbered(Func):
    """``CASE text WHEN 'a' THEN 0 … END``: Django's own form evaluates ``text`` for each WHEN."""

    output_field = BigIntegerField()

    def __init__(self, text: Any, numbers: Mapping[str, int], *, null: int, other: int) -> None:
        super().__init__(text)
        self.numbers, self.null, self.other = dict(numbers), null, other

    def as_sql(  # type: ignore[override]  # the framework's own is looser
        self, compiler: SQLCompiler, connection: Any, **_extra: Any
    ) -> tuple[str, list[Any]]:
        """The text's number, ``null`` for NULL, ``other`` for any text that has none."""
        text, params = compiler.compile(self.source_expressions[0])
        when = " ".join(f"WHEN %s THEN {number:d}" for number in self.numbers.values())
        case = f"CASE {text} {when} ELSE CASE WHEN {text} IS NULL"
        sql = f"{case} THEN {self.null:d} ELSE {self.other:d} END END"
        return sql, [*params, *self.numbers, *params]


class Joined(Aggregate):
    """All numbers of a group in one text, commas between."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        """The same by another name, for texts only."""
        template = "STRING_AGG((%(expressions)s)::text, ',')"
        return self.as_sql(compiler, connection, template=template, **extra)


def numbers(rows: QuerySet[Any], expression: Any, ids: tuple[int, int]) -> Ints:
    """The whole number that ``expression`` is for each of ``rows``, in any order; none is null.

    ``ids``: the lowest and highest id of the items that ``rows`` are about.
    """
    low, high = ids
    found = []
    for start in range(low, high + 1, ITEMS_A_TEXT):
        part = rows.filter(item__gte=start, item__lt=start + ITEMS_A_TEXT)
        text = part.order_by().aggregate(joined=Joined(expression))["joined"]
        if text:
            found.append(np.fromstring(text, dtype=np.int64, sep=","))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)
