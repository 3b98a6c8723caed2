"""What the pages of experiments show: the finding, the tables, the debates worth reading."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from labelhub.core.agreement.arms import Pair
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.intervals import wilson

FEW_ITEMS = 30


def finding(report: ExperimentReport) -> str:
    """Which arm is reliably better than the plainest one, or that none is."""
    known = [arm for arm in report.arms if arm.scores.accuracy["value"] is not None]
    if not known:
        return "Nothing to compare yet: no debate about a verified item has ended."
    if len(known) == 1:
        only = known[0]
        return f"There is only {only.title}: it is {_right(only)}. Nothing to compare with."
    plain = min(known, key=lambda arm: _cheapness(report, arm))
    better = [(arm, pair) for arm in known if (pair := _beats(report, arm, plain)) is not None]
    if not better:
        return _none_better(report, known, plain)
    best, pair = max(better, key=lambda each: _accuracy(each[0]))
    return (
        f"{_name(best)} is reliably better than {_plainest(report, plain)}: "
        f"{_won(report, pair, best, plain)} ({p_words(pair.p_holm)}){_times(best, plain)}."
    )


def against_votes(report: ExperimentReport) -> list[str]:
    """For every debate with a vote of equal budget beside it: whether the talk was worth it."""
    said = []
    for vote in report.arms:
        for letter in vote.votes_for:
            debate = next(arm for arm in report.arms if arm.letter == letter)
            said.append(_debate_and_vote(report, debate, vote))
    return said


def p_words(p: float) -> str:
    """``p = 0.032``, or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def won_words(won: int, lost: int, other: str, *, repeated: bool) -> str:
    """On how many items an arm does better and worse than the one of the letter ``other``."""
    if repeated:
        return f"right more often on {won} items, less often on {lost}"
    return f"right on {won} items that {other} gets wrong, wrong on {lost} that it gets right"


def _none_better(report: ExperimentReport, known: Sequence[ArmReport], plain: ArmReport) -> str:
    ahead = max(known, key=_accuracy)
    few = (
        f" With {report.items} verified items only large differences can be told from chance."
        if report.items < FEW_ITEMS
        else ""
    )
    none = f"No set-up is reliably better than {_plainest(report, plain)}."
    if _accuracy(ahead) <= _accuracy(plain):
        return f"{none}{_worse(report, known, plain)}{few}"
    pair = _pair(report, ahead, plain)
    return (
        f"{none} {_name(ahead)} is {_won(report, pair, ahead, plain)}, which chance may explain "
        f"({p_words(pair.p_holm)}).{_worse(report, known, plain)}{few}"
    )


def _worse(report: ExperimentReport, known: Sequence[ArmReport], plain: ArmReport) -> str:
    """The arms that the plainest one beats, as a sentence; empty where there is none."""
    beaten = [arm.letter for arm in known if _beats(report, plain, arm) is not None]
    return f" Reliably worse than {plain.letter}: {', '.join(beaten)}." if beaten else ""


def _debate_and_vote(report: ExperimentReport, debate: ArmReport, vote: ArmReport) -> str:
    pair = _pair(report, debate, vote)
    names = f"{_name(debate)} and the vote of equal budget, {_name(vote)}"
    winner = None if pair.winner is None else report.arms[pair.winner]
    if winner is None:
        return f"{names}: no reliable difference ({pair.b + pair.c} items differ)."
    won, lost = _won_and_lost(report, pair, winner)
    return f"{names}: {_name(winner)} is better, {won} items against {lost}."


def _beats(report: ExperimentReport, arm: ArmReport, plain: ArmReport) -> Pair | None:
    if arm is plain:
        return None
    pair = _pair(report, arm, plain)
    winner = pair.winner
    return pair if winner is not None and report.arms[winner] is arm else None


def _pair(report: ExperimentReport, one: ArmReport, other: ArmReport) -> Pair:
    places = {report.arms.index(one), report.arms.index(other)}
    return next(pair for pair in report.pairs if {pair.one, pair.other} == places)


def _won_and_lost(report: ExperimentReport, pair: Pair, arm: ArmReport) -> tuple[int, int]:
    return (pair.b, pair.c) if report.arms[pair.one] is arm else (pair.c, pair.b)


def _times(best: ArmReport, plain: ArmReport) -> str:
    more, less = best.calls["value"], plain.calls["value"]
    return f", at {more / less:.2g} times the calls" if more and less else ""


def _name(arm: ArmReport) -> str:
    return f"{arm.letter} ({arm.title})"


def _accuracy(arm: ArmReport) -> float:
    return arm.scores.accuracy["value"] or 0.0


def _right(arm: ArmReport) -> str:
    """``83 % right (95 % interval 44 % to 97 %, n = 6)``."""
    drawn = draw_figure(arm.scores.accuracy, percent=True)
    sure = f"95 % interval {drawn.low} to {drawn.high}, " if drawn.low else ""
    return f"{drawn.value} right ({sure}n = {drawn.n})"


