"""The whole request for an agreement report, against a bare SELECT of the rows it is made of.

A server with production settings over SQLite; processor time of its process, as it counts it, and
of the process that does the SELECT. Every round starts a new server, which is warmed up with a
small project: what is imported on the first request is not counted.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.child import own_memory_mb, told_by
from tests.bench.client import Client
from tests.bench.server import Server, environment, manage

SLUG, SMALL, SMALL_LABELS = "agreement", "small", 2000
STORE = Path(__file__).parent / "agreement_store.py"
#: Requests of which one is too short for the clock: it ticks a hundred times a second.
OFTEN = 20
ROUNDS = 3

Figures = dict[str, float]


class Shop:
    """A filled database, and what can be done with it."""

    def __init__(self, folder: Path, threads: Mapping[str, str], labels: int) -> None:
        self.folder = folder / "server"
        self.folder.mkdir()
        self.ratings = str(folder)
        self.env = environment(self.folder, "") | dict(threads)
        for slug in (SLUG, SMALL):
            manage(self.env, "create_project", slug, "--task", "single", "--labels", "A,B,C,D,E")
        manage(self.env, "create_user", "manager", "--superuser")
        self.key = manage(self.env, "create_api_key", "manager")["key"]
        self.store("fill", SMALL, self.ratings, min(labels, SMALL_LABELS))
        self.store("fill", SLUG, self.ratings, labels)

    def store(self, *given: object) -> dict[str, Any]:
        """What ``agreement_store.py`` says to a command."""
        return told_by(STORE, *given, env=self.env)


def requests(shop: Shop) -> Figures:
    """Seconds of every kind of request and of the SELECT, each the best of the rounds."""
    rounds = [_round(shop) for _ in range(ROUNDS)]
    shop.store("gold", SLUG, shop.ratings)
    rounds += [{"with_gold": _with_gold(shop)} for _ in range(2)]
    names = dict.fromkeys(name for times in rounds for name in times)
    return {name: min(times[name] for times in rounds if name in times) for name in names}


def _round(shop: Shop) -> Figures:
    shop.store("forget", SLUG)
    found: Figures = {"select": shop.store("select", SLUG, 3)["seconds"]}
    with Server(shop.env, shop.folder) as server:
        ask = _warm(shop, server)
        with _memory(server) as held:
            found["first"] = _seconds(server, ask)
        found["above_mb"] = max(held) - held[0]
        found["unchanged"] = _seconds(server, ask, OFTEN)
        shop.store("label", SLUG)
        found["one_more"] = _seconds(server, ask)
    return found


def _with_gold(shop: Shop) -> float:
    shop.store("forget", SLUG)
    with Server(shop.env, shop.folder) as server:
        return _seconds(server, _warm(shop, server))


def _warm(shop: Shop, server: Server) -> Callable[[], None]:
    """Asks for the report; the small project's has been asked for."""
    client = Client(server.port, shop.key, timeout=300)

    def ask(slug: str = SLUG) -> None:
        answer = client.get(f"/api/v1/projects/{slug}/agreement/")
        if answer.status != 200 or "within" not in json.loads(answer.body):
            raise SystemExit(f"The report was not given: {answer.status} {answer.body[:500]!r}")

    shop.store("forget", SMALL)
    ask(SMALL)
    return ask


def _seconds(server: Server, ask: Callable[[], None], often: int = 1) -> float:
    before = server.cpu_seconds()
    for _ in range(often):
        ask()
    return (server.cpu_seconds() - before) / often


@contextmanager
def _memory(server: Server) -> Iterator[list[float]]:
    """MB that the server holds, before and during; without the part of the database that SQLite
    maps, which is nobody's in particular."""
    pid, done = server._process.pid, threading.Event()
    held = [own_memory_mb(pid)]

    def watch() -> None:
        while not done.wait(0.005):
            held.append(own_memory_mb(pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield held
    finally:
        done.set()
        thread.join()
