"""Imports of archives: checked as a whole, then loaded in chunks that a kill can interrupt. Until
the last chunk nobody sees the project."""

import hashlib
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common import shared_files
from apps.common.audit import Action, record
from apps.common.bulk import refresh_statistics
from apps.common.jobs import (
    RETRY_AFTER,
    JobRun,
    Postponed,
    cancel_job,
    failure_message,
    job,
    start_job,
    work_on,
)
from apps.common.queues import HEAVY
from apps.exchange.archive.file import ArchiveFile, ContentCheck, RefusedArchive
from apps.exchange.archive.loader import (
    CHUNK,
    MOST_NAMES,
    Loader,
    People,
    delete_loaded,
    slug_for,
)
from apps.exchange.archive.tables import PROJECT
from apps.exchange.models import ProjectImport
from apps.exchange.services.imports import discard_file
from apps.projects.models import Project
from labelhub.core.errors import Conflict, InvalidInput, NotFound, Unavailable
from labelhub.core.phrases import Phrase, join_sentences

KIND = "exchange.import_project"
Status = ProjectImport.Status
#: Imports that may wait or work at once.
CONCURRENT = 3


def request_import(
    *,
    path: Any,
    file_name: str,
    actor: User | None,
    slug: str = "",
    dry_run: bool = False,
    match_people: bool = True,
    send: bool = True,
) -> ProjectImport:
    """Have a worker import a stored archive; with ``send=False`` the caller does
    (:func:`run_import`). An archive that cannot be opened is refused at once, and deleted.

    Raises:
        RefusedArchive: it is none.
        InvalidInput: the slug is malformed or taken.
        Conflict: three imports are unfinished.
    """
    try:
        archive = ArchiveFile(path)
        archive.close()
        row = ProjectImport(
            file_name="".join(filter(str.isprintable, file_name))[:255],
            stored_path=shared_files.name_of(path),
            slug=slug.strip(),
            dry_run=dry_run,
            match_people=match_people,
            rows_total=sum(member.rows for member in archive.members.values()),
            created_by=actor,
        )
        _check_slug(row.slug)
        with transaction.atomic():
            if ProjectImport.objects.exclude(status__in=ProjectImport.ENDED).count() >= CONCURRENT:
                raise Conflict("%(number)s archives are being imported; wait.", number=CONCURRENT)
            row.save(force_insert=True)
            start_job(KIND, row.pk, send=send)
            record(Action.IMPORT_STARTED, row, actor=actor, changes={"format": (None, "archive")})
    except BaseException:
        discard_file(path)
        raise
    return row


def _check_slug(slug: str) -> None:
    try:
        if slug:
            ProjectImport._meta.get_field("slug").run_validators(slug)
    except ValidationError as error:
        raise InvalidInput.at("slug", " ".join(error.messages)) from None
    if slug and Project.objects.filter(slug=slug).exists():
        raise InvalidInput.at(
            "slug", "There is already a project '%(slug)s'; choose another.", slug=slug
        )


def project_import(import_id: int) -> ProjectImport:
    """One import; NotFound if there is none."""
    found = ProjectImport.objects.select_related("project").filter(pk=import_id).first()
    if found is None:
        raise NotFound("There is no import %(import_id)s.", import_id=str(import_id))
    return found


def run_import(row: ProjectImport) -> ProjectImport:
    """Do it here, from where it was; see :func:`apps.common.jobs.work_on`."""
    work_on(KIND, row.pk)
    if ProjectImport.objects.filter(pk=row.pk, status=Status.UNDOING).exists():
        work_on(KIND, row.pk)
    return project_import(row.pk)


def cancel_import(row: ProjectImport) -> None:
    """Stop an import; a worker deletes what was loaded."""
    with transaction.atomic():
        cancel_job(KIND, row.pk)
        locked = ProjectImport.objects.select_for_update().get(pk=row.pk)
        if not locked.moving or locked.status == Status.UNDOING:
            raise Conflict("This import has ended already.")
        fail_import(row.pk, InvalidInput("It was stopped."))
        record(Action.IMPORT_STOPPED, row)


def fail_import(import_id: int, error: Exception) -> None:
    """Store why, and have what was loaded deleted again."""
    row = ProjectImport.objects.get(pk=import_id)
    if isinstance(error, FileNotFoundError):
        row.message = Phrase("The uploaded file is gone; upload it again.")
    elif row.status == Status.UNDOING:
        row.message = join_sentences(
            row.message, Phrase("Not all of it could be deleted; see the server's log.")
        )
    else:
        row.message = failure_message(error)
    if "shifts" in row.cursor and row.status != Status.UNDOING:
        row.status = Status.UNDOING
        start_job(KIND, row.pk)
        row.save(update_fields=["status", "message"])
    else:
        _end(row, Status.FAILED)


