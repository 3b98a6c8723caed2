"""Asking for a saved export, writing it (one worker at a time, anew after a kill), deleting it."""

import logging
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.exchange.exporters import Row, export_format, export_pieces, file_name
from apps.exchange.manifests import Tally, build_manifest
from apps.exchange.models import SavedExport
from apps.exchange.saved import files
from apps.exchange.saved.looking import STALE, erasures_in, outdated
from apps.exchange.selectors import export_counts
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError

logger = logging.getLogger(__name__)

Status = SavedExport.Status
UNFINISHED = (Status.QUEUED, Status.RUNNING)
LEASE = timedelta(seconds=60)
#: Between two notes of how far it is.
PACE = 2.0
#: Of one project, that wait or are written.
AT_ONCE = 3


class LeaseLost(LabelhubError):
    """Another worker has this export now, or it was deleted."""

    code = "lease_lost"


def save_export(
    *, project: Project, actor: User | None, format_name: str, only: str = ""
) -> SavedExport:
    """Ask for an export to be written and kept; a worker does it.

    Raises:
        InvalidInput: an unknown format or ``only``, or there is nothing to export.
        Conflict: three of the project are on their way already.
    """
    wanted = export_format(format_name)
    export_pieces(project, wanted, only=only)  # refuses what it does not know, reads nothing
    counts = export_counts(project)
    total = counts["gold"] if only else counts["items"]
    if not total:
        what = "No item is decided yet" if only else "The project has no items yet"
        raise InvalidInput(f"{what}: there is nothing to save.")
    now = timezone.now()
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.saved_exports.filter(status__in=UNFINISHED).count() >= AT_ONCE:
            raise Conflict(f"{AT_ONCE} exports of this project are being saved; wait for one.")
        return SavedExport.objects.create(
            project=project,
            format=format_name,
            filters={"only": only} if only else {},
            file_name=file_name(project, wanted, only=only, tag=f"{now:%Y%m%d-%H%M%S}"),
            items_total=total,
            created_by=actor,
            created_at=now,
        )


def delete_export(*, export: SavedExport) -> None:
    """Delete the file and its row; one that is being written stops."""
    SavedExport.objects.filter(pk=export.pk).delete()
    files.remove(export.stored_name)


def unfinished_exports() -> list[int]:
    """Ids of those that no living worker writes."""
    free = SavedExport.objects.filter(_free(), status__in=UNFINISHED)
    return list(free.order_by("pk").values_list("pk", flat=True))


def run_export(export_id: int) -> None:
    """Write a queued export to its end. Safe to call twice; after a kill it begins anew.

    The outcome is in the row. Only faults of the database are raised, after which the lease lapses
    and the next worker begins anew.
    """
    export = _claim(export_id)
    if export is None:
        return
    try:
        _write(export)
    except LeaseLost:
        files.remove(export.stored_name)
        logger.warning("export %s was taken over or deleted", export_id)
    except LabelhubError as error:
        _fail(export, error.message)
    except DatabaseError:
        raise
    except Exception as error:
        logger.exception("export %s stopped", export_id)
        _fail(export, f"A fault of the server stopped it ({type(error).__name__}); save it again.")


def drop_outdated() -> None:
    """Delete the files that hold what an author had deleted since."""
    for export in outdated():
        SavedExport.objects.filter(pk=export.pk).update(
            status=Status.STALE, message=STALE, stored_name="", size=0, sha256=""
        )
        files.remove(export.stored_name)


def sweep_exports() -> None:
    """Remove files that belong to no row: their project was deleted, or a kill came between."""
    names = files.stored_names()
    if not names:
        return
    # Read after the folder: a file that was made meanwhile is not among the names.
    rows = SavedExport.objects.exclude(stored_name="").values_list("stored_name", flat=True)
    needed = set(rows)
    for name in names:
        if name.removesuffix(files.PART) not in needed:
            files.remove(name)


def _free() -> Q:
    return Q(lease_until__isnull=True) | Q(lease_until__lt=timezone.now())


def _claim(export_id: int) -> SavedExport | None:
    """One conditional update: exclusive on every database."""
    token = uuid.uuid4()
    free = SavedExport.objects.filter(_free(), pk=export_id, status__in=UNFINISHED)
    claimed = free.update(
        lease_token=token,
        lease_until=timezone.now() + LEASE,
        status=Status.RUNNING,
        stored_name=f"{export_id}-{token.hex}",
        size=0,
        items_done=0,
    )
    if not claimed:
        return None
    held = SavedExport.objects.select_related("project").filter(lease_token=token)
    return held.first()


def _held(export: SavedExport) -> "QuerySet[SavedExport]":
    return SavedExport.objects.filter(
        pk=export.pk, lease_token=export.lease_token, status=Status.RUNNING
    )


def _write(export: SavedExport) -> None:
    project, only, name = export.project, export.filters.get("only", ""), export.stored_name
    erasures, tally = erasures_in(project), Tally(project)
    pace = _Pace(export, tally)
    pieces = export_pieces(project, export_format(export.format), only=only, watch=pace.rows)
    written = files.write_file(name, pieces, pace.written)
    manifest = build_manifest(
        tally,
        format_name=export.format,
        filters=export.filters,
        created_at=export.created_at,
        file={"name": export.file_name, "bytes": written.size, "sha256": written.sha256},
    )
    if erasures_in(project) != erasures:
        # Somebody was erased while it was written: it may hold their words.
        files.remove(name)
        _held(export).update(status=Status.QUEUED, lease_until=None, lease_token=None)
        return
    _finish(
        export,
        status=Status.DONE,
        size=written.size,
        sha256=written.sha256,
        items_done=tally.items,
        items_total=tally.items,
        manifest=manifest,
        erasures=erasures,
    )
    _keep_newest(project)


class _Pace:
    """Counts what goes into the file, and now and then tells the row and renews the lease."""

    def __init__(self, export: SavedExport, tally: Tally) -> None:
        self._export, self._tally = export, tally
        self._size, self._told = 0, time.monotonic()

    def rows(self, rows: Sequence[Row]) -> None:
        """A chunk goes into the file. Raises as :meth:`written`."""
        self._tally.add(rows)
        self._tell()

    def written(self, size: int) -> None:
        """So much is in the file.

        Raises:
            LeaseLost: the export is held by another worker, or gone.
        """
        self._size = size
        self._tell()

    def _tell(self) -> None:
        if time.monotonic() - self._told < PACE:
            return
        how_far = {"size": self._size, "items_done": self._tally.items}
        if not _held(self._export).update(lease_until=timezone.now() + LEASE, **how_far):
            raise LeaseLost(f"Export {self._export.pk} is no longer held.")
        self._told = time.monotonic()


def _finish(export: SavedExport, **outcome: Any) -> None:
    ended = {"lease_until": None, "lease_token": None, "finished_at": timezone.now()}
    if not _held(export).update(**ended, **outcome):
        raise LeaseLost(f"Export {export.pk} is no longer held.")


def _fail(export: SavedExport, message: str) -> None:
    files.remove(export.stored_name)
    try:
        _finish(export, status=Status.FAILED, message=message, stored_name="", size=0)
    except LeaseLost:
        logger.warning("export %s was taken over or deleted", export.pk)


def _keep_newest(project: Project) -> None:
    """Files fill disks: of the ready ones the newest stay, and as many that came to nothing."""
    for ended in ([Status.DONE], [Status.FAILED, Status.STALE]):
        rows = project.saved_exports.filter(status__in=ended).order_by("-pk")
        for old in rows[settings.LABELHUB_SAVED_EXPORTS :]:
            delete_export(export=old)
