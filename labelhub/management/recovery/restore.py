"""Checks a backup and replaces the database by it, at once and only when it is whole."""

import fcntl
import os
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, cast

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from apps.common import shared_files
from apps.common.holds import hold
from apps.common.sealing import key_id, key_ids
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.version import VERSION
from labelhub.management.recovery.archive import FILES, Archive, DamagedBackup, Manifest
from labelhub.management.recovery.backup import (
    DATABASES,
    CannotDump,
    check_sqlite,
    client,
    sqlite_connection,
    sync_folder,
)

#: Seconds. PostgreSQL needs a moment to end the connections of a process that was stopped.
OTHERS_MAY_TAKE = 10
#: Removes what is in the database, except extensions and what belongs to them.
_DROP_ALL = """
DO $$ DECLARE found record; BEGIN
  FOR found IN
    SELECT format('DROP %s IF EXISTS %s CASCADE',
      CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
        ELSE 'TABLE' END, c.oid::regclass) AS command
    FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r','p','v','m','S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e','i'))
    UNION ALL
    SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)
    FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP EXECUTE found.command; END LOOP;
END $$;
"""


#: Within the transaction of the restore, so that no kill leaves a database that is not held.
_HOLD = "INSERT INTO public.common_hold (id, since) VALUES (1, now()) ON CONFLICT DO NOTHING;\n"


def _knows_holds(manifest: Manifest) -> bool:
    return "common_hold" in manifest.rows


def check_backup(manifest: Manifest, *, replace: bool, ignore_keys: bool) -> list[str]:
    """What speaks against restoring here; empty if nothing does."""
    found = []
    if manifest.database != connection.vendor:
        found.append(
            f"It is a backup of {manifest.database}, and this server uses {connection.vendor}: "
            "set DATABASE_URL to a database of that kind."
        )
    ours = {label for label, _ in MigrationLoader(None).disk_migrations}
    known = set(MigrationLoader(None).disk_migrations)
    later = [f"{label}.{name}" for label, name in manifest.migrations
             if label in ours and (label, name) not in known]  # fmt: skip
    if later:
        found.append(
            f"It was made by another version, LabelHub {manifest.version} with the migration "
            f"{min(later)}, and this is {VERSION} without it: install that version."
        )
    if not replace and not _is_empty():
        found.append("The database here is not empty: say --replace to lose what is in it.")
    lost = lost_values(manifest)
    if lost and not ignore_keys:
        kinds = ", ".join(f"{name}: {count}" for name, count in lost.items())
        found.append(
            f"The keys of this server do not open {sum(lost.values())} encrypted values "
            f"({kinds}). Set LABELHUB_TEXT_KEYS to this server's key, a comma and the "
            "LABELHUB_TEXT_KEYS (or, if it had none, the LABELHUB_SECRET_KEY) of the server that "
            "made the backup. If those are lost, --ignore-keys restores all other data."
        )
    return found


def lost_values(manifest: Manifest) -> dict[str, int]:
    """Column → number of values that could be read where the backup was made, but not here."""
    ours = {"", *key_ids()}
    lost = {
        column: sum(count for key, count in keys.items() if key not in ours)
        for column, keys in manifest.sealed.items()
    }
    return {column: count for column, count in lost.items() if count}


def remarks_on(manifest: Manifest) -> list[str]:
    """What an operator should know of a backup that can be restored."""
    found = []
    if missing := [name for name in manifest.variables if not os.environ.get(name)]:
        found.append(
            f"Providers read their keys from variables that are not set here: {', '.join(missing)}."
        )
    if unreadable := sum(keys.get("", 0) for keys in manifest.sealed.values()):
        found.append(f"{unreadable} encrypted values were unreadable already in the backup.")
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if manifest.secret not in map(key_id, secrets):
        found.append("LABELHUB_SECRET_KEY differs: people have to sign in again.")
    return found


def restore(archive: Archive) -> None:
    """Replace the database by that of ``archive``, and add its files.

    Until the end the old data stays; afterwards all is new, migrated and held (see
    :mod:`apps.common.holds`). A killed process leaves one or the other, and files that nothing
    names, which workers delete.

    Raises:
        Conflict: a server or worker uses the database.
        DamagedBackup, CannotDump, InvalidInput: it cannot be restored; nothing has changed.
    """
    try:
        with _no_server():
            if connection.vendor == "sqlite":
                _restore_sqlite(archive)
            else:
                _restore_postgresql(archive)
            if set(MigrationLoader(None).disk_migrations) - set(archive.manifest.migrations):
                # Servers refuse an older database, so none has started meanwhile.
                call_command("migrate", verbosity=0, interactive=False)
                hold()
    except OSError as error:
        raise InvalidInput("Nothing was restored: %(reason)s.", reason=str(error)) from error


