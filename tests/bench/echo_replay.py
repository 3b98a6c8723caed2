"""Which texts to ask about: Echo's choice against others, on texts whose authors' labels are known.

    python tests/bench/echo_replay.py FILE [--text FIELD] [--label FIELD] [--bands N]
                                      [--orders 20] [--share 0.33] [--json FILE]

FILE is JSON lines, or CSV with a header; ``ratings.*.0`` is the mean of the first numbers of a list
of lists, and ``--bands`` cuts numbers into bands of about equal size. In each random order a fifth
of the texts is held out, the same for every arm; of the others at most a share is asked about,
chosen from each 12 in a row by Echo, at random, or by the smallest margin between the two likeliest
values (margin sampling, Scheffer et al. 2001). Every text is predicted before its label is learnt.
Intervals are of the mean over orders (Student's t): orders share their texts. The last line is the
same as JSON.
"""

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from labelhub.core.echo.events import Answered
from labelhub.core.echo.models import Floats, Prediction, predict
from labelhub.core.echo.question_choice import choose
from labelhub.core.echo.simulator import Figure, mean_figure
from labelhub.core.echo.state import EchoState, learn, signs_of
from labelhub.core.echo.uncertainty import BINS, bin_doubts, calibration_error, sigma
from labelhub.core.echo.vectors import vector_of
from labelhub.core.similarity import same_text_key
from tests.bench.report import option_parser, print_json

ECHO, RANDOM, MARGIN = ARMS = ("echo", "random", "margin")
#: Texts from which questions are chosen together; one in so many is held out; points of a curve.
WINDOW, HELD_OUT, POINTS = 12, 5, 20
FEATURE = "replayed"


class Labelled(NamedTuple):
    """Different texts with their labels, as places in ``values``."""

    texts: list[str]
    labels: NDArray[np.int64]
    values: tuple[str, ...]


class Trace(NamedTuple):
    """An arm on one order: questions and held-out accuracy at each point of its curve, which of the
    streamed texts were predicted rightly and asked about, the bins of their σ, and the held-out
    accuracy of their most frequent label."""

    asked: list[int]
    held_out: list[float]
    right: NDArray[np.bool_]
    put: NDArray[np.bool_]
    bins: Floats
    commonest: float


def main() -> None:
    """Replay, print the table and the JSON."""
    parser = option_parser("Echo's choice of questions on texts with known labels.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--text", default="text")
    parser.add_argument("--label", default="label")
    parser.add_argument("--bands", type=int, default=0)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.33)
    options = parser.parse_args()
    data = read_labelled(options.file, options.text, options.label, options.bands)
    figures = replay(data, options.orders, options.share)
    for name, figure in figures.items():
        low, high = figure["low"], figure["high"]
        interval = "" if low is None else f" ({low:.3f} to {high:.3f})"
        print(f"{name:<24}{figure['value']:>8.3f}{interval}")
    print_json({"texts": len(data.texts), "values": data.values, **figures}, options)


