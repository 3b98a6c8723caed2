"""Writes a backup while servers and workers go on.

Everything in it is of one moment: SQLite's backup interface copies one state of the database, and
``pg_dump`` reads the snapshot in which rows are counted. Files are those that the rows of that
moment name.
"""

import errno
import fcntl
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from apps.common import shared_files
from apps.common.sealing import key_id
from apps.exchange.models import SavedExport
from apps.exchange.saved.files import shared_name
from apps.exchange.services.imports import unended_uploads
from apps.llm.models import Provider
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError
from labelhub.core.version import VERSION
from labelhub.management.recovery.archive import FILES, PIECE, ArchiveWriter, Manifest
from labelhub.management.recovery.sealed import count_sealed

#: The member with the database, by its vendor.
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.pgdump"}
#: The connection to a copy of an SQLite database.
COPY = "copy"


class CannotDump(LabelhubError):
    """The database cannot be copied."""

    code = "cannot_dump"


def write_backup(target: Path) -> Manifest:
    """Write the backup ``target``, readable for this account only. A partial file never has that
    name, whatever happens.

    Raises:
        InvalidInput: the file exists, or cannot be written.
        Conflict: another process is writing it.
        CannotDump: the database is empty, damaged, or ``pg_dump`` fails or is missing.
    """
    if target.exists():
        raise InvalidInput("'%(path)s' exists already.", path=str(target))
    partial = target.with_name(f".{target.name}.part")
    try:
        with _locked(partial) as file:
            archive = ArchiveWriter(file)
            manifest = _write_all(archive, partial)
            archive.finish(manifest)
            file.flush()
            os.fsync(file.fileno())
            partial.rename(target)
            sync_folder(target.parent)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise InvalidInput(
            "'%(path)s' was not written: %(reason)s.",
            path=str(target),
            reason="the disk is full" if full else error.strerror or str(error),
        ) from error
    return manifest


def sync_folder(folder: Path) -> None:
    """Let a new name in ``folder`` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(partial: Path) -> Iterator[IO[bytes]]:
    """The empty file ``partial``, which is gone afterwards unless it was renamed."""
    with os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("Another process is writing this backup.") from None
        try:
            file.truncate()  # a killed process has left it
            yield file
        finally:
            partial.unlink(missing_ok=True)


def _write_all(archive: ArchiveWriter, partial: Path) -> Manifest:
    if not connection.introspection.table_names():
        raise CannotDump("The database is empty: there is nothing to back up.")
    dump = _dump_sqlite if connection.vendor == "sqlite" else _dump_postgresql
    with dump(archive, partial) as snapshot:
        manifest = _describe(snapshot)
        names = _needed_files(snapshot.alias)
    for name in names:
        with suppress(FileNotFoundError):  # deleted since, so missed by nobody
            pieces = shared_files.read_pieces(name)
            with archive.member(FILES + name) as member:
                for piece in pieces:
                    member.write(piece)
    return manifest


def _describe(snapshot: BaseDatabaseWrapper) -> Manifest:
    rows = {}
    with snapshot.cursor() as cursor:
        for table in sorted(snapshot.introspection.table_names(cursor)):
            cursor.execute(f"SELECT COUNT(*) FROM {snapshot.ops.quote_name(table)}")  # noqa: S608
            rows[table] = cursor.fetchone()[0]
    named = Provider.objects.using(snapshot.alias).exclude(api_key_env="")
    return Manifest(
        version=VERSION,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        database=snapshot.vendor,
        migrations=sorted(MigrationRecorder(snapshot).applied_migrations()),
        rows=rows,
        sealed=count_sealed(snapshot),
        secret=key_id(settings.SECRET_KEY),
        variables=sorted(set(named.values_list("api_key_env", flat=True))),
    )


def _needed_files(alias: str) -> list[str]:
    """The files of unfinished imports and of saved exports."""
    saved = SavedExport.objects.using(alias).filter(status=SavedExport.Status.DONE)
    return [
        *unended_uploads(alias),
        *map(shared_name, saved.values_list("stored_name", flat=True)),
    ]


@contextmanager
def _dump_sqlite(archive: ArchiveWriter, partial: Path) -> Iterator[BaseDatabaseWrapper]:
    path = partial.with_suffix(".sqlite3")
    path.unlink(missing_ok=True)
    path.touch(0o600)
    try:
        with (
            closing(sqlite3.connect(connection.settings_dict["NAME"])) as source,
            closing(sqlite3.connect(path)) as copy,
        ):
            # A journal that a killed process left would be applied to the next copy.
            copy.execute("PRAGMA journal_mode=OFF")
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        check_sqlite(path)
        with path.open("rb") as file, archive.member(DATABASES["sqlite"]) as member:
            shutil.copyfileobj(file, member, PIECE)
        with sqlite_connection(path) as snapshot:
            yield snapshot
    except sqlite3.Error as error:
        raise CannotDump("The database cannot be copied: %(reason)s.", reason=str(error)) from error
    finally:
        path.unlink(missing_ok=True)


def check_sqlite(path: Path) -> None:
    """Check the structure of a database.

    Raises:
        CannotDump: it is damaged.
    """
    with closing(sqlite3.connect(path)) as copy:
        found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise CannotDump("The database is damaged: %(reason)s.", reason=found)


@contextmanager
def sqlite_connection(path: Path) -> Iterator[BaseDatabaseWrapper]:
    """A connection of Django to an SQLite file of nobody else."""
    plain = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path), "OPTIONS": {}}
    connections.databases[COPY] = connection.settings_dict | plain
    try:
        yield connections[COPY]
    finally:
        connections[COPY].close()
        del connections[COPY], connections.databases[COPY]


@contextmanager
def _dump_postgresql(archive: ArchiveWriter, _partial: Path) -> Iterator[BaseDatabaseWrapper]:
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT pg_export_snapshot()")
        command = ["pg_dump", "--format=custom", "--compress=0", "--no-owner", "--no-acl"]
        command += ["--no-comments", f"--snapshot={cursor.fetchone()[0]}"]
        with archive.member(DATABASES["postgresql"]) as member, tempfile.TemporaryFile() as errors:
            with client(*command, stdout=subprocess.PIPE, stderr=errors) as process:
                shutil.copyfileobj(cast("IO[bytes]", process.stdout), member, PIECE)
            if process.returncode:
                errors.seek(0)
                reason = errors.read().decode(errors="replace")
                raise CannotDump("pg_dump failed: %(reason)s", reason=reason)
        yield connection


@contextmanager
def client(program: str, *arguments: str, **options: Any) -> "Iterator[subprocess.Popen[bytes]]":
    """A program of PostgreSQL for our database; killed if the block fails.

    Raises:
        CannotDump: it is not installed.
    """
    access, env = connection.client.settings_to_cmd_args_env(connection.settings_dict, [])
    try:
        process = subprocess.Popen(  # noqa: S603 - the programs are ours
            [program, *arguments, *access[1:]], env=os.environ | (env or {}), **options
        )
    except FileNotFoundError:
        raise CannotDump(
            "%(program)s is not installed. Install PostgreSQL's client programs, of the server's "
            "version or a later one (Debian: apt-get install postgresql-client).",
            program=program,
        ) from None
    with process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise
