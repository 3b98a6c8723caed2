"""Imports and their previews."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from apps.exchange.columns import ALIASES, CHOOSABLE, CONTENT, ColumnMap, guess_columns
from apps.exchange.readers import RawRow, open_rows, refuse_after
from apps.exchange.readers.base import RowFault, isolate_row, shortened
from apps.exchange.shapes import merge_tasks, shape_of, translate
from apps.labels.models import Gold
from apps.projects.models import ImportBatch, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import NotFound
from labelhub.core.schema import Schema

PREVIEW_ROWS = 20
#: Seconds of processor time that a preview may take, and seconds that a page waits for its turn.
PREVIEW_SECONDS = 60
PAGE_WAITS = 10
CELL_CHARS = 160


@dataclass(frozen=True, slots=True)
class Preview:
    """The start of a file. ``rows`` are cells (shortened) in the order of ``columns``.

    ``detected`` names the tool that the rows are from, if it is another one; ``choices`` are the
    file's own columns, ``questions`` those that its labels answer.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...], str], ...]
    guess: dict[str, str]
    total_bytes: int
    detected: str
    choices: tuple[str, ...]
    questions: tuple[str, ...]


def import_of(project: Project, batch_id: int) -> ImportBatch:
    """One import of the project.

    Raises:
        NotFound: there is none.
    """
    batch = project.imports.filter(pk=batch_id).first()
    if batch is None:
        raise NotFound(f"The project {project} has no import {batch_id}.")
    return batch


def preview_batch(batch: ImportBatch) -> Preview:
    """The preview of an uploaded file, read as the import will read it.

    Raises:
        UnreadableFile: the file as a whole is of no use.
        Unavailable: the server is reading as many files as it can.
    """
    path, schema = Path(settings.DATA_DIR) / batch.stored_path, current_schema(batch.project).parsed
    given = open_rows(
        path, batch.format, meanwhile=refuse_after(PAGE_WAITS), in_all=PREVIEW_SECONDS
    )
    rows = islice(merge_tasks(given), PREVIEW_ROWS)
    seen = [_preview_row(raw, schema) for raw in rows]
    columns = tuple(dict.fromkeys(name for row in seen for name in row.cells))
    choices = dict.fromkeys(name for row in seen for name in row.choices)
    detected = ", ".join(dict.fromkeys(row.tool for row in seen if row.tool))
    guess = guess_columns(choices, CONTENT if detected else ALIASES)
    return Preview(
        detected=detected,
        choices=tuple(choices),
        questions=tuple(dict.fromkeys(name for row in seen for name in row.questions)),
        columns=columns,
        rows=tuple(
            (row.number, tuple(row.cells.get(name, "") for name in columns), row.error)
            for row in seen
        ),
        guess={field: column for field, column in guess.items() if field in CHOOSABLE},
        total_bytes=path.stat().st_size,
    )


class _PreviewRow(NamedTuple):
    """The parts of a row that a preview keeps; the row itself may be large."""

    number: int
    tool: str
    choices: list[str]
    questions: list[str]
    cells: dict[str, str]
    error: str


def _preview_row(raw: RawRow, schema: Schema) -> _PreviewRow:
    shape = shape_of(raw.data)
    row = _translated(raw, schema)
    questions: list[str] = []
    # A row may be too odd to find its questions; its error says why.
    with suppress(RowFault, TypeError):
        questions = list(shape.questions(raw.data)) if shape else []
    return _PreviewRow(
        number=raw.number,
        tool=shape.title if shape else "",
        choices=list(shape.columns(raw.data) if shape else raw.data),
        questions=questions,
        cells={name: shortened(_in_words(cell), CELL_CHARS) for name, cell in row.data.items()},
        error=row.error or "",
    )


def _translated(raw: RawRow, schema: Schema) -> RawRow:
    """The row as it will be imported, with another tool's row translated."""
    try:
        with isolate_row(raw.number):
            theirs = None if raw.error is not None else translate(raw.data, ColumnMap(), schema)
    except RowFault as fault:
        return RawRow(
            raw.number,
            error=": ".join(filter(None, (fault.field, fault.message))),
            field=fault.field,
        )
    return raw if theirs is None else RawRow(raw.number, theirs.row)


def _in_words(value: Any) -> str:
    """A readable cell: a set of labels by its names, other structures as JSON."""
    if (
        isinstance(value, dict)
        and value
        and all(isinstance(present, bool) for present in value.values())
    ):
        return ", ".join(str(name) for name, present in value.items() if present) or "None of these"
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return ", ".join(value)
    if isinstance(value, list) and all(
        isinstance(label, dict) and "annotator" in label for label in value
    ):
        return "; ".join(
            f"{label['annotator']}: {_in_words(label.get('value'))}" for label in value
        )
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def faults_of(
    notes: Iterable[Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(errors, conflicts), each ``{"row", "field", "message"}``, of an import's notes."""
    kept = list(notes)
    return _notes_of(kept, "error"), _notes_of(kept, "conflict")


def remarks_of(notes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Remarks on the file as a whole, with the row where each first applied."""
    return _notes_of(notes, "remark")


def _notes_of(notes: Iterable[Mapping[str, Any]], kind: str) -> list[dict[str, Any]]:
    shown = ("row", "field", "message")
    return [{name: note[name] for name in shown} for note in notes if note["kind"] == kind]


def result_of(batch: ImportBatch) -> dict[str, Any]:
    """The state of an import, for REST and the command."""
    errors, conflicts = faults_of(batch.errors)
    return {
        "id": batch.pk,
        "status": batch.status,
        "message": batch.message,
        "rows": batch.rows_done,
        "created": batch.created,
        "filled": batch.filled,
        "unchanged": batch.unchanged,
        "conflicts": batch.conflicts,
        "failed": batch.failed,
        "labels_created": batch.labels_created,
        "errors": errors,
        "conflict_rows": conflicts,
        "remarks": remarks_of(batch.errors),
    }


def project_named(slug: str) -> Project:
    """The project of that slug, without a check of rights (for commands).

    Raises:
        NotFound: there is none.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound(f"There is no project '{slug}'.")
    return project


def export_counts(project: Project) -> dict[str, int]:
    """The number of items in an export of everything, and of gold only."""
    decided = Gold.objects.current().filter(item__project=project)
    return {"items": project.items.count(), "gold": decided.count()}


def recent_imports(project: Project) -> list[ImportBatch]:
    """The last imports, newest first."""
    started = project.imports.exclude(status=ImportBatch.Status.UPLOADED)
    return list(started.defer("errors")[:10])
