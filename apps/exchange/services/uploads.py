"""From bytes to an import batch: the file is kept below the data folder until it is done."""

import uuid
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common.jobs import start_job
from apps.exchange.columns import CHOOSABLE
from apps.exchange.readers import format_of
from apps.projects.models import ImportBatch, Project
from labelhub.core.errors import Conflict, InvalidInput

KIND = "exchange.import"
FOLDER = "imports"
MAX_BYTES = 20 * 1024**3
STALE_AFTER = timedelta(days=1)


def store_upload(pieces: Iterable[bytes]) -> Path:
    """Write ``pieces`` to a new file below the data folder and return where.

    Raises:
        InvalidInput: more than MAX_BYTES; nothing is kept.
    """
    folder = settings.DATA_DIR / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path: Path = folder / uuid.uuid4().hex
    size = 0
    try:
        with path.open("wb") as file:
            for piece in pieces:
                size += len(piece)
                if size > MAX_BYTES:
                    raise InvalidInput(f"The file exceeds {MAX_BYTES // 1024**3} GB; split it.")
                file.write(piece)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def receive_upload(
    *, project: Project, actor: User | None, path: Path, file_name: str, content_type: str = ""
) -> ImportBatch:
    """A batch for a stored file; it waits for the choice of columns.

    Raises:
        UnreadableFile: empty or of an unknown kind; the stored file is removed.
    """
    try:
        forget_stale_uploads(project)
        name = format_of(file_name, path, content_type)
        return ImportBatch.objects.create(
            project=project,
            file_name=_plain_name(file_name),
            stored_path=str(path.relative_to(settings.DATA_DIR)),
            format=name,
            bytes_total=path.stat().st_size,
            created_by=actor,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def forget_stale_uploads(project: Project) -> None:
    """Remove uploads whose columns nobody chose."""
    before = timezone.now() - STALE_AFTER
    for batch in project.imports.filter(status=ImportBatch.Status.UPLOADED, created_at__lt=before):
        cancel_upload(batch)


def sweep_uploads() -> None:
    """Remove old files that no import needs: their project was deleted, or a kill came between the
    file and its row. Cheap enough for a look every few seconds."""
    folder = settings.DATA_DIR / FOLDER
    before = (timezone.now() - STALE_AFTER).timestamp()
    old = [path for path in folder.glob("*") if path.stat().st_mtime < before]
    if not old:
        return
    ended = [ImportBatch.Status.DONE, ImportBatch.Status.FAILED]
    unended = ImportBatch.objects.exclude(status__in=ended)
    needed = set(unended.values_list("stored_path", flat=True))
    for path in old:
        if str(path.relative_to(settings.DATA_DIR)) not in needed:
            path.unlink(missing_ok=True)


def cancel_upload(batch: ImportBatch) -> None:
    """Forget an upload that was not started."""
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
    send: bool = True,
) -> ImportBatch:
    """Settle the choice of columns; a worker imports the file, or with ``send=False`` the caller
    (:func:`run_import`).

    Raises:
        Conflict: it was started already.
        InvalidInput: a field that cannot be chosen.
    """
    chosen = dict(columns or {})
    unknown = next((field for field in chosen if field not in CHOOSABLE), None)
    if unknown is not None:
        raise InvalidInput(f"'{unknown}' cannot be chosen; fields are {', '.join(CHOOSABLE)}.")
    waiting = ImportBatch.objects.filter(pk=batch.pk, status=ImportBatch.Status.UPLOADED)
    with transaction.atomic():
        if not waiting.update(columns=chosen, strict=strict, status=ImportBatch.Status.QUEUED):
            raise Conflict("This import was started already.")
        start_job(KIND, batch.pk, send=send)
    batch.refresh_from_db()
    return batch


def stored_file(batch: ImportBatch) -> Path:
    """Where the batch's file is."""
    return Path(settings.DATA_DIR) / batch.stored_path


def discard_upload(batch: ImportBatch) -> None:
    """Remove the stored file; there may be none any more."""
    if batch.stored_path:
        stored_file(batch).unlink(missing_ok=True)


def _plain_name(file_name: str) -> str:
    """Only the last part, fit for a page and the database."""
    name = Path(file_name.replace("\\", "/")).name
    return "".join(char for char in name if char.isprintable())[:255] or "upload"
