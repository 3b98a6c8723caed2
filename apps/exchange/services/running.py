"""Running an import batch: chunk by chunk, resumable, by one worker at a time."""

import logging
import math
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.common.bulk import refresh_statistics
from apps.exchange.columns import ColumnMap
from apps.exchange.readers import open_rows, refuse_after
from apps.exchange.rows import ItemRow, RowError, read_row
from apps.exchange.services.chunks import write_chunk
from apps.exchange.services.context import MAX_NOTES, ImportContext, LabelsMoved, Tally
from apps.exchange.services.uploads import discard_upload, stored_file
from apps.exchange.shapes import gathered
from apps.labels.models import Gold, ItemState, Label
from apps.projects.models import ImportBatch, Item, Project
from labelhub.core.errors import LabelhubError, Unavailable

logger = logging.getLogger(__name__)

CHUNK_ROWS = 1000
#: Long rows make short chunks: a chunk's rows are all in memory at once.
CHUNK_BYTES = 4 * 1024 * 1024
#: From here on the database plans its queries anew.
MANY_ROWS = 1000
LEASE = timedelta(seconds=60)
#: After a database error the batch is free again for the next worker that looks.
RETRY_AFTER = timedelta(seconds=10)


class LeaseLost(LabelhubError):
    """Another worker has this batch now; what this one held is rolled back."""

    code = "lease_lost"


class ImportRefused(LabelhubError):
    """A strict import found a fault: nothing was written."""

    code = "import_refused"
    http_status = 422


def unfinished_imports() -> list[int]:
    """Ids of batches that were started and that no living worker holds."""
    free = ImportBatch.objects.unfinished().filter(_free())
    return list(free.order_by("pk").values_list("pk", flat=True))


def run_import(batch_id: int, *, patience: float = math.inf) -> ImportBatch:
    """Bring a queued batch to its end, from the row it had reached.

    Safe to call twice: a batch that another worker holds, or that has ended, is left alone. Each
    chunk commits its rows together with the counts, so an abort at any point loses and doubles
    nothing. The outcome is in ``status`` and ``message``; only faults of the database are raised,
    after which the batch stays unfinished and is taken up again.

    Raises:
        Unavailable: ``patience`` seconds passed before there was a place to read the file; the
            batch stays unfinished, too.
    """
    batch = _claim(batch_id)
    if batch is not None:
        _run(batch, patience)
    return ImportBatch.objects.get(pk=batch_id)


def _run(batch: ImportBatch, patience: float) -> None:
    try:
        _import(batch, patience)
    except LeaseLost:
        logger.warning("import %s was taken over by another worker", batch.pk)
    except LabelsMoved:
        # What was read means something else now: the next worker reads it under the new labels.
        _held(batch).update(lease_until=None)
    except Unavailable:
        _held(batch).update(lease_until=None)
        raise
    except LabelhubError as error:
        _finish(batch, ImportBatch.Status.FAILED, error.message)
    except FileNotFoundError:
        _finish(batch, ImportBatch.Status.FAILED, "The uploaded file is gone; upload it again.")
    except DatabaseError:
        _held(batch).update(lease_until=timezone.now() + RETRY_AFTER)
        raise
    except Exception as error:
        logger.exception("import %s stopped", batch.pk)
        _finish(batch, ImportBatch.Status.FAILED, _words_for(error, batch.rows_done))


def _words_for(fault: Exception, rows_done: int) -> str:
    where = f"after row {rows_done:,}" if rows_done else "at the start"
    return (
        f"The import stopped {where} by a fault of the server ({type(fault).__name__}). "
        "Rows before that are in; importing the file again adds only the others."
    )


def _free() -> Q:
    return Q(lease_until__isnull=True) | Q(lease_until__lt=timezone.now())


def _claim(batch_id: int) -> ImportBatch | None:
    """One conditional update: exclusive on every database."""
    until = timezone.now() + LEASE
    free = ImportBatch.objects.unfinished().filter(_free(), pk=batch_id)
    if not free.update(lease_until=until, status=ImportBatch.Status.RUNNING):
        return None
    return ImportBatch.objects.select_related("project").get(pk=batch_id)


def _held(batch: ImportBatch) -> "QuerySet[ImportBatch]":
    """The batch's row, provided that the lease is still ours."""
    return ImportBatch.objects.filter(pk=batch.pk, lease_until=batch.lease_until)