@contextmanager
def _no_server() -> Iterator[None]:
    """Hold the lock of the data folder, so that no server starts."""
    with (settings.DATA_DIR / "server.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("A server uses this data folder: stop it first.") from None
        yield


def _is_empty() -> bool:
    """No tables, or no accounts and projects."""
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for table in sorted(tables & {"accounts_user", "projects_project"}):
            cursor.execute(f"SELECT COUNT(*) FROM {table}")  # noqa: S608 - two names
            if cursor.fetchone()[0]:
                return False
    return not tables or "projects_project" in tables


def _restore_files(archive: Archive) -> None:
    for name in archive.manifest.members:
        target = name.removeprefix(FILES)
        if target == name:
            continue
        with tempfile.NamedTemporaryFile(dir=settings.SPOOL_DIR) as file:
            archive.copy(name, file)
            file.seek(0)
            shared_files.restore(target, file)


def _restore_sqlite(archive: Archive) -> None:
    target = Path(connection.settings_dict["NAME"])
    fresh = target.with_name(f".{target.name}.restoring")
    fresh.unlink(missing_ok=True)
    fresh.touch(0o600)
    try:
        with fresh.open("wb") as file:
            archive.copy(DATABASES["sqlite"], file)
            file.flush()
            os.fsync(file.fileno())
        check_sqlite(fresh)
        with sqlite_connection(fresh) as restored, restored.cursor() as cursor:
            for table, count in archive.manifest.rows.items():
                cursor.execute(f'SELECT COUNT(*) FROM "{table}"')  # noqa: S608 - of the manifest
                if cursor.fetchone()[0] != count:
                    raise DamagedBackup("The backup has not all rows of %(name)s.", name=table)
            if _knows_holds(archive.manifest):
                hold(restored.alias)
        _restore_files(archive)
        connection.close()
        _swap(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)


def _swap(fresh: Path, target: Path) -> None:
    """Put ``fresh`` in the place of the database ``target``."""
    try:
        with closing(sqlite3.connect(target, timeout=1, isolation_level=None)) as old:
            # Without a write-ahead log, which would be applied to the new file, and alone.
            old.execute("PRAGMA journal_mode=DELETE")
            old.execute("BEGIN EXCLUSIVE")
            fresh.replace(target)
            sync_folder(target.parent)
    except sqlite3.DatabaseError as error:
        raise Conflict(
            "The database here cannot be replaced (%(reason)s). Stop servers and workers first; if "
            "it is damaged, move its file away.",
            reason=str(error),
        ) from error


def _restore_postgresql(archive: Archive) -> None:
    until = time.monotonic() + OTHERS_MAY_TAKE
    while others := _other_connections():
        if time.monotonic() > until:
            raise Conflict(
                "%(count)s other connections use the database: stop servers and workers first.",
                count=others,
            )
        time.sleep(0.2)
    _restore_files(archive)
    with tempfile.TemporaryFile() as errors:
        try:
            _run_restore(archive, errors)
        except (BrokenPipeError, subprocess.CalledProcessError) as error:
            errors.seek(0)
            reason = errors.read().decode(errors="replace") or str(error)
            raise CannotDump("The database was not restored: %(reason)s", reason=reason) from error
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _other_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])


def _run_restore(archive: Archive, errors: IO[bytes]) -> None:
    """One transaction, which only a whole backup commits: without COMMIT psql rolls back."""
    psql = ("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")
    pg_restore = ("pg_restore", "--no-owner", "--no-acl", "--no-comments", "--exit-on-error")
    nowhere, pipe = subprocess.DEVNULL, subprocess.PIPE
    with client(*psql, stdin=pipe, stdout=nowhere, stderr=errors) as process:
        script = cast("IO[bytes]", process.stdin)
        script.write(f"BEGIN;\nSET LOCAL lock_timeout = '30s';\n{_DROP_ALL}".encode())
        script.flush()
        with (
            subprocess.Popen(  # noqa: S603 - a program of PostgreSQL
                [*pg_restore, "--file=-"], stdin=pipe, stdout=script, stderr=errors
            ) as reader,
            cast("IO[bytes]", reader.stdin) as dump,
        ):
            archive.copy(DATABASES["postgresql"], dump)
        _check_end(reader)
        script.write(_count_check(archive.manifest.rows).encode())
        if _knows_holds(archive.manifest):
            script.write(_HOLD.encode())
        script.write(b"COMMIT;\n")
        script.close()
    _check_end(process)


def _check_end(process: "subprocess.Popen[bytes]") -> None:
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)


def _count_check(rows: Mapping[str, int]) -> str:
    checks = "".join(
        f'IF (SELECT COUNT(*) FROM public."{table}") <> {count} THEN '  # noqa: S608 - as above
        f"RAISE EXCEPTION 'not all rows of {table}'; END IF;\n"
        for table, count in rows.items()
    )
    return f"DO $$ BEGIN\n{checks}END $$;\n"
