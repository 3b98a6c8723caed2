"""Debates under load against goals: what the engine costs beside the calls it makes.

    python tests/bench/debate_bench.py [--only ecj,rate] [--items N] [--json FILE] [--strict]

Starts an endpoint that answers after 50 ms, makes projects of short texts in an empty data folder
(SQLite) and labels them by ``preannotate --wait``, each time in a process of its own. Prints a
table and, on the last line, the same as JSON. Ends with 1 when a goal is missed and ``--strict``
was given. Everything shares one machine: calls per second swing with its load, the processor time
of a call does not. ``kept_waiting`` is the share of its time that the process was ready and had no
processor: above a tenth, calls per second say more about the machine than about the engine.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.child import Ended, growth_mb, run_child, told_by
from tests.bench.report import Figures, option_parser, report
from tests.bench.server import environment
from tests.fakes.fast_endpoint import FastEndpoint

ROOT = Path(__file__).resolve().parent.parent.parent
LATENCY = 0.05
IN_FLIGHT = 64
RATE, CAPACITY = 200, 32
NOISE = {"limited": 0.02, "unavailable": 0.01, "malformed": 0.05, "retry_after": 1.0}
#: Seconds that one child may take; it is killed then.
LONGEST = 240.0
#: In a shorter run memory still settles.
FEWEST_FOR_GROWTH = 5000

#: name → (at most | at least, bound): shares, counts, KB; times are those of the machine.
GOALS: dict[str, tuple[str, float]] = {
    "ecj_share_of_limit": (">=", 0.75),
    "ecj_lost": ("<=", 0),
    "ecj_items_without_3_turns": ("<=", 0),
    "rate_share_of_limit": (">=", 0.9),
    "rate_lost": ("<=", 0),
    "capacity_share_of_ideal": (">=", 0.6),
    "capacity_lost": ("<=", 0),
    "noise_lost": ("<=", 0),
    "noise_unparsed_share": ("<=", 0.005),
    "noise_unparsed_not_queued": ("<=", 0),
    "memory_lost": ("<=", 0),
    "memory_growth_kb_per_1000": ("<=", 100),
}


@dataclass(frozen=True, slots=True)
class World:
    """Where the benchmark happens."""

    folder: Path
    endpoint: FastEndpoint
    env: Mapping[str, str]
    items: int

    def preannotate(self, slug: str, protocol: str, limit: int, **behaviour: Any) -> "Labelled":
        """Label the first ``limit`` items of a project with the endpoint behaving like that."""
        self.endpoint.reset()
        self.endpoint.set(**behaviour)
        given = [slug, "--protocol", protocol, "--limit", str(limit), "--wait", "--json"]
        child = run_child([str(ROOT / "manage.py"), "preannotate", *given], self.env, LONGEST)
        seen = self.endpoint.stats()
        calls_per_item = {"single": 1, "ecj": 3}[protocol]
        return Labelled(child, self.store("audit", child.result["run"], calls_per_item), seen)

    def store(self, *given: object) -> Figures:
        """What ``debate_store.py`` says to a command."""
        return told_by(ROOT / "tests/bench/debate_store.py", *given, env=self.env)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A run that has ended: its process, what it stored, what the endpoint saw."""

    child: Ended
    stored: Figures
    seen: Figures

    @property
    def calls(self) -> int:
        """Requests that reached the endpoint."""
        return int(self.seen["requests"])

    @property
    def answered(self) -> int:
        """Those among them that were answered."""
        return int(self.seen["statuses"].get("200", 0))

    def seconds(self, before: Figures) -> float:
        """From the run's start to its end, without what a run of one item takes for itself."""
        return max(float(self.stored["seconds"]) - float(before["start_up_s"]), 1e-9)

    def answers_per_s(self, before: Figures) -> float:
        """Answers by those seconds."""
        return self.answered / self.seconds(before)

    @property
    def refused(self) -> int:
        """How often the endpoint said 429."""
        return int(self.seen["statuses"].get("429", 0))


def bare(world: World) -> Figures:
    """The limit: the same calls by a client that does nothing else."""
    world.endpoint.reset()
    script, url = ROOT / "tests/bench/bare_client.py", world.endpoint.base_url
    found = told_by(script, url, 3 * world.items, IN_FLIGHT, env=world.env)
    return {f"bare_openai_{name}": figure for name, figure in found.items()}


def start_up(world: World, slug: str) -> Figures:
    """What a run of one item takes, nearly all of it for imports; the better of two."""
    runs = [world.preannotate(slug, "ecj", 1) for _ in range(2)]
    return {
        "start_up_s": max(0.0, min(run.stored["seconds"] for run in runs) - 3 * LATENCY),
        "start_up_cpu_s": min(run.child.cpu_seconds for run in runs),
        "start_up_memory_mb": runs[-1].child.most_memory,
    }


