"""The file format of backups: a tar file with compressed members, a manifest and a checksum.

``database.sqlite3.gz`` or ``database.pgdump.gz``, ``files/….gz``, ``manifest.json``, and at last
``SHA256``, the checksum of all bytes before it. ``tar`` and ``gunzip`` open it without LabelHub.
Its end follows from the checksum, so no changed byte goes unnoticed.
"""

import gzip
import hashlib
import json
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol, cast

from labelhub.core.errors import InvalidInput, LabelhubError

FORMAT = 1
MANIFEST, CHECKSUM, FILES, PACKED = "manifest.json", "SHA256", "files/", ".gz"
PIECE = 1024 * 1024
#: More is compressed little further, in far more time.
COMPRESSION = 1
_TAIL = 4 * tarfile.BLOCKSIZE


class DamagedBackup(LabelhubError):
    """The file is no whole backup."""

    code = "damaged_backup"


class Sink(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take all of ``data``."""


@dataclass(frozen=True, slots=True)
class Content:
    """Size and checksum of a member before it was compressed."""

    bytes: int
    sha256: str


@dataclass(slots=True, kw_only=True)
class Manifest:
    """What is in a backup.

    ``rows``: table → number of rows. ``sealed``: column → id of a key → number of values that it
    decrypts, under "" those that no key of the server decrypted. ``secret``: id of the server's
    secret key. ``variables``: names of environment variables with the keys of providers.
    ``members``: name in the archive, without ``.gz`` → content.
    """

    format: int = FORMAT
    version: str
    created_at: str
    database: str
    migrations: list[tuple[str, str]]
    rows: dict[str, int]
    sealed: dict[str, dict[str, int]]
    secret: str
    variables: list[str]
    members: dict[str, Content] = field(default_factory=dict)


class _Counted:
    """Passes bytes on, and counts and digests them."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes) -> int:
        self._sink.write(data)
        self._digest.update(data)
        self._size += len(data)
        return len(data)

    def content(self) -> Content:
        return Content(self._size, self._digest.hexdigest())


class ArchiveWriter:
    """Writes a backup into an empty file that is open for reading and writing."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._members: dict[str, Content] = {}

    @contextmanager
    def member(self, name: str) -> Iterator[Sink]:
        """Add what is written within the block under ``name``."""
        start = self._file.tell()
        self._file.write(bytes(tarfile.BLOCKSIZE))
        with gzip.GzipFile("", "wb", COMPRESSION, self._file, mtime=0) as packed:
            counted = _Counted(packed)
            yield counted
        end = self._file.tell()
        self._file.write(bytes(-end % tarfile.BLOCKSIZE))
        # Only now its size is known.
        self._file.seek(start)
        self._file.write(_header(name + PACKED, end - start - tarfile.BLOCKSIZE))
        self._file.seek(0, os.SEEK_END)
        self._members[name] = counted.content()

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest and the checksum."""
        manifest.members = self._members
        text = json.dumps(asdict(manifest), indent=1, ensure_ascii=False).encode()
        self._file.write(_header(MANIFEST, len(text)) + text)
        self._file.write(bytes(-len(text) % tarfile.BLOCKSIZE))
        self._file.flush()
        self._file.seek(0)
        self._file.write(_tail(_digest(self._file, self._file.seek(0, os.SEEK_END))))


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info.tobuf(tarfile.GNU_FORMAT)


def _tail(digest: bytes) -> bytes:
    text = digest.hex().encode()
    padding = bytes(3 * tarfile.BLOCKSIZE - len(text))
    return _header(CHECKSUM, len(text)) + text + padding


def _digest(file: IO[bytes], size: int) -> bytes:
    """SHA-256 of the first ``size`` bytes; the file is left there."""
    digest = hashlib.sha256()
    file.seek(0)
    while left := size - file.tell():
        piece = file.read(min(left, PIECE))
        if not piece:
            break
        digest.update(piece)
    return digest.digest()


class Archive:
    """A whole backup, checked to the last byte when it is opened."""

    def __init__(self, path: Path) -> None:
        """Open and check ``path``.

        Raises:
            DamagedBackup: it is no backup, or damaged, or cut short.
            OSError: it cannot be read.
        """
        self.path = path
        with path.open("rb") as file:
            size = max(0, file.seek(0, os.SEEK_END) - _TAIL)
            if _tail(_digest(file, size)) != file.read():
                raise DamagedBackup(
                    "'%(path)s' is no whole backup of LabelHub: it is damaged, cut short or "
                    "another file.",
                    path=str(path),
                )
        self._tar = tarfile.open(path, "r:")  # noqa: SIM115 - as long as this object
        self.manifest = _read_manifest(json.loads(self._member(MANIFEST).read()))

    def _member(self, name: str) -> IO[bytes]:
        return cast("IO[bytes]", self._tar.extractfile(name))

    def copy(self, name: str, sink: Sink) -> None:
        """Write the content of a member to ``sink``.

        Raises:
            DamagedBackup: it has changed since the archive was opened.
        """
        counted = _Counted(sink)
        with gzip.open(self._member(name + PACKED)) as file:
            while piece := file.read(PIECE):
                counted.write(piece)
        if counted.content() != self.manifest.members[name]:
            raise DamagedBackup("'%(name)s' in the backup is damaged.", name=name)


def _read_manifest(data: dict[str, Any]) -> Manifest:
    if data["format"] != FORMAT:
        raise InvalidInput(
            "The backup was written by LabelHub %(version)s in another format; restore it with "
            "that version.",
            version=data["version"],
        )
    data["migrations"] = [(label, name) for label, name in data["migrations"]]
    data["members"] = {name: Content(**content) for name, content in data["members"].items()}
    return Manifest(**data)
