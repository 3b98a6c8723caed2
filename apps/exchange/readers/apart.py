"""Reading a file in a process of its own that ends with it.

What a file takes of memory is given back then, and it cannot take more than ``MAX_MEMORY``. The
process knows no secrets and no database; it gets the path of a file and answers with rows, a line
of JSON each. It dies with the process that started it.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from apps.exchange.readers.base import RawRow, UnreadableFile

#: Bytes of address space, the libraries' 300 MB included.
MAX_MEMORY = 1536 * 1024 * 1024
#: Seconds of processor time, not of the clock, from one row to the next.
MAX_SECONDS = 300
#: Rows have at most ``MAX_ROW_BYTES``; spelled as JSON, blanks and quotes take more.
MAX_LINE = 64 * 1024 * 1024
ROOT = Path(__file__).resolve().parents[3]
#: All that the process gets of our environment.
PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR")
OWN = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # others reserve far more than they use
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
TOO_LARGE = (
    f"To read this file takes more than {MAX_MEMORY // 1024**2:,} MB of memory. Split it, or save "
    "it as CSV or JSON Lines."
)
ENDED = (
    "The process that read this file was ended before the file was, as happens when memory runs "
    "out. Import it again; if that does not help, split it, or save it as CSV or JSON Lines."
)
TOO_SLOW = "To read one row of this file takes minutes. Save it as CSV or JSON Lines."


def read_apart(path: Path, format_name: str) -> Iterator[RawRow]:
    """The checked rows of a file, as a process of their own reads them.

    Raises:
        UnreadableFile: the file as a whole is of no use, or takes too much memory or time.
    """
    process = subprocess.Popen(  # noqa: S603 - our own module
        [
            sys.executable,
            "-m",
            "apps.exchange.readers",
            format_name,
            str(path.resolve()),
            str(MAX_MEMORY),
            str(MAX_SECONDS),
        ],
        cwd=ROOT,
        env=OWN | {name: os.environ[name] for name in PASSED_ON if name in os.environ},
        stdin=subprocess.PIPE,  # never written to: its end tells the process that we are gone
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            read_line = cast("IO[bytes]", process.stdout).readline
            while (line := read_line(MAX_LINE)).endswith(b"\n"):
                told = json.loads(line.decode("utf-8", "surrogatepass"))
                if told is None:
                    return
                if isinstance(told, str):
                    raise UnreadableFile(told)
                number, data, error, field, position = told
                yield RawRow(number, data, error, field, position, len(line))
            # It ended without a last word, or in the middle of a row.
            raise UnreadableFile(_why(process))
        finally:
            process.kill()


def _why(process: "subprocess.Popen[bytes]") -> str:
    with suppress(subprocess.TimeoutExpired):  # its output ends a moment before itself
        process.wait(timeout=5)
    return TOO_SLOW if process.returncode == -signal.SIGPROF else ENDED


def write_rows(rows: Iterator[RawRow], memory: int, seconds: float) -> None:
    """What the process does: write the rows to its standard output, within its limits; then null,
    or in words why the file is of no use."""
    _limit(memory, seconds)
    try:
        for row in rows:
            _tell([row.number, row.data, row.error, row.field, row.position])
            signal.setitimer(signal.ITIMER_PROF, seconds)
        _tell(None)
    except UnreadableFile as error:
        _tell(error.message)
    except MemoryError:
        _tell(TOO_LARGE)
    sys.stdout.buffer.flush()


def _tell(what: Any) -> None:
    line = json.dumps(what, default=str, ensure_ascii=False)
    sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass") + b"\n")


def _limit(memory: int, seconds: float) -> None:
    threading.Thread(target=_die_with_parent, daemon=True).start()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    with suppress(OSError, ValueError):  # not every system has it
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with suppress(OSError):  # a machine that runs out of memory ends this process first
        Path("/proc/self/oom_score_adj").write_text("1000")


def _die_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)
