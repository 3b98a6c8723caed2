"""Writes an archive: a zip file with one file of JSON lines per table, and a manifest.

    manifest.json           format, version, source, and for each table its columns, number of
                            rows, lowest and highest key, size and SHA-256
    labels.Label.jsonl      one list per row, in the order of the manifest's columns
    accounts.User.jsonl     the people that rows name, by user name alone

It is read in a transaction of its own, so that all rows are of one moment, however long it takes.
"""

import hashlib
import json
import socket
import zipfile
from array import array
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from django.db import connection, connections
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.exchange.archive.tables import (
    JSON_KEYS,
    MODEL,
    PROVIDER,
    SHARED,
    Table,
    shared_tables,
    tables,
    translate_json,
)
from apps.exchange.archive.values import writer_of
from apps.exchange.exporters.base import FileFormat, Sink
from apps.projects.models import Project
from labelhub.core.version import NAME, VERSION

#: The version of the file format.
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
#: Rows that are read at once.
AT_ONCE = 1000
COMPRESSION = 3
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


#: How saved exports call it; :class:`ProjectArchive` writes it.
ARCHIVE = FileFormat(
    name="archive",
    title=_("Project archive (.zip)"),
    suffix=".zip",
    content_type="application/zip",
    group=_("The whole project, for another LabelHub"),
)


class ProjectArchive:
    """The archive of one project.

    Attributes:
        share: how much is written, 0 to 1.
        manifest: what the file says of itself; complete once it is written.
    """

    def __init__(self, project: Project) -> None:
        self._project, self._rows, self._total = project, 0, 1
        #: Shared rows that others refer to, by table.
        self._needed: defaultdict[str, set[int]] = defaultdict(set)
        self.manifest: dict[str, Any] = {
            "format": FORMAT_VERSION,
            "software": {"name": NAME, "version": VERSION},
            "server": socket.gethostname(),
            "project": {"slug": project.slug, "name": project.name},
            "created_at": timezone.now().isoformat(),
            "tables": {},
        }

    @property
    def share(self) -> float:
        return min(1.0, self._rows / self._total)

    def pieces(self) -> Iterator[bytes]:
        """The file in pieces, in bounded memory. A thread reads: its connection holds one snapshot
        of the database, while the caller's may write its progress."""
        source = self._write()
        with ThreadPoolExecutor(1, "project-archive") as thread:
            try:
                while (piece := thread.submit(next, source, None).result()) is not None:
                    yield piece
            finally:
                thread.submit(source.close).result()

    def _write(self) -> Generator[bytes, None, None]:
        sink, keys = Sink(), {}
        with (
            _snapshot(),
            zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive,
        ):
            for table in tables():
                keys[table.name] = self._keys(table)
                yield b""  # whoever writes the file renews its lease
            self._total = sum(map(len, keys.values())) or 1
            for table in tables():
                yield from self._write_table(archive, sink, table, keys.pop(table.name))
            # Models name providers.
            for table in sorted(shared_tables(), key=lambda table: table.name != MODEL):
                found = array("q", sorted(self._needed[table.name]))
                yield from self._write_table(archive, sink, table, found)
            archive.writestr(MANIFEST, json.dumps(self.manifest, ensure_ascii=False, indent=1))
        yield sink.taken()

    def _keys(self, table: Table) -> "array[int]":
        """The keys of its rows, in order. They are sorted here, as a database would sort whole
        rows, in memory."""
        rows = table.rows.filter(**{table.path: self._project.pk}).order_by()
        return array("q", sorted(rows.values_list("pk", flat=True).iterator(chunk_size=AT_ONCE)))

    def _write_table(
        self, archive: zipfile.ZipFile, sink: Sink, table: Table, keys: "array[int]"
    ) -> Iterator[bytes]:
        digest, size, written = hashlib.sha256(), 0, 0
        with archive.open(table.member, "w", force_zip64=True) as member:
            for start in range(0, len(keys), AT_ONCE):
                rows = self._read(table, keys[start : start + AT_ONCE])
                lines = "".join(f"{_encode(row)}\n" for row in rows).encode()
                member.write(lines)
                digest.update(lines)
                size += len(lines)
                # JSON may name shared rows that are gone.
                written += len(rows)
                self._rows += len(rows)
                yield sink.taken()
        self.manifest["tables"][table.name] = {
            "columns": [column.name for column in table.fields],
            "rows": written,
            "first": keys[0] if keys else 0,
            "last": keys[-1] if keys else 0,
            "bytes": size,
            "sha256": digest.hexdigest(),
        }

    def _read(self, table: Table, keys: Sequence[int]) -> list[list[Any]]:
        """Rows ready for JSON, in the order of their keys."""
        columns = [column.attname for column in table.fields]
        found = table.rows.filter(pk__in=list(keys)).values_list(*columns)
        rows = [list(row) for row in found.order_by("pk")]
        for place, column in enumerate(table.fields):
            if writer := writer_of(column):
                for row in rows:
                    row[place] = None if row[place] is None else writer(row[place])
            target = table.references.get(place, "")
            if target in SHARED or target in (MODEL, PROVIDER):
                self._needed[target].update(filter(None, map(itemgetter(place), rows)))
            if spec := JSON_KEYS.get(str(column)):
                for row in rows:
                    translate_json(row[place], spec, self._note)
        return rows

    def _note(self, target: str, key: int) -> int:
        if target in SHARED:
            self._needed[target].add(key)
        return key


def record_archive(
    project: Project, actor: User | None, archive: ProjectArchive, sha256: str
) -> None:
    """Record a written archive in the audit log."""
    stated = archive.manifest["tables"]
    rows = sum(table["rows"] for table in stated.values())
    changes = {"rows": (None, rows), "sha256": (None, sha256)}
    record(Action.PROJECT_EXPORTED, project, actor=actor, changes=changes)


@contextmanager
def _snapshot() -> Iterator[None]:
    """All that this thread reads is of one moment; nobody waits for it."""
    postgresql = connection.vendor == "postgresql"
    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if postgresql else "BEGIN DEFERRED"
    with connection.cursor() as cursor:
        cursor.execute(begin)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
        connections.close_all()
