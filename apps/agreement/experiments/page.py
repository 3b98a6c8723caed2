"""What the templates of experiments are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.agreement.charts import Offer, cost_quality
from apps.agreement.experiments.drawing import pair_rows, table_rows
from apps.agreement.experiments.naming import letter_of, title_of
from apps.agreement.experiments.readings import KIND_WORDS, WORTH, Reading
from apps.agreement.experiments.report import ArmReport, ExperimentReport
from apps.agreement.experiments.wording import against_votes, finding
from apps.common.charts import Chart
from apps.debates.selectors.experiments import Arm
from apps.debates.services.experiments import PlannedArm
from apps.projects.models import Item
from labelhub.core.agreement.intervals import wilson

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