def _import(batch: ImportBatch, patience: float) -> None:
    context = ImportContext(batch.project)
    if batch.strict and batch.rows_done == 0:
        _refuse_faults(batch, context, patience)
    rows = islice(_rows(batch, context, patience), batch.rows_done, None)
    for chunk in _chunks(rows):
        _commit_chunk(batch, context, chunk)
    if batch.created >= MANY_ROWS:
        refresh_statistics(Item, ItemState, Label, Gold)
    _finish(batch, ImportBatch.Status.DONE, _summary(batch))


def _rows(batch: ImportBatch, context: ImportContext, patience: float) -> Iterator["Positioned"]:
    columns, schema = ColumnMap(batch.columns), context.schema.parsed
    refuse = refuse_after(patience)

    def wait(waited: float) -> None:
        refuse(waited)
        _keep(batch)

    for raw in gathered(open_rows(stored_file(batch), batch.format, meanwhile=wait)):
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


def _refuse_faults(batch: ImportBatch, context: ImportContext, patience: float) -> None:
    """The first of two passes of a strict import: reads everything, writes nothing.

    Raises:
        ImportRefused: at least one row has a fault.
    """
    tally = Tally()
    for row, _, _ in _rows(batch, context, patience):
        if isinstance(row, RowError):
            tally.fail(row.row, row.field, row.message)
            del tally.notes[MAX_NOTES:]
        _keep(batch)
    if tally.failed:
        batch.failed, batch.errors = tally.failed, [note.to_json() for note in tally.notes]
        rows = "1 row has a fault" if tally.failed == 1 else f"{tally.failed:,} rows have faults"
        raise ImportRefused(f"Nothing was imported, as asked for (strict): {rows}.")


def _keep(batch: ImportBatch) -> None:
    """Renew the lease in time."""
    now = timezone.now()
    if batch.lease_until is not None and batch.lease_until - now > LEASE * 2 / 3:
        return
    until = now + LEASE
    if not _held(batch).update(lease_until=until):
        raise LeaseLost(f"Import {batch.pk} is held by another worker.")
    batch.lease_until = until


def _commit_chunk(batch: ImportBatch, context: ImportContext, chunk: list["Positioned"]) -> None:
    until = timezone.now() + LEASE
    with transaction.atomic():
        # One import at a time writes to a project: two files with the same ids cannot collide.
        Project.objects.select_for_update(no_key=True).get(pk=batch.project_id)
        context.check_schema()
        tally = write_chunk(context, [row for row, _, _ in chunk], batch)
        counts = asdict(tally)
        notes = counts.pop("notes")
        room = MAX_NOTES - len(batch.errors)
        errors = batch.errors + notes[: max(0, room)]
        written = _held(batch).update(
            lease_until=until,
            bytes_done=chunk[-1][1],
            rows_done=batch.rows_done + len(chunk),
            errors=errors,
            **{name: F(name) + count for name, count in counts.items()},
        )
        if not written:
            raise LeaseLost(f"Import {batch.pk} is held by another worker.")
    batch.lease_until, batch.errors = until, errors
    batch.rows_done += len(chunk)
    for name, count in counts.items():
        setattr(batch, name, getattr(batch, name) + count)


def _finish(batch: ImportBatch, status: ImportBatch.Status, message: str) -> None:
    ended: dict[str, Any] = {
        "status": status,
        "message": message,
        "lease_until": None,
        "stored_path": "",
    }
    if status == ImportBatch.Status.DONE:
        ended["bytes_done"] = batch.bytes_total
    else:
        ended |= {"failed": batch.failed, "errors": batch.errors}
    if _held(batch).update(finished_at=timezone.now(), **ended):
        discard_upload(batch)


def _summary(batch: ImportBatch) -> str:
    parts = [f"{batch.created:,} created"]
    parts += [f"{batch.filled:,} filled"] if batch.filled else []
    parts += [f"{batch.unchanged:,} unchanged"]
    parts += [f"{batch.conflicts:,} in conflict"] if batch.conflicts else []
    parts += [f"{batch.failed:,} with faults"] if batch.failed else []
    rows = "1 row" if batch.rows_done == 1 else f"{batch.rows_done:,} rows"
    return f"Read {rows}: {', '.join(parts)}."


#: A row, how many bytes of the file were read by then, and the row's own size.
Positioned = tuple[ItemRow | RowError, int, int]
