"""Imports: one worker reads the stored file chunk by chunk, and another can resume."""

import logging
import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common import shared_files
from apps.common.audit import Action, record
from apps.common.bulk import refresh_statistics
from apps.common.jobs import (
    RETRY_AFTER,
    JobRun,
    Postponed,
    failure_message,
    job,
    start_job,
    work_on,
)
from apps.common.queues import HEAVY
from apps.exchange.columns import ColumnMap
from apps.exchange.models import ProjectImport
from apps.exchange.readers import format_of, open_rows
from apps.exchange.readers.base import RawRow, shortened
from apps.exchange.readers.isolation import refuse_after
from apps.exchange.rows import ItemRow, RowError, read_row
from apps.exchange.services.chunks import has_texts, write_chunk
from apps.exchange.services.context import (
    MAX_FIELD,
    MAX_NOTES,
    ImportContext,
    ImportTally,
    Note,
    SchemaChanged,
    merge_unknown,
)
from apps.exchange.services.label_files import (
    LabelFileResult,
    count_repeated,
    label_chunks,
    write_labels,
)
from apps.exchange.shapes.label_studio_min import merge_tasks
from apps.exchange.values import ImportSchema
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import ImportBatch, Item, Notification, Project
from apps.projects.notifications import notify_end
from apps.projects.selectors import current_schema
from apps.projects.services import add_labels
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError, Unavailable
from labelhub.core.phrases import Phrase
from labelhub.core.schema import MAX_LABELS, Schema
from labelhub.core.schema.definition import join_names

logger = logging.getLogger(__name__)

KIND = "exchange.import"
FOLDER = "imports"
MAX_BYTES = 20 * 1024**3
STALE_AFTER = timedelta(days=1)
PIECE = 1024 * 1024


def stored_name(name: str) -> str:
    """The path of an upload below the data folder."""
    return f"{FOLDER}/{name}"


