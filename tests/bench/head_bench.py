"""Our linear head against scikit-learn's online ones, on real texts whose authors labelled them.

    python tests/bench/head_bench.py --data FOLDER [--orders 20] [--json FILE]

The options of every head are chosen on other sets (bank statements, chat messages, contracts; by
mean log-loss; of the passive-aggressive one, which gives no probabilities, by accuracy), never on
those that are told about. A third of the texts of each order is held out; the others are learnt
from one by one. Told are log-loss in nats and accuracy on what is held out after so many answers,
the differences to our feature model as it ships with 95 % intervals, paired by order, and the
processor time of an update as a ratio to ours in the same run.
The last line is the same as JSON. Tests do not depend on it.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from labelhub.core.echo.repeated_runs import mean_figure, side_by_side
from labelhub.core.echo.replay.labelled_texts import Columns
from tests.bench.head_candidates import Candidate, Source, grid, learner_of, loaded

TESTED = (
    ("emotion", "enisear_author.jsonl", Columns(label="author_emotion")),
    ("sarcasm", "isarcasm_author.jsonl", Columns(label="author_label")),
    (
        "valence",
        "emobank_writer_reader.jsonl",
        Columns(label="writer_perspective_ratings_VAD.*.0", bands=3),
    ),
)
TUNED = (
    ("stance", "fomc_stance.jsonl", Columns(label="gold")),
    ("chat", "chat_messages.jsonl", Columns(label="kind")),
    ("contracts", "cuad_clauses_legalbench.jsonl", Columns(label="gold")),
)
AFTER = (25, 50, 100, 200, 300, 400)
TUNING_ORDERS, TUNING_ANSWERS = 2, 100
SHIPPED = Candidate("shipped")
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Trial:
    """What a head did on one order: by answers learnt from, log-loss and accuracy; and its time.

    milliseconds: of processor time for an update, median.
    """

    loss: Mapping[int, float]
    right: Mapping[int, float]
    milliseconds: float


def main() -> None:
    """Choose options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    chosen = _tuned(_sources(TUNED, asked.data))
    blended = [replace(candidate, blended=True) for candidate in chosen if candidate.kind != "pa"]
    candidates = [SHIPPED, *chosen, *blended]
    print("chosen on other sets:", "; ".join(map(str, chosen)))
    rows = _measured(_sources(TESTED, asked.data), candidates, asked.orders)
    for row in rows:
        print(_line(row))
    report = json.dumps({"chosen": [str(candidate) for candidate in chosen], "rows": rows})
    if asked.json:
        asked.json.write_text(report + "\n", "utf-8")
    print(report)


def trial(source: Source, candidate: Candidate, order: int, most: int) -> Trial:
    """Let a head learn from at most so many answers of one order."""
    given = loaded(source)
    drawn = np.random.default_rng([order, 7]).permutation(len(given.data.texts))
    held, streamed = drawn[: len(drawn) // 3], drawn[len(drawn) // 3 :][:most]
    learner, labels = learner_of(candidate, given), given.data.labels
    loss, right, seconds = {}, {}, []
    for count, text in enumerate(streamed, start=1):
        start = time.process_time()
        learner.learn(text, labels[text])
        seconds.append(time.process_time() - start)
        if count in AFTER:
            likely = learner.likely(held.tolist())
            truth = np.array([labels[text] for text in held])
            chances = likely[np.arange(len(held)), truth]
            loss[count] = float(-np.log(np.maximum(chances, _LEAST)).mean())
            right[count] = float((likely.argmax(axis=1) == truth).mean())
    return Trial(loss, right, 1_000 * float(np.median(seconds)))


def _sources(named: Sequence[tuple[str, str, Columns]], folder: Path) -> list[Source]:
    return [Source(name, folder / file, columns) for name, file, columns in named]


def _tuned(sources: Sequence[Source]) -> list[Candidate]:
    """Of each kind the options that are best on average; log-loss as a share of knowing nothing."""
    kinds = grid()
    plays = {
        (source.name, candidate, order): (source, candidate, order, TUNING_ANSWERS)
        for source in sources
        for names in kinds.values()
        for candidate in names
        for order in range(TUNING_ORDERS)
    }
    found = side_by_side(trial, plays)
    costs: dict[Candidate, list[float]] = {}
    for (name, candidate, _), scores in found.items():
        values = len(loaded(next(s for s in sources if s.name == name)).data.values)
        loss = float(np.mean(list(scores.loss.values()))) / np.log(values)
        wrong = 1 - float(np.mean(list(scores.right.values())))
        costs.setdefault(candidate, []).append(wrong if candidate.kind == "pa" else loss)
    return [min(names, key=lambda name: np.mean(costs[name])) for names in kinds.values()]


def _measured(
    sources: Sequence[Source], candidates: Sequence[Candidate], orders: int
) -> list[dict[str, Any]]:
    plays = {
        (source.name, candidate, order): (source, candidate, order, max(AFTER))
        for source in sources
        for order in range(orders)
        for candidate in candidates
    }
    found = side_by_side(trial, plays)
    return [
        _row(source.name, candidate, count, ours, theirs)
        for source in sources
        for candidate in candidates
        for ours, theirs in [
            [[found[source.name, either, order] for order in range(orders)]
             for either in (SHIPPED, candidate)]
        ]
        for count in ours[0].loss
    ]  # fmt: skip


def _row(
    name: str, candidate: Candidate, count: int, ours: Sequence[Trial], theirs: Sequence[Trial]
) -> dict[str, Any]:
    pairs = list(zip(ours, theirs, strict=True))
    return {
        "set": name,
        "head": f"{candidate.kind}{' blended' if candidate.blended else ''}",
        "answers": count,
        "log_loss": float(np.mean([score.loss[count] for score in theirs])),
        "accuracy": float(np.mean([score.right[count] for score in theirs])),
        "log_loss_less_ours": _paired([b.loss[count] - a.loss[count] for a, b in pairs]),
        "accuracy_less_ours": _paired([b.right[count] - a.right[count] for a, b in pairs]),
        "time_ratio": float(np.median([b.milliseconds / a.milliseconds for a, b in pairs])),
        "milliseconds": float(np.median([score.milliseconds for score in theirs])),
    }


def _paired(differences: Sequence[float]) -> dict[str, Any]:
    return mean_figure(differences, "orders")


def _line(row: Mapping[str, Any]) -> str:
    loss, right = row["log_loss_less_ours"], row["accuracy_less_ours"]
    return (
        f"{row['set']:<8} {row['answers']:>3} {row['head']:<22} "
        f"log-loss {row['log_loss']:.3f} ({loss['low']:+.3f} to {loss['high']:+.3f}) "
        f"accuracy {row['accuracy']:.3f} ({right['low']:+.3f} to {right['high']:+.3f}) "
        f"update {row['time_ratio']:.2f} x"
    )


if __name__ == "__main__":
    main()