def _end(row: ProjectImport, status: Status) -> None:
    """With the transaction, which also has the stored archive deleted."""
    if row.stored_path:
        transaction.on_commit(partial(shared_files.delete, row.stored_path))
    row.status, row.finished_at, row.stored_path, row.cursor = status, timezone.now(), "", {}
    row.save()


@job(KIND, fail=fail_import, queue=HEAVY)
def import_project(run: JobRun) -> None:
    """Check all of the archive, then load it; or delete what was loaded."""
    unended = ProjectImport.objects.exclude(status__in=ProjectImport.ENDED)
    row = unended.filter(pk=run.subject).first()
    if row is None:
        return
    try:
        if row.status == Status.UNDOING:
            delete_loaded(run, row)
            with run.last_chunk():
                Project.objects.filter(pk=row.project_id or 0).delete()
                row.project = None
                _end(row, Status.FAILED)
        else:
            _read(run, row)
    except (IntegrityError, DataError) as error:
        # Not an outage of the database: the rows contradict each other.
        raise RefusedArchive(
            "Rows of the archive contradict each other: %(reason)s", reason=str(error)[:300]
        ) from error


def _read(run: JobRun, row: ProjectImport) -> None:
    try:
        archive = ArchiveFile(shared_files.local_copy(row.stored_path))
    except Unavailable as error:
        raise Postponed(error.message, RETRY_AFTER) from error
    try:
        if row.status != Status.LOADING:
            _check(run, row, archive)
        if not row.dry_run:
            _load(run, row, archive)
    finally:
        archive.close()


def _check(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    """Read everything once. Nothing is written but what people are told."""
    with run.chunk(further=False):
        row.status, row.rows_done = Status.CHECKING, 0
        row.save(update_fields=["status", "rows_done"])
    content, done = ContentCheck(), 0
    for name in archive.members:
        for _ in archive.rows(name, content=content):
            done += 1
            if done % CHUNK == 0:
                run.keep()
            if done % (20 * CHUNK) == 0:
                ProjectImport.objects.filter(pk=row.pk).update(rows_done=done)
    digest = hashlib.sha256()
    with shared_files.local_copy(row.stored_path).open("rb") as file:
        while piece := file.read(1024**2):
            digest.update(piece)
            run.keep()
    project = next(archive.rows(PROJECT))
    table = archive.members[PROJECT].table
    row.slug = row.slug or slug_for(project[table.named("slug")])
    row.result = _findings(row, archive) | {"sha256": digest.hexdigest()}
    if row.dry_run:
        with run.last_chunk():
            row.message = Phrase("The archive can be imported; nothing was changed.")
            _end(row, Status.DONE)
        return
    with run.chunk():
        row.status, row.rows_done = Status.LOADING, 0
        row.save(update_fields=["status", "rows_done", "slug", "result"])


def _findings(row: ProjectImport, archive: ArchiveFile) -> dict[str, Any]:
    """What people are told before and after."""
    people = People(row, archive)
    return {
        "software": archive.software,
        "server": str(archive.manifest.get("server", ""))[:200],
        "exported_at": str(archive.manifest.get("created_at", ""))[:40],
        "slug": row.slug,
        "counts": {name: member.rows for name, member in archive.members.items() if member.rows},
        "people_found": sorted(people.found)[:MOST_NAMES],
        "people_missing": sorted(people.missing)[:MOST_NAMES],
        "models_missing": [],
        "sites": [],
        "rows_left_out": 0,
    }


def _load(run: JobRun, row: ProjectImport, archive: ArchiveFile) -> None:
    loader = Loader(run, row, archive)
    loader.reserve()
    loader.load()
    large = [member.table.model for member in archive.members.values() if member.rows >= CHUNK]
    refresh_statistics(*large)
    with run.last_chunk():
        loader.finish()
        row.message = Phrase("%(rows)s rows were loaded.", rows=row.rows_done)
        _end(row, Status.DONE)
        record(
            Action.PROJECT_IMPORTED,
            row.project,
            actor=row.created_by,
            changes={
                "file": (None, row.file_name),
                "sha256": (None, row.result["sha256"]),
                "rows": (None, row.rows_done),
            },
        )
