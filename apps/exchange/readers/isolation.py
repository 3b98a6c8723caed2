"""Reads a file in a separate process, which ends with the file.

That frees the memory, which is limited to ``MAX_MEMORY``. The process has no secrets and no
database; it gets the path of a file and writes rows, a line of JSON each. It dies with the process
that started it.
"""

import fcntl
import json
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Any, cast

from apps.exchange.readers.base import RawRow, ReadingFault, UnreadableFile
from labelhub.core.errors import Unavailable
from labelhub.core.phrases import Phrase

#: Each may take ``MAX_MEMORY`` and a processor.
PLACES = 2
LOOK_EVERY = 0.1
BUSY = Phrase(
    "The server is reading as many files as it can at once, so this request was not completed. "
    "Try again in a moment."
)

#: Called repeatedly while no place is free, with the seconds waited so far; may raise.
Meanwhile = Callable[[float], None]


def keep_waiting(_waited: float) -> None:
    """Wait for a place without a limit."""


def refuse_after(seconds: float) -> Meanwhile:
    """Wait for a place at most ``seconds``, then raise ``Unavailable``."""

    def refuse(waited: float) -> None:
        if waited >= seconds:
            raise Unavailable(BUSY)

    return refuse


@contextmanager
def reading_place(meanwhile: Meanwhile) -> Iterator[int]:
    """An open lock file that the reading process inherits: the place is taken while either of the
    two has it open."""
    started = monotonic()
    while (place := _free_place()) is None:
        meanwhile(monotonic() - started)
        sleep(LOOK_EVERY)
    try:
        yield place
    finally:
        os.close(place)


def _free_place() -> int | None:
    # The reading process imports this module as well, and has no Django.
    from django.conf import settings  # noqa: PLC0415

    for number in range(1, PLACES + 1):
        path = settings.DATA_DIR / f"reader-{number}.lock"
        place = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        with suppress(BlockingIOError):
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return place
        os.close(place)
    return None


logger = logging.getLogger(__name__)

#: Bytes of address space, the libraries' 300 MB included.
MAX_MEMORY = 1536 * 1024 * 1024
#: Seconds of processor time, not of the clock, from one row to the next.
MAX_SECONDS = 300
#: Rows have at most ``MAX_ROW_BYTES``; as JSON they can be longer.
MAX_LINE = 64 * 1024 * 1024
ROOT = Path(__file__).resolve().parents[3]
#: The variables that the process gets.
PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR")
OWN = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # others reserve far more than they use
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
TOO_LARGE = Phrase(
    "Reading this file takes more than %(megabytes)s MB of memory. Split it, or save it as CSV or "
    "JSON Lines.",
    megabytes=MAX_MEMORY // 1024**2,
)
ENDED = Phrase(
    "Reading this file was stopped before its end, as happens when memory runs out. Import it "
    "again; if that does not help, split it, or save it as CSV or JSON Lines."
)
#: By the signal that ended the process.
SLOW: dict[int, str] = {
    signal.SIGPROF: Phrase(
        "Reading one row of this file takes minutes. Save it as CSV or JSON Lines."
    ),
    signal.SIGXCPU: Phrase("Reading this file takes too long. Save it as CSV or JSON Lines."),
}


def read_apart(
    path: Path, format_name: str, meanwhile: Meanwhile, in_all: int | None = None
) -> Iterator[RawRow]:
    """The checked rows of a file, read by a separate process when there is a place for it; with
    ``in_all`` within so many seconds of processor time.

    Raises:
        UnreadableFile: the file as a whole is of no use, or takes too much memory or time.
        ReadingFault: the process failed.
    """
    limits = [MAX_MEMORY, MAX_SECONDS, in_all or 0]
    with reading_place(meanwhile) as place:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [
                sys.executable,
                "-m",
                "apps.exchange.readers",
                format_name,
                str(path.resolve()),
                *map(str, limits),
            ],
            cwd=ROOT,
            env=OWN | {name: os.environ[name] for name in PASSED_ON if name in os.environ},
            stdin=subprocess.PIPE,  # never written to: its end tells the process that we are gone
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=[place],
        )
    with process:
        try:
            read_line = cast("IO[bytes]", process.stdout).readline
            while (line := read_line(MAX_LINE)).endswith(b"\n"):
                message = json.loads(line.decode("utf-8", "surrogatepass"))
                if message is None:
                    return
                if isinstance(message, dict) and "fault" in message:
                    raise ReadingFault(message["fault"])
                if isinstance(message, str | dict):
                    raise UnreadableFile(Phrase.of(message))
                number, data, error, field, position = message
                error = None if error is None else Phrase.of(error)
                yield RawRow(number, data, error, field, position, len(line))
            # It ended without a final message, or in the middle of a row.
            raise _error_of_exit(process)
        finally:
            process.kill()


def _error_of_exit(process: "subprocess.Popen[bytes]") -> UnreadableFile:
    with suppress(subprocess.TimeoutExpired):  # its output ends a moment before itself
        process.wait(timeout=5)
    code = process.returncode
    if code is None or code >= 0:  # nobody killed it
        return ReadingFault(f"exit {code}")
    return UnreadableFile(SLOW.get(-code, ENDED))


def write_rows(rows: Iterator[RawRow], memory: int, seconds: float, in_all: int) -> None:
    """Write the rows to standard output within the limits, then null, or the reason why the file
    cannot be read, or the name of an error of ours. Runs in the separate process."""
    _limit_process(memory, seconds, in_all)
    try:
        for row in rows:
            fault = None if row.error is None else Phrase(row.error).data()
            _write_message([row.number, row.data, fault, row.field, row.position])
            signal.setitimer(signal.ITIMER_PROF, seconds)
        _write_message(None)
    except UnreadableFile as error:
        _write_message(error.message.data())
    except MemoryError:
        _write_message(TOO_LARGE.data())
    except Exception as error:
        logger.exception("a file could not be read")  # on the server's standard error
        _write_message({"fault": type(error).__name__})
    sys.stdout.buffer.flush()


def _write_message(what: Any) -> None:
    line = json.dumps(what, default=str, ensure_ascii=False)
    sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass") + b"\n")


def _limit_process(memory: int, seconds: float, in_all: int) -> None:
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    if in_all:
        resource.setrlimit(resource.RLIMIT_CPU, (in_all, in_all + 1))
    with suppress(OSError, ValueError):  # not every system has it
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with suppress(OSError):  # a machine that runs out of memory ends this process first
        Path("/proc/self/oom_score_adj").write_text("1000")


def _exit_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)
