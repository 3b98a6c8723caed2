"""The pages of experiments: the finding, the tables, the debates worth reading."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.agreement.charts import Offer, cost_quality
from apps.agreement.experiments.answers import letter_of, title_of
from apps.agreement.experiments.report import (
    KIND_WORDS,
    WORTH,
    ArmReport,
    ExperimentReport,
    Reading,
)
from apps.common.charts import Chart
from apps.common.figures import DrawnFigure, draw_figure, duration, money
from apps.debates.selectors.experiments import Arm
from apps.debates.services.experiments import PlannedArm
from apps.projects.models import Item
from labelhub.core.agreement.arms import ArmPair
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.intervals import wilson

FEW_ITEMS = 30


def main_finding(report: ExperimentReport) -> str:
    """A sentence on the arm that is significantly better than the plainest one, or that none is."""
    known = [arm for arm in report.arms if arm.scores.accuracy["value"] is not None]
    if not known:
        return "Nothing to compare yet: no debate about a verified item has ended."
    if len(known) == 1:
        drawn = draw_figure(known[0].scores.accuracy, percent=True)
        sure = f"95 % interval {drawn.low} to {drawn.high}, " if drawn.low else ""
        right = f"{drawn.value} right ({sure}n = {drawn.n})"
        return f"There is only {known[0].title}: it is {right}. Nothing to compare with."
    by_cost = report.axis == "cost"
    # The lowest cost, if all are known, then the fewest calls, then the highest accuracy.
    plain = min(
        known,
        key=lambda arm: (
            (arm.cost["value"] or 0.0) if by_cost else 0.0,
            arm.calls["value"] or 0.0,
            -_accuracy(arm),
        ),
    )
    plainest = f"{_name(plain)}, {'the cheapest' if by_cost else 'the one with the fewest calls'}"
    better = [arm for arm in known if _beats(report, arm, plain)]
    ahead = max(better or known, key=_accuracy)
    if better:
        more, less = ahead.calls["value"], plain.calls["value"]
        times = f", at {more / less:.2g} times the calls" if more and less else ""
        words, p = _against(report, ahead, plain)
        return f"{_name(ahead)} is significantly better than {plainest}: {words} ({p}){times}."
    found = f"No set-up is significantly better than {plainest}."
    if _accuracy(ahead) > _accuracy(plain):
        words, p = _against(report, ahead, plain)
        found += f" {_name(ahead)} is {words}, which is not significant ({p})."
    if beaten := [arm.letter for arm in known if _beats(report, plain, arm)]:
        found += f" Significantly worse than {plain.letter}: {', '.join(beaten)}."
    if report.items < FEW_ITEMS:
        found += f" With {report.items} verified items only large differences can be significant."
    return found


def against_votes(report: ExperimentReport) -> list[str]:
    """A sentence on every debate with a vote of equal budget: which of the two is better."""
    found = []
    for vote in report.arms:
        for letter in vote.votes_for:
            debate = next(arm for arm in report.arms if arm.letter == letter)
            pair = _pair(report, debate, vote)
            verdict = f"no significant difference ({pair.b + pair.c} items differ)"
            if pair.winner is not None:
                winner = report.arms[pair.winner]
                won, lost = (pair.b, pair.c) if pair.winner == pair.first else (pair.c, pair.b)
                verdict = f"{_name(winner)} is better, {won} items against {lost}"
            names = f"{_name(debate)} and the vote of equal budget, {_name(vote)}"
            found.append(f"{names}: {verdict}.")
    return found


def _against(report: ExperimentReport, arm: ArmReport, other: ArmReport) -> tuple[str, str]:
    """The numbers of items on which ``arm`` is better and worse than ``other``, and p, in words."""
    pair = _pair(report, arm, other)
    won, lost = (pair.b, pair.c) if report.arms[pair.first] is arm else (pair.c, pair.b)
    if report.repeated:
        words = f"right more often on {won} items, less often on {lost}"
    else:
        words = f"right on {won} items that {other.letter} gets wrong, wrong on {lost} that it gets"
        words += " right"
    return words, _p_words(pair.p_holm)


def _p_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _beats(report: ExperimentReport, arm: ArmReport, other: ArmReport) -> bool:
    """Whether ``arm`` is significantly better than ``other``."""
    if arm is other:
        return False
    winner = _pair(report, arm, other).winner
    return winner is not None and report.arms[winner] is arm


def _pair(report: ExperimentReport, arm: ArmReport, other: ArmReport) -> ArmPair:
    places = {report.arms.index(arm), report.arms.index(other)}
    return next(pair for pair in report.pairs if {pair.first, pair.second} == places)


def _name(arm: ArmReport) -> str:
    return f"{arm.letter} ({arm.title})"


def _accuracy(arm: ArmReport) -> float:
    return arm.scores.accuracy["value"] or 0.0


#: Name → words, the figure, and the format of an amount that is no share.
COLUMNS: dict[str, tuple[str, Callable[[ArmReport], Figure], Callable[[float], str] | None]] = {
    "accuracy": ("Accuracy", lambda arm: arm.scores.accuracy, None),
    "macro_f1": ("Macro F1", lambda arm: arm.scores.macro_f1, None),
    "cost": ("Cost", lambda arm: arm.cost, money),
    "seconds": ("Seconds", lambda arm: arm.seconds, duration),
    "calls": ("Calls", lambda arm: arm.calls, "{:.3g}".format),
    "unparsed": ("No usable label", lambda arm: arm.scores.unparsed, None),
}


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
    """One arm against all others."""

    arm: ArmReport
    cells: Sequence[PairCell]


def table_rows(report: ExperimentReport, sort: str = "") -> list[TableRow]:
    """The arms as rows, sorted by a column's name, descending with - before it."""
    columns = []
    for name, (words, figure_of, say) in COLUMNS.items():
        figures = [figure_of(arm) for arm in report.arms]
        most = max(
            (figure.get("high") or figure["value"] or 0.0 for figure in figures), default=0.0
        )
        of_sets = name == "accuracy" and report.task.several
        columns.append(
            [
                (
                    "Exact match" if of_sets else words,
                    draw_amount(figure, most, say) if say else draw_figure(figure, percent=True),
                )
                for figure in figures
            ]
        )
    rows = [
        TableRow(arm, [column[place] for column in columns])
        for place, arm in enumerate(report.arms)
    ]
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    if name in COLUMNS:

        def order(row: TableRow) -> float:
            value = COLUMNS[name][1](row.arm)["value"]
            return math.inf if value is None else -value if falling else value

        rows.sort(key=order)
    return rows


