"""What it costs to learn from an event, to predict, and to keep what was learnt: processor time.

    python tests/bench/echo_bench.py [--features 1000] [--values 3] [--rounds 2000] [--json FILE]
                                     [--strict]

A site with that many features, each of which authors have answered three times; messages are made
of common words. One answer and one reward (of ten features shown) are learnt in turn by this site
and by one with 100 features, so that both meet the same machine: what an update costs should not
depend on how many features there are. Answers are about the same 100 in both, whose models grow
alike. Then a message is predicted by every model, once without and
once with what a language model says, and the selector and the models are packed and read again.
Prints milliseconds (median and the worst but five in a hundred), their share of the target where
there is one, and the ratio to 100 features; the last line is the same as JSON. Ends with 1 when
the target is missed and ``--strict`` was given. Tests do not depend on it.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from labelhub.core.echo.events import Answered, Rewarded
from labelhub.core.echo.models import predict
from labelhub.core.echo.state import (
    EchoState,
    learn,
    pack_model,
    pack_selector,
    unpack_model,
    unpack_selector,
)
from labelhub.core.echo.uncertainty import prediction_signs
from labelhub.core.echo.vectors import Sparse, vector_of

#: Milliseconds of an update with 1,000 features.
TARGET_MS = 2.0
FEW, SHOWN, TAUGHT = 100, 10, 3
WORDS = (
    "blue",
    "boots",
    "budget",
    "carry",
    "cheap",
    "children",
    "colour",
    "easy",
    "friday",
    "gift",
    "green",
    "lamp",
    "light",
    "looking",
    "maybe",
    "need",
    "pack",
    "people",
    "price",
    "proof",
    "rain",
    "return",
    "soon",
    "strong",
    "tent",
    "two",
    "warm",
    "water",
    "winter",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was measured: milliseconds of this site, and of the one with few features."""

    what: str
    median: float
    high: float
    few: float | None = None
    target: float | None = None

    @property
    def ratio(self) -> float | None:
        """To the same with 100 features, in the same run."""
        return None if self.few is None else self.median / self.few

    @property
    def met(self) -> bool:
        """Whether 95 of 100 keep within the target."""
        return self.target is None or self.high <= self.target

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self) | {"ratio": self.ratio, "met": self.met}


class Site:
    """A state with ``count`` features that were answered, and events to come."""

    def __init__(self, count: int, values: int, seed: int = 0) -> None:
        self.draws = np.random.default_rng(seed)
        self.values = tuple(f"value {index}" for index in range(values))
        self.keys = [f"feature_{index}" for index in range(count)]
        self.state = EchoState()
        for key in self.keys * TAUGHT:
            learn(self.state, self.answered(key))

    def message(self) -> Sparse:
        """Of fifteen words."""
        return vector_of(" ".join(self.draws.choice(WORDS, 15)))

    def answered(self, key: str = "") -> Answered:
        """An answer of one of many authors, mostly as predicted, so that they are believed."""
        top, missed = self.draws.uniform(0.4, 0.95, 1), bool(self.draws.random() < 0.1)
        signs = prediction_signs(top, top - 0.2, np.zeros(1), np.full(1, 0.3), np.full(1, 5.0))[0]
        return Answered(
            id="a",
            author=f"author {self.draws.integers(10_000)}",
            trusted=True,
            feature=key or str(self.draws.choice(self.keys[:FEW])),
            value=str(self.draws.choice(self.values)),
            predicted=self.values[0],
            loss=float(missed),
            signs=tuple(signs.tolist()),
            vector=self.message(),
            values=self.values,
            llm_value=self.values[0],
        )

    def rewarded(self) -> Rewarded:
        """A reward for ten features."""
        shown = self.draws.choice(self.keys, SHOWN, replace=False)
        return Rewarded(
            id="r",
            author="somebody else",
            trusted=True,
            shown=tuple((str(key), 0.8) for key in shown),
            value=float(self.draws.random() < 0.1),
        )


def main() -> None:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=1_000)
    parser.add_argument("--values", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--strict", action="store_true")
    asked = parser.parse_args()
    with threadpool_limits(1):
        many, few = Site(asked.features, asked.values), Site(FEW, asked.values)
        rows = [
            *_updates(many, few, asked.rounds),
            *_predictions(many, max(3, asked.rounds // 100)),
            *_packing(many, max(3, asked.rounds // 100)),
        ]
    print(f"{asked.features:,} features of {asked.values} values, {asked.rounds:,} rounds")
    for row in rows:
        print(_line(row))
    report = json.dumps({"features": asked.features, "rows": [row.to_json() for row in rows]})
    if asked.json:
        asked.json.write_text(report + "\n", "utf-8")
    print(report)
    if asked.strict and not all(row.met for row in rows):
        raise SystemExit(1)


def _updates(many: Site, few: Site, rounds: int) -> list[Row]:
    made: list[tuple[str, Callable[[Site], Answered | Rewarded]]] = [
        ("learn an answer", Site.answered),
        ("learn a reward", Site.rewarded),
    ]
    rows = []
    for what, event_of in made:
        taken: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for site, seconds in zip((many, few), taken, strict=True):
                event = event_of(site)
                seconds.append(_cpu(learn, site.state, event))
        rows.append(_row(what, taken[0], few=taken[1], target=TARGET_MS))
    return rows


def _predictions(site: Site, rounds: int) -> list[Row]:
    def every(vector: Sparse, word: str) -> None:
        for key in site.keys:
            predict(site.state.models[key], vector, site.values, word)

    count = f"{len(site.keys):,} models predict"
    return [
        _row(f"{count}{words}", [_cpu(every, site.message(), word) for _ in range(rounds)])
        for words, word in (("", ""), (", with a word said", site.values[-1]))
    ]


def _packing(site: Site, rounds: int) -> list[Row]:
    model = site.state.models[site.keys[0]]
    selector, packed = pack_selector(site.state), pack_model(model)
    steps: list[tuple[str, Callable[..., object], object]] = [
        ("pack the selector", pack_selector, site.state),
        ("read the selector", unpack_selector, selector),
        ("pack one model", pack_model, model),
        ("read one model", unpack_model, packed),
    ]
    print(f"a selector takes {len(selector) / 1024:.0f} KiB, a model {len(packed) / 1024:.0f} KiB")
    return [_row(what, [_cpu(run, given) for _ in range(rounds)]) for what, run, given in steps]


def _row(
    what: str,
    seconds: Sequence[float],
    *,
    few: Sequence[float] | None = None,
    target: float | None = None,
) -> Row:
    median, high = (1_000 * float(np.quantile(seconds, share)) for share in (0.5, 0.95))
    other = None if few is None else 1_000 * float(np.median(few))
    return Row(what, median, high, other, target)


def _line(row: Row) -> str:
    line = f"  {row.what:<40} median {row.median:9.3f} ms, 95 % {row.high:9.3f} ms"
    if row.target:
        line += f", {row.high / row.target:4.0%} of the target"
    if row.ratio:
        line += f", {row.ratio:.2f} x that with {FEW} features"
    return line


def _cpu(run: Callable[..., object], *given: object) -> float:
    start = time.process_time()
    run(*given)
    return time.process_time() - start


if __name__ == "__main__":
    main()
