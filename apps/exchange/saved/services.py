"""Requests, writes and deletes saved exports; one worker writes, from the start after a kill."""

import logging
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.authors.models import Erasure
from apps.common import shared_files
from apps.common.audit import Action, record
from apps.common.jobs import (
    RETRY_AFTER,
    JobRun,
    LeaseLost,
    Postponed,
    cancel_job,
    failure_message,
    job,
    start_job,
)
from apps.common.queues import HEAVY
from apps.exchange.archive.export import ARCHIVE, ProjectArchive, record_archive
from apps.exchange.archive.tables import ITEM
from apps.exchange.exporters import (
    export_format,
    export_pieces,
    exported_items,
    file_name,
    next_cursor,
)
from apps.exchange.exporters.base import FileFormat
from apps.exchange.manifests import ExportTally, build_manifest
from apps.exchange.models import SavedExport
from apps.exchange.saved import files
from apps.projects.models import Notification, Project
from apps.projects.notifications import notify_end
from apps.projects.selectors import get_project
from labelhub.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from labelhub.core.phrases import Phrase, join_sentences

logger = logging.getLogger(__name__)

READY = SavedExport.Status.DONE


def erasures_in(project: Project) -> int:
    """How many of the project's authors had their data deleted.

    A count, as the earlier of two simultaneous erasures may become visible later. Deleting a site
    deletes its erasures too, which also changes the count.
    """
    return Erasure.objects.filter(site__project=project).count()


def saved_exports(project: Project) -> "QuerySet[SavedExport]":
    return project.saved_exports.select_related("created_by")


def saved_export(project: Project, export_id: int) -> SavedExport:
    """One of the project's; NotFound if there is none."""
    found = saved_exports(project).filter(pk=export_id).first()
    if found is None:
        raise NotFound(
            "The project %(project)s has no saved export %(export_id)s.",
            project=project,
            export_id=str(export_id),
        )
    return found


def ready_export(project: Project, export_id: int) -> SavedExport:
    """A saved export whose file can be downloaded.

    Raises:
        NotFound: there is none.
        Conflict: it is not ready, or an author's data was deleted since.
    """
    found = saved_export(project, export_id)
    if found.status == READY and found.erasures != erasures_in(project):
        raise Conflict(STALE)
    if found.status != READY:
        words = found.message or Phrase("It is not written yet.")
        raise Conflict(join_sentences(Phrase("There is no file to download."), words))
    return found


def readable_export(user: User, project: Project, export_id: int) -> SavedExport:
    """The same, for a download by ``user``. An archive is for managers: it has what authors wrote.

    Raises:
        Forbidden: it is an archive, and they are none.
    """
    export = ready_export(project, export_id)
    if export.format == ARCHIVE.name:
        get_project(user, project.slug, Right.MANAGE)
    return export


STALE = Phrase(
    "An author's data was deleted after this file was begun, so the file was deleted as well. "
    "Save the export again: it will hold the current data."
)


Status = SavedExport.Status
UNFINISHED = (Status.QUEUED, Status.RUNNING)
KIND = "exchange.save_export"
#: Seconds between two updates of the progress.
PACE = 2.0
#: Exports of one project that may wait or be written at once.
AT_ONCE = 3


def saved_format(name: str) -> FileFormat:
    """A format that is saved: those of :func:`export_format`, and the archive."""
    return ARCHIVE if name == ARCHIVE.name else export_format(name)


def save_export(
    *,
    project: Project,
    actor: User | None,
    format_name: str,
    filters: Mapping[str, Any] | None = None,
) -> SavedExport:
    """Request an export that a worker writes and keeps.

    Raises:
        InvalidInput: an unknown format, filters that cannot be used, or there is nothing to export.
        Conflict: three exports of the project are unfinished.
    """
    wanted, filters = saved_format(format_name), dict(filters or {})
    if wanted is ARCHIVE and filters:
        raise InvalidInput.at("format", "An archive holds the whole project: take no part of it.")
    total = exported_items(project, filters).count()
    if not total and wanted is not ARCHIVE:
        raise InvalidInput("No item fits, so there is nothing to save.")
    now = timezone.now()
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.saved_exports.filter(status__in=UNFINISHED).count() >= AT_ONCE:
            raise Conflict(
                "%(at_once)s exports of this project are being saved; wait for one.",
                at_once=AT_ONCE,
            )
        export = SavedExport.objects.create(
            project=project,
            format=format_name,
            filters=filters,
            file_name=file_name(project, wanted, filters=filters, tag=f"{now:%Y%m%d-%H%M%S}"),
            items_total=total,
            created_by=actor,
            created_at=now,
        )
        start_job(KIND, export.pk)
        record(
            Action.EXPORT_SAVED,
            export,
            changes={"format": (None, format_name), "items": (None, total)},
        )
    return export


def delete_export(*, export: SavedExport) -> None:
    with transaction.atomic():
        cancel_job(KIND, export.pk)
        if SavedExport.objects.filter(pk=export.pk).delete()[0]:
            record(Action.EXPORT_DELETED, export)
    files.remove(export.stored_name)


