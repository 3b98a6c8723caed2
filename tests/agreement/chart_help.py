"""A chart of each sort, from small plain data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from apps.agreement.automation.page import risk_coverage
from apps.agreement.charts import AnyFigure, Measured, Offer, cost_quality, interval_bars
from apps.agreement.report.charts import (
    Source,
    agreeing,
    confusion,
    draw_heatmap,
    reliability,
    winning_rates,
)
from apps.common.charts import Chart
from labelhub.core.agreement.calibration import measure_calibration
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.risk_control import Step, choose_threshold

AGREEING = [
    {"agreeing": 2, "items": 40, "accuracy": figure(0.6, low=0.45, high=0.74, n=40, method="W")},
    {"agreeing": 3, "items": 60, "accuracy": figure(0.9, low=0.8, high=0.95, n=60, method="W")},
]
TESTS: dict[str, dict[str, Any]] = {
    name: {
        "kind": "llm",
        "epsilon": 0.1,
        "winning_rate": rate,
        "passes": rate >= 0.5,
        "curve": [
            {"epsilon": 0.0, "winning_rate": rate / 2},
            {"epsilon": 0.1, "winning_rate": rate},
            {"epsilon": 0.2, "winning_rate": 1.0},
        ],
    }
    for name, rate in (("bold", 0.8), ("shy", 0.3))
}


def fig(value: float, doubt: float = 0.05, n: int = 300) -> Figure:
    """A number with the same doubt on both sides."""
    return figure(value, low=value - doubt, high=value + doubt, n=n, method="Wilson")


def steps() -> tuple[tuple[Step, ...], Step | None]:
    """The path of a threshold on 400 items whose errors grow as scores fall, and its choice."""
    scores = [1 - number / 400 for number in range(400)]
    wrong = [number > 200 and number % 5 == 0 for number in range(400)]
    found = choose_threshold(scores, wrong, 0.05, [0.8, 0.6, 0.5, 0.4, 0.2, 0.0])
    return found.path, found.chosen


def report_of(crowd: dict[str, Any], labels: Sequence[str] = ()) -> dict[str, Any]:
    """The part of a report by gold, of a single choice, that is about a crowd."""
    found = {"majority_accuracy": fig(0.8), "by_agreeing": [], "confusion": None, **crowd}
    return {
        "task": "single",
        "categories": labels,
        "offline": {},
        "against_gold": {"crowd": found},
        "against_author": {},
    }


def confusion_of(labels: Sequence[str], counts: Mapping[tuple[str, str], float]) -> Chart | None:
    """The matrix of a crowd by its counts of (predicted, gold)."""
    cells = {
        f"predicted {predicted}, gold {true}": counts.get((predicted, true), 0)
        for predicted in labels
        for true in labels
    }
    return confusion(report_of({"confusion": cells}, labels), "crowd")


def heatmap_of(
    sources: Sequence[Source], figures: Mapping[tuple[Any, Any], AnyFigure]
) -> Chart | None:
    """The coefficients of ``sources``."""
    return draw_heatmap(
        sources,
        figures,
        of="Cohen's kappa",
        within="alpha",
        title="Agreement",
        key="heatmap",
    )


def a_heatmap(names: tuple[str, ...] = ("LLM", "Crowd")) -> Chart | None:
    """The first source agrees with all, nobody else was compared."""
    kinds = ("llm", "crowd", "expert", "author", "model", "odd")
    sources = [Source(number, name, kinds[number]) for number, name in enumerate(names)]
    return heatmap_of(sources, {(0, number): fig(0.5) for number in range(len(names))})


def a_reliability(name: str = "judge") -> Chart | None:
    """Sixty confidences, most of them right."""
    numbers = np.arange(60)
    found = measure_calibration(numbers / 60, (numbers % 4 > 0).astype(np.int64))
    assert found is not None
    return reliability({"calibration": {name: {"kind": "llm", **found.to_json()}}})


def bars(name: str = "Crowd") -> Chart | None:
    """One source with two measures, and one without a number."""
    measured = {"each label": fig(0.7), "majority": fig(0.9)}
    none = Measured("Author", "author", {"each label": undefined("no_gold")})
    rows = [none, Measured(name, "crowd", measured)]
    return interval_bars(rows, of="Accuracy against gold")


def offers(name: str = "Crowd") -> Chart | None:
    """Dear and good, cheap and poor, and one that is beaten."""
    return cost_quality(
        [
            Offer("LLM", "llm", fig(0.01, 0.001), fig(0.8)),
            Offer(name, "crowd", fig(0.1, 0.01), fig(0.7)),
            Offer("Expert", "expert", fig(1.0, 0.1), fig(0.9)),
        ]
    )


def matrix(name: str = "yes") -> Chart | None:
    """Two labels."""
    pairs = {(name, name): 30, (name, "no"): 5, ("no", "no"): 20}
    return confusion_of([name, "no"], pairs)


def risk() -> Chart | None:
    """A threshold that keeps its promise."""
    path, chosen = steps()
    return risk_coverage(path, target=0.05, chosen=chosen)


CHARTS: dict[str, Callable[[], Chart | None]] = {
    "heatmap": a_heatmap,
    "interval_bars": bars,
    "confusion": matrix,
    "agreeing": lambda: agreeing(report_of({"by_agreeing": AGREEING})),
    "winning_rates": lambda: winning_rates({"alt_test": TESTS}),
    "reliability": a_reliability,
    "risk_coverage": risk,
    "cost_quality": offers,
}
#: Those that show names which people gave.
NAMED: dict[str, Callable[[str], Chart | None]] = {
    "heatmap": lambda name: a_heatmap((name, "Crowd")),
    "interval_bars": bars,
    "confusion": matrix,
    "winning_rates": lambda name: winning_rates({"alt_test": {name: TESTS["bold"]}}),
    "reliability": a_reliability,
    "cost_quality": offers,
}
EMPTY: dict[str, Callable[[], Chart | None]] = {
    "heatmap": lambda: heatmap_of([], {}),
    "heatmap without numbers": lambda: heatmap_of(
        [Source(1, "a", "llm")], {(1, 1): undefined("no_labels")}
    ),
    "interval_bars": lambda: interval_bars([], of="Accuracy"),
    "confusion": lambda: confusion_of(["a"], {}),
    "agreeing": lambda: agreeing(report_of({})),
    "winning_rates": lambda: winning_rates({"alt_test": {}}),
    "reliability": lambda: reliability({"calibration": {}}),
    "risk_coverage": lambda: risk_coverage([], target=0.05),
    "cost_quality": lambda: cost_quality([Offer("LLM", "llm", fig(1.0), fig(0.8))]),
}
