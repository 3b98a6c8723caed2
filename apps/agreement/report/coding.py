"""Answers and ids as whole numbers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from django.db.models import Aggregate, BigIntegerField, Func, QuerySet, TextField
from django.db.models.sql.compiler import SQLCompiler

from apps.projects.models import Item, Project
from labelhub.core.agreement.ratings import Ints
from labelhub.core.agreement.texts import Texts, number_texts
from labelhub.core.schema import TASKS, LabelType, Schema, fold


def distinct_numbers(numbers: Ints) -> Ints:
    """The distinct numbers, rising; faster than ``np.unique`` where they lie close together."""
    if not len(numbers):
        return numbers
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > 4 * len(numbers):
        return np.unique(numbers)
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[numbers - low] = True
    return np.flatnonzero(seen) + low


class IdIndex:
    """Positions of ids in a rising list."""

    def __init__(self, ids: Ints) -> None:
        self._ids = ids
        close = len(ids) and int(ids[-1]) - int(ids[0]) <= 4 * len(ids) + 1000
        self._places: Ints | None = None
        if close:
            self._places = np.full(int(ids[-1]) - int(ids[0]) + 1, -1)
            self._places[ids - ids[0]] = np.arange(len(ids))

    def __call__(self, wanted: Ints) -> Ints:
        if self._places is not None:
            return np.asarray(self._places[wanted - self._ids[0]])
        return np.asarray(np.searchsorted(self._ids, wanted))

    def find(self, wanted: Ints) -> Ints:
        """The positions of ids; -1 for unknown ones."""
        if not len(self._ids):
            return np.full(len(wanted), -1)
        places = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        return np.where(self._ids[places] == wanted, places, -1)


#: Items per query. Fetching rows one by one takes longer than reading them: the database joins the
#: numbers of these items into one text of about ten megabytes, and numpy reads the text.
ITEMS_A_TEXT = 1 << 19


class TextCode(Func):
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
        rest = f"CASE WHEN {text} IS NULL THEN {self.null:d} ELSE {self.other:d} END"
        sql = f"CASE {text} {when} ELSE {rest} END"
        return sql, [*params, *self.numbers, *params]


class JoinedNumbers(Aggregate):
    """All numbers of a group in one text, commas between."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: Any, **extra: Any) -> Any:
        """The same by another name, for texts only."""
        template = "STRING_AGG((%(expressions)s)::text, ',')"
        return self.as_sql(compiler, connection, template=template, **extra)


def fetch_numbers(rows: QuerySet[Any], expression: Any, ids: tuple[int, int]) -> Ints:
    """The whole number that ``expression`` is for each of ``rows``, in any order; none is null.

    ``ids``: the lowest and highest id of the items that ``rows`` are about.
    """
    low, high = ids
    found = []
    for start in range(low, high + 1, ITEMS_A_TEXT):
        part = rows.filter(item__gte=start, item__lt=start + ITEMS_A_TEXT)
        text = part.order_by().aggregate(joined=JoinedNumbers(expression))["joined"]
        if text:
            found.append(np.fromstring(text, dtype=np.int64, sep=","))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


#: Reasons why a label has no number.
NOT_IN_SCHEMA = "not_in_schema"
NOT_AN_OPTION = "not_an_option"
ABSTAINED = -2
UNKNOWN = -1
#: Numbering more known answers in the database costs more than it saves.
MOST_LISTED = 40


