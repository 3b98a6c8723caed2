"""Counters that survive their process, shared by the processes of one machine.

Each process writes its numbers to memory-mapped files of its own slot, by prometheus_client's mode
for several processes; whichever process is scraped adds up all slots. A slot belongs to the process
that holds the lock of its file, so the kernel frees it when the process ends. The successor in a
slot continues its counters: sums never fall while any process lives, and the number of files is
that of the processes that ran at once. The first process of all begins at zero.
"""

import fcntl
import logging
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from prometheus_client import values
from prometheus_client.multiprocess import MultiProcessCollector

logger = logging.getLogger(__name__)

#: The files of a slot, and their first sizes in bytes. They are written in full: a page that a full
#: disk cannot hold would end the process by a signal.
FILES = {"counter": 1024**2, "histogram": 2 * 1024**2, "gauge_livesum": 64 * 1024}
#: prometheus_client finds its folder by this variable.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
#: Folders of other machines, such as ended containers, are deleted after so many seconds.
OLD = 86_400.0
MOST_SLOTS = 500


@dataclass(frozen=True, slots=True)
class LiveProcess:
    """A running process: its slot, process id and role (``web``, ``worker`` or ``command``)."""

    slot: str
    pid: int
    role: str


@dataclass(slots=True)
class _Claim:
    """This process's slot. ``lock`` stays open as long as the process runs."""

    pid: int = 0
    slot: str = ""
    lock: int = -1
    role: str = "command"


_claim = _Claim()


def set_role(role: str) -> None:
    """Name what this process does; before its first number."""
    _claim.role = role


def show_process() -> None:
    """Claim a slot now, so that this process is seen before its first number."""
    try:
        claim_slot()
    except OSError as error:
        logger.error("Metrics: this process has no slot (%s)", error)


def folder() -> Path:
    """The folder of this machine's processes."""
    return settings.DATA_DIR / "metrics" / (socket.gethostname() or "localhost")


def claim_slot() -> str:
    """This process's slot, claimed on first use and anew after a fork.

    Raises:
        OSError: the folder cannot be written, for example because the disk is full.
    """
    if _claim.pid == os.getpid():
        return _claim.slot
    place = folder()
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(place / "claim.lock"):
        number, lock = _take_lock(place)
        if not any(live_processes()):
            for file in place.glob("*.db"):
                file.unlink()
            _forget_old_machines(place.parent)
        for file in place.glob(f"gauge_*_{number}.db"):
            file.unlink()
        for name, size in FILES.items():
            _write_in_full(place / f"{name}_{number}.db", size)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()} {_claim.role}".encode(), 0)
    _claim.pid, _claim.slot, _claim.lock = os.getpid(), str(number), lock
    return _claim.slot


def live_processes() -> Iterator[LiveProcess]:
    """The processes of this machine that hold a slot, in their slots' order."""
    for path in sorted(folder().glob("*.lock"), key=lambda path: (len(path.name), path.name)):
        pid, _, role = _read(path).partition(" ")
        # A process that it has started may hold the lock a little longer.
        if pid.isdigit() and _exists(int(pid)) and _is_locked(path):
            yield LiveProcess(path.stem, int(pid), role)


class SlotsCollector:
    """Adds up the numbers of all slots; gauges only of processes that live."""

    def collect(self) -> Iterator[Any]:
        """The metrics of this machine's processes."""
        live = {process.slot for process in live_processes()}
        files = [
            str(file)
            for file in sorted(folder().glob("*.db"))
            if (not file.name.startswith("gauge") or file.stem.rpartition("_")[2] in live)
            # A process that was killed while it claimed its slot leaves an empty file.
            and file.stat().st_size
        ]
        yield from MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]


def use_slots() -> None:
    """Have metrics write to slots from now on. Claims none: a command that counts nothing, such as
    ``migrate``, needs none."""
    os.environ[VARIABLE] = str(folder())
    values.ValueClass = _value_class()


def _value_class() -> Any:
    first = True

    def identify() -> str:
        nonlocal first
        if first:  # asked when the class is made
            first = False
            return ""
        try:
            return claim_slot()
        except OSError:
            if not _claim.slot:
                raise
            return _claim.slot  # a fork on a full disk: better inexact than no request answered

    shared = values.MultiProcessValue(identify)  # type: ignore[no-untyped-call]
    alone = values.MutexValue
    warned = False

    def make(*args: Any, **kwargs: Any) -> Any:
        nonlocal warned
        try:
            return shared(*args, **kwargs)
        except OSError as error:
            if not warned:
                logger.error("Metrics count in this process only: %s", error)
            warned = True
            return alone(*args, **kwargs)  # type: ignore[no-untyped-call]

    return make


def _take_lock(place: Path) -> tuple[int, int]:
    for number in range(1, MOST_SLOTS):
        lock = os.open(place / f"{number}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            os.ftruncate(lock, 0)
            return number, lock
    raise OSError(f"{MOST_SLOTS} processes have a slot in {place} already")


def _write_in_full(path: Path, size: int) -> None:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(file).st_size < size:
            os.posix_fallocate(file, 0, size)
    finally:
        os.close(file)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _is_locked(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(lock)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another account
        pass
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _forget_old_machines(place: Path) -> None:
    for other in place.iterdir():
        newest = max((file.stat().st_mtime for file in other.glob("*")), default=0.0)
        locked = any(_is_locked(path) for path in other.glob("*.lock"))
        if other != folder() and not locked and time.time() - newest > OLD:
            with suppress(OSError):
                shutil.rmtree(other)
