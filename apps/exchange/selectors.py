"""Imports and their previews."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.exchange.file_head import FileHead, read_head
from apps.exchange.values import ImportSchema
from apps.labels.models import Gold
from apps.projects.models import ImportBatch, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import NotFound

#: Seconds that a page waits for its turn to read a file.
PAGE_WAITS = 10


def import_of(project: Project, batch_id: int) -> ImportBatch:
    """One import of the project.

    Raises:
        NotFound: there is none.
    """
    batch = project.imports.filter(pk=batch_id).first()
    if batch is None:
        raise NotFound(f"The project {project} has no import {batch_id}.")
    return batch


def preview_batch(batch: ImportBatch, columns: Mapping[str, str] | None = None) -> FileHead:
    """The start of an uploaded file, read as the import will read it with these columns.

    Raises:
        UnreadableFile: the file as a whole is of no use.
        Unavailable: the server is reading as many files as it can.
    """
    path, schema = Path(settings.DATA_DIR) / batch.stored_path, current_schema(batch.project).parsed
    reading = ImportSchema.of(schema, {}, leave_out=True)
    return read_head(path, batch.format, reading, columns, patience=PAGE_WAITS)


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
        "unknown_values": [
            {"value": name, "count": count}
            for name, count in batch.unknown.get("values", {}).items()
        ],
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
