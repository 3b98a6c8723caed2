"""Files that all servers and workers see: below the data folder, or in a bucket.

With ``LABELHUB_FILES_URL`` the bucket has the files, and the data folder copies of those that this
machine has written or read, as readers need a path. Names are relative to either.
"""

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from labelhub.core.errors import Unavailable

logger = logging.getLogger(__name__)

PIECE = 1024 * 1024
#: Of a copy that is being fetched.
FETCHED = ".fetched"
SWEEP_SECONDS = 600.0
#: Folder → moment of its next sweep by this process.
_due: dict[str, float] = {}


class _Reported(File):  # type: ignore[type-arg]  # of bytes
    """Calls ``report`` while it is read."""

    def __init__(self, file: IO[bytes], report: Callable[[], object]) -> None:
        super().__init__(file)
        self._file, self._report = file, report

    def read(self, *args: Any) -> bytes:
        self._report()
        return self._file.read(*args)


def in_bucket() -> bool:
    """Whether the files are in a bucket."""
    return bool(settings.LABELHUB_FILES_URL)


def local_path(name: str) -> Path:
    """The place of a file, or of this machine's copy, which may not be there."""
    return Path(settings.DATA_DIR) / name


def name_of(path: Path) -> str:
    """The name of a file below the data folder."""
    return str(path.relative_to(settings.DATA_DIR))


def publish(path: Path, report: Callable[[], object] = bool) -> None:
    """Let all machines see a file of the data folder, whole or not at all.

    Args:
        report: called again and again; may raise to stop.

    Raises:
        Unavailable: the bucket does not take it.
    """
    if in_bucket():
        with path.open("rb") as file:
            default_storage.save(name_of(path), _Reported(file, report))


def local_copy(name: str) -> Path:
    """The path of a file on this machine.

    Raises:
        FileNotFoundError: it is gone.
        Unavailable: the bucket does not answer.
    """
    path = local_path(name)
    if path.exists() or not in_bucket():
        return path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Several threads may fetch it at once.
    partial = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}{FETCHED}")
    try:
        with partial.open("wb") as file:
            for piece in read_pieces(name):
                file.write(piece)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def read_pieces(name: str) -> Iterator[bytes]:
    """The content of a file; raises as :func:`local_copy`, also while iterating."""
    if in_bucket():
        return iter(default_storage.pieces(name, PIECE))  # type: ignore[attr-defined]  # apps/common/s3.py
    file = local_path(name).open("rb")

    def pieces() -> Iterator[bytes]:
        with file:
            while piece := file.read(PIECE):
                yield piece

    return pieces()


def delete(name: str) -> None:
    """Delete a file that no row names any more; there may be none. A bucket that does not answer
    keeps it until the next sweep (:func:`names_in`)."""
    local_path(name).unlink(missing_ok=True)
    if in_bucket():
        try:
            default_storage.delete(name)
        except Unavailable as error:
            logger.warning("%s was not deleted: %s", name, error)


def is_due(folder: str) -> bool:
    """Whether housekeeping looks at a folder now: always on the disk, every ten minutes in a
    bucket."""
    now = time.monotonic()
    if in_bucket() and now < _due.get(folder, 0.0):
        return False
    _due[folder] = now + SWEEP_SECONDS
    return True


def names_in(folder: str) -> list[str]:
    """The names of all files in a folder, of copies too, without the folder's."""
    local = {path.name for path in local_path(folder).glob("*")}
    return sorted(local | set(default_storage.listdir(folder)[1] if in_bucket() else ()))


def age_of(name: str) -> float:
    """Unix time of the last change, also of a copy; FileNotFoundError if it is gone."""
    path = local_path(name)
    if path.exists() or not in_bucket():
        return path.stat().st_mtime
    return default_storage.get_modified_time(name).timestamp()


def restore(name: str, content: IO[bytes]) -> None:
    """Put a file of a backup in its place, unless it is there: names are used once."""
    path = local_path(name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(path.name + FETCHED)
    try:
        with partial.open("wb") as file:
            shutil.copyfileobj(content, file, PIECE)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    publish(path)
