"""The charts of the evaluation page: bars with intervals, matrices, the most common mistakes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.translation import gettext

from apps.agreement.charts import Measured, interval_bars
from apps.agreement.evaluation import EvaluationReport
from apps.common.charts import Chart
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.scores import LabelScore

SIDES = ("yes", "no")


def side_words(predicted: str, gold: str) -> str:
    """``predicted yes, gold no``, of two of :data:`SIDES`."""
    return {
        "yes-yes": gettext("predicted yes, gold yes"),
        "yes-no": gettext("predicted yes, gold no"),
        "no-yes": gettext("predicted no, gold yes"),
        "no-no": gettext("predicted no, gold no"),
    }[f"{predicted}-{gold}"]


def label_words(predicted: str, gold: str) -> str:
    """``predicted Praise, gold Question``."""
    words = gettext("predicted %(predicted)s, gold %(gold)s")
    return words % {"predicted": predicted, "gold": gold}


MOST_MISTAKES = 5


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
class EvaluationCharts:
    """Everything drawn of a report: ``scores`` of each label by the names of the metrics, ``f1`` of
    all, and a matrix of each or of all."""

    scores: Sequence[tuple[str, Mapping[str, Figure]]]
    f1: Chart | None
    by_label: Sequence[tuple[str, Sequence[MatrixRow]]]
    matrix: Sequence[MatrixRow]
    mistakes: Sequence[Cell]

    @property
    def worst(self) -> Cell | None:
        """The most common mistake; None where several are equally common."""
        counts = [cell.count for cell in self.mistakes]
        return self.mistakes[0] if counts and counts.count(counts[0]) == 1 else None


def draw_evaluation(report: EvaluationReport, items_url: str) -> EvaluationCharts:
    """Draw ``report``; cells lead to ``items_url`` with the parameters that mean them."""
    found, source = report.evaluation, report.compared.source
    several, kind = found.matrix is None, source.kind if source else ""

    def address(**cell: str) -> str:
        return f"{items_url}?{urlencode({**(source.query if source else {}), **cell})}"

    by_label = [
        (score.label, _two_by_two(score, address)) for score in (found.labels if several else ())
    ]
    matrix = _matrix(
        found.matrix or {},
        lambda predicted, gold: address(predicted=predicted, gold=gold),
        label_words,
    )
    wrong = [
        replace(cell, words=f"{name}{cell.words}")
        for name, rows in [*((f"{label}: ", rows) for label, rows in by_label), ("", matrix)]
        for row in rows
        for cell in row.cells
        if cell.count and not cell.right
    ]
    wrong.sort(key=lambda cell: -cell.count)
    scores = [(score.label, _figures(score)) for score in found.labels]
    measured = [Measured(label, kind, {"": figures["f1"]}) for label, figures in scores]
    title = gettext("F1 of each label")
    f1 = interval_bars(measured, of=title, low=0.0, numbers=[""], key="scores")
    return EvaluationCharts(scores, f1, by_label, matrix, wrong[:MOST_MISTAKES])


def _figures(score: LabelScore) -> dict[str, Figure]:
    """The n of F1 are the label's items in gold, as of its recall."""
    f1: Figure = {**score.f1, "n": int(score.confusion.gold_yes)}
    figures = {"precision": score.precision, "recall": score.recall, "f1": f1}
    return figures | {"accuracy": score.accuracy}


def _two_by_two(score: LabelScore, address: Callable[..., str]) -> list[MatrixRow]:
    counts = score.confusion.to_json()
    table = {
        predicted: {gold: int(counts[f"predicted_{predicted}_gold_{gold}"]) for gold in SIDES}
        for predicted in SIDES
    }
    rows = _matrix(
        table,
        lambda predicted, gold: address(label=score.label, cell=f"{predicted}-{gold}"),
        side_words,
    )
    names = {"yes": gettext("predicted yes"), "no": gettext("predicted no")}
    return [replace(row, name=names[row.name]) for row in rows]


def _matrix(
    table: Mapping[str, Mapping[str, int]],
    link: Callable[[str, str], str],
    say: Callable[[str, str], str],
) -> list[MatrixRow]:
    """Cells shaded by the share of their row in quarters, rounded up, as the stylesheet has it."""
    return [
        MatrixRow(
            predicted,
            [
                Cell(
                    count,
                    min(4, -(-4 * count // sum(row.values()))) if count else 0,
                    predicted == gold,
                    say(predicted, gold),
                    link(predicted, gold),
                )
                for gold, count in row.items()
            ],
        )
        for predicted, row in table.items()
    ]
