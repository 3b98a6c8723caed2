"""The pages of experiments: the finding, the tables, the debates worth reading."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from apps.agreement.charts import Offer, cost_quality, scale_figure, sentence
from apps.agreement.experiments.answers import models_of, title_of
from apps.agreement.experiments.opinions import Step
from apps.agreement.experiments.report import (
    KIND_WORDS,
    SHOWN,
    WORTH,
    ArmReport,
    ExperimentReport,
    Reading,
)
from apps.common.charts import Chart
from apps.common.figures import (
    DrawnFigure,
    count_words,
    draw_figure,
    duration,
    localise,
    money,
)
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
        return gettext("Nothing to compare yet: no debate about a verified item has ended.")
    if len(known) == 1:
        return gettext("Nothing to compare with %(name)s. Its accuracy: %(accuracy)s.") % {
            "name": known[0].title,
            "accuracy": sentence(known[0].scores.accuracy, percent=True),
        }
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
    plainest = gettext("%(name)s, the one with the fewest calls")
    if by_cost:
        plainest = gettext("%(name)s, the cheapest")
    plainest %= {"name": _name(plain)}
    better = [arm for arm in known if _beats(report, arm, plain)]
    ahead = max(better or known, key=_accuracy)
    if better:
        return _success(report, ahead, plain, plainest)
    found = [gettext("No set-up is significantly better than %(other)s.") % {"other": plainest}]
    if _accuracy(ahead) > _accuracy(plain):
        words, p = _against(report, ahead, plain)
        found.append(
            gettext("%(name)s is %(counts)s, which is not significant (%(p)s).")
            % {"name": _name(ahead), "counts": words, "p": p}
        )
    if beaten := [arm.letter for arm in known if _beats(report, plain, arm)]:
        found.append(
            gettext("Significantly worse than %(name)s: %(others)s.")
            % {"name": plain.letter, "others": ", ".join(beaten)}
        )
    if report.items < FEW_ITEMS:
        found.append(
            ngettext(
                "With %(number)s verified item only large differences can be significant.",
                "With %(number)s verified items only large differences can be significant.",
                report.items,
            )
            % {"number": report.items}
        )
    return " ".join(found)


def _success(report: ExperimentReport, ahead: ArmReport, plain: ArmReport, plainest: str) -> str:
    """``ahead`` is significantly better than ``plain``, which ``plainest`` names."""
    counts, p = _against(report, ahead, plain)
    words: dict[str, str] = {"name": _name(ahead), "other": plainest, "counts": counts, "p": p}
    more, less = ahead.calls["value"], plain.calls["value"]
    if not more or not less:
        found = gettext("%(name)s is significantly better than %(other)s: %(counts)s (%(p)s).")
        return found % words
    found = gettext(
        "%(name)s is significantly better than %(other)s: %(counts)s (%(p)s), at %(times)s times "
        "the calls."
    )
    return found % {**words, "times": localise(f"{more / less:.2g}")}


def against_votes(report: ExperimentReport) -> list[str]:
    """A sentence on every debate with a vote of equal budget: which of the two is better."""
    found = []
    for vote in report.arms:
        for letter in vote.votes_for:
            debate = next(arm for arm in report.arms if arm.letter == letter)
            pair = _pair(report, debate, vote)
            names = {"debate": _name(debate), "vote": _name(vote)}
            if pair.winner is None:
                words = ngettext(
                    "%(debate)s and the vote of equal budget, %(vote)s: no significant difference "
                    "(%(number)s item differs).",
                    "%(debate)s and the vote of equal budget, %(vote)s: no significant difference "
                    "(%(number)s items differ).",
                    pair.b + pair.c,
                )
                found.append(words % {**names, "number": pair.b + pair.c})
                continue
            won, lost = (pair.b, pair.c) if pair.winner == pair.first else (pair.c, pair.b)
            words = gettext(
                "%(debate)s and the vote of equal budget, %(vote)s: %(winner)s is better, "
                "%(won)s items against %(lost)s."
            )
            winner = report.arms[pair.winner].letter
            found.append(words % {**names, "winner": winner, "won": won, "lost": lost})
    return found


def _against(report: ExperimentReport, arm: ArmReport, other: ArmReport) -> tuple[str, str]:
    """The numbers of items on which ``arm`` is better and worse than ``other``, and p, in words."""
    pair = _pair(report, arm, other)
    won, lost = (pair.b, pair.c) if report.arms[pair.first] is arm else (pair.c, pair.b)
    if report.repeated:
        words = ngettext(
            "right more often on %(won)s item, less often on %(lost)s",
            "right more often on %(won)s items, less often on %(lost)s",
            won,
        )
    else:
        words = ngettext(
            "right on %(won)s item that %(other)s gets wrong, wrong on %(lost)s that it gets right",
            "right on %(won)s items that %(other)s gets wrong, wrong on %(lost)s that it gets "
            "right",
            won,
        )
    numbers = {"won": count_words(won), "lost": count_words(lost), "other": other.letter}
    return words % numbers, _p_words(pair.p_holm)


def _p_words(p: float) -> str:
    return localise("p < 0.001" if p < 0.001 else f"p = {p:.2g}")


def _beats(report: ExperimentReport, arm: ArmReport, other: ArmReport) -> bool:
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
COLUMNS: dict[
    str, tuple[str | Promise, Callable[[ArmReport], Figure], Callable[[float], str] | None]
] = {
    "accuracy": (_("Accuracy"), lambda arm: arm.scores.accuracy, None),
    "macro_f1": (_("Macro F1"), lambda arm: arm.scores.macro_f1, None),
    "cost": (_("Cost"), lambda arm: arm.cost, money),
    "seconds": (_("Seconds"), lambda arm: arm.seconds, duration),
    "calls": (_("Calls"), lambda arm: arm.calls, lambda calls: localise(f"{calls:.3g}")),
    "unparsed": (_("No usable label"), lambda arm: arm.scores.unparsed, None),
}


def table_rows(report: ExperimentReport, sort: str) -> list[dict[str, Any]]:
    """``arm`` and its ``cells`` in the order of ``COLUMNS``, each with its words; sorted by a
    column's name, descending with - before it."""
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
                    gettext("Exact match") if of_sets else words,
                    draw_amount(figure, most, say)
                    if say
                    else draw_figure(figure, percent=name != "macro_f1"),
                )
                for figure in figures
            ]
        )
    rows = [
        {"arm": arm, "cells": [column[place] for column in columns]}
        for place, arm in enumerate(report.arms)
    ]
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    if name in COLUMNS:

        def order(row: dict[str, Any]) -> float:
            value = COLUMNS[name][1](row["arm"])["value"]
            return math.inf if value is None else -value if falling else value

        rows.sort(key=order)
    return rows


