"""What an experiment found, in one or two sentences for people."""

from collections.abc import Sequence

from apps.agreement.experiments.report import ArmReport, ExperimentReport
from apps.common.figures import draw_figure
from labelhub.core.agreement.arms import ArmPair

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


def _beats(report: ExperimentReport, arm: ArmReport, plain: ArmReport) -> ArmPair | None:
    if arm is plain:
        return None
    pair = _pair(report, arm, plain)
    winner = pair.winner
    return pair if winner is not None and report.arms[winner] is arm else None


def _pair(report: ExperimentReport, one: ArmReport, other: ArmReport) -> ArmPair:
    places = {report.arms.index(one), report.arms.index(other)}
    return next(pair for pair in report.pairs if {pair.one, pair.other} == places)


def _won_and_lost(report: ExperimentReport, pair: ArmPair, arm: ArmReport) -> tuple[int, int]:
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


def _won(report: ExperimentReport, pair: ArmPair, arm: ArmReport, plain: ArmReport) -> str:
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
