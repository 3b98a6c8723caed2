"""Looking at imports: what waits, what a file holds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.exchange.columns import CHOOSABLE, guess_columns
from apps.exchange.readers import RawRow, open_rows
from apps.exchange.readers.base import RowFault
from apps.exchange.studio import from_task, is_task
from apps.labels.models import Gold
from apps.projects.models import ImportBatch, Project
from labelhub.core.errors import NotFound

PREVIEW_ROWS = 20
CELL_CHARS = 160


@dataclass(frozen=True, slots=True)
class Preview:
    """The start of a file. ``rows`` are cells (shortened) in the order of ``columns``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...], str], ...]
    guess: dict[str, str]
    total_bytes: int


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
    """The preview of an uploaded file."""
    return preview(Path(settings.DATA_DIR) / batch.stored_path, batch.format)


def preview(path: Path, format_name: str) -> Preview:
    """The first rows of a file, its columns, and which of them are which field.

    Raises:
        UnreadableFile: the file as a whole is of no use.
    """
    rows = [_flat(raw) for raw in islice(open_rows(path, format_name), PREVIEW_ROWS)]
    columns = tuple(dict.fromkeys(name for raw in rows for name in raw.data))
    guess = guess_columns(columns)
    return Preview(
        columns=columns,
        rows=tuple((raw.number, _cells(raw, columns), raw.error or "") for raw in rows),
        guess={field: column for field, column in guess.items() if field in CHOOSABLE},
        total_bytes=path.stat().st_size,
    )


def _flat(raw: RawRow) -> RawRow:
    """The row as it will be read: a Label Studio task shows what is inside."""
    if raw.error is not None or not is_task(raw.data):
        return raw
    try:
        return RawRow(raw.number, from_task(raw.data))
    except RowFault as fault:
        return RawRow(raw.number, error=fault.message, field=fault.field)


def _cells(raw: RawRow, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(_short(raw.data.get(name)) for name in columns)


def _short(value: Any) -> str:
    text = _in_words(value)
    return text if len(text) <= CELL_CHARS else text[:CELL_CHARS] + "…"


def _in_words(value: Any) -> str:
    """A cell as people read it: a set of labels by its names, other structures as JSON."""
    if isinstance(value, dict) and value and all(isinstance(one, bool) for one in value.values()):
        return ", ".join(str(name) for name, present in value.items() if present) or "none present"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def faults_of(
    notes: Iterable[Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(errors, conflicts), each ``{"row", "field", "message"}``, of an import's notes."""
    sorted_out: dict[str, list[dict[str, Any]]] = {"error": [], "conflict": []}
    for note in notes:
        shown = {name: note[name] for name in ("row", "field", "message")}
        sorted_out[note["kind"]].append(shown)
    return sorted_out["error"], sorted_out["conflict"]


def result_of(batch: ImportBatch) -> dict[str, Any]:
    """What REST and the command tell of an import."""
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
    }


def project_named(slug: str) -> Project:
    """The project of that slug, whoever asks (for commands).

    Raises:
        NotFound: there is none.
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise NotFound(f"There is no project '{slug}'.")
    return project


def export_counts(project: Project) -> dict[str, int]:
    """How many items an export of everything, and of gold only, will have."""
    decided = Gold.objects.current().filter(item__project=project)
    return {"items": project.items.count(), "gold": decided.count()}


def recent_imports(project: Project) -> list[ImportBatch]:
    """The last imports, newest first."""
    started = project.imports.exclude(status=ImportBatch.Status.UPLOADED)
    return list(started.defer("errors")[:10])