class Coder:
    """Numbers the answers of one project; equal answers get equal numbers.

    ``single``: the place in the schema. ``ordinal``: the place on the scale. ``multi``: sets are
    numbered as they come. ``per_item``: the place among the item's options. ``text``: the folded
    text's place among the texts of its item. With ``label`` every answer is 1 (it is, or holds, the
    label) or 0.
    """

    def __init__(
        self, schema: Schema, options: Mapping[int, Sequence[str]], label: str = ""
    ) -> None:
        self._schema, self._options = schema, options
        self._labels = tuple(schema.task.labels_in_order(schema))
        self._place = {label.name: place for place, label in enumerate(self._labels)}
        found = schema.label(label) if label else None
        self._label = found.name if found else ""
        self._by_raw: dict[str, int] = {}
        self._sets: dict[frozenset[str], int] = {}
        self._texts: dict[int, dict[str, int]] = {}
        self.itemwise = not schema.task.labelled

    @classmethod
    def of_project(cls, project: Project, schema: Schema, label: str = "") -> Self:
        """With the options of the project's items, where items bring their own; then a query."""
        options: Mapping[int, Sequence[str]] = {}
        if schema.task.item_options:
            options = dict(Item.objects.filter(project=project).values_list("pk", "options"))
        return cls(schema, options, label)

    @property
    def known(self) -> Mapping[str, int]:
        """Answers as the database may hold them, and their numbers; empty if there are too many."""
        values = self._offered()
        if not values or len(values) > MOST_LISTED:
            return {}
        found: dict[str, int] = {}
        for value in values:
            number = self._of_schema(value)
            # One database keeps letters beyond ASCII as they are, the other as \u escapes.
            found |= {json.dumps(value): number, json.dumps(value, ensure_ascii=False): number}
        return found

    def of(self, item_id: int, raw: str) -> int:
        """The number of an answer in JSON; UNKNOWN for one that is not offered."""
        if self.itemwise:
            return self._of_item(item_id, json.loads(raw))
        number = self._by_raw.get(raw)
        if number is None:
            number = self._by_raw[raw] = self._of_schema(json.loads(raw))
        return number

    @property
    def categories(self) -> tuple[str, ...]:
        """The answers that the numbers stand for."""
        if self._label:
            return (f"not {self._label}", self._label)
        if self._schema.task.several:
            return tuple(", ".join(sorted(members)) or "none" for members in self._sets)
        if self.itemwise:
            most = max(
                (len(offered) for offered in (self._options or self._texts).values()), default=1
            )
            return tuple(f"option {place + 1}" for place in range(most))
        return tuple(self._place)

    @property
    def sets(self) -> tuple[frozenset[str], ...] | None:
        """The members of each category, where answers are sets."""
        return tuple(self._sets) if self._schema.task.several and not self._label else None

    @property
    def scores(self) -> tuple[float, ...] | None:
        """The points of each category, where they lie on a scale."""
        if not self._schema.task.ordered or self._label:
            return None
        return tuple(float(label.point or 0) for label in self._labels)

    def options_of(self, item_ids: Ints) -> Ints | None:
        """How many options each item has, where items bring their own."""
        if not self._schema.task.item_options:
            return None
        sizes = [len(self._options.get(item, ())) for item in item_ids.tolist()]
        return np.array(sizes, dtype=np.int64)

    def texts_of(self, item_ids: Ints) -> Texts | None:
        """The words of the texts of each item, where answers are free texts; no wording stays."""
        if not self._schema.task.written:
            return None
        return number_texts([self._texts.get(item, {}) for item in item_ids.tolist()])

    @property
    def task(self) -> LabelType:
        """The label type of the numbers: yes or no is a single choice."""
        return TASKS["single"] if self._label else self._schema.task

    def _offered(self) -> list[Any]:
        task = self._schema.task
        return task.values(self._schema, ()) if task.labelled and not task.several else []

    def _of_schema(self, value: Any) -> int:
        if self._schema.task.several:
            members = frozenset(value).intersection(self._schema.names)
            if self._label:
                return int(self._label in members)
            return self._sets.setdefault(members, len(self._sets))
        name = self._schema.name_of(value)
        if name not in self._place:
            return UNKNOWN
        return int(name == self._label) if self._label else self._place[name]

    def _of_item(self, item_id: int, value: Any) -> int:
        text = fold(str(value))
        offered = self._options.get(item_id)
        if self._schema.task.item_options:
            if not offered:
                return UNKNOWN
            folded = [fold(option) for option in offered]
            return folded.index(text) if text in folded else UNKNOWN
        texts = self._texts.setdefault(item_id, {})
        return texts.setdefault(text, len(texts))