def read_labelled(file: Path, text: str, label: str, bands: int = 0) -> Labelled:
    """The labelled texts of a file; of equal texts the first."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows: list[Any] = (
            list(csv.DictReader(lines))
            if file.suffix == ".csv"
            else [json.loads(line) for line in lines if line.strip()]
        )
    pairs: dict[str, tuple[str, Any]] = {}
    for row in rows:
        words = look_up(row, text.split("."))
        pairs.setdefault(same_text_key(words), (words, look_up(row, label.split("."))))
    texts, given = zip(*pairs.values(), strict=True)
    if bands:
        _, places, counts = np.unique(
            np.array(given, float), return_inverse=True, return_counts=True
        )
        middles = (np.cumsum(counts) - counts / 2) / len(given)
        given = tuple(np.minimum((middles * bands).astype(int), bands - 1)[places])
    values, labels = np.unique([str(value) for value in given], return_inverse=True)
    return Labelled(list(texts), labels, tuple(values.tolist()))


def look_up(value: Any, steps: list[str]) -> Any:
    """The value at the end of a path; ``*`` is the mean over a list."""
    if not steps:
        return value
    step, *rest = steps
    if step == "*":
        return math.fsum(look_up(element, rest) for element in value) / len(value)
    return look_up(value[int(step) if isinstance(value, list) else step], rest)


def replay(data: Labelled, orders: int, share: float) -> dict[str, Figure]:
    """The figures over the orders 0, 1, …: held-out accuracy at the end, Echo's lead over the
    curve, its gain over the most frequent label and with more answers, and the calibration error of
    all orders together."""
    played = Parallel(n_jobs=-1)(
        delayed(play)(data, arm, seed, share) for seed in range(orders) for arm in ARMS
    )
    traces = {arm: played[place :: len(ARMS)] for place, arm in enumerate(ARMS)}
    echo = traces[ECHO]
    figures = {f"accuracy_{arm}": [trace.held_out[-1] for trace in traces[arm]] for arm in ARMS} | {
        "accuracy_commonest": [trace.commonest for trace in echo]
    }
    for arm in (RANDOM, MARGIN):
        pairs = zip(echo, traces[arm], strict=True)
        figures[f"curve_minus_{arm}"] = [_area(trace) - _area(other) for trace, other in pairs]
    figures["minus_commonest"] = [trace.held_out[-1] - trace.commonest for trace in echo]
    figures["learnt"] = [
        float(np.mean(trace.held_out[-5:]) - np.mean(trace.held_out[:5])) for trace in echo
    ]
    figures["asked"] = [float(trace.asked[-1]) for trace in echo]
    ece = calibration_error(np.sum([trace.bins for trace in echo], axis=0))
    return {name: mean_figure(values, "orders") for name, values in figures.items()} | {
        "ece": mean_figure([ece], "all orders together")
    }


def play(data: Labelled, arm: str, seed: int, share: float) -> Trace:
    """Run an arm through one order of the texts."""
    vectors = [vector_of(text) for text in data.texts]
    drawn = np.random.default_rng([seed, 1]).permutation(len(data.texts))
    held, streamed = np.split(drawn, [len(drawn) // HELD_OUT])
    draws, state = np.random.default_rng([seed, 2]), EchoState()
    state.index(FEATURE)
    right, put = np.zeros(len(streamed), bool), np.zeros(len(streamed), bool)
    bins, asked, held_out = np.zeros((3, BINS)), [], []
    ends = [*range(WINDOW, len(streamed), WINDOW), len(streamed)]
    points = set(np.linspace(0, len(ends) - 1, POINTS).astype(int).tolist())

    def predictions(texts: NDArray[np.int64]) -> list[Prediction]:
        model = state.model(FEATURE)
        return [predict(model, vectors[text], data.values) for text in texts]

    for number, end in enumerate(ends):
        start = number * WINDOW
        texts = streamed[start:end]
        predicted = predictions(texts)
        signs = np.array([signs_of(state, FEATURE, prediction) for prediction in predicted])
        doubts = sigma(state.uncertainty, signs)
        right[start:end] = _are_right(predicted, data.labels[texts])
        bin_doubts(bins, doubts, ~right[start:end])
        most = min(len(texts), math.floor(share * end) - int(put.sum()))
        for place in _choose(arm, predicted, doubts, most, draws):
            put[start + place] = True
            text, prediction = int(texts[place]), predicted[place]
            lesson = Answered(
                id=str(text), author=str(text), trusted=True, feature=FEATURE,
                value=data.values[data.labels[text]], predicted=prediction.top,
                loss=float(not right[start + place]), signs=tuple(signs[place].tolist()),
                vector=vectors[text], values=data.values,
            )  # fmt: skip
            learn(state, lesson)
        if number in points:
            asked.append(int(put.sum()))
            held_out.append(float(_are_right(predictions(held), data.labels[held]).mean()))
    commonest = data.labels[held] == np.bincount(data.labels[streamed]).argmax()
    return Trace(asked, held_out, right, put, bins, float(commonest.mean()))


def _are_right(predicted: list[Prediction], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    tops = np.array([prediction.likely.argmax() for prediction in predicted])
    right: NDArray[np.bool_] = tops == labels
    return right


def _choose(
    arm: str, predicted: list[Prediction], doubts: Floats, most: int, draws: np.random.Generator
) -> NDArray[np.int64]:
    """The places of the texts to ask about, (at most ``most``,)."""
    if arm == RANDOM:
        return draws.choice(len(predicted), most, replace=False)
    if arm == MARGIN:
        return np.argsort([prediction.margin for prediction in predicted], kind="stable")[:most]
    # There is one feature, so relevance and answers are those of every text.
    chosen, _ = choose(doubts, most, draws)
    return chosen


def _area(trace: Trace) -> float:
    """The mean height of the curve, by the trapezoidal rule."""
    span = trace.asked[-1] - trace.asked[0]
    return float(np.trapezoid(trace.held_out, trace.asked) / span) if span else trace.held_out[-1]


if __name__ == "__main__":
    main()
