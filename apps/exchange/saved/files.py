"""The files of saved exports, below the data folder; never partial ones."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from labelhub.core.errors import LabelhubError
from labelhub.core.phrases import Phrase

FOLDER = "saved-exports"
PART = ".part"
PIECE = 1024 * 1024


class CannotStore(LabelhubError):
    """The disk refused a file."""

    code = "cannot_store"
    http_status = 507


@dataclass(frozen=True, slots=True)
class FileDigest:
    """The size and checksum of a written file."""

    size: int
    sha256: str


def path_of(name: str) -> Path:
    return Path(settings.DATA_DIR) / FOLDER / name


def write_file(name: str, pieces: Iterable[bytes], report: Callable[[int], None]) -> FileDigest:
    """Write ``pieces`` to the file ``name``; after an error no part of it is left.

    Args:
        report: called after each piece with the bytes written so far; may raise to stop.

    Raises:
        CannotStore: the disk is full, or does not take the file.
    """
    target = path_of(name)
    partial = target.with_name(name + PART)
    digest, size = hashlib.sha256(), 0
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with partial.open("wb") as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
                report(size)
            # The row must not say that it is ready after a power cut that lost the file.
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = Phrase(
                "The disk of the server is full; nothing of the file was kept. Delete saved "
                "exports that nobody needs, or ask an operator to free space, and save it again."
            )
        else:
            message = Phrase(
                "The server cannot write the file (%(reason)s); an operator has to check it.",
                reason=error.strerror,
            )
        raise CannotStore(message) from error
    finally:
        partial.unlink(missing_ok=True)
    return FileDigest(size, digest.hexdigest())


def read_file(name: str) -> Iterator[bytes]:
    """The file in pieces; FileNotFoundError if it is gone."""
    file = path_of(name).open("rb")

    def pieces() -> Iterator[bytes]:
        with file:
            while piece := file.read(PIECE):
                yield piece

    return pieces()


def checksum(name: str) -> FileDigest | None:
    """Size and SHA-256 of the file as it is now; None if it is gone."""
    try:
        with path_of(name).open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            return FileDigest(file.tell(), sha256)
    except FileNotFoundError:
        return None


def remove(name: str) -> None:
    """Delete the file; there may be none."""
    if name:
        path_of(name).unlink(missing_ok=True)


def stored_names() -> list[str]:
    """The names of all files, including unfinished ones."""
    return [path.name for path in path_of("").glob("*")]
