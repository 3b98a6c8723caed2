"""Servers that differ by their environment or arguments, measured in turns.

    python tests/bench/compare_bench.py [--database URL] [--rounds N] "" "NAME=VALUE --workers=2" …

A machine that others use too is twice as fast in one minute as in the next: figures of two runs
cannot be compared. Here all servers stand at once, and eight people label at each for a few
seconds, one server after the other, round by round. Prints labels per second, processor time of the
server per label, and both as ratios to the first. With ``--database`` each server gets a database
of its own there, which is dropped at the end. As shipped, each server of a small machine keeps to a
processor of its own; with more servers than processors say ``LABELHUB_ONE_PROCESSOR=false`` to all.
"""

import argparse
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.client import Client
from tests.bench.queue_bench import PEOPLE, import_parts, set_up
from tests.bench.server import Server, environment
from tests.bench.workload import Queue, User, corpus
from tests.fakes.stack import own_database

SECONDS = 2.5
#: More than any server labels in a second.
FASTEST = 300


@dataclass
class Side:
    """One of the servers, and what was seen of it so far."""

    name: str
    server: Server
    queue: Queue
    labels: int = 0
    wall: float = 0.0
    processor: float = 0.0

    def measure(self) -> None:
        """Label for some seconds."""
        before = self.server.cpu_seconds()
        record = self.queue.closed_loop(PEOPLE, SECONDS)
        if record.errors or not record.accepted:
            raise SystemExit(f"{self.name!r} did not work: {dict(record.errors)}")
        self.processor += self.server.cpu_seconds() - before
        self.labels += len(record.accepted)
        self.wall += record.wall

    @property
    def rate(self) -> float:
        """Labels per second."""
        return self.labels / self.wall

    @property
    def cost(self) -> float:
        """Milliseconds of processor time per label."""
        return 1000 * self.processor / self.labels


def main() -> None:
    """Run the comparison; see the module's text."""
    parser = argparse.ArgumentParser(description="Servers against each other, in turns.")
    parser.add_argument("--database", default="", help="Database URL; SQLite by default.")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument(
        "settings", nargs="+", help="Variables and arguments of one server, with blanks between."
    )
    options = parser.parse_args()
    with ExitStack() as stack:
        sides = [stack.enter_context(_side(setting, options)) for setting in options.settings]
        for side in sides:
            side.queue.closed_loop(PEOPLE, 1)  # warms up
        for _ in range(options.rounds):
            for side in sides:
                side.measure()
    print(f"{'settings':<40}{'labels/s':>10}{'ratio':>8}{'ms/label':>10}{'ratio':>8}")
    first = sides[0]
    for side in sides:
        print(
            f"{side.name or '(as shipped)':<40}{side.rate:>10.1f}{side.rate / first.rate:>8.2f}"
            f"{side.cost:>10.1f}{side.cost / first.cost:>8.2f}"
        )


@contextmanager
def _side(settings: str, options: argparse.Namespace) -> Iterator[Side]:
    words = settings.split()
    arguments = [word for word in words if word.startswith("--")]
    variables = dict(word.split("=", 1) for word in words if word not in arguments)
    items = int(FASTEST * (1 + SECONDS * options.rounds))
    with queue_of(items, options.database, *arguments, variables=variables) as (server, queue, _):
        yield Side(settings, server, queue)


@contextmanager
def queue_of(
    items: int,
    database: str,
    *arguments: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    people: int = PEOPLE,
    overlap: int = 1,
) -> Iterator[tuple[Server, Queue, Client]]:
    """A server of its own, its queue of so many items, and the manager's connection; with
    ``database`` in a new database there."""
    slug = f"bench-{secrets.token_hex(3)}"
    with (
        tempfile.TemporaryDirectory(prefix="labelhub-bench-") as name,
        own_database(database) as own,
    ):
        env = environment(Path(name), own) | dict(variables)
        keys = set_up(env, slug, people=people, overlap=overlap)
        with Server(env, Path(name), *arguments) as server:
            users = [User(who, Client(server.port, key)) for who, key in keys.items()]
            manager = users[-1].client
            import_parts(manager, slug, corpus(items))
            yield server, Queue(slug, users[:-1]), manager


if __name__ == "__main__":
    main()
