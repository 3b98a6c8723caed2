"""The statistics and the report of agreement against goals, beside other packages.

    python tests/bench/agreement_bench.py [--only coefficients,request] [--labels N] [--json FILE]
                                          [--strict]

Processor time on one thread, in a process for each thing; those that are compared take turns, and
the best of each counts. The labels are 20 raters', five of each item, the same every time. Other
packages are installed into an environment of their own in a cache folder; where that cannot be
done a line says so and their rows are missing. Prints a table and, on the last line, the same as
JSON. Ends with 1 when a goal is missed and ``--strict`` was given. ``request`` fills a SQLite
database of its own and asks a server of its own.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.bench.agreement_http import Shop, requests
from tests.bench.child import ONE_THREAD, told_by
from tests.bench.report import option_parser, print_json

#: Other packages; no dependencies of ours: some are GPL, some ask for other versions.
WHOLE = (
    "krippendorff==0.9.0", "scikit-learn==1.9.1",
    "pandas==3.1.1", "attrs", "nltk", "tqdm",
)  # fmt: skip
#: Asks for hundreds of MB that what is measured here never imports.
ALONE = ("crowd-kit==1.4.2",)
READY = "import krippendorff, sklearn.metrics, crowdkit.aggregation"
HERE = Path(__file__).parent
ROUNDS = 3
MOST_MB = 150
COEFFICIENTS = ("alpha", "fleiss", "ac1", "brennan_prediger")
OWN, PEER = "agreement_own.py", "agreement_peer.py"


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: milliseconds (or MB) of ours and of what it is held against.

    ``goal``: ours over theirs at most (``<=``), theirs over ours at least (``>=``); of MB the most.
    """

    what: str
    against: str
    ours: float
    theirs: float | None
    how: str
    goal: float

    @property
    def ratio(self) -> float:
        """What the goal is about."""
        if self.theirs is None:
            return self.ours
        return self.ours / self.theirs if self.how == "<=" else self.theirs / self.ours

    @property
    def met(self) -> bool:
        """Whether it is."""
        return self.ratio <= self.goal if self.how == "<=" else self.ratio >= self.goal

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        found = asdict(self) | {"ratio": self.ratio, "met": self.met}
        return {
            key: round(figure, 4) if type(figure) is float else figure
            for key, figure in found.items()
        }


@dataclass(slots=True)
class Bench:
    """The ratings, the other packages' Python, and the best of what was measured so far."""

    folder: Path
    labels: int
    peers: Path | None
    seconds: dict[tuple[str, str], float] = field(
        default_factory=lambda: defaultdict(lambda: float("inf"))
    )
    memory: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    found: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))

    def in_turns(self, own: Iterable[str], peers: Iterable[str] = ()) -> None:
        """Measure these, one after the other, several times."""
        theirs = list(peers) if self.peers else []
        for _ in range(ROUNDS):
            for name in own:
                measured = self._measure(OWN, name)
                self.memory[name] = max(self.memory[name], measured["above_mb"])
            for name in theirs:
                self._measure(PEER, name)

    def row(self, name: str, script: str, against: str, how: str, goal: float) -> list[Row]:
        """Ours against theirs; nothing where theirs is missing."""
        if (script, against) not in self.seconds:
            return []
        ours, theirs = self.seconds[OWN, name] * 1000, self.seconds[script, against] * 1000
        return [Row(name, against, ours, theirs, how, goal)]

    def _measure(self, script: str, name: str) -> dict[str, Any]:
        python = self.peers if script == PEER and self.peers else sys.executable
        measured = told_by(HERE / script, self.folder, name, python=python)
        self.seconds[script, name] = min(self.seconds[script, name], measured["seconds"])
        self.found[name]["ours" if script == OWN else "theirs"] = measured["found"]
        return measured


def coefficients(bench: Bench) -> list[Row]:
    """From the arrays to the number: counting, the different rows of counts, the coefficient."""
    bench.in_turns(["bincount", *COEFFICIENTS], ["krippendorff"])
    counted = (bench.row(name, OWN, "bincount", "<=", 10) for name in COEFFICIENTS)
    faster = (bench.row(name, PEER, "krippendorff", ">=", 3) for name in COEFFICIENTS)
    return [*chain.from_iterable(counted), *chain.from_iterable(faster)]


def bootstrap(bench: Bench) -> list[Row]:
    """Alpha with 1,000 replicates against one call without any."""
    bench.in_turns(["bootstrap"], ["krippendorff"])
    return bench.row("bootstrap", PEER, "krippendorff", "<=", 3)


