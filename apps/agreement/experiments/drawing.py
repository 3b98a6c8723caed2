"""The tables of an experiment's page: its arms with their figures, and the pairs of them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apps.agreement.experiments.report import ArmReport, ExperimentReport
from apps.agreement.experiments.wording import p_words, won_words
from apps.common.figures import DrawnFigure, draw_figure, duration, money
from labelhub.core.agreement.arms import ArmPair
from labelhub.core.agreement.figures import Figure

COLUMNS: dict[str, Callable[[ArmReport], Figure]] = {
    "accuracy": lambda arm: arm.scores.accuracy,
    "macro_f1": lambda arm: arm.scores.macro_f1,
    "cost": lambda arm: arm.cost,
    "seconds": lambda arm: arm.seconds,
    "calls": lambda arm: arm.calls,
    "unparsed": lambda arm: arm.scores.unparsed,
}
WORDS = {
    "accuracy": "Accuracy",
    "macro_f1": "Macro F1",
    "cost": "Cost",
    "seconds": "Seconds",
    "calls": "Calls",
    "unparsed": "No usable label",
}
SHARES = ("accuracy", "macro_f1", "unparsed")


@dataclass(frozen=True, slots=True)
class TableRow:
    """An arm and its cells in the order of ``COLUMNS``, each with its words."""

    arm: ArmReport
    cells: Sequence[tuple[str, DrawnFigure]]


@dataclass(frozen=True, slots=True)
class PairCell:
    """The arm of the row against that of the column: items that one of both gets right more often.

    ``outcome``: better, worse, level, or self.
    """

    outcome: str
    won: int = 0
    lost: int = 0
    p: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class PairRow:
    """One arm against all."""

    arm: ArmReport
    cells: Sequence[PairCell]


def table_rows(report: ExperimentReport, sort: str = "") -> list[TableRow]:
    """The arms as rows, sorted by a column's name, with - before it the other way round."""
    most = {name: _highest(report, name) for name in COLUMNS}
    words = WORDS | ({"accuracy": "Whole set right"} if report.task.several else {})
    rows = [
        TableRow(
            arm,
            [(words[name], _cell(name, of(arm), most[name])) for name, of in COLUMNS.items()],
        )
        for arm in report.arms
    ]
    name = sort.removeprefix("-")
    if name in COLUMNS:
        rows.sort(key=lambda row: _order(COLUMNS[name](row.arm), falling=sort.startswith("-")))
    return rows


def pair_rows(report: ExperimentReport) -> list[PairRow]:
    """Every arm against every other."""
    known = {(pair.one, pair.other): pair for pair in report.pairs}
    places = range(len(report.arms))
    return [
        PairRow(
            arm,
            [
                PairCell("self") if row == column else _pair_cell(report, known, row, column)
                for column in places
            ],
        )
        for row, arm in enumerate(report.arms)
    ]


def draw_amount(figure: Figure, most: float, say: Callable[[float], str]) -> DrawnFigure:
    """As ``draw_figure`` for what is no share: the bar runs from 0 to ``most``."""
    value = figure["value"]
    if value is None:
        return DrawnFigure(reason=figure.get("reason", ""))
    low, high = figure.get("low"), figure.get("high")
    known = low is not None and high is not None
    return DrawnFigure(
        value=say(value),
        low=say(low) if known and low is not None else "",
        high=say(high) if known and high is not None else "",
        n=f"{figure['n']:,}",
        x=_share(value, most),
        x_low=_share(low or 0, most) if known else "",
        x_high=_share(high or 0, most) if known else "",
        method=figure.get("method", ""),
    )


def number(value: float) -> str:
    """Three digits at most: ``3``, ``3.2``, ``0.31``."""
    return f"{value:.3g}"


def _cell(name: str, figure: Figure, most: float) -> DrawnFigure:
    if name in SHARES:
        return draw_figure(figure, percent=True)
    say = {"cost": money, "seconds": duration, "calls": number}[name]
    return draw_amount(figure, most, say)


def _highest(report: ExperimentReport, name: str) -> float:
    figures = [COLUMNS[name](arm) for arm in report.arms]
    ends = [figure.get("high") or figure["value"] or 0.0 for figure in figures]
    return max(ends, default=0.0)


def _share(value: float, most: float) -> str:
    return f"{min(max(value / most, 0), 1) * 100:.1f}" if most else "0.0"


def _order(figure: Figure, *, falling: bool) -> float:
    value = figure["value"]
    if value is None:
        return math.inf
    return -value if falling else value


def _pair_cell(
    report: ExperimentReport, known: dict[tuple[int, int], ArmPair], row: int, column: int
) -> PairCell:
    pair = known[min(row, column), max(row, column)]
    won, lost = (pair.b, pair.c) if pair.one == row else (pair.c, pair.b)
    outcome = "level" if pair.winner is None else "better" if pair.winner == row else "worse"
    one, other = report.arms[row].letter, report.arms[column].letter
    counted = won_words(won, lost, other, repeated=report.repeated)
    return PairCell(
        outcome=outcome,
        won=won,
        lost=lost,
        p=p_words(pair.p_holm),
        words=f"{one} against {other}: {counted}; {p_words(pair.p_holm)} after Holm, "
        f"{p_words(pair.p)} before, on {pair.items} items",
    )