def fail_export(export_id: int, error: Exception) -> None:
    export = SavedExport.objects.get(pk=export_id)
    files.remove(export.stored_name)
    message = failure_message(error, Phrase("Save it again."))
    _end(export, Status.FAILED, message, stored_name="", size=0)


@job(KIND, fail=fail_export, queue=HEAVY)
def write_export(run: JobRun) -> None:
    """Write a queued export; after a kill it starts again, with another file."""
    export = SavedExport.objects.select_related("project").filter(pk=run.subject).first()
    if export is None or export.status not in UNFINISHED:
        return
    with run.chunk(further=False):
        export.status, export.stored_name = Status.RUNNING, f"{export.pk}-{run.token.hex}"
        export.size = export.items_done = 0
        export.save(update_fields=["status", "stored_name", "size", "items_done"])
    try:
        _write(run, export)
    except LeaseLost:
        files.remove(export.stored_name)
        raise
    except Unavailable as error:
        logger.warning("Saved export %s waits: %s", export.pk, error)
        raise Postponed(error.message, RETRY_AFTER) from error


def drop_outdated() -> None:
    """Delete the files that hold data of an erased author."""
    erased = Erasure.objects.filter(site__project=OuterRef("project")).order_by()
    counted = erased.values("site__project").annotate(n=Count("pk")).values("n")
    ready = SavedExport.objects.filter(status=READY)
    known = ready.annotate(now=Coalesce(Subquery(counted), 0))
    for export in known.exclude(erasures=F("now")):
        SavedExport.objects.filter(pk=export.pk).update(
            status=Status.STALE, message=STALE, stored_name="", size=0, sha256=""
        )
        files.remove(export.stored_name)


def keep_exports() -> None:
    """Delete outdated files, and those without a row, whose project was deleted or whose worker was
    killed."""
    drop_outdated()
    if not shared_files.is_due(files.FOLDER):
        return
    names = files.stored_names()
    if not names:
        return
    # Read after the folder: a file that was created meanwhile is not among the names.
    rows = SavedExport.objects.exclude(stored_name="").values_list("stored_name", flat=True)
    needed = set(rows)
    for name in names:
        if name.removesuffix(files.PART) not in needed:
            files.remove(name)


def _write(run: JobRun, export: SavedExport) -> None:
    project, name = export.project, export.stored_name
    erasures, tally = erasures_in(project), ExportTally(project)
    since = next_cursor(project, export.filters)
    archive = ProjectArchive(project) if export.format == ARCHIVE.name else None
    saved_at = time.monotonic()

    def report(size: int) -> None:
        """Every few seconds update the row and the lease."""
        nonlocal saved_at
        if time.monotonic() - saved_at < PACE:
            return
        with run.chunk(further=False):
            done = tally.items if archive is None else int(archive.share * export.items_total)
            export.size, export.items_done = size, done
            export.save(update_fields=["size", "items_done"])
        saved_at = time.monotonic()

    if archive is not None:
        written = files.write_file(name, archive.pieces(), report)
        manifest, items = archive.manifest, archive.manifest["tables"][ITEM]["rows"]
    else:
        wanted = export_format(export.format)
        pieces = export_pieces(project, wanted, filters=export.filters, watch=tally.add)
        written, items = files.write_file(name, pieces, report), tally.items
        manifest = build_manifest(
            tally,
            format_name=export.format,
            filters=export.filters,
            created_at=export.created_at,
            since=since,
            file={"name": export.file_name, "bytes": written.size, "sha256": written.sha256},
        )
    if erasures_in(project) != erasures:
        # The file may hold data of an author who was erased while it was written.
        files.remove(name)
        raise Postponed("An author was erased meanwhile.")
    with run.last_chunk():
        _end(
            export,
            Status.DONE,
            "",
            size=written.size,
            sha256=written.sha256,
            items_done=items,
            items_total=items,
            manifest=manifest,
            erasures=erasures,
        )
        if archive is not None:
            record_archive(project, export.created_by, archive, written.sha256)
    _delete_older(project)


def _delete_older(project: Project) -> None:
    """Files fill disks: only the newest ready ones are kept, and as many that failed."""
    for ended in ([Status.DONE], [Status.FAILED, Status.STALE]):
        rows = project.saved_exports.filter(status__in=ended).order_by("-pk")
        for old in rows[settings.LABELHUB_SAVED_EXPORTS :]:
            delete_export(export=old)


def _end(export: SavedExport, status: SavedExport.Status, message: str, **fields: Any) -> None:
    SavedExport.objects.filter(pk=export.pk).update(
        status=status, message=message, finished_at=timezone.now(), **fields
    )
    notify_end(
        user_id=export.created_by_id,
        project=export.project,
        kind=Notification.Kind.EXPORT,
        subject=export.pk,
        began_at=export.created_at,
        outcome=Notification.Outcome(status.value),
        message=message,
        name=export.file_name,
    )


def drop_files(**_signal: Any) -> None:
    """Delete saved files after the erasure of an author. If this fails, a worker does it later."""
    transaction.on_commit(drop_outdated, robust=True)