def ecj(world: World, before: Figures) -> Figures:
    """Three dependent calls an item."""
    run = world.preannotate("ecj", "ecj", world.items)
    cpu_ms = 1000 * (run.child.cpu_seconds - before["start_up_cpu_s"]) / (run.calls - 3)
    limit = before["bare_openai_calls_per_s"]  # of the client that the gateway has
    return {
        "ecj_calls_per_s": run.answers_per_s(before),
        "ecj_share_of_limit": run.answers_per_s(before) / limit,
        "ecj_cpu_ms": cpu_ms,
        "ecj_cpu_above_openai_ms": cpu_ms - before["bare_openai_cpu_ms"],
        "ecj_kept_waiting_share": run.child.kept_waiting / run.child.seconds,
        "ecj_lost": _lost(run, world.items),
        "ecj_items_without_3_turns": run.stored["turns_off"],
        "ecj_most_in_flight": run.seen["most_in_flight"],
        "ecj_memory_above_start_mb": run.child.most_memory - before["start_up_memory_mb"],
        "endpoint_cpu_ms": 1000 * run.seen["cpu_seconds"] / run.calls,
    }


def rate(world: World, before: Figures) -> Figures:
    """At most 200 requests a second, with the exact time to wait in each refusal."""
    items = max(1, world.items // 4)
    burst = RATE // 10
    run = world.preannotate("rate", "ecj", items, rate=RATE, burst=burst)
    ideal = max(0, run.answered - burst) / RATE
    return {
        "rate_share_of_limit": ideal / run.seconds(before),
        "rate_lost": _lost(run, items),
        "rate_refused": run.refused,
    }


def capacity(world: World, before: Figures) -> Figures:
    """At most 32 at once, and a second to wait in each refusal."""
    items = max(1, world.items // 2)
    run = world.preannotate("capacity", "ecj", items, capacity=CAPACITY, retry_after=1.0)
    return {
        "capacity_share_of_ideal": run.answers_per_s(before) / (CAPACITY / LATENCY),
        "capacity_lost": _lost(run, items),
        "capacity_refused_per_answer": run.refused / run.answered,
    }


def noise(world: World, before: Figures) -> Figures:
    """An endpoint with a bad day."""
    run = world.preannotate("noise", "ecj", world.items, **NOISE)
    return {
        "noise_items_per_s": world.items / run.seconds(before),
        "noise_calls_per_turn": run.calls / run.stored["turns"],
        "noise_lost": _lost(run, world.items),
        "noise_unparsed_share": run.stored["unparsed"] / world.items,
        "noise_unparsed_not_queued": run.stored["unparsed_not_queued"],
        "noise_outcomes": run.seen["outcomes"],
    }


def memory(world: World, before: Figures) -> Figures:
    """Many items in one run: what the process holds must not grow with them."""
    items = 10 * world.items
    run = world.preannotate("memory", "single", items)
    figures = {
        "memory_items": items,
        "memory_calls_per_s": run.answers_per_s(before),
        "memory_most_mb": run.child.most_memory,
        "memory_lost": _lost(run, items),
    }
    if items >= FEWEST_FOR_GROWTH:
        grown = growth_mb(run.child.memory, 0.25)
        figures["memory_growth_kb_per_1000"] = 1000 * grown / (0.75 * items / 1000)
    return figures


Section = Callable[[World, Figures], Figures]
SECTIONS: dict[str, Section] = {
    "ecj": ecj,
    "rate": rate,
    "capacity": capacity,
    "noise": noise,
    "memory": memory,
}
#: Items that each section's project needs, for each of ``--items``.
SIZES = {"ecj": 1.0, "rate": 0.25, "capacity": 0.5, "noise": 1.0, "memory": 10.0}


def main() -> int:
    """Run the chosen sections; see the module's text."""
    options = _options()
    began = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="labelhub-bench-") as name,
        FastEndpoint(latency=LATENCY) as endpoint,
    ):
        figures = _run(_world(Path(name), endpoint, options), options.only)
    figures["bench_s"] = time.perf_counter() - began
    return report(figures, GOALS, options)


def _options() -> argparse.Namespace:
    parser = option_parser("Benchmark of the debates.", [*SECTIONS], besides=["bare"])
    parser.add_argument("--items", type=int, default=2000, help="of the ECJ run; others follow")
    return parser.parse_args()


def _world(folder: Path, endpoint: FastEndpoint, options: argparse.Namespace) -> World:
    env = environment(folder, "")
    env |= {"LABELHUB_LLM_BASE_URL": endpoint.base_url, "LABELHUB_LLM_MODEL": "fake-model"}
    world = World(folder, endpoint, env, max(4, options.items))
    sizes = {name: int(SIZES[name] * world.items) for name in options.only if name in SIZES}
    world.store("prepare", folder, *(f"{name}={size}" for name, size in sizes.items()))
    return world


def _run(world: World, names: list[str]) -> Figures:
    # Says how far calls per second can be believed.
    figures: Figures = {"items": world.items, "load_before": os.getloadavg()[0]}
    if {"bare", "ecj"} & set(names):
        figures |= bare(world)
    chosen = [name for name in SECTIONS if name in names]
    if chosen:
        figures |= start_up(world, chosen[0])
    for name, section in SECTIONS.items():
        if name in chosen:
            print(f"{name} ...", file=sys.stderr, flush=True)
            figures |= section(world, figures)
    return figures


def _lost(run: Labelled, items: int) -> int:
    return int(run.stored["lost"]) + abs(items - int(run.stored["debates"]))


if __name__ == "__main__":
    sys.exit(main())
