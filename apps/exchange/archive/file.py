"""Reads an archive that a stranger may have made: nothing is unpacked, and memory is bounded.

The members are those that LabelHub writes, and each is what the manifest says: its rows, bytes and
checksum. A fault names the member and the row.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from apps.exchange.archive.export import FORMAT_VERSION, MANIFEST
from apps.exchange.archive.tables import (
    GOLD,
    LABEL,
    LOG,
    PROJECT,
    PROMPT,
    USER,
    Table,
    shared_tables,
    tables,
)
from apps.exchange.archive.values import BadValue, Check, reader_of
from labelhub.core.debate.routing import read_rule
from labelhub.core.echo.events import from_json
from labelhub.core.echo.recommending.catalogue import read_item
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.features import parse_feature
from labelhub.core.phrases import Phrase
from labelhub.core.prompts import parse_prompt
from labelhub.core.schema import Schema, parse_schema, unstorable
from labelhub.core.schema.operations import parse_operations
from labelhub.core.version import VERSION

#: Bytes of the longest row, which takes fifty times as much memory, and of the manifest.
LONGEST_LINE, LONGEST_MANIFEST = 8 * 1024**2, 1024**2
#: Rows of people, providers, models and prompts together, which are kept in memory.
MOST_SHARED = 20_000
#: A table's keys lie within so many numbers, as that many are reserved.
WIDEST = 10**11
#: Rows shrink to a tenth or a hundredth, and never to less than this share.
SMALLEST_SHARE = 1 / 400


_Row = Mapping[str, Any]


class RefusedArchive(LabelhubError):
    """The file is no archive that this server can load."""

    code = "refused_archive"
    http_status = 422


class _Bounded(io.FileIO):
    """A file of which nothing reads much at once, whatever its directory says."""

    def read(self, size: int | None = -1) -> bytes:
        """As of FileIO; BadZipFile if it is too much."""
        wanted = LONGEST_MANIFEST + 1 if size is None or size < 0 else size
        found = super().read(min(wanted, LONGEST_MANIFEST + 1)) or b""
        if len(found) > LONGEST_MANIFEST:
            raise zipfile.BadZipFile  # its directory is too long
        return found


@dataclass(frozen=True, slots=True)
class Member:
    """A table of the archive. ``places``: of each column of the table its place in a row of the
    file, or None for one that the file does not have."""

    table: Table
    rows: int
    first: int
    last: int
    size: int
    sha256: str
    places: tuple[int | None, ...]
    width: int

    def has(self, key: int) -> bool:
        """Whether a row may have this key."""
        return bool(self.rows) and self.first <= key <= self.last


class ArchiveFile:
    """An open archive.

    Attributes:
        manifest: of the project, software and server; see :mod:`apps.exchange.archive.export`.
        row_size: bytes of the row that was read last.
        members: by name of the table, in the order of loading.
    """

    def __init__(self, path: Path) -> None:
        """Raises RefusedArchive: it is none, or one of a later version."""
        self.row_size, self._bytes = 0, path.stat().st_size
        with _faults_of(MANIFEST):
            self._zip = zipfile.ZipFile(_Bounded(path))
            self.manifest = self._read_manifest()
        known = {table.name: table for table in (*shared_tables(), *tables())}
        stated = self.manifest.get("tables")
        if not isinstance(stated, dict) or not stated:
            raise RefusedArchive("manifest.json: it lists no tables.")
        if unknown := sorted(set(stated) - set(known)):
            raise self._too_new(unknown[0])
        names = sorted(info.filename for info in self._zip.infolist())
        if names != sorted([MANIFEST, *(known[name].member for name in stated)]):
            raise RefusedArchive("The archive does not hold the files that manifest.json lists.")
        self.members = {
            name: self._member(table, stated[name])
            for name, table in known.items()
            if name in stated
        }
        if PROJECT not in self.members or self.members[PROJECT].rows != 1:
            raise RefusedArchive("An archive holds one project.")
        shared = [self.members[table.name] for table in shared_tables() if table.name in stated]
        if sum(member.rows for member in shared) > MOST_SHARED:
            raise RefusedArchive(
                "The archive names more than %(most)s people, models and prompts.", most=MOST_SHARED
            )

    def close(self) -> None:
        self._zip.close()

    def _read_manifest(self) -> dict[str, Any]:
        if MANIFEST not in self._zip.namelist():
            raise RefusedArchive("This is no project archive: it has no manifest.json.")
        with self._zip.open(MANIFEST) as member:
            manifest = json.loads(member.read(LONGEST_MANIFEST))
        if (
            not isinstance(manifest, dict)
            or not isinstance(manifest.get("project"), dict)
            or not isinstance(manifest.get("software"), dict)
        ):
            raise RefusedArchive("manifest.json: it is of another form.")
        if bad := unstorable(json.dumps(manifest, ensure_ascii=False)):
            raise RefusedArchive("manifest.json: it has %(bad)s.", bad=bad)
        self.software = str(manifest["software"].get("version", ""))[:40]
        if manifest.get("format") != FORMAT_VERSION:
            raise self._too_new("")
        return manifest

    def _too_new(self, what: str) -> RefusedArchive:
        return RefusedArchive(
            "LabelHub %(theirs)s made this archive in a form that this server, %(ours)s, does not "
            "know%(what)s. Upgrade this server to that version, or export the project with a "
            "version that is not newer.",
            theirs=self.software,
            ours=VERSION,
            what=f" ({what[:100]})" if what else "",
        )

    def _member(self, table: Table, stated: Any) -> Member:
        columns, rows, first, last, size, sha256 = _stated(table.name, stated)
        ours = [column.name for column in table.fields]
        if unknown := [str(name) for name in columns if name not in ours]:
            raise self._too_new(f"{table.name}.{unknown[0]}")
        for column in table.fields:
            if column.name not in columns and not (column.null or column.has_default()):
                raise RefusedArchive(
                    "%(name)s lacks the column %(column)s.", name=table.name, column=column.name
                )
        info = self._zip.getinfo(table.member)
        if last - first >= WIDEST or rows > last - first + 1:
            raise RefusedArchive("manifest.json: %(name)s has no such keys.", name=table.name)
        if (
            info.file_size != size
            or info.compress_size < size * SMALLEST_SHARE - 65_536
            or info.header_offset + info.compress_size > self._bytes
        ):
            raise RefusedArchive("%(name)s is not as large as it should be.", name=table.member)
        packed = info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if packed or info.flag_bits & 1:  # or encrypted
            raise RefusedArchive("%(name)s is packed in an unknown way.", name=table.member)
        places = tuple(columns.index(name) if name in columns else None for name in ours)
        return Member(table, rows, first, last, size, sha256, places, len(columns))

    def rows(
        self, name: str, *, after: int = 0, content: "ContentCheck | None" = None
    ) -> Iterator[list[Any]]:
        """The rows of a table as lists of values of its columns, without the first ones; the
        checksum is that of all rows. ``content`` checks what they mean.

        Raises:
            RefusedArchive: names what is wrong, and in which row.
        """
        member = self.members[name]
        check = RowCheck(member, self.members, content)
        digest, number = hashlib.sha256(), 0
        with _faults_of(member.table.member), self._zip.open(member.table.member) as packed:
            file = io.BufferedReader(cast("io.RawIOBase", packed), 1024**2)
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                digest.update(line)
                if len(line) > LONGEST_LINE or number > member.rows:
                    raise RefusedArchive(
                        "%(name)s, row %(number)s: it is too long, or one too many.",
                        name=member.table.member,
                        number=number,
                    )
                self.row_size = len(line)
                if number > after:
                    yield check(line, number)
        if number != member.rows or digest.hexdigest() != member.sha256:
            raise RefusedArchive(
                "%(name)s was changed or damaged: its checksum or its number of rows is another "
                "one. Copy the file again.",
                name=member.table.member,
            )


class RowCheck:
    """Turns the lines of a member into rows."""

    def __init__(
        self, member: Member, members: Mapping[str, Member], content: "ContentCheck | None"
    ) -> None:
        self._member, self._members, self._last = member, members, 0
        self._content = content
        table = member.table
        self._checks: list[Check] = [reader_of(column) for column in table.fields]
        self._key = table.fields.index(table.model._meta.pk)

    def __call__(self, line: bytes, number: int) -> list[Any]:
        """Raises RefusedArchive: a value cannot be."""
        table, column = self._member.table, ""
        try:
            raw = json.loads(line)
            if not isinstance(raw, list) or len(raw) != self._member.width:
                raise BadValue(Phrase("has another number of columns"))
            row = []
            for place, field in enumerate(table.fields):
                column = field.name
                source = self._member.places[place]
                value = field.get_default() if source is None else self._checks[place](raw[source])
                row.append(value)
                target = table.references.get(place)
                if target is not None and value is not None:
                    self._check_reference(target, value, row[self._key] if place else 0)
            column = ""
            self._check_key(row[self._key])
            if self._content is not None:
                self._content.check(table, row)
        except (BadValue, ValueError, RecursionError) as error:
            words = error.args[0] if isinstance(error, BadValue) else Phrase("is no row")
            raise RefusedArchive(
                "%(name)s, row %(number)s%(column)s: %(words)s",
                name=table.member,
                number=number,
                column=f", {column}" if column else "",
                words=words,
            ) from None
        return row

    def _check_key(self, key: int) -> None:
        if key <= self._last or not self._member.has(key):
            raise BadValue(Phrase("its key is out of order"))
        self._last = key

    def _check_reference(self, target: str, key: int, own: int) -> None:
        member = self._members.get(target)
        if member is None or not member.has(key):
            raise BadValue(Phrase("it refers to a row that the archive does not have"))
        if member is self._member and own and key >= own:
            raise BadValue(Phrase("it refers to a later row"))


class ContentCheck:
    """What rows mean: the checks that types and lengths of columns do not make. In the order of
    loading, as labels are checked by the schemas before them."""

    def __init__(self) -> None:
        self._schemas: dict[int, Schema] = {}
        self._names: set[str] = set()
        #: Values that were found canonical, by their schema.
        self._canonical: set[tuple[int, str]] = set()
        self._checks: dict[str, Callable[[_Row], object]] = {
            USER: self._check_person,
            PROMPT: _check_prompt,
            LABEL: self._check_value,
            GOLD: self._check_value,
            LOG: lambda row: from_json(row["kind"], row["ref"], row["data"]),
            "echo.CatalogueItem": lambda row: read_item(row["definition"]),
            "authors.Feature": lambda row: parse_feature(row["definition"]),
            "debates.RoutingRule": lambda row: read_rule(row["definition"]),
            "projects.LabelSchema": self._keep_schema,
            "projects.SchemaChange": lambda row: (
                row["operations"] and parse_operations(row["operations"])
            ),
        }

    def check(self, table: Table, row: list[Any]) -> None:
        """Raises BadValue: the row cannot be."""
        check = self._checks.get(table.name)
        if check is None:
            return
        names = [column.name for column in table.fields]
        try:
            check(dict(zip(names, row, strict=True)))
        except LabelhubError as error:
            raise BadValue(error.message) from None

    def _keep_schema(self, row: _Row) -> None:
        self._schemas[row["id"]] = parse_schema(row["definition"])

    def _check_person(self, row: _Row) -> None:
        if row["username"] in self._names:
            raise BadValue(Phrase("the user name comes twice"))
        self._names.add(row["username"])

    def _check_value(self, row: _Row) -> None:
        value, schema = row["value"], self._schemas[row["schema"]]
        if value is None:
            return
        if schema.task.item_options:
            if not isinstance(value, str):
                raise BadValue(Phrase("the value is no text"))
            return
        known = (row["schema"], json.dumps(value))
        if known not in self._canonical:
            if schema.normalise(value) != value:
                raise BadValue(Phrase("the value is not as LabelHub stores it"))
            if len(self._canonical) < 10_000:
                self._canonical.add(known)


def _check_prompt(row: _Row) -> None:
    """A prompt that every project shares is what its hash says."""
    if parse_prompt(row["name"], row["body"]).hash != row["hash"]:
        raise BadValue(Phrase("its text is not that of its hash"))


def _stated(name: str, stated: Any) -> tuple[list[str], int, int, int, int, str]:
    """What the manifest says of a table."""
    keys = {"columns": list, "rows": int, "first": int, "last": int, "bytes": int, "sha256": str}
    found: list[Any] = [stated.get(key) for key in keys] if isinstance(stated, dict) else []
    if (
        list(map(type, found)) != list(keys.values())
        or min(found[1:5]) < 0
        or len(set(map(str, found[0]))) < len(found[0])
    ):
        raise RefusedArchive("manifest.json: %(name)s is of another form.", name=name)
    return tuple(found)


@contextmanager
def _faults_of(name: str) -> Iterator[None]:
    try:
        yield
    except (
        zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, RecursionError,
    ) as error:  # fmt: skip
        if isinstance(error, FileNotFoundError):
            raise
        raise RefusedArchive(
            "%(name)s cannot be read: the file is no whole project archive. Copy it again.",
            name=name,
        ) from None