def _won(report: ExperimentReport, pair: Pair, arm: ArmReport, plain: ArmReport) -> str:
    won, lost = _won_and_lost(report, pair, arm)
    return won_words(won, lost, plain.letter, repeated=report.repeated)


def _plainest(report: ExperimentReport, arm: ArmReport) -> str:
    """The arm that the others are held against, and why it is that one."""
    why = "the cheapest" if report.axis == "cost" else "the one with the fewest calls"
    return f"{_name(arm)}, {why}"


def _cheapness(report: ExperimentReport, arm: ArmReport) -> tuple[float, float, float]:
    """By cost where it is known of all, then calls; of equally cheap arms the better one."""
    cost = arm.cost["value"] if report.axis == "cost" else None
    return cost or 0.0, arm.calls["value"] or 0.0, -_accuracy(arm)


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
    report: ExperimentReport, known: dict[tuple[int, int], Pair], row: int, column: int
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


#: The accuracy for which the page says beforehand how wide its interval will be.
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
    """Everything the comparison shows; one query, for the texts of a few debates."""
    return {
        "report": report,
        "finding": finding(report),
        "votes": against_votes(report),
        "rows": table_rows(report, sort),
        "pair_rows": pair_rows(report) if len(report.arms) > 1 else [],
        "cost_quality": cost_quality_of(report),
        "shelves": shelves(report),
        "sort": sort,
        "changing": [arm for arm in report.arms if arm.steps],
        "judging": [arm for arm in report.arms if arm.voices],
        "measured": [arm for arm in report.arms if arm.ambiguity],
        "labelled": [arm for arm in report.arms if arm.scores.labels],
        "names": [label.label for label in report.arms[0].scores.labels],
    }


def shelves(report: ExperimentReport) -> list[Shelf]:
    """Debates worth reading, by why; an arm after the other, so that each is there."""
    chosen = {kind: _taken_in_turn(report.arms, kind) for kind in WORTH}
    items = _items([each for found in chosen.values() for each in found])
    letters = {arm.run_id: arm.letter for arm in report.arms}
    return [
        Shelf(
            kind=kind,
            words=KIND_WORDS[kind],
            count=sum(arm.kinds.get(kind, 0) for arm in report.arms),
            shown=[_shown(each, letters[each.run_id], items) for each in found],
        )
        for kind, found in chosen.items()
        if found
    ]


def texts_of(readings: Sequence[Reading], arms: Sequence[Arm]) -> list[ShownReading]:
    """A page of debates with their texts."""
    items = _items(readings)
    letters = {arm.run.pk: letter_of(place) for place, arm in enumerate(arms)}
    return [_shown(each, letters[each.run_id], items) for each in readings]


def expected_width(planned: Sequence[PlannedArm], chosen: int) -> dict[str, Any]:
    """What an experiment would take in all, and how sure its accuracies would be.

    The first ``chosen`` arms were asked for, the others are votes of equal budget.
    """
    items = planned[0].preview.items
    low, high = wilson(round(ASSUMED * items), items)
    previews = [each.preview for each in planned]
    return {
        "planned": [
            {
                "arm": each,
                "title": title_of(each.plan.protocol, each.plan.settings),
                "models": _models(each),
                "vote": place >= chosen,
            }
            for place, each in enumerate(planned)
        ],
        "items": items,
        "few": items < FEW,
        "assumed": ASSUMED,
        "low": low,
        "high": high,
        "calls": sum(each.calls for each in previews),
        "calls_most": sum(each.calls_most for each in previews),
        "cost": _sum([each.cost_nanousd for each in previews]),
        "worst": _sum([each.worst_nanousd for each in previews]),
        "seconds": _sum([each.seconds for each in previews]),
        "unpriced": list(dict.fromkeys(name for each in previews for name in each.unpriced)),
        "offline": all(each.offline for each in previews),
    }


def _taken_in_turn(arms: Sequence[ArmReport], kind: str) -> list[Reading]:
    stacks = [list(arm.examples.get(kind, ())) for arm in arms]
    longest = max(map(len, stacks), default=0)
    mixed = [stack[at] for at in range(longest) for stack in stacks if at < len(stack)]
    return mixed[:WORTH_SHOWN]


def _items(readings: Sequence[Reading]) -> dict[int, tuple[str, str]]:
    ids = {each.item_id for each in readings}
    found = Item.objects.filter(pk__in=ids).values_list("pk", "text", "external_id")
    return {pk: (text, external_id) for pk, text, external_id in found}


def _shown(reading: Reading, letter: str, items: dict[int, tuple[str, str]]) -> ShownReading:
    text, external_id = items.get(reading.item_id, ("", ""))
    return ShownReading(reading, letter, text, external_id)


def _models(each: PlannedArm) -> str:
    return " + ".join(dict.fromkeys(model.name for model in each.plan.models.values()))


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