def pairs(bench: Bench) -> list[Row]:
    """Cohen's kappa of every two raters."""
    bench.in_turns(["pairs"], ["scikit_learn"])
    return bench.row("pairs", PEER, "scikit_learn", ">=", 12)


def aggregation(bench: Bench) -> list[Row]:
    """An iteration of EM, without what comes before the first."""
    names = ["dawid_skene", "mace"]
    bench.in_turns(names, names)
    return [row for name in names for row in bench.row(name, PEER, name, ">=", 10)]


def request(bench: Bench) -> list[Row]:
    """GET /api/v1/projects/<slug>/agreement/ against a SELECT of the labels."""
    found = requests(Shop(bench.folder, ONE_THREAD, bench.labels))
    select, bench.memory["request"] = found.pop("select") * 1000, found.pop("above_mb")
    return [
        Row(f"request_{name}", "select", seconds * 1000, select, "<=", 1.5)
        for name, seconds in found.items()
    ]


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "coefficients": coefficients,
    "bootstrap": bootstrap,
    "pairs": pairs,
    "aggregation": aggregation,
    "request": request,
}


def main() -> int:
    """Run the chosen sections; see the module's text."""
    parser = option_parser("Benchmark of agreement.", [*SECTIONS])
    parser.add_argument("--labels", type=int, default=1_000_000)
    options = parser.parse_args()
    began, load = time.perf_counter(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="labelhub-bench-") as name:
        # Made by a child: a large parent would be counted in the memory of those that follow.
        told_by(HERE / "agreement_data.py", name, options.labels)
        asked = set(options.only) - {"request"}
        bench = Bench(Path(name), options.labels, peers_python() if asked else None)
        rows = []
        for section in options.only:
            print(f"{section} ...", file=sys.stderr, flush=True)
            rows += SECTIONS[section](bench)
    rows += [Row(name, "memory", mb, None, "<=", MOST_MB) for name, mb in bench.memory.items()]
    print(_table(rows))
    figures = {
        "labels": options.labels,
        "load_before": load,
        "bench_s": round(time.perf_counter() - began, 1),
        "rows": [row.to_json() for row in rows],
        "found": bench.found,
        "missed": [f"{row.what} {row.against}" for row in rows if not row.met],
    }
    print_json(figures, options)
    return 1 if options.strict and not all(row.met for row in rows) else 0


def _table(rows: Iterable[Row]) -> str:
    lines = [f"{'what':<22}{'against':<15}{'ours':>12}{'theirs':>12}{'ratio':>9}  goal"]
    for row in rows:
        unit = "MB" if row.theirs is None else "ms"
        theirs = "" if row.theirs is None else f"{row.theirs:.2f} {unit}"
        ratio = "" if row.theirs is None else f"{row.ratio:.2f}"
        met = "MET" if row.met else "MISSED"
        ours = f"{row.ours:.2f} {unit}"
        lines.append(
            f"{row.what:<22}{row.against:<15}{ours:>12}{theirs:>12}{ratio:>9}"
            f"  {row.how} {row.goal:g}  {met}"
        )
    return "\n".join(lines)


def peers_python() -> Path | None:
    """The environment's Python, made the first time; None, and a line on why, where it cannot."""
    asked = "\n".join((sys.version, *WHOLE, *ALONE))
    folder = _cache() / f"agreement-peers-{hashlib.sha256(asked.encode()).hexdigest()[:10]}"
    python, done = folder / "bin" / "python", folder / "done"
    try:
        if not done.exists():
            _install(folder, python)
            done.touch()
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "stderr", "") or str(error)
        why = (reason.strip().splitlines() or ["it failed"])[-1]
        print(f"The other packages are left out, they cannot be installed: {why}", file=sys.stderr)
        return None
    return python


def _cache() -> Path:
    """The data folder that was named, else the user's cache."""
    if named := os.environ.get("LABELHUB_DATA_DIR"):
        return Path(named) / "bench"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "labelhub"


def _install(folder: Path, python: Path) -> None:
    print(f"installing what is compared with into {folder} ...", file=sys.stderr, flush=True)
    _run(sys.executable, "-m", "venv", "--clear", str(folder))
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, *WHOLE)
    _run(*pip, "--no-deps", *ALONE)
    _run(str(python), "-c", READY)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)


if __name__ == "__main__":
    sys.exit(main())
