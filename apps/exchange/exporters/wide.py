"""CSV with one row per item: its text, its gold and the answer of each kind of annotator.

No cell holds JSON: a set is a column of true and false per label, a scale point its number and its
name, a conversation a text.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from django.utils.translation import gettext_lazy as _

from apps.common.spreadsheets import csv_text
from apps.exchange.exporters.base import (
    HIDDEN,
    TABLES,
    Chunks,
    ExportFormat,
    Row,
    Source,
    independent_labels,
)
from apps.exchange.readers import MARKER, TABLE
from apps.labels.models import Annotator, Kind
from labelhub.core.schema import Schema, Value, value_key

#: Metadata of other tools may have any number of keys.
MOST_META = 100
Cell = str | float | None
#: A name, and the function that reads the cell.
Column = tuple[str, Callable[[Row], Cell]]


def write(chunks: Chunks, source: Source) -> Iterator[bytes]:
    """A header, then one row per item; UTF-8."""
    columns = _columns(source)
    names = [name for name, _ in columns]
    yield csv_text(names, ()).encode()
    for rows in chunks:
        valued = (_with_values(row, source) for row in rows)
        cells = ([read(row) for _, read in columns] for row in valued)
        yield csv_text(names, cells, header=False).encode()


def _with_values(row: Row, source: Source) -> Row:
    """The row with the values and the number of unsure annotations by kind."""
    values: dict[str, list[Value]] = {}
    unsure: Counter[str] = Counter()
    for label in independent_labels(row, source):
        if label["abstained"]:
            unsure[label["kind"]] += 1
        else:
            values.setdefault(label["kind"], []).append(label["value"])
    return row | {"values": values, "unsure": unsure}


def _columns(source: Source) -> list[Column]:
    """Each column with the function that reads its cell."""
    items, schema = source.items, source.schema
    columns: list[Column] = [
        ("text", lambda row: row["text"]),
        ("id", lambda row: row["id"]),
    ]
    if items.exclude(context=[]).exists():
        columns.append(("context", _conversation))
    if items.exclude(question="").exists():
        columns.append(("question", lambda row: row["question"]))
    if schema.task.item_options:
        columns.append(("options", lambda row: " | ".join(row["options"])))
    columns += _answers(schema, "gold", lambda row: [] if row["gold"] is None else [row["gold"]])
    if not source.only:
        kinds = Annotator.objects.filter(project=source.project).values_list("kind", flat=True)
        for kind in sorted(set(kinds), key=Kind.values.index):
            columns += _of_kind(schema, kind)
    columns += [(f"meta_{key}", partial(_meta_cell, key)) for key in _meta_keys(items)]
    return [*columns, (MARKER, lambda _: TABLE)]


def _of_kind(schema: Schema, kind: str) -> list[Column]:
    def values_of(row: Row) -> list[Value]:
        found: list[Value] = row["values"].get(kind, [])
        return found

    return [
        *_answers(schema, kind, values_of),
        (f"labels_{kind}", lambda row: len(values_of(row))),
        (f"unsure_{kind}", lambda row: row["unsure"][kind]),
    ]


def _answers(schema: Schema, prefix: str, values_of: Callable[[Row], list[Value]]) -> list[Column]:
    """The columns of one answer, the one that most of the values give."""
    if schema.task.several:
        return [_of_label(prefix, name, values_of) for name in schema.names]

    def value_of(row: Row) -> Any:
        return _most_frequent(values_of(row))

    columns: list[Column] = [(prefix, value_of)]
    if schema.task.ordered:
        columns.append((f"{prefix}_name", lambda row: point_name(schema, value_of(row))))
    return columns


def _of_label(prefix: str, name: str, values_of: Callable[[Row], list[Value]]) -> Column:
    def cell_of(row: Row) -> Cell:
        """Whether more than half of the sets contain the label; empty if just half do."""
        balance = sum(1 if name in value else -1 for value in cast("Any", values_of(row)))
        return None if not balance else truth(balance > 0)

    return f"{prefix}_{name}", cell_of


def _most_frequent(values: Sequence[Value]) -> Any:
    """The most frequent value; None without values or if several are as frequent."""
    if len(values) < 2:
        return next(iter(values), None)
    counted = Counter(map(value_key, values)).most_common(2)
    if len(counted) == 2 and counted[0][1] == counted[1][1]:
        return None
    return next(value for value in values if value_key(value) == counted[0][0])


def _conversation(row: Row) -> str:
    return "\n".join(f"{turn['role']}: {turn['text']}" for turn in row["context"])


def _meta_keys(items: Any) -> list[str]:
    """The keys of plain metadata, in the order in which they first appear."""
    keys: dict[str, None] = {}
    for meta in items.order_by("pk").values_list("meta", flat=True).iterator(chunk_size=1000):
        for key, value in meta.items():
            if key not in HIDDEN and not isinstance(value, dict | list):
                keys.setdefault(key)
        if len(keys) >= MOST_META:
            break
    return list(keys)[:MOST_META]


def _meta_cell(key: str, row: Row) -> Cell:
    value = row["meta"].get(key)
    if isinstance(value, bool):
        return truth(value)
    return value if isinstance(value, str | int | float) else None


def truth(is_true: object) -> str:
    return "true" if is_true else "false"


def point_name(schema: Schema, value: Any) -> str:
    """The name of a scale point; empty without a value or where the scale has no such point."""
    return "" if value is None else next(iter(schema.task.names_in(schema, value)), "")


FORMAT = ExportFormat(
    name="csv",
    title=_("CSV, one row per item"),
    suffix=".csv",
    content_type="text/csv; charset=utf-8",
    group=TABLES,
    write=write,
    lossless=False,
)
