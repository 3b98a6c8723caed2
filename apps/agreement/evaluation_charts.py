"""What the evaluation page draws: bars with intervals, matrices, and where most mistakes lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from apps.agreement.charts import Measured, interval_bars
from apps.agreement.evaluation import EvaluationReport
from apps.common.charts import Chart
from labelhub.core.agreement.evaluation import LabelScore

METRICS = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
SIDES = ("yes", "no")
MOST_MISTAKES = 5
#: A matrix of more labels than this needs the whole width of the page.
BESIDE = 5


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a matrix: ``level`` 0 (empty) to 4 (all of its row), ``right`` where both agree.

    ``words`` say all of it: "12 items: predicted yes, gold no".
    """

    count: int
    level: int
    right: bool
    words: str
    url: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One predicted side and its cells, one per gold side."""

    name: str
    cells: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """One label: its bars, and its two-by-two matrix where a value is a set."""

    score: LabelScore
    bars: Chart | None
    rows: Sequence[MatrixRow] = ()


@dataclass(frozen=True, slots=True)
class Pictures:
    """Everything drawn of a report. ``beside``: bars and matrix fit side by side."""

    cards: Sequence[ScoreCard]
    matrix: Sequence[MatrixRow]
    mistakes: Sequence[Cell]
    beside: bool


def pictures(report: EvaluationReport, items_url: str) -> Pictures:
    """Draw ``report``; cells lead to ``items_url`` with the parameters that mean them."""
    found = report.evaluation
    source = report.compared.source
    address = _Address(items_url, source.query if source else {})
    several, kind = found.matrix is None, source.kind if source else ""
    cards = [
        ScoreCard(score, _bars(score, kind), _two_by_two(score, address) if several else ())
        for score in found.labels
    ]
    matrix = _matrix(found.matrix or {}, address)
    rows = [replace(row, name=card.score.label) for card in cards for row in card.rows]
    wrong = [
        replace(cell, words=f"{row.name}: {cell.words}" if several else cell.words)
        for row in [*rows, *matrix]
        for cell in row.cells
        if cell.count and not cell.right
    ]
    wrong.sort(key=lambda cell: -cell.count)
    return Pictures(cards, matrix, wrong[:MOST_MISTAKES], beside=len(matrix) <= BESIDE)


@dataclass(frozen=True, slots=True)
class _Address:
    base: str
    query: Mapping[str, Any]

    def of(self, **cell: str) -> str:
        return f"{self.base}?{urlencode({**self.query, **cell})}"


def _bars(score: LabelScore, kind: str) -> Chart | None:
    figures = [(name, getattr(score, metric)) for metric, name in METRICS.items()]
    title = f"{score.label}: precision, recall and F1"
    measured = [Measured(name, kind, {"": figure}) for name, figure in figures]
    return interval_bars(measured, of=title, low=0.0, key=f"scores-{score.label}")


def _two_by_two(score: LabelScore, address: _Address) -> list[MatrixRow]:
    counts = score.confusion.to_json()
    return [
        _row(
            f"predicted {said}",
            [
                (
                    f"predicted {said}, gold {gold}",
                    counts[f"predicted_{said}_gold_{gold}"],
                    said == gold,
                    address.of(label=score.label, cell=f"{said}-{gold}"),
                )
                for gold in SIDES
            ],
        )
        for said in SIDES
    ]


def _matrix(matrix: Mapping[str, Mapping[str, int]], address: _Address) -> list[MatrixRow]:
    return [
        _row(
            said,
            [
                (
                    f"predicted {said}, gold {gold}",
                    count,
                    said == gold,
                    address.of(predicted=said, gold=gold),
                )
                for gold, count in row.items()
            ],
        )
        for said, row in matrix.items()
    ]


def _row(name: str, cells: Sequence[tuple[str, int, bool, str]]) -> MatrixRow:
    whole = sum(count for _, count, _, _ in cells)
    return MatrixRow(
        name,
        [
            Cell(count, _level(count, whole), right, words, url)
            for words, count, right, url in cells
        ],
    )


def _level(count: int, whole: int) -> int:
    """The share of the row in quarters, rounded up: what the stylesheet shades by."""
    return min(4, -(-4 * count // whole)) if count else 0
