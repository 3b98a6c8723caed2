"""The files of saved exports, in the shared files; never partial ones."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from apps.common import shared_files
from labelhub.core.errors import LabelhubError
from labelhub.core.phrases import Phrase

FOLDER = "saved-exports"
PART = ".part"


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
    return shared_files.local_path(shared_name(name))


def shared_name(name: str) -> str:
    """The name of a file among the shared files."""
    return f"{FOLDER}/{name}"


def write_file(name: str, pieces: Iterable[bytes], report: Callable[[int], None]) -> FileDigest:
    """Write ``pieces`` to the file ``name``; after an error no part of it is left.

    Args:
        report: called after each piece with the bytes written so far; may raise to stop.

    Raises:
        Unavailable: the bucket for files does not take it.
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
        shared_files.publish(target, lambda: report(size))
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
        if shared_files.in_bucket():
            target.unlink(missing_ok=True)
    return FileDigest(size, digest.hexdigest())


def read_file(name: str) -> Iterator[bytes]:
    """The file in pieces; FileNotFoundError if it is gone."""
    return shared_files.read_pieces(shared_name(name))


def checksum(name: str) -> FileDigest | None:
    """Size and SHA-256 of the file as it is now; None if it is gone."""
    try:
        pieces = read_file(name)
    except FileNotFoundError:
        return None
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return FileDigest(size, digest.hexdigest())


def remove(name: str) -> None:
    """Delete the file; there may be none."""
    if name:
        shared_files.delete(shared_name(name))


def stored_names() -> list[str]:
    """The names of all files, including unfinished ones."""
    return shared_files.names_in(FOLDER)
