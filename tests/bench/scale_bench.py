"""The queue of a large project beside that of a small one, measured in turns.

    python tests/bench/scale_bench.py [--items N] [--beside N] [--overlap N] [--clients 1,8,32]
                                      [--database URL] [--rounds N] [--json FILE] [--strict]

Two servers with a database each stand at once; people take and label at one and at the other for
a few seconds each, round by round, so that whoever else uses the machine slows both. Prints
percentiles of both and the ratio of the large project's to the small one's, and what was handed
out too often, refused or lost. Ends with 1 when a target is missed and ``--strict`` was given.
"""

import argparse
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.client import Client
from tests.bench.compare_bench import queue_of
from tests.bench.report import option_parser, print_json
from tests.bench.workload import Queue, Record, export_file, lost_labels

SECONDS = 2.5
RATIO = 1.5


@dataclass
class Side:
    """One of the two projects; ``records`` by the number of clients."""

    items: int
    overlap: int
    queue: Queue
    manager: Client
    records: dict[int, list[Record]] = field(default_factory=dict)

    def measure(self, clients: int) -> None:
        """Take and label for some seconds."""
        self.records.setdefault(clients, []).append(self.queue.closed_loop(clients, SECONDS))

    def p95_ms(self, clients: int, what: str) -> float:
        """The 95th percentile of ``next`` or ``submit``."""
        taken = [
            seconds
            for record in self.records[clients]
            for seconds in getattr(record, f"{what}_seconds")
        ]
        return float(1000 * statistics.quantiles(taken, n=20, method="inclusive")[-1])

    def rate(self, clients: int) -> float:
        """Labels per second."""
        records = self.records[clients]
        return sum(len(record.accepted) for record in records) / sum(
            record.wall for record in records
        )

    def faults(self) -> dict[str, int]:
        """What was handed out or labelled too often, refused, or accepted and not kept."""
        records = [record for loops in self.records.values() for record in loops]
        accepted = [acceptance for record in records for acceptance in record.accepted]
        kept = export_file(self.manager, self.queue.slug, "jsonl")
        beyond = (
            record.handed_beyond(self.overlap) + record.labelled_beyond(self.overlap)
            for record in records
        )
        return {
            "accepted": len(accepted),
            "duplicates": sum(beyond),
            "errors": sum(sum(record.errors.values()) for record in records),
            "lost": lost_labels(kept, accepted),
        }


def main() -> int:
    """Run the comparison; see the module's text."""
    options = _options()
    clients = [int(number) for number in options.clients.split(",")]
    with ExitStack() as stack:
        small, large = (
            Side(
                items,
                options.overlap,
                *stack.enter_context(
                    queue_of(items, options.database, people=max(clients), overlap=options.overlap)
                )[1:],
            )
            for items in (options.beside, options.items)
        )
        for side in (small, large):
            side.queue.closed_loop(max(clients), 2)  # warms up
        for _ in range(options.rounds):
            for number in clients:
                for side in (small, large):
                    side.measure(number)
        figures = _compared(small, large, clients)
        figures["faults"] = [side.faults() for side in (small, large)]
    print_json(figures, options)
    missed = _missed(figures)
    print("missed:", ", ".join(missed) or "nothing")
    return 1 if missed and options.strict else 0


def _options() -> argparse.Namespace:
    parser = option_parser("A large project's queue beside a small one's.")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--beside", type=int, default=10_000)
    parser.add_argument("--overlap", type=int, default=1, help="Annotators per item.")
    parser.add_argument("--clients", default="1,8,32", help="Numbers of clients, by commas.")
    parser.add_argument("--database", default="", help="Database URL; SQLite by default.")
    parser.add_argument("--rounds", type=int, default=6)
    return parser.parse_args()


def _compared(small: Side, large: Side, clients: Sequence[int]) -> dict[str, Any]:
    """A line per number of clients, printed and returned."""
    print(f"{'clients':<9}{'what':<16}{small.items:>12,}{large.items:>12,}{'ratio':>8}")
    figures: dict[str, Any] = {"items": large.items, "beside": small.items}
    for number in clients:
        for what in ("next", "submit"):
            found = [side.p95_ms(number, what) for side in (small, large)]
            figures[f"{what}_{number}_p95_ratio"] = round(found[1] / found[0], 3)
            _line(number, f"{what} p95 ms", found)
        found = [side.rate(number) for side in (small, large)]
        figures[f"labels_per_s_{number}"] = [round(rate, 1) for rate in found]
        _line(number, "labels/s", found)
    return figures


def _line(number: int, what: str, found: Sequence[float]) -> None:
    print(f"{number:<9}{what:<16}{found[0]:>12.1f}{found[1]:>12.1f}{found[1] / found[0]:>8.2f}")


def _missed(figures: dict[str, Any]) -> list[str]:
    slower = [
        name
        for name, figure in figures.items()
        if name.startswith("next_") and name.endswith("_ratio") and figure > RATIO
    ]
    wrong = [
        f"{name} of {side} items"
        for side, faults in zip(
            (figures["beside"], figures["items"]), figures["faults"], strict=True
        )
        for name in ("duplicates", "errors", "lost")
        if faults[name]
    ]
    return slower + wrong


if __name__ == "__main__":
    sys.exit(main())
