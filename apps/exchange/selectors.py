"""Imports and their previews."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.common.shared_files import local_copy
from apps.exchange.file_head import FileHead, read_head
from apps.exchange.values import ImportSchema
from apps.labels.models import Gold
from apps.projects.models import ImportBatch, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import NotFound
from labelhub.core.phrases import Phrase

#: Seconds that a page waits for its turn to read a file.
PAGE_WAITS = 10


def import_of(project: Project, batch_id: int) -> ImportBatch:
    """One import of the project; NotFound if there is none."""
    batch = project.imports.filter(pk=batch_id).first()
    if batch is None:
        raise NotFound(
            "The project %(project)s has no import %(batch_id)s.",
            project=project,
            batch_id=str(batch_id),
        )
    return batch


def preview_batch(batch: ImportBatch, columns: Mapping[str, str] | None = None) -> FileHead:
    """The start of an uploaded file, read as the import will read it with these columns.

    Raises:
        UnreadableFile: the file as a whole is of no use.
        Unavailable: the server is reading as many files as it can, or the bucket does not answer.
    """
    path, schema = local_copy(batch.stored_path), current_schema(batch.project).parsed
    reading = ImportSchema.of(schema, {}, leave_out=True)
    return read_head(path, batch.format, reading, columns, patience=PAGE_WAITS)


def notes_of(notes: Iterable[Mapping[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The notes of an import that are an ``error``, a ``conflict`` or a ``remark``, without the
    kind."""
    return [
        {"row": note["row"], "field": note["field"], "message": Phrase.of(note["message"])}
        for note in notes
        if note["kind"] == kind
    ]


def result_of(batch: ImportBatch) -> dict[str, Any]:
    """The state of an import, for REST and the command."""
    return {
        "id": batch.pk,
        "status": batch.status,
        "message": batch.message,
        "rows": batch.rows_done,
        **{name: getattr(batch, name) for name in ImportBatch.COUNTS},
        "unknown_values": [
            {"value": name, "count": count}
            for name, count in batch.unknown.get("values", {}).items()
        ],
        "errors": notes_of(batch.errors, "error"),
        "conflict_rows": notes_of(batch.errors, "conflict"),
        "remarks": notes_of(batch.errors, "remark"),
    }


def export_counts(project: Project) -> dict[str, int]:
    """The number of items in an export of everything, and of gold only."""
    decided = Gold.objects.current().filter(item__project=project)
    return {"items": project.items.count(), "gold": decided.count()}


def recent_imports(project: Project) -> list[ImportBatch]:
    started = project.imports.exclude(status=ImportBatch.Status.UPLOADED)
    return list(started.defer("errors")[:10])
