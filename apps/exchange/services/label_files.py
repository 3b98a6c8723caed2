"""Labels in long form: one row per (item, annotator), for items that are there.

Published sets of labels often have no texts. In a project without items such a file creates them,
with the id in place of the text; a later import of items fills them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from apps.common.bulk import refresh_statistics
from apps.exchange.columns import ColumnMap, folded
from apps.exchange.label_rows import TRUTHS, LabelRow, read_label
from apps.exchange.readers import MARKER, format_of, open_rows
from apps.exchange.readers.base import RawRow, RowFault, isolate_row, shortened
from apps.exchange.rows import external_id, read_row
from apps.exchange.services.chunks import has_texts, write_chunk
from apps.exchange.services.context import MAX_NOTES, ImportContext, ImportTally
from apps.exchange.values import as_object, json_cell, label_value
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import ImportOutcome, NewGold, import_gold, import_labels
from apps.projects.models import Item, Project
from labelhub.core.phrases import Phrase, join_sentences
from labelhub.core.schema import Value

CHUNK_ROWS = 1000
#: The rows that are grouped by item at once: many files are sorted by annotator, and updating an
#: item's state for each of its labels takes ten times as long as updating it once.
WINDOW_ROWS = 20_000
WINDOW_BYTES = 16 * 1024 * 1024
#: Field → its names in files.
ALIASES = {
    "item_id": ("item_id", "id", "external_id", "ext_id", "item"),
    "annotator": ("annotator_id", "annotator", "worker_id", "user"),
    "kind": ("annotator_type", "kind", "annotator_kind", "type"),
    "value": ("label", "labels", "value", "aspects"),
    "gold": ("gold",),
}  # fmt: skip
#: The column with an item's number here, instead of its own id.
NUMBER = "item_number"
#: The columns of a file of labels, for messages.
COLUMNS = ("item_id", "annotator_id", "annotator_type", "label")
#: Imported by name when the file has them; other columns are ignored.
EXTRA = (
    "seconds", "confidence", "rationale", "evidence", "uid", "supersedes", "shown", "proposed_from",
    "created_at", "abstained", "withdrawn", "rejected", "action", "run", "replicate",
    "cost_nanousd",
)  # fmt: skip
#: Of our own files only: another tool's column of that name means something else.
OUR_EXTRA = ("role",)


@dataclass(slots=True)
class LabelFileResult:
    """The outcome of a file of labels; ``tally`` counts its rows."""

    tally: ImportTally = field(default_factory=ImportTally)
    items_created: int = 0
    gold_created: int = 0


class _KnownItem(NamedTuple):
    pk: int
    external_id: str
    options: list[str]


@dataclass(frozen=True, slots=True)
class _Entry:
    number: int
    item: _KnownItem
    label: LabelRow
    gold: Value | None


def import_label_file(*, project: Project, path: Path, file_name: str) -> LabelFileResult:
    """Append the labels of a long-form file, a transaction per 1,000 rows.

    Unknown items (unless the project has no texts yet) and values outside the schema are faults of
    their row. Of several rows of one annotator on one item the first is imported and the others are
    conflicts, unless ``supersedes`` is true or names the label that they revise.

    Raises:
        UnreadableFile: the file as a whole is of no use.
    """
    context, result = ImportContext(project), LabelFileResult()
    brings_items = not has_texts(project)
    for chunk in label_chunks(open_rows(path, format_of(file_name, path))):
        with transaction.atomic():
            write_labels(context, chunk, result, brings_items=brings_items)
        result.tally.notes = sorted(result.tally.notes, key=lambda note: note.row)[:MAX_NOTES]
    if result.tally.created >= CHUNK_ROWS:
        refresh_statistics(Item, ItemState, Label, Gold)
    return result


def write_labels(
    context: ImportContext, chunk: list[RawRow], result: LabelFileResult, *, brings_items: bool
) -> None:
    """Write one chunk, inside the caller's transaction, and add it to ``result``.

    Raises:
        SchemaChanged: a change of labels began since this import did.
    """
    project, schema = context.project, context.schema.parsed
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    context.check_schema()
    chunk = _name_items(project, chunk)
    if brings_items:
        ids = [(raw.number, name) for raw in chunk if (name := _item_id(raw))]
        placeholders = [
            read_row(RawRow(number, {"id": name, "text": name}), ColumnMap(), schema)
            for number, name in ids
        ]
        result.items_created += write_chunk(context, placeholders, None).created
    _write_rows(context, chunk, result)


def label_chunks(rows: Iterator[RawRow]) -> Iterator[list[RawRow]]:
    """The rows of an item in their own order, items in the order in which they first appear."""
    while window := list(_window(rows)):
        by_item: dict[str, list[RawRow]] = {}
        for raw in window:
            by_item.setdefault(_item_id(raw), []).append(raw)
        together = chain.from_iterable(by_item.values())
        while chunk := list(islice(together, CHUNK_ROWS)):
            yield chunk


def count_repeated(context: ImportContext, chunk: list[RawRow]) -> None:
    """Read a chunk that was written before, for the number of identical rows that follow."""
    chunk = _name_items(context.project, chunk)
    for entry in _entries(context, chunk, _known_items(context.project, chunk), ImportTally()):
        context.with_uid(entry.item.external_id, entry.label)


def _window(rows: Iterator[RawRow]) -> Iterator[RawRow]:
    start, size = None, 0
    for raw in islice(rows, WINDOW_ROWS):
        yield raw
        start = raw.position if start is None else start
        size += raw.size
        if max(raw.position - start, size) >= WINDOW_BYTES:
            return


def _name_items(project: Project, chunk: list[RawRow]) -> list[RawRow]:
    """The rows, with the ids of items that are given by number."""
    numbers = {raw.number: _item_number(raw) for raw in chunk if NUMBER in raw.data}
    if not numbers:
        return chunk
    wanted = {number for number in numbers.values() if number is not None}
    items = Item.objects.filter(project=project, pk__in=wanted).order_by("pk")
    names = dict(items.values_list("pk", "external_id"))
    rows = []
    for raw in chunk:
        if raw.number in numbers and raw.error is None:
            name = names.get(numbers[raw.number] or 0)
            error = None if name else Phrase("There is no item of this number.")
            raw = replace(raw, data={**raw.data, "item_id": name}, error=error, field=NUMBER)  # noqa: PLW2901 - the row as it is meant
        rows.append(raw)
    return rows


def _item_number(raw: RawRow) -> int | None:
    """The number of the row's item here; None if it is none."""
    text = str(raw.data[NUMBER])
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _item_id(raw: RawRow) -> str:
    """The id of the row's item; empty where it has none that can be used."""
    column = _shape(tuple(raw.data)).fields.get("item_id")
    try:
        return external_id(None if column is None else raw.data[column], "item_id")
    except RowFault:
        return ""