def pair_rows(report: ExperimentReport) -> list[PairRow]:
    """Every arm against every other."""
    return [
        PairRow(arm, [_pair_cell(report, place, column) for column in range(len(report.arms))])
        for place, arm in enumerate(report.arms)
    ]


def _pair_cell(report: ExperimentReport, row: int, column: int) -> PairCell:
    if row == column:
        return PairCell("self")
    arm, other = report.arms[row], report.arms[column]
    pair = _pair(report, arm, other)
    won, lost = (pair.b, pair.c) if pair.first == row else (pair.c, pair.b)
    words, p = _against(report, arm, other)
    return PairCell(
        outcome="level" if pair.winner is None else "better" if pair.winner == row else "worse",
        won=won,
        lost=lost,
        p=p,
        words=f"{arm.letter} against {other.letter}: {words}; {p} after Holm, "
        f"{_p_words(pair.p)} before, on {pair.items} items",
    )


def draw_amount(figure: Figure, most: float, say: Callable[[float], str]) -> DrawnFigure:
    """Like ``draw_figure`` for amounts that are no share: the bar runs from 0 to ``most``."""

    def place(value: float) -> str:
        return f"{min(max(value / most, 0), 1) * 100:.1f}" if most else "0.0"

    value, low, high = figure["value"], figure.get("low"), figure.get("high")
    if value is None:
        return DrawnFigure(reason=figure.get("reason", ""))
    drawn = DrawnFigure(
        value=say(value), n=f"{figure['n']:,}", x=place(value), method=figure.get("method", "")
    )
    if low is None or high is None:
        return drawn
    return replace(drawn, low=say(low), high=say(high), x_low=place(low), x_high=place(high))


#: The accuracy for which the page shows the expected interval.
ASSUMED = 0.8
FEW = 100
WORTH_SHOWN = 4


@dataclass(frozen=True, slots=True)
class ShownReading:
    """A debate to read, with its arm's letter and the text it is about."""

    reading: Reading
    letter: str
    text: str
    external_id: str


@dataclass(frozen=True, slots=True)
class Shelf:
    """Debates of one kind: how many there are, and a few of them."""

    kind: str
    words: str
    count: int
    shown: Sequence[ShownReading]


