"""Children of a benchmark: what they say, the processor time they take, the memory they hold."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TICK = 0.1
LONGEST = 900
#: For whatever of these does the linear algebra.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def told_by(
    script: Path,
    *given: object,
    python: Path | str = sys.executable,
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON that a script says on its last line; by default its linear algebra has one thread.

    Raises:
        SystemExit: it failed; says what it wrote.
    """
    done = subprocess.run(
        [str(python), "-W", "ignore", str(script), *map(str, given)],
        env=dict(env) if env is not None else os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    if done.returncode:
        raise SystemExit(f"{script.name} {given} failed: {done.stderr.strip()[-3000:]}")
    reported: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reported


@dataclass(slots=True)
class Ended:
    """A child that has ended well. ``memory`` holds (seconds since the start, MB);
    ``kept_waiting`` is how long its first thread was ready and had no processor."""

    result: Any
    cpu_seconds: float
    seconds: float
    kept_waiting: float = 0.0
    memory: list[tuple[float, float]] = field(default_factory=list)

    @property
    def most_memory(self) -> float:
        """The most MB it held."""
        return max((held for _, held in self.memory), default=0.0)


def run_child(arguments: list[str], env: Mapping[str, str], timeout: float) -> Ended:
    """Run this Python with ``arguments``; the child's last line is JSON.

    Raises:
        SystemExit: it failed or took longer than ``timeout`` seconds; says what it wrote.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments], env=dict(env), stdout=out, stderr=errors
        )
        began = time.perf_counter()
        memory: list[tuple[float, float]] = []
        kept_waiting = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            seconds = time.perf_counter() - began
            memory.append((seconds, own_memory_mb(process.pid)))
            kept_waiting = max(kept_waiting, _kept_waiting(process.pid))
            if seconds > timeout:
                process.kill()
            time.sleep(TICK)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        printed = out.read()
        if process.returncode:
            raise SystemExit(f"{arguments[:3]} failed: {printed[-500:]} {errors.read()[-3000:]}")
    result = json.loads(printed.splitlines()[-1])
    cpu = usage.ru_utime + usage.ru_stime
    return Ended(result, cpu, time.perf_counter() - began, kept_waiting, memory)


def own_memory_mb(pid: int) -> float:
    """Resident memory of a process without the files it has mapped, such as a growing database; 0
    where there is no /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in lines if line.startswith("RssAnon:")]
    return int(found[0]) * 1024 / 1e6 if found else 0.0


def growth_mb(memory: list[tuple[float, float]], since: float) -> float:
    """How much memory grows from the share ``since`` of the time to its end: a straight line
    through the samples, as single ones go up and down."""
    last = memory[-1][0]
    late = [(second, held) for second, held in memory if second >= since * last and held]
    if len(late) < 2:
        return 0.0
    middle = sum(second for second, _ in late) / len(late)
    mean = sum(held for _, held in late) / len(late)
    spread = sum((second - middle) ** 2 for second, _ in late)
    slope = sum((second - middle) * (held - mean) for second, held in late) / spread
    return slope * (late[-1][0] - late[0][0])


def _kept_waiting(pid: int) -> float:
    """Seconds that the first thread of a process has stood in line for a processor."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
