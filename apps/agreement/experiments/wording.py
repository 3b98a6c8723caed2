"""What an experiment found, in one or two sentences for people."""

from collections.abc import Sequence

from apps.agreement.experiments.report import ArmReport, ExperimentReport
from labelhub.core.agreement.pairs import Pair

FEW_ITEMS = 30


def finding(report: ExperimentReport) -> str:
    """Which arm is reliably better than the cheapest one, or that none is."""
    known = [arm for arm in report.arms if arm.scores.accuracy["value"] is not None]
    if not known:
        return "Nothing to compare yet: no debate about a verified item has ended."
    if len(known) == 1:
        only = known[0]
        return f"There is only {only.title}: it is {_percent(only)} right. Nothing to compare with."
    plain = min(known, key=_cheapness)
    better = [(arm, pair) for arm in known if (pair := _beats(report, arm, plain)) is not None]
    if not better:
        return _none_better(report, known, plain)
    best, pair = max(better, key=lambda each: _accuracy(each[0]))
    won, lost = _won_and_lost(report, pair, best)
    return (
        f"{_name(best)} is reliably better than {_name(plain)}, the cheapest: right on {won} items "
        f"that {plain.letter} gets wrong, wrong on {lost} that {plain.letter} gets right "
        f"({p_words(pair.p_holm)}){_times(best, plain)}."
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


def _none_better(report: ExperimentReport, known: Sequence[ArmReport], plain: ArmReport) -> str:
    ahead = max(known, key=_accuracy)
    few = (
        f" With {report.items} verified items only large differences can be told from chance."
        if report.items < FEW_ITEMS
        else ""
    )
    none = f"No set-up is reliably better than {_name(plain)}, the cheapest."
    if _accuracy(ahead) <= _accuracy(plain):
        return f"{none}{_worse(report, known, plain)}{few}"
    pair = _pair(report, ahead, plain)
    won, lost = _won_and_lost(report, pair, ahead)
    return (
        f"{none} {_name(ahead)} is right on {won} items that {plain.letter} gets wrong and wrong "
        f"on {lost} that {plain.letter} gets right, which chance may explain "
        f"({p_words(pair.p_holm)}).{_worse(report, known, plain)}{few}"
    )


def _worse(report: ExperimentReport, known: Sequence[ArmReport], plain: ArmReport) -> str:
    """The arms that the cheapest one beats, as a sentence; empty where there is none."""
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


def _percent(arm: ArmReport) -> str:
    return f"{_accuracy(arm):.0%}"


def _cheapness(arm: ArmReport) -> tuple[float, float, float]:
    """By cost, then calls; of equally cheap arms the better one."""
    return arm.cost["value"] or 0.0, arm.calls["value"] or 0.0, -_accuracy(arm)
