"""LabelHub as processes of its own: servers, workers, commands, Redis; all end with the test."""

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

from tests.fakes.client import Client, wait_for

ROOT = Path(__file__).resolve().parents[2]
#: What the environment of the test suite says must not reach our processes.
OURS = re.compile(r"LABELHUB_|DJANGO_|DATABASE_URL|REDIS_URL|PYTEST_")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Program:
    """A running process; what it prints goes to ``log``."""

    def __init__(
        self, command: list[str], *, log: Path, env: dict[str, str], cwd: Path = ROOT
    ) -> None:
        self.log = log
        with log.open("w") as out:
            self.process = subprocess.Popen(
                command, cwd=cwd, env=env, stdout=out, stderr=subprocess.STDOUT
            )

    @property
    def printed(self) -> str:
        """Everything so far."""
        return self.log.read_text(errors="replace")

    def wait_to_print(self, pattern: str, seconds: float = 120) -> re.Match[str]:
        """The first match in what the process prints."""

        def look() -> re.Match[str] | None:
            found = re.search(pattern, self.printed)
            assert found or self.process.poll() is None, f"it ended: {self.printed[-3000:]}"
            return found

        return wait_for(look, seconds=seconds, what=f"{pattern!r} in {self.log.name}")

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()

    def stop(self, order: int = signal.SIGTERM, seconds: float = 15) -> int:
        """Order it to stop; its exit code."""
        self.process.send_signal(order)
        return self.process.wait(seconds)

    def processors(self) -> dict[int, set[int]]:
        """On which processors each of its threads may run, of those that are still there."""
        found = {}
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(ProcessLookupError):
                found[int(task.name)] = os.sched_getaffinity(int(task.name))
        return found

    def rss_mb(self) -> float:
        """Its resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found
        return int(found[1]) / 1024


class Stack:
    """Programs over one database and one data folder; a context manager."""

    def __init__(self, folder: Path, **env: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not OURS.match(name)}
        self.folder = folder
        #: The code of the programs.
        self.root = ROOT
        self.database = env.get("DATABASE_URL", "")
        self.env = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "labelhub.settings.dev",
            "LABELHUB_DATA_DIR": str(folder),
            "LABELHUB_SECRET_KEY": "of-a-test-stack",
            # There are more servers than processors, and a test that has one to itself.
            "LABELHUB_ONE_PROCESSOR": "false",
            "LABELHUB_DRAIN_SECONDS": "0",
            **env,
        }
        self._programs = ExitStack()
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._programs.close()

    def start(self, name: str, command: list[str]) -> Program:
        """Start a program of this stack."""
        self._count += 1
        log = self.folder / f"{name}-{self._count}.log"
        program = Program(command, log=log, env=self.env, cwd=self.root)
        self._programs.callback(program.kill)
        return program

    def server(self, *more: str) -> tuple[Program, str]:
        """A server on a free port that answers, and its address."""
        program = self.start("serve", [*MANAGE, "serve", "--port", "0", *more])
        return program, program.wait_to_print(r"listens on (http://\S+)")[1]

    def worker(self) -> Program:
        """A Celery worker process that takes tasks."""
        program = self.start("worker", [sys.executable, "-W", "ignore", "manage.py", "worker"])
        program.wait_to_print(r"\bready\.")
        return program

    def manage(self, *arguments: str) -> str:
        """Run a management command to its end; what it printed."""
        done = subprocess.run(
            [*MANAGE, *arguments],
            cwd=self.root,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout.strip()

    def people(self, *names: str, slug: str = "") -> dict[str, str]:
        """Accounts (managers and experts of ``slug``, or operators without one): name to API key.

        One process for all of them; the password of each is its name.
        """
        return dict(json.loads(self.manage("shell", "-v", "0", "-c", _PEOPLE.format(names, slug))))

    def age(self, table: str, column: str, minutes: int) -> None:
        """Let all rows of a table of PostgreSQL be older."""
        earlier = f"{column} - interval '{minutes} minutes'"
        with psycopg.connect(self.database) as connection:
            connection.execute(f"UPDATE {table} SET {column} = {earlier}")  # noqa: S608 - our own names

    @contextmanager
    def database_away(self) -> Iterator[None]:
        """PostgreSQL has ended every connection to our database, and takes none."""
        name = urlsplit(self.database).path.removeprefix("/")
        other = urlunsplit(urlsplit(self.database)._replace(path="/postgres"))
        with psycopg.connect(other, autocommit=True) as admin:
            admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            try:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                    [name],
                )
                yield
            finally:
                admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What the database answers to a query."""
        if self.database:
            with psycopg.connect(self.database) as connection:
                return connection.execute(sql).fetchall()
        with contextlib.closing(sqlite3.connect(self.folder / "labelhub.sqlite3")) as lite:
            return lite.execute(sql).fetchall()


MANAGE = [sys.executable, "manage.py"]

_PEOPLE = """
import json
from apps.accounts.roles import ReviewerKind, Role
from apps.accounts.services import create_api_key, create_user
from apps.common.commands import prepare_database
from apps.projects.selectors import find_project
from apps.projects.services import set_member
prepare_database()
names, slug = {!r}, {!r}
keys = dict()
for name in names:
    user = create_user(username=name, superuser=not slug).user
    user.set_password(name)
    user.must_change_password = False
    user.save()
    if slug:
        place = dict(role=Role.REVIEWER, kind=ReviewerKind.EXPERT, actor=None)
        set_member(project=find_project(slug), user=user, **place)
    keys[name] = create_api_key(user=user, name="test").plain
print(json.dumps(keys))
"""


class Redis:
    """A Redis of the test's own, on one port for its whole life."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start it, empty."""
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder)]
        self._program = Program(
            ["redis-server", *where, "--save", "", "--appendonly", "no"],
            log=self._folder / "redis.log",
            env=dict(os.environ),
        )
        self._program.wait_to_print("Ready to accept connections")

    def kill(self) -> None:
        """It forgets everything."""
        self._program.kill()


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """A new PostgreSQL database on the server of ``url``, dropped afterwards; "" for "", SQLite."""
    if not url:
        yield ""
        return
    name = f"stack_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def run_of(client: Client, run_id: int) -> dict[str, Any]:
    """A run as REST shows it."""
    return dict(client.get(f"runs/{run_id}/"))


def wait_until_done(client: Client, run_id: int, seconds: float = 60) -> dict[str, Any]:
    """The run once it is done; fails when it paused."""

    def look() -> dict[str, Any] | None:
        run = run_of(client, run_id)
        assert run["status"] not in ("paused", "cancelled"), run
        return run if run["status"] == "done" else None

    return wait_for(look, seconds=seconds, what=f"the end of run {run_id}")


def wait_until_past(client: Client, run_id: int, debates: int) -> None:
    """Wait until so many debates of the run are done."""
    wait_for(
        lambda: run_of(client, run_id)["progress"]["done"] >= debates,
        seconds=60,
        what=f"{debates} debates of run {run_id}",
    )