def store_upload(pieces: Iterable[bytes]) -> Path:
    """Write ``pieces`` to a new file below the data folder and return its path.

    Raises:
        InvalidInput: more than MAX_BYTES; the file is removed.
        Unavailable: the bucket for files does not take it; likewise.
    """
    path = shared_files.local_path(stored_name(uuid.uuid4().hex))
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    try:
        with path.open("wb") as file:
            for piece in pieces:
                size += len(piece)
                if size > MAX_BYTES:
                    raise InvalidInput(
                        "The file exceeds %(value)s GB; split it.", value=MAX_BYTES // 1024**3
                    )
                file.write(piece)
        shared_files.publish(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def discard_file(path: Path) -> None:
    """Delete a file of :func:`store_upload`."""
    shared_files.delete(shared_files.name_of(path))


def receive_upload(
    *,
    project: Project,
    actor: User | None,
    path: Path,
    file_name: str,
    content_type: str = "",
    content: str = ImportBatch.Content.ITEMS,
) -> ImportBatch:
    """A batch for a stored file, before the choice of columns. The project's old uploads that were
    never started are removed.

    Raises:
        UnreadableFile: empty or of an unknown kind; the stored file is removed.
    """
    try:
        before = timezone.now() - STALE_AFTER
        uploaded = project.imports.filter(status=ImportBatch.Status.UPLOADED)
        for batch in uploaded.filter(created_at__lt=before):
            cancel_upload(batch)
        name = format_of(file_name, path, content_type)
        last_part = Path(file_name.replace("\\", "/")).name
        printable = "".join(char for char in last_part if char.isprintable())
        return ImportBatch.objects.create(
            project=project,
            file_name=printable[:255] or "upload",
            stored_path=shared_files.name_of(path),
            format=name,
            content=content,
            bytes_total=path.stat().st_size,
            created_by=actor,
        )
    except BaseException:
        discard_file(path)
        raise


def sweep_uploads() -> None:
    """Remove old files that no import needs: their project was deleted, or a process was killed
    before it made their row. Cheap enough for every few seconds."""
    if not shared_files.is_due(FOLDER):
        return
    before = (timezone.now() - STALE_AFTER).timestamp()
    names = [stored_name(name) for name in shared_files.names_in(FOLDER)]
    with suppress(FileNotFoundError):  # another worker sweeps too
        old = [name for name in names if shared_files.age_of(name) < before]
        needed = set(unended_uploads()) if old else set()
        for name in old:
            if name not in needed:
                shared_files.delete(name)


def unended_uploads(alias: str | None = None) -> list[str]:
    """The files that imports will read."""
    ended = [ImportBatch.Status.DONE, ImportBatch.Status.FAILED]
    rows = ImportBatch.objects.using(alias).exclude(status__in=ended).exclude(stored_path="")
    archives = ProjectImport.objects.using(alias).exclude(stored_path="")
    return [
        path for found in (rows, archives) for path in found.values_list("stored_path", flat=True)
    ]


def cancel_upload(batch: ImportBatch) -> None:
    """Delete an upload that was not started."""
    deleted, _ = ImportBatch.objects.filter(
        pk=batch.pk, status=ImportBatch.Status.UPLOADED
    ).delete()
    if deleted:
        discard_upload(batch)


def queue_import(
    batch: ImportBatch,
    *,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
    unknown_labels: str = ImportBatch.UnknownLabels.REFUSE,
    label_map: Mapping[str, str] | None = None,
    new_labels: Sequence[str] = (),
    send: bool = True,
) -> ImportBatch:
    """Store the choices and start the import, by a worker, who notifies its creator, or, with
    ``send=False``, by the caller (:func:`run_import`).

    ``new_labels`` become labels of the project. ``label_map``: name in the file → label that it
    stands for, or "" to leave it out; ``unknown_labels`` is for all other names that are no labels.

    Raises:
        Conflict: it was started already, or the labels are being changed.
        InvalidInput: a label that does not exist or cannot be added.
    """
    stands_for = dict(label_map or {})
    choices = {
        "columns": dict(columns or {}),
        "strict": strict,
        "unknown_labels": unknown_labels,
        "label_map": stands_for,
        "notify": send,
        "status": ImportBatch.Status.QUEUED,
    }
    waiting = ImportBatch.objects.filter(pk=batch.pk, status=ImportBatch.Status.UPLOADED)
    with transaction.atomic():
        if new_labels:
            add_labels(project=batch.project, names=new_labels, actor=batch.created_by)
        schema = current_schema(batch.project).parsed
        for name, label in stands_for.items():
            if label and not schema.task.knows(schema, label):
                raise InvalidInput.at(
                    "label_map",
                    "'%(name)s' stands for '%(label)s', which is no label.",
                    name=name,
                    label=label,
                )
        if not waiting.update(**choices):
            raise Conflict("This import was started already.")
        start_job(KIND, batch.pk, send=send)
        record(Action.IMPORT_STARTED, batch, changes={"format": (None, batch.format)})
    batch.refresh_from_db()
    return batch


def stored_file(batch: ImportBatch) -> Path:
    """The file on this machine; raises as :func:`apps.common.shared_files.local_copy`."""
    return shared_files.local_copy(batch.stored_path)


def discard_upload(batch: ImportBatch) -> None:
    """Remove the stored file, if there is one."""
    if batch.stored_path:
        shared_files.delete(batch.stored_path)


CHUNK_ROWS = 1000
#: Long rows make short chunks: a chunk's rows are all in memory at once.
CHUNK_BYTES = 4 * 1024 * 1024
#: From so many new rows on, the database renews its statistics.
MANY_ROWS = 1000


class ImportRefused(LabelhubError):
    """A strict import found a fault: nothing was written."""

    code = "import_refused"
    http_status = 422

    def __init__(self, tally: ImportTally) -> None:
        self.unknown = tally.unknown
        super().__init__(
            Phrase(
                "Nothing was imported, because the import is strict: %(count)s row has a fault.",
                "Nothing was imported, because the import is strict: %(count)s rows have faults.",
                count=tally.failed,
            )
        )
        self.failed, self.errors = tally.failed, [note.data() for note in tally.notes]


def run_import(batch_id: int, *, patience: float = math.inf) -> ImportBatch:
    """Complete a queued batch, from the row that it had reached; see
    :func:`apps.common.jobs.work_on`.

    Raises:
        Unavailable: ``patience`` seconds passed before there was a place to read the file; the
            batch stays unfinished.
    """
    work_on(KIND, batch_id, patience=patience)
    return ImportBatch.objects.get(pk=batch_id)


def fail_import(batch_id: int, error: Exception) -> None:
    """Record the failure, and the faults that a strict import found."""
    batch = ImportBatch.objects.get(pk=batch_id)
    if isinstance(error, ImportRefused):
        batch.failed, batch.errors, batch.unknown = error.failed, error.errors, error.unknown
    if isinstance(error, FileNotFoundError):
        batch.message = Phrase("The uploaded file is gone; upload it again.")
    else:
        batch.message = failure_message(
            error,
            Phrase(
                "Rows read before: %(number)s. Import the file again for the others.",
                number=batch.rows_done,
            ),
        )
    transaction.on_commit(partial(discard_upload, copy(batch)))
    _finish(batch, ImportBatch.Status.FAILED)


@job(KIND, fail=fail_import, queue=HEAVY)
def import_rows(run: JobRun, *, patience: float = math.inf) -> None:
    """Each chunk commits its rows together with the counts: an abort loses and doubles nothing."""
    unfinished = ImportBatch.objects.unfinished().filter(pk=run.subject)
    batch = unfinished.select_related("project").first()
    if batch is None:
        return
    unfinished.update(status=ImportBatch.Status.RUNNING)
    if batch.content == ImportBatch.Content.LABELS:
        _import_labels(run, batch, patience)
        return
    context = ImportContext(batch.project)
    adds = batch.unknown_labels == ImportBatch.UnknownLabels.ADD
    if (batch.strict or adds) and batch.rows_done == 0:
        _read_first(run, batch, context, patience)
        context = ImportContext(batch.project)
    ignores = batch.unknown_labels == ImportBatch.UnknownLabels.IGNORE
    schema = ImportSchema.of(context.schema.parsed, batch.label_map, leave_out=ignores)
    rows = islice(_rows(run, batch, schema, patience), batch.rows_done, None)
    try:
        for chunk in _chunks(rows):
            with run.chunk():
                _write_chunk(batch, context, chunk)
    except SchemaChanged as error:
        # The next worker reads the rows again, under the new schema.
        raise Postponed(error.message) from None
    if batch.created >= MANY_ROWS:
        refresh_statistics(Item, ItemState, Label, Gold)
    # Whoever resumes an import reads all rows, so that these are those of the whole file.
    left_out = [name for name, label in schema.decided.items() if not label]
    batch.mapped_values = len(schema.decided) - len(left_out)
    batch.left_out_values = len(left_out) + (len(schema.unknown) if ignores else 0)
    _end(run, batch)


def _end(run: JobRun, batch: ImportBatch) -> None:
    batch.message, batch.bytes_done = _summary(batch), batch.bytes_total
    upload = copy(batch)
    with run.last_chunk():
        _finish(batch, ImportBatch.Status.DONE)
    discard_upload(upload)


def _import_labels(run: JobRun, batch: ImportBatch, patience: float) -> None:
    """Import a file of labels, from the chunk that was reached: chunks depend on the file alone."""
    context, brings_items = ImportContext(batch.project), not has_texts(batch.project)
    refuse = refuse_after(patience)

    def wait(waited: float) -> None:
        refuse(waited)
        run.keep()

    def rows() -> Iterator[RawRow]:
        for raw in open_rows(stored_file(batch), batch.format, meanwhile=wait):
            run.keep()
            yield raw

    done = 0
    try:
        for chunk in label_chunks(rows()):
            done += len(chunk)
            if done <= batch.rows_done:
                count_repeated(context, chunk)
                continue
            with run.chunk():
                result = LabelFileResult()
                write_labels(context, chunk, result, brings_items=brings_items)
                batch.items_created += result.items_created
                batch.gold_created += result.gold_created
                reached = max(batch.bytes_done, *(raw.position for raw in chunk))
                _add_tally(batch, result.tally, rows=len(chunk), reached=reached)
    except SchemaChanged as error:
        raise Postponed(error.message) from None
    if batch.labels_created >= MANY_ROWS:
        refresh_statistics(Item, ItemState, Label, Gold)
    _end(run, batch)


def _rows(
    run: JobRun, batch: ImportBatch, schema: Schema, patience: float
) -> Iterator["Positioned"]:
    columns = ColumnMap(batch.columns)
    refuse = refuse_after(patience)

    def wait(waited: float) -> None:
        refuse(waited)
        run.keep()

    try:
        path = stored_file(batch)
    except Unavailable as error:
        logger.warning("Import %s waits: %s", batch.pk, error)
        raise Postponed(error.message, RETRY_AFTER) from error
    for raw in merge_tasks(open_rows(path, batch.format, meanwhile=wait)):
        run.keep()
        yield read_row(raw, columns, schema), raw.position, raw.size


def _chunks(rows: Iterator["Positioned"]) -> Iterator[list["Positioned"]]:
    chunk: list[Positioned] = []
    start = size = 0
    for row in rows:
        chunk.append(row)
        size += row[2]
        if len(chunk) >= CHUNK_ROWS or max(row[1] - start, size) >= CHUNK_BYTES:
            yield chunk
            chunk, start, size = [], row[1], 0
    if chunk:
        yield chunk


def _read_first(run: JobRun, batch: ImportBatch, context: ImportContext, patience: float) -> None:
    """The first of two passes of an import that is strict or adds labels: writes no items.

    Raises:
        ImportRefused: it is strict, and at least one row has a fault.
        LabelhubError: the labels cannot be added.
    """
    adds = batch.unknown_labels == ImportBatch.UnknownLabels.ADD
    schema = ImportSchema.of(context.schema.parsed, batch.label_map, leave_out=adds)
    tally = ImportTally()
    for row, _, _ in _rows(run, batch, schema, patience):
        if isinstance(row, RowError):
            tally.add_error(row)
            del tally.notes[MAX_NOTES:]
    if batch.strict and tally.failed:
        raise ImportRefused(tally)
    if adds and schema.unknown:
        if len(schema.unknown) > MAX_LABELS:
            raise InvalidInput(
                "The file has more than %(max_labels)s values that are no labels, so they "
                "were not added: import it without this column, or map them.",
                max_labels=MAX_LABELS,
            )
        add_labels(project=batch.project, names=list(schema.unknown), actor=batch.created_by)


def _write_chunk(batch: ImportBatch, context: ImportContext, chunk: list["Positioned"]) -> None:
    # One import at a time writes to a project, so that files with the same ids cannot collide.
    Project.objects.select_for_update(no_key=True).get(pk=batch.project_id)
    context.check_schema()
    tally = write_chunk(context, [row for row, _, _ in chunk], batch)
    batch.items_created += tally.created
    _add_tally(batch, tally, rows=len(chunk), reached=chunk[-1][1])


def _add_tally(batch: ImportBatch, tally: ImportTally, *, rows: int, reached: int) -> None:
    """Store the counts of a chunk, in its transaction."""
    batch.unknown = merge_unknown(batch.unknown, tally.unknown)
    room = max(0, MAX_NOTES - len(batch.errors))
    batch.errors += [note.data() for note in tally.notes[:room]]
    counts = asdict(tally)
    del counts["notes"], counts["unknown"]
    batch.bytes_done, batch.rows_done = reached, batch.rows_done + rows
    for name, count in counts.items():
        setattr(batch, name, getattr(batch, name) + count)
    batch.save(
        update_fields=["errors", "unknown", "bytes_done", "rows_done", "items_created", *counts]
    )


def _finish(batch: ImportBatch, status: ImportBatch.Status) -> None:
    batch.status, batch.stored_path, batch.finished_at = status, "", timezone.now()
    if batch.unknown:
        batch.errors = [_unknown_note(batch).data(), *batch.errors[: MAX_NOTES - 1]]
    batch.save(
        update_fields=[
            "status", "stored_path", "finished_at", "message", "bytes_done", "failed", "errors",
            "unknown", "mapped_values", "left_out_values",
        ]
    )  # fmt: skip
    if batch.notify:
        notify_end(
            user_id=batch.created_by_id,
            project=batch.project,
            kind=Notification.Kind.IMPORT,
            subject=batch.pk,
            began_at=batch.created_at,
            outcome=Notification.Outcome(status.value),
            message=batch.message,
            name=batch.file_name,
        )


def _unknown_note(batch: ImportBatch) -> Note:
    """One fault for all rows with names that are no labels."""
    found, schema = batch.unknown, current_schema(batch.project).parsed
    counts = sorted(found["values"].items(), key=lambda pair: -pair[1])
    listed = ", ".join(f"'{name}' ({count:,})" for name, count in counts[:50])
    message = Phrase(
        "%(count)s row has a value not among the labels: %(values)s. The labels are: %(labels)s. "
        "Import the file again and add, map or leave out these values.",
        "%(count)s rows have values not among the labels: %(values)s. The labels are: %(labels)s. "
        "Import the file again and add, map or leave out these values.",
        count=found["rows"],
        values=listed + (" …" if len(counts) > 50 else ""),
        labels=join_names(schema.names),
    )
    return Note(found["row"], shortened(found["field"], MAX_FIELD), message)


def _summary(batch: ImportBatch) -> Phrase:
    parts = [Phrase("%(number)s created", number=batch.created)]
    if batch.filled:
        parts.append(Phrase("%(number)s filled", number=batch.filled))
    of_items = batch.content == ImportBatch.Content.ITEMS
    if of_items and batch.unlabelled < batch.created + batch.filled:
        parts[-1] = Phrase(
            "%(items)s (%(gold)s with gold, %(unlabelled)s without a label)",
            items=parts[-1],
            gold=batch.gold_created,
            unlabelled=batch.unlabelled,
        )
    others = [
        (True, Phrase("%(number)s unchanged", number=batch.unchanged)),
        (batch.conflicts, Phrase("%(number)s in conflict", number=batch.conflicts)),
        (batch.failed, Phrase("%(number)s with faults", number=batch.failed)),
        (
            batch.mapped_values,
            Phrase("%(count)s value mapped", "%(count)s values mapped", count=batch.mapped_values),
        ),
        (
            batch.left_out_values,
            Phrase(
                "%(count)s value left out",
                "%(count)s values left out",
                count=batch.left_out_values,
            ),
        ),
    ]
    parts += [phrase for holds, phrase in others if holds]
    return Phrase(
        "Read %(count)s row: %(parts)s.",
        "Read %(count)s rows: %(parts)s.",
        count=batch.rows_done,
        parts=parts,
    )


#: A row, the bytes of the file that were read by then, and the row's own size.
Positioned = tuple[ItemRow | RowError, int, int]
