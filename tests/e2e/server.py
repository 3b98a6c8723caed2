"""The server under test: the product's own process, on SQLite in a folder of its own."""

import fcntl
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.fakes.stack import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
DEMO = "hotel-reviews"


@dataclass
class Server:
    """A running server, who can sign in to it, and its REST interface."""

    address: str
    folder: Path
    seed: dict[str, str]
    passwords: dict[str, str] = field(default_factory=dict)
    key: str = ""
    #: Further variables of its process.
    settings: dict[str, str] = field(default_factory=dict)

    def manage(self, *words: str) -> Any:
        """What ``manage.py WORDS --json`` prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words, "--json"],
            cwd=ROOT,
            env=environment(self.folder) | self.seed,
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, f"manage.py {words}: {done.stderr}"
        return json.loads(done.stdout)

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """One call of ``/api/v1/PATH`` as the manager of the demo."""
        request = urllib.request.Request(  # noqa: S310 - the address is our own
            f"{self.address}/api/v1/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Token {self.key}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 - as above
                content = answer.read()
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{method} {path}: {refused.read().decode()}") from None
        return json.loads(content) if content else None

    def project(self, slug: str, texts: Sequence[str], *, overlap: int = 1) -> str:
        """A project like the demo with these texts; ``reviewer`` is in it. Returns its slug."""
        schema = self.api("GET", f"projects/{DEMO}/")["schema"]
        plan = {"slug": slug, "name": slug, "schema": schema, "overlap": overlap, "blind_share": 0}
        self.api("POST", "projects/", plan)
        rows = [
            {"id": f"{slug}-{index}", "text": text} for index, text in enumerate(texts, start=1)
        ]
        if rows:
            self.api("POST", f"projects/{slug}/import/", rows)
        who = {"username": "reviewer", "role": "reviewer", "kind": "crowd"}
        self.api("POST", f"projects/{slug}/members/", who)
        return slug

    def labels(self, slug: str) -> list[Any]:
        """What people said there, oldest first."""
        found = self.api("GET", f"projects/{slug}/labels/?page_size=200")["results"]
        return [label for label in found if label["annotator"]["kind"] in ("crowd", "expert")]

    def run(self, slug: str, **plan: Any) -> Any:
        """Start a run and wait for its end."""
        made = self.api("POST", f"projects/{slug}/runs/", {"protocol": "ecj", **plan})
        return until(lambda: self._ended(made["id"]), f"run {made['id']} of {slug}")

    def _ended(self, run_id: int) -> Any:
        run = self.api("GET", f"runs/{run_id}/")
        return run if run["status"] in ("done", "paused", "cancelled") else None


def until(ask: Any, what: str) -> Any:
    """The first true answer of ``ask``.

    Raises:
        AssertionError: there was none in time.
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE:.0f} s in vain for {what}")


def environment(folder: Path) -> dict[str, str]:
    """What the server's process sees: nothing of the test settings, no outer services."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL") and not name.startswith("LABELHUB_")
    }
    return ours | {
        "DJANGO_SETTINGS_MODULE": "labelhub.settings.dev",
        "LABELHUB_DATA_DIR": str(folder),
        "LABELHUB_LLM_API_KEY": "never-looked-at",
        "LABELHUB_ONE_PROCESSOR": "false",
        # Several runs on the endpoint that never answers hold a place each, some for a minute.
        "LABELHUB_RUNS_AT_ONCE": "16",
    }


@contextmanager
def served(
    folder: Path, *, demo: bool = True, settings: dict[str, str] | None = None
) -> Iterator[Server]:
    """The demo, a viewer of it and a stranger, served on a free port; ended by its pid. Without
    ``demo``: a server as it is on its first day, with the account ``manager``.

    The model ``silent`` is an endpoint that takes a call and never answers: a run on it stays
    under way. Only the commands know it as the first provider; the server's default is offline.
    Processes that test at once make the demo once, beside their folders, and copy it.
    """
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        seed = {"LABELHUB_LLM_BASE_URL": endpoint, "LABELHUB_LLM_MODEL": "silent"}
        address = f"http://127.0.0.1:{free_port()}"
        server = Server(address, folder, seed, settings=settings or {})
        if demo:
            _take_demo(server)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
            subprocess.run(migrate, cwd=ROOT, env=environment(folder), check=True)
            made = server.manage("create_user", "manager", "--superuser")
            server.passwords = {made["username"]: made["password"]}
            keep_passwords(folder)
        process = start(server)
        try:
            until(lambda: is_ready(server, process), "the server")
            yield server
        finally:
            _end(process)


def _take_demo(server: Server) -> None:
    original = replace(server, folder=server.folder.parent / "demo")
    original.folder.mkdir(parents=True, exist_ok=True)
    people = original.folder / "people.json"
    with (original.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not people.exists():
            people.write_text(json.dumps(_make_demo(original)))
    shutil.copytree(original.folder, server.folder, dirs_exist_ok=True)
    known = json.loads(people.read_text())
    server.passwords, server.key = known["passwords"], known["key"]
    with closing(sqlite3.connect(server.folder / "labelhub.sqlite3")) as connection, connection:
        sql = "UPDATE llm_provider SET base_url = ? WHERE base_url = ?"
        connection.execute(sql, (server.seed["LABELHUB_LLM_BASE_URL"], known["endpoint"]))


def keep_passwords(folder: Path) -> None:
    """As if people had signed in before and chosen these passwords themselves."""
    with closing(sqlite3.connect(folder / "labelhub.sqlite3")) as connection, connection:
        connection.execute("UPDATE accounts_user SET must_change_password = 0")


def _make_demo(server: Server) -> dict[str, Any]:
    logins = server.manage("demo", "--no-serve")["logins"]
    passwords = {login["username"]: login["password"] for login in logins}
    viewer = ("create_user", "viewer", "--project", DEMO, "--role", "viewer")
    for words in (viewer, ("create_user", "stranger")):
        made = server.manage(*words)
        passwords[made["username"]] = made["password"]
    keep_passwords(server.folder)
    key = server.manage("create_api_key", "manager", "--scope", "write")["key"]
    endpoint = server.seed["LABELHUB_LLM_BASE_URL"]
    return {"passwords": passwords, "key": key, "endpoint": endpoint}


def start(server: Server) -> subprocess.Popen[bytes]:
    """Its process."""
    with (server.folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", server.address.rsplit(":", 1)[1]],
            cwd=ROOT,
            env=environment(server.folder) | server.settings,
            stdout=log,
            stderr=log,
        )


def is_ready(server: Server, process: subprocess.Popen[bytes]) -> bool:
    """Whether it answers."""
    assert process.poll() is None, (server.folder / "server.log").read_text()
    try:
        with urllib.request.urlopen(f"{server.address}/health/ready", timeout=5) as answer:  # noqa: S310 - our own
            return bool(answer.status == 200)
    except OSError:
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
