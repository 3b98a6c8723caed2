"""A real server in a process of its own, with a data folder of its own."""

import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.bench.child import told_by
from tests.bench.client import Client
from tests.fakes.stack import ROOT, free_port

PAGE = os.sysconf("SC_PAGE_SIZE")


def environment(folder: Path, database: str) -> dict[str, str]:
    """What server and commands run with: production settings, over plain HTTP."""
    env = {key: kept for key, kept in os.environ.items() if not key.startswith("LABELHUB_")}
    env |= {
        "LABELHUB_DATA_DIR": str(folder),
        "LABELHUB_SECRET_KEY": secrets.token_urlsafe(50),
        "LABELHUB_HTTPS": "false",
        "DJANGO_SETTINGS_MODULE": "labelhub.settings.prod",
    }
    env.pop("DATABASE_URL", None)
    return env | ({"DATABASE_URL": database} if database else {})


def manage(env: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    """Run one of the product's own commands; what it says with ``--json``."""
    return told_by(ROOT / "manage.py", *arguments, "--json", env=env)


class Server:
    """``manage.py serve`` on a free port, while the ``with`` block lasts; its memory is watched."""

    def __init__(self, env: Mapping[str, str], folder: Path, *arguments: str) -> None:
        self.env = dict(env)
        self._arguments = arguments
        self.port = free_port()
        self.start_seconds = 0.0
        self.rss_idle_mb = self.rss_max_mb = 0.0
        self.log = folder / "server.log"
        self._done = threading.Event()

    def __enter__(self) -> Self:
        """Start it and wait for its first answer."""
        began = time.perf_counter()
        with self.log.open("wb") as log:
            command = [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(self.port)]
            self._process = subprocess.Popen(
                [*command, *self._arguments],
                env=self.env,
                stdout=log,
                stderr=log,
            )
        while not self._answers():
            if self._process.poll() is not None or time.perf_counter() - began > 60:
                raise SystemExit(f"The server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.02)
        self.start_seconds = time.perf_counter() - began
        time.sleep(2)
        self.rss_idle_mb = _tree_rss_mb(self._process.pid)
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it, gently first."""
        self._done.set()
        self._process.terminate()
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def cpu_seconds(self) -> float:
        """Processor time its processes have used so far; 0 where there is no /proc."""
        ticks = sum(int(stat[11]) + int(stat[12]) for stat in _tree_stats(self._process.pid))
        return ticks / os.sysconf("SC_CLK_TCK")

    def troubles(self) -> int:
        """Lines of the log that speak of errors."""
        lines = self.log.read_text(errors="replace").splitlines()
        return sum("ERROR" in line or "database is locked" in line for line in lines)

    def _answers(self) -> bool:
        try:
            return Client(self.port).get("/health/live").status == 200
        except OSError:
            return False

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            self.rss_max_mb = max(self.rss_max_mb, _tree_rss_mb(self._process.pid))


def _tree_rss_mb(root: int) -> float:
    """Resident memory of a process and all below it, in MB; 0 where there is no /proc."""
    return sum(int(stat[21]) for stat in _tree_stats(root)) * PAGE / 1e6


def _tree_stats(root: int) -> list[list[str]]:
    """The fields of /proc/PID/stat after the name, of a process and all below it."""
    parents: dict[int, int] = {}
    stats: dict[int, list[str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
        except (OSError, IndexError):
            continue
        stats[int(folder.name)] = fields
    tree = {root}
    for _ in parents:
        grown = tree | {pid for pid, parent in parents.items() if parent in tree}
        if grown == tree:
            break
        tree = grown
    return [stats[pid] for pid in tree if pid in stats]
