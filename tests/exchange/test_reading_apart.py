"""Files that unpack, or are large, are read by a process that ends: the server stays as it is."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.conf import LazySettings

from apps.exchange.readers import isolation, open_rows, parquet, read_here
from apps.exchange.readers.base import ReadingFault, UnreadableFile
from apps.exchange.readers.isolation import refuse_after
from labelhub.core.errors import Unavailable
from tests.exchange.helpers import all_places_taken, written

ROOT = Path(__file__).resolve().parents[2]
MB = 1024 * 1024
#: Reads the file so often, and prints how many MB more the process takes then, at most and still.
READ = """
import sys
from pathlib import Path
from django.conf import settings
from apps.exchange.readers import open_rows

def taken():
    told = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return [int(told[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS")]

def read():
    for row in open_rows(Path(sys.argv[1]), sys.argv[2]):
        pass

settings.DATA_DIR  # read before: the server has its settings anyway
before = taken()[1]
for _ in range(3):
    read()
most, now = taken()
print(most - before, now - before)
"""
#: Begins to read a file, and goes no further.
BEGIN = """
import sys, time
from pathlib import Path
from apps.exchange.readers import isolation, open_rows

start = isolation.subprocess.Popen
def start_and_print_pid(*args, **how):
    process = start(*args, **how)
    print(process.pid, flush=True)
    return process
isolation.subprocess.Popen = start_and_print_pid
rows = open_rows(Path(sys.argv[1]), "csv")
next(rows)
print("begun", flush=True)
time.sleep(600)
"""


#: Fails after a row, in a way that nobody thought of.
FAULTY = """
import sys
from apps.exchange.readers.isolation import write_rows
from apps.exchange.readers.base import RawRow

def rows():
    yield RawRow(1, {"text": "a"})
    raise KeyError("lost")

write_rows(rows(), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
"""


def repeated(folder: Path, text: str, rows: int) -> Path:
    """A Parquet file with one text in every row."""
    path = folder / "bomb.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    pq.write_table(pa.table({"text": texts}), path, compression="zstd")
    return path


def bomb(folder: Path) -> Path:
    path = repeated(folder, "Z" * 5_000_000, 200)
    assert path.stat().st_size < 3000
    return path


def empty_lists(folder: Path) -> Path:
    row = b'{"text": "a", "meta": [' + b"[]," * 3_000_000 + b"1]}\n"
    return written(folder, row, "lists.jsonl")


def wide_cells(folder: Path) -> Path:
    return written(folder, b"id,text\n" + b"1," + b"x" * 9_000_000 + b"\n2,b\n", "wide.csv")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("make", "name"), [(bomb, "parquet"), (empty_lists, "jsonl"), (wide_cells, "csv")]
)
def test_the_server_does_not_grow(tmp_path: Path, make: Callable[[Path], Path], name: str) -> None:
    command = [sys.executable, "-c", READ, str(make(tmp_path)), name]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    most, still = map(float, output.split())
    assert max(most, still) < 15


def test_a_row_that_is_small_in_the_file_and_large_in_memory_is_a_fault(tmp_path: Path) -> None:
    rows = list(open_rows(empty_lists(tmp_path), "jsonl"))
    assert {row.error for row in rows} == {"The row takes more than 32 MB of memory; split it."}


@pytest.mark.thorough
def test_a_file_that_takes_too_much_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "MAX_MEMORY", 500 * MB)
    path = repeated(tmp_path, "Z" * 400 * MB, 2)
    with pytest.raises(UnreadableFile, match="takes more than 1,536 MB of memory"):
        list(open_rows(path, "parquet"))


def test_rows_that_are_only_claimed_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MANY_ROWS", 5000)
    with pytest.raises(UnreadableFile, match=r"claims 6,000 rows in [\d,]+ bytes"):
        list(read_here(repeated(tmp_path, "a", 6000), "parquet"))


def test_a_file_that_takes_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "MAX_SECONDS", 0.01)
    with pytest.raises(UnreadableFile, match="takes minutes"):
        list(open_rows(repeated(tmp_path, "a", 1), "parquet"))


def run_instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let the process be this program, with the arguments of ours."""
    popen = subprocess.Popen

    def start(command: list[str], **how: Any) -> "subprocess.Popen[bytes]":
        return popen([sys.executable, "-c", program, *command[3:]], **how)

    monkeypatch.setattr(subprocess, "Popen", start)


def test_a_fault_of_ours_is_told_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run_instead(monkeypatch, FAULTY)
    rows = open_rows(repeated(tmp_path, "a", 1), "parquet")
    assert next(rows).data == {"text": "a"}
    with pytest.raises(ReadingFault, match=r"by a fault of the server \(KeyError\)"):
        next(rows)
    assert "KeyError: 'lost'" in capfd.readouterr().err


def test_a_process_that_ends_without_a_word_is_a_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, "raise SystemExit(3)")
    with pytest.raises(ReadingFault, match=r"by a fault of the server \(exit 3\)"):
        next(open_rows(repeated(tmp_path, "a", 1), "parquet"))


def test_a_process_that_was_killed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def kept(*args: object, **how: object) -> "subprocess.Popen[bytes]":
        started.append(popen(*args, **how))  # type: ignore[call-overload]  # as it was called
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", kept)
    path = written(tmp_path, b"text\n" + b"some words\n" * 200_000, "long.csv")
    rows = open_rows(path, "csv")
    assert next(rows).data == {"text": "some words"}
    os.kill(started[0].pid, signal.SIGKILL)
    with pytest.raises(UnreadableFile, match="was stopped before its end"):
        list(rows)


def test_a_file_that_takes_too_long_in_all_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, FAULTY.replace('raise KeyError("lost")', "while True: pass"))
    rows = open_rows(repeated(tmp_path, "a", 1), "parquet", in_all=1)
    with pytest.raises(UnreadableFile, match=r"^Reading this file takes too long"):
        list(rows)


def test_no_more_files_are_read_at_once_than_there_are_places(tmp_path: Path) -> None:
    path = written(tmp_path, b"text\n" + b"words\n" * 300_000, "long.csv")
    first, *others = [open_rows(path, "csv") for _ in range(isolation.PLACES)]
    for rows in (first, *others):
        next(rows)
    with pytest.raises(Unavailable, match="as many files as it can"):
        next(open_rows(path, "csv", meanwhile=refuse_after(0.2)))
    first.close()  # type: ignore[attr-defined]  # it is a generator
    assert next(open_rows(path, "csv", meanwhile=refuse_after(0))).data == {"text": "words"}


def test_who_stops_reading_leaves_no_process(tmp_path: Path) -> None:
    rows = open_rows(written(tmp_path, b"text\n" + b"words\n" * 300_000, "long.csv"), "csv")
    next(rows)
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = set(children.read_text().split())
    rows.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(before - set(children.read_text().split())) == 1


def test_no_process_outlives_a_server_that_was_killed(
    tmp_path: Path, settings: LazySettings
) -> None:
    path = written(tmp_path, b"text\n" + b"words\n" * 300_000, "long.csv")
    server = subprocess.Popen(
        [sys.executable, "-c", BEGIN, str(path)],
        cwd=ROOT,
        env=os.environ | {"LABELHUB_DATA_DIR": str(settings.DATA_DIR)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    with server, server.stdout as output:
        reader = int(output.readline())
        assert output.readline() == "begun\n"
        assert is_alive(reader)
        with pytest.raises(Unavailable), all_places_taken():
            pass
        server.kill()
    until = time.monotonic() + 60
    while is_alive(reader) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(reader)
    with all_places_taken():  # its own is free again
        pass


def is_alive(pid: int) -> bool:
    """Whether it runs; what nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