def pair_rows(report: ExperimentReport) -> list[dict[str, Any]]:
    """Each ``arm`` with its ``cells`` against every arm, itself included: the ``outcome`` (better,
    worse, level or self), and how many items each of the two gets right more often."""
    places = range(len(report.arms))
    return [
        {"arm": arm, "cells": [_pair_cell(report, place, column) for column in places]}
        for place, arm in enumerate(report.arms)
    ]


def _pair_cell(report: ExperimentReport, row: int, column: int) -> dict[str, Any]:
    if row == column:
        return {"outcome": "self"}
    arm, other = report.arms[row], report.arms[column]
    pair = _pair(report, arm, other)
    won, lost = (pair.b, pair.c) if pair.first == row else (pair.c, pair.b)
    words, p = _against(report, arm, other)
    whole = gettext(
        "%(name)s against %(other)s: %(counts)s; %(p)s after Holm, %(p_before)s before, on "
        "%(items)s items"
    )
    whole %= {
        "name": arm.letter,
        "other": other.letter,
        "counts": words,
        "p": p,
        "p_before": _p_words(pair.p),
        "items": count_words(pair.items),
    }
    outcome = "level" if pair.winner is None else "better" if pair.winner == row else "worse"
    return {"outcome": outcome, "won": won, "lost": lost, "p": p, "words": whole}


def draw_amount(figure: Figure, most: float, say: Callable[[float], str]) -> DrawnFigure:
    """Like ``draw_figure`` for amounts that are no share: the bar runs from 0 to ``most``."""

    def place(value: float) -> str:
        return f"{min(max(value / most, 0), 1) * 100:.1f}" if most else "0.0"

    drawn = draw_figure(figure)
    value, low, high = figure["value"], figure.get("low"), figure.get("high")
    if value is None:
        return drawn
    drawn = replace(drawn, value=say(value), x=place(value))
    if low is None or high is None:
        return drawn
    return replace(drawn, low=say(low), high=say(high), x_low=place(low), x_high=place(high))


