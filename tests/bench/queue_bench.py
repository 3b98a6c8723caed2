"""The queue under load, over HTTP, against targets.

    python tests/bench/queue_bench.py [--database URL] [--json FILE] [--items N] [--seconds S]

Starts a server of its own with an empty data folder (and SQLite, unless a database is named; its
rows stay there). The project is two thirds done when people begin: N of its 3 N items are open, as
what the queue costs may grow with what has been labelled. Prints a table and, on the last line, the
same as JSON. Ends with 1 when a target is missed and ``--strict`` was given. Client and server
share the machine.
"""

import argparse
import secrets
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.child import run_child
from tests.bench.client import Client
from tests.bench.report import Figures, option_parser, report, spread
from tests.bench.server import Server, environment, manage
from tests.bench.workload import (
    LABELS,
    Queue,
    Record,
    User,
    annotated,
    corpus,
    export_file,
    import_rows,
    lost_labels,
)

PEOPLE = 8
#: Rows per request of the import.
PART = 50_000
#: name → (at most, bound): counts, as times are those of the machine.
TARGETS: dict[str, tuple[str, float]] = dict.fromkeys(("duplicates", "errors", "lost"), ("<=", 0))


def main() -> int:
    """Run the workload; see the module's text."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="labelhub-bench-") as name:
        folder = Path(name)
        env = environment(folder, options.database)
        slug = f"bench-{secrets.token_hex(3)}"
        keys = set_up(env, slug, people=max(PEOPLE, options.people), overlap=options.overlap)
        with Server(env, folder) as server:
            rows = corpus(3 * options.items)
            manager = Client(server.port, list(keys.values())[-1])
            done = label_two_thirds(env, manager, slug, rows[options.items :])
            users = [User(name, Client(server.port, key)) for name, key in keys.items()]
            figures: Figures = {"database": _vendor(options.database), "labels_before": done}
            figures |= _run(slug, users, options, server, rows[: options.items])
            figures["start_s"] = server.start_seconds
            figures["rss_idle_mb"], figures["rss_max_mb"] = server.rss_idle_mb, server.rss_max_mb
            figures["server_log_errors"] = server.troubles()
    return report(figures, TARGETS, options)


def _options() -> argparse.Namespace:
    parser = option_parser("Benchmark of the review queue.")
    parser.add_argument(
        "--database", default="", help="Database URL; by default a new SQLite file."
    )
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=20, help="Length of each closed loop.")
    parser.add_argument("--overlap", type=int, default=1, help="Annotators per item.")
    parser.add_argument("--people", type=int, default=PEOPLE, help="The most clients at once.")
    return parser.parse_args()


def set_up(
    env: Mapping[str, str], slug: str, *, people: int = PEOPLE, overlap: int = 1
) -> dict[str, str]:
    """Two projects and their people, by the product's own commands; key by user name."""
    for project in (slug, f"{slug}-in"):
        names = ",".join(LABELS)
        wanted = ["--labels", names, "--overlap", str(overlap)]
        manage(env, "create_project", project, "--task", "single", *wanted)

    def person(index: int) -> tuple[str, str]:
        name = f"{slug}-p{index}"
        superuser = (
            ["--superuser"] if index == people else ["--project", slug, "--role", "reviewer"]
        )
        manage(env, "create_user", name, *superuser)
        return name, manage(env, "create_api_key", name)["key"]

    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(person, range(people + 1)))


def label_two_thirds(
    env: Mapping[str, str], manager: Client, slug: str, rows: Sequence[Any]
) -> int:
    """Import ``rows`` and have all of them labelled; how many labels that took."""
    import_parts(manager, slug, rows)
    script = str(Path(__file__).resolve().parent / "filled_queue.py")
    result = run_child([script, slug], env, timeout=1800).result
    return int(result["labels"])


def _run(
    slug: str,
    users: Sequence[User],
    options: argparse.Namespace,
    server: Server,
    rows: list[dict[str, Any]],
) -> dict[str, Any]:
    """All phases in order; the last user is the manager."""
    manager = users[-1].client
    queue = Queue(slug, users[:-1])
    figures: dict[str, Any] = {
        "items": options.items, "people": options.people, "overlap": options.overlap,
    }  # fmt: skip
    figures["import_s"] = import_parts(manager, slug, rows)
    taking = {clients: queue.next_only(clients, 200 // (1 + clients // 8)) for clients in (1, 8)}
    loops = {}
    for clients in sorted({1, PEOPLE, max(PEOPLE, options.people)}):
        before = server.cpu_seconds()
        loops[clients] = queue.closed_loop(clients, options.seconds)
        # Tells a slow server from a busy machine.
        used = 1000 * (server.cpu_seconds() - before)
        figures[f"loop_{clients}_cpu_ms_per_label"] = used / max(1, len(loops[clients].accepted))
    race = queue.race(options.people, 20)
    for clients, record in taking.items():
        figures |= spread(f"next_{clients}", record.next_seconds)
    for clients, record in loops.items():
        figures |= spread(f"loop_{clients}_next", record.next_seconds)
        figures |= spread(f"loop_{clients}_submit", record.submit_seconds)
        figures[f"loop_{clients}_labels_per_s"] = len(record.accepted) / record.wall
    figures |= _faults([*loops.values(), race], list(taking.values()), options.overlap)
    accepted = [acceptance for record in [*loops.values(), race] for acceptance in record.accepted]
    figures["accepted"] = len(accepted)
    figures["lost"] = lost_labels(export_file(manager, slug, "jsonl"), accepted)
    return figures | _in_and_out(manager, f"{slug}-in", annotated(rows[:10_000]))


def import_parts(manager: Client, slug: str, rows: Sequence[Any]) -> float:
    """All rows, in requests that a server takes whole; seconds."""
    parts = (rows[start : start + PART] for start in range(0, len(rows), PART))
    return sum(import_rows(manager, slug, part)[0] for part in parts)


def _in_and_out(manager: Client, slug: str, rows: list[dict[str, Any]]) -> dict[str, float]:
    took, imported = import_rows(manager, slug, rows)
    if imported.get("created") != len(rows):
        raise SystemExit(f"The import of annotated items went wrong: {imported}")
    out = {name: export_file(manager, slug, name) for name in ("json", "csv", "jsonl")}
    return {"import_annotated_s": took} | {
        f"export_{name}_s": answer.seconds for name, answer in out.items()
    }


def _faults(labelling: Sequence[Record], taking: Sequence[Record], overlap: int) -> dict[str, Any]:
    errors = sum(
        (record.errors for record in [*labelling, *taking]), start=type(taking[0].errors)()
    )
    return {
        "duplicates": sum(
            loop.handed_beyond(overlap) + loop.labelled_beyond(overlap) for loop in labelling
        ),
        "errors": sum(errors.values()),
        "error_kinds": dict(errors.most_common(5)),
    }


def _vendor(database: str) -> str:
    return "postgresql" if database.startswith("postgres") else "sqlite"


if __name__ == "__main__":
    sys.exit(main())