def cost_quality_of(report: ExperimentReport) -> Chart | None:
    """Cost, or calls where costs are zero or unknown, against the share right of each arm."""
    unit, size = ("USD", 1e-9) if report.axis == "cost" else ("calls", 1.0)
    offers = []
    for arm in report.arms:
        spent = getattr(arm, report.axis)
        known = {
            end: spent[end] * size for end in ("value", "low", "high") if spent.get(end) is not None
        }
        offers.append(Offer(arm.title, "llm", {**spent, **known}, arm.scores.accuracy, arm.letter))
    return cost_quality(offers, unit=unit, title="Cost against quality")


def comparison_page(report: ExperimentReport, *, sort: str = "") -> dict[str, Any]:
    """The context of the comparison; one query, for the texts of a few debates."""
    return {
        "report": report,
        "finding": main_finding(report),
        "votes": against_votes(report),
        "rows": table_rows(report, sort),
        "pair_rows": pair_rows(report) if len(report.arms) > 1 else [],
        "cost_quality": cost_quality_of(report),
        "shelves": reading_shelves(report),
        "sort": sort,
        "changing": [arm for arm in report.arms if arm.steps],
        "judging": [arm for arm in report.arms if arm.voices],
        "measured": [arm for arm in report.arms if arm.ambiguity],
        "labelled": [arm for arm in report.arms if arm.scores.labels],
        "names": [label.label for label in report.arms[0].scores.labels],
    }


def reading_shelves(report: ExperimentReport) -> list[Shelf]:
    """Debates worth reading, by reason; taken from the arms in turn, so that each has some."""
    chosen = {kind: _interleave(report.arms, kind) for kind in WORTH}
    items = _items([reading for found in chosen.values() for reading in found])
    letters = {arm.run_id: arm.letter for arm in report.arms}
    return [
        Shelf(
            kind=kind,
            words=KIND_WORDS[kind],
            count=sum(arm.kinds.get(kind, 0) for arm in report.arms),
            shown=[_shown(reading, letters[reading.run_id], items) for reading in found],
        )
        for kind, found in chosen.items()
        if found
    ]


def with_texts(readings: Sequence[Reading], arms: Sequence[Arm]) -> list[ShownReading]:
    """A page of debates with their texts."""
    items = _items(readings)
    letters = {arm.run.pk: letter_of(place) for place, arm in enumerate(arms)}
    return [_shown(reading, letters[reading.run_id], items) for reading in readings]


def expected_width(planned: Sequence[PlannedArm], chosen: int) -> dict[str, Any]:
    """The total costs of an experiment, and how precise its accuracies would be.

    The first ``chosen`` arms were asked for, the others are votes of equal budget.
    """
    items = planned[0].preview.items
    low, high = wilson(round(ASSUMED * items), items)
    previews = [preview.preview for preview in planned]
    return {
        "planned": [
            {
                "arm": arm,
                "title": title_of(arm.plan.protocol, arm.plan.settings),
                "models": " + ".join(dict.fromkeys(m.name for m in arm.plan.models.values())),
                "vote": place >= chosen,
            }
            for place, arm in enumerate(planned)
        ],
        "items": items,
        "few": items < FEW,
        "assumed": ASSUMED,
        "low": low,
        "high": high,
        "calls": sum(preview.calls for preview in previews),
        "calls_most": sum(preview.calls_most for preview in previews),
        "cost": _sum([preview.cost_nanousd for preview in previews]),
        "worst": _sum([preview.worst_nanousd for preview in previews]),
        "seconds": _sum([preview.seconds for preview in previews]),
        "unpriced": list(dict.fromkeys(name for preview in previews for name in preview.unpriced)),
        "offline": all(preview.offline for preview in previews),
    }


def _interleave(arms: Sequence[ArmReport], kind: str) -> list[Reading]:
    stacks = [list(arm.examples.get(kind, ())) for arm in arms]
    longest = max(map(len, stacks), default=0)
    mixed = [
        stack[position] for position in range(longest) for stack in stacks if position < len(stack)
    ]
    return mixed[:WORTH_SHOWN]


def _items(readings: Sequence[Reading]) -> dict[int, tuple[str, str]]:
    ids = {reading.item_id for reading in readings}
    found = Item.objects.filter(pk__in=ids).values_list("pk", "text", "external_id")
    return {pk: (text, external_id) for pk, text, external_id in found}


def _shown(reading: Reading, letter: str, items: dict[int, tuple[str, str]]) -> ShownReading:
    text, external_id = items.get(reading.item_id, ("", ""))
    return ShownReading(reading, letter, text, external_id)


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
