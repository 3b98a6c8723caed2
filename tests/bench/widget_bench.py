"""The widget's server side under load against goals (author-widget.md, 6).

    python tests/bench/widget_bench.py [--only sizes,sockets] [--database URL] [--json FILE]
                                       [--sockets N] [--people N] [--questions N] [--rate R]
                                       [--answering SHARE]
                                       [--seconds S] [--answers N] [--strict]

Starts servers of its own with production settings, in empty data folders: with SQLite, or in a new
database on the PostgreSQL server that is named. The offline model words the questions at once.
Prints a table and, on the last line, the same as JSON. Ends with 1 when a goal is missed and
``--strict`` was given. Clients and server share one machine, and the server keeps to one of its
processors: ``load_before``, ``late`` (how much later than planned this client sent) and
``kept_waiting`` (the share of its time that the server was ready and had no processor) tell how far
milliseconds can be believed; the processor time of a message (``cpu_ms``) swings less.
"""

import argparse
import asyncio
import gzip
import http.client
import os
import posixpath
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.report import Figures, option_parser, report
from tests.bench.server import environment
from tests.bench.widget_kill import Served, store, survive
from tests.bench.widget_trials import (
    many_sockets,
    much_talk,
    restart,
    slow_neighbour,
)
from tests.fakes.stack import Stack, own_database

#: Mode of the widget → what it asks for first, the words among it.
MODES = {
    "companion": ("companion.js", "locales/en.js"),
    "chat": ("chat.js", "locales/en.js", "chat/locales/en.js"),
}
#: Messages of an author whose export takes two seconds and more.
HEAVY = 110_000
CLIENTS = 50

#: name → (at most, bound): KB and counts, as times are those of the machine.
GOALS: dict[str, tuple[str, float]] = {
    "size_companion_kb": ("<=", 12),
    "size_chat_kb": ("<=", 35),
    "sockets_not_welcomed": ("<=", 0),
    "sockets_kb_each": ("<=", 60),
    "talk_lost": ("<=", 0),
    "storm_not_resumed": ("<=", 0),
    "kill_faults": ("<=", 0),
}


@dataclass(frozen=True, slots=True)
class World:
    """Where the benchmark happens, and how much of it."""

    folder: Path
    database: str
    options: argparse.Namespace

    @contextmanager
    def served(self, name: str) -> Iterator[tuple[Served, dict[str, Any]]]:
        """A server with an empty database, and the site that ``widget_store.py`` made there."""
        folder = self.folder / name
        folder.mkdir()
        with own_database(self.database) as url:
            env = environment(folder, url) | {"LABELHUB_ONE_PROCESSOR": "true"}
            with Stack(folder, **env) as stack:
                served = Served(stack)
                site = store(stack, "site", f"most_questions={self.options.questions}")
                served.start()
                yield served, site


def sizes(world: World) -> Figures:
    """What a browser loads, packed as it is sent: all that a mode may ask for, in English."""
    with world.served("sizes") as (served, _):
        loaded = {name: _loaded(served.port, MODES[name]) for name in MODES}
    return {f"size_{name}_kb": sum(files.values()) / 1024 for name, files in loaded.items()} | {
        f"size_{name}_files": len(files) for name, files in loaded.items()
    }


def sockets(world: World) -> Figures:
    """Many who are there and say nothing."""
    with world.served("sockets") as (served, site):
        return asyncio.run(many_sockets(served, site, world.options.sockets))


def talk(world: World) -> Figures:
    """Messages, questions, answers."""
    options = world.options
    with world.served("talk") as (served, site):
        figures = asyncio.run(
            much_talk(
                served, site, options.people, options.rate, options.seconds, options.answering
            )
        )
        found = store(served.stack, "messages", site["key"])
    figures["talk_lost"] += figures.pop("sent_in_all") - found["messages"]
    figures["talk_lost"] += found["surveys"] - figures.pop("asked_in_all")
    return figures | {"talk_not_asked": found["messages"] - found["surveys"], "ends": found["ends"]}


def isolation(world: World) -> Figures:
    """Others, while one author's frame waits for the database."""
    with world.served("isolation") as (served, site):
        heavy = store(served.stack, "heavy", site["key"], 10 if world.database else HEAVY)
        return asyncio.run(slow_neighbour(served, site, heavy))


def storm(world: World) -> Figures:
    """Everybody comes back at once after a restart."""
    with world.served("storm") as (served, site):
        return asyncio.run(restart(served, site, world.options.people))


def kill(world: World) -> Figures:
    """Answers through three kills; see tests/authors/test_kill.py."""
    folder = world.folder / "kill"
    folder.mkdir()
    with own_database(world.database) as url:
        env = {"DATABASE_URL": url} if url else {}
        with Stack(folder, **env) as stack:
            served = Served(stack)
            share = max(1, world.options.answers // CLIENTS)
            found = survive(served, CLIENTS, share, [served.kill, served.terminate, served.kill])
    return {
        "kill_answers": found.answers,
        "kill_faults": found.faults,
        "kill_copies": found.copies,
        "kill_deduplicated": found.repeated,
        "kill_s": found.seconds,
        "kill_nacks": dict(found.nacks),
    }


SECTIONS: dict[str, Callable[[World], Figures]] = {
    "sizes": sizes,
    "sockets": sockets,
    "talk": talk,
    "isolation": isolation,
    "storm": storm,
    "kill": kill,
}


def main() -> int:
    """Run the chosen sections; see the module's text."""
    options = _options()
    figures: Figures = {
        "database": "postgresql" if options.database else "sqlite",
        "load_before": os.getloadavg()[0],
    }
    with tempfile.TemporaryDirectory(prefix="labelhub-bench-") as name:
        world = World(Path(name), options.database, options)
        for chosen in options.only:
            print(f"{chosen} ...", file=sys.stderr, flush=True)
            figures |= SECTIONS[chosen](world) | {f"load_after_{chosen}": os.getloadavg()[0]}
    return report(figures, GOALS, options)


def _options() -> argparse.Namespace:
    parser = option_parser("Benchmark of the widget's server side.", [*SECTIONS])
    parser.add_argument("--database", default="", help="PostgreSQL URL; by default SQLite.")
    parser.add_argument("--sockets", type=int, default=5000)
    parser.add_argument("--people", type=int, default=1000, help="Who write, and who come back.")
    parser.add_argument("--questions", type=int, default=1, help="After one message, at most.")
    parser.add_argument("--answering", type=float, default=0.2, help="Share of who is asked.")
    parser.add_argument("--rate", type=float, default=100, help="Messages a second.")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--answers", type=int, default=10_000, help="Through the kills.")
    return parser.parse_args()


def _loaded(port: int, entries: tuple[str, ...]) -> dict[str, int]:
    """Bytes of the script, of these files and of all that they may import, now or later."""
    found = {"v1.js": len(_sent(port, "v1.js"))}
    wanted = list(entries)
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        packed = _sent(port, f"build/{name}")
        found[name] = len(packed)
        text = gzip.decompress(packed).decode()
        imports = re.findall(r'(?:from|import)\s*\(?\s*"(\.[^"]+)"', text)
        wanted += [
            posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            for target in imports
        ]
    return found


def _sent(port: int, name: str) -> bytes:
    """A file of the widget, as it goes over the line."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", f"/widget/{name}", headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if response.status != 200:
        raise SystemExit(f"/widget/{name}: {response.status}")
    return body


if __name__ == "__main__":
    sys.exit(main())