#: The accuracy for which the page shows the expected interval.
ASSUMED = 0.8
FEW = 100


def cost_quality_of(report: ExperimentReport) -> Chart | None:
    """Cost, or calls where costs are zero or unknown, against the share right of each arm."""
    unit, size = ("USD", 1e-9) if report.axis == "cost" else ("calls", 1.0)
    offers = [
        Offer(
            arm.title,
            "llm",
            scale_figure(getattr(arm, report.axis), size),
            arm.scores.accuracy,
            arm.letter,
        )
        for arm in report.arms
    ]
    return cost_quality(offers, unit=unit, title=gettext("Cost against quality"))


def comparison_page(
    report: ExperimentReport, arms: Sequence[Arm], *, sort: str = ""
) -> dict[str, Any]:
    """The context of the comparison; one query, for the texts of a few debates."""
    report = _in_language(report, arms)
    return {
        "report": report,
        "finding": main_finding(report),
        "compared": any(arm.scores.accuracy["value"] is not None for arm in report.arms),
        "votes": against_votes(report),
        "rows": table_rows(report, sort),
        "pair_rows": pair_rows(report) if len(report.arms) > 1 else [],
        "cost_quality": cost_quality_of(report),
        "shelves": reading_shelves(report),
        "sort": sort,
        "changing": [
            (arm, [(_step_words(step), step) for step in arm.steps])
            for arm in report.arms
            if arm.steps
        ],
        "judging": [(arm, gettext(arm.voices.who)) for arm in report.arms if arm.voices],
        "measured": [arm for arm in report.arms if arm.ambiguity],
        "labelled": [arm for arm in report.arms if arm.scores.labels],
    }


def _step_words(step: Step) -> str:
    last = gettext(step.last) if step.last else ""
    return replace(step, first=gettext(step.first), last=last).words


def _in_language(report: ExperimentReport, arms: Sequence[Arm]) -> ExperimentReport:
    """A cached report with the titles of its arms as the page says them."""
    live = {arm.run.pk: arm for arm in arms}
    found = []
    for arm in report.arms:
        run, roles = live[arm.run_id].run, live[arm.run_id].roles
        title = title_of(run.protocol, run.protocol_settings)
        found.append(replace(arm, title=title, models=models_of(roles)))
    return replace(report, arms=found)


def reading_shelves(report: ExperimentReport) -> list[dict[str, Any]]:
    """Debates worth reading, by reason: how many there are, and a few of them, taken from the arms
    in turn, so that each has some."""
    chosen = {kind: found for kind in WORTH if (found := _interleave(report.arms, kind))}
    letters = {arm.run_id: arm.letter for arm in report.arms}
    shown = iter(with_texts([*chain.from_iterable(chosen.values())], letters))
    return [
        {
            "kind": kind,
            "words": KIND_WORDS[kind],
            "count": sum(arm.kinds.get(kind, 0) for arm in report.arms),
            "shown": list(islice(shown, len(found))),
        }
        for kind, found in chosen.items()
    ]


def with_texts(readings: Sequence[Reading], letters: Mapping[int, str]) -> list[dict[str, Any]]:
    """Debates to read, with their texts and the letters of their arms; ``letters``: by runs."""
    ids = {reading.item_id for reading in readings}
    texts = dict(Item.objects.filter(pk__in=ids).values_list("pk", "text"))
    return [
        {
            "reading": reading,
            "letter": letters[reading.run_id],
            "text": texts.get(reading.item_id, ""),
        }
        for reading in readings
    ]


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
                "models": " + ".join(dict.fromkeys(m.title for m in arm.plan.models.values())),
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
    """A few of the arms in turn, about different items where there are such."""
    stacks = [list(arm.examples.get(kind, ())) for arm in arms]
    chosen: list[Reading] = []
    while any(stacks) and len(chosen) < SHOWN:
        for stack in filter(None, stacks):
            known = {reading.item_id for reading in chosen}
            fresh = [reading for reading in stack if reading.item_id not in known]
            chosen.append((fresh or stack)[0])
            stack.remove(chosen[-1])
    return chosen[:SHOWN]


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