def _write_rows(context: ImportContext, chunk: list[RawRow], result: LabelFileResult) -> None:
    tally = result.tally
    entries = list(_entries(context, chunk, _known_items(context.project, chunk), tally))
    drafts = [
        context.label_draft(entry.item.pk, context.with_uid(entry.item.external_id, entry.label))
        for entry in entries
    ]
    for entry, outcome in zip(entries, import_labels(context.project, drafts), strict=True):
        _count_outcome(entry, outcome, tally)
    result.gold_created += _write_gold(context, entries, tally)


def _known_items(project: Project, chunk: list[RawRow]) -> dict[str, _KnownItem]:
    items = Item.objects.named(project, {_item_id(raw) for raw in chunk})
    found = map(_KnownItem._make, items.values_list(*_KnownItem._fields))
    return {item.external_id: item for item in found}


def _entries(
    context: ImportContext, chunk: list[RawRow], by_id: Mapping[str, _KnownItem], tally: ImportTally
) -> Iterator[_Entry]:
    for raw in chunk:
        try:
            if raw.error is not None:
                raise RowFault(raw.error, field=raw.field)
            with isolate_row(raw.number):
                entry = _entry(context, raw, by_id)
            yield entry
        except RowFault as fault:
            tally.fail(raw.number, fault.field, fault.message)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the columns of a row say; most rows of a file have the same."""

    #: Field → column.
    fields: Mapping[str, str]
    #: The columns that are imported by name.
    extra: tuple[str, ...]
    #: The fields that must have a value: (field, its column in messages, its place there).
    needed: tuple[tuple[str, str, str], ...]
    is_ours: bool


@lru_cache(maxsize=10)
def _shape(names: tuple[str, ...]) -> _Shape:
    by_name = {folded(name): name for name in names}
    found = {}
    for field_name, aliases in ALIASES.items():
        column = next(
            (by_name[folded(alias)] for alias in aliases if folded(alias) in by_name), None
        )
        if column is not None:
            found[field_name] = column
    needed = [("item_id", "item_id", "item_id"), ("annotator", "annotator_id", "label.annotator")]
    if not {"abstained", "withdrawn", "rejected", "unsure"}.intersection(names):
        needed.append(("value", "label", "label.value"))
    ours = MARKER in names
    extra = tuple(name for name in (*EXTRA, *(OUR_EXTRA if ours else ())) if name in names)
    return _Shape(found, extra, tuple(needed), ours)


def _entry(context: ImportContext, raw: RawRow, by_id: Mapping[str, _KnownItem]) -> _Entry:
    shape = _shape(tuple(raw.data))
    fields = {name: raw.data[column] for name, column in shape.fields.items()}
    named = fields["item_id"] = external_id(fields.get("item_id"), "item_id")
    _check_columns(raw.data, fields, shape)
    item = by_id.get(named)
    if item is None:
        raise RowFault(
            "There is no item '%(named)s'; import it first.",
            named=named[:80],
            field="item_id",
        )
    given = {name: raw.data[name] for name in shape.extra}
    given.setdefault("abstained", raw.data.get("unsure"))
    given["evidence"] = json_cell(given.get("evidence"), "evidence")
    given |= {name: fields.get(name) for name in ("annotator", "kind", "value")}
    schema, options = context.schema.parsed, item.options
    gold = fields.get("gold")
    if shape.is_ours and schema.task.several:  # the empty set is an empty cell
        if TRUTHS.get(str(raw.data.get("unsure")).lower()) is False:
            given["value"] = given["value"] or []
        if TRUTHS.get(str(raw.data.get("has_gold")).lower()):
            gold = gold or []
    label = read_label(as_object(given, "row"), schema, options, "label")
    gold = label_value(schema, gold, options, where="gold")
    return _Entry(raw.number, item, label, gold)


def _check_columns(data: Mapping[str, Any], fields: Mapping[str, Any], shape: _Shape) -> None:
    """Refuse a row without item, annotator or label.

    Raises:
        RowFault: names the columns found and those expected.
    """
    for name, column, where in shape.needed:
        if fields.get(name) in (None, ""):
            message = Phrase(
                "No %(column)s here. The row has: %(found)s; expected are %(expected)s.",
                column=column,
                found=[shortened(name, 40) for name in list(data)[:12]] or Phrase("nothing"),
                expected=list(COLUMNS),
            )
            raise RowFault(message, field=where)


def _count_outcome(entry: _Entry, outcome: ImportOutcome, tally: ImportTally) -> None:
    if outcome is ImportOutcome.CREATED:
        tally.created += 1
        tally.labels_created += 1
    elif outcome is ImportOutcome.UNCHANGED:
        tally.unchanged += 1
    else:
        name, item = entry.label.annotator.name, entry.item.external_id
        message = Phrase(
            "'%(name)s' has labelled '%(item)s' already; the first label is kept. A row that "
            "revises it needs supersedes = true.",
            name=name,
            item=item,
        )
        if entry.label.rejected:
            missing = Phrase("Or the suggestion that it rejects is missing: import it first.")
            message = join_sentences(message, missing)
        tally.conflict(entry.number, "label", message)


def _write_gold(context: ImportContext, entries: list[_Entry], tally: ImportTally) -> int:
    """Each row repeats the gold of its item, so there is one draft per item and value."""
    seen: dict[tuple[int, str], _Entry] = {}
    for entry in entries:
        if entry.gold is not None:
            seen.setdefault((entry.item.pk, repr(entry.gold)), entry)
    schema, firsts = context.schema, list(seen.values())
    drafts = [NewGold(item_id=first.item.pk, schema=schema, value=first.gold) for first in firsts]
    outcomes = import_gold(context.project, drafts) if drafts else []
    for entry, outcome in zip(firsts, outcomes, strict=True):
        if outcome is ImportOutcome.CONFLICT:
            message = Phrase(
                "'%(item)s' has another gold value already; it is kept.",
                item=entry.item.external_id,
            )
            tally.conflict(entry.number, "gold", message)
    return outcomes.count(ImportOutcome.CREATED)
