"""Debates worth reading: where a critic was overruled, where minds changed, where all failed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agreement.experiments.answers import Answers, ArmAnswers
from labelhub.core.agreement.arms import NOTHING
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Value

KIND_WORDS = {
    "overruled": "The critic was overruled",
    "wrong-right": "Wrong at first, right in the end",
    "right-wrong": "Right at first, wrong in the end",
    "wrong-wrong": "Wrong from first to last",
    "right-right": "Right from first to last",
    "right": "Right in the end",
    "wrong": "Wrong in the end",
    "unparsed": "No usable label",
}
#: What the page of an experiment shows by itself, and how many of each.
WORTH = ("overruled", "wrong-right", "right-wrong")
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """One debate: its first and last opinion, and what is right."""

    debate_id: int
    run_id: int
    item_id: int
    first: Value | None
    last: Value | None
    gold: Value


def check_kind(kind: str) -> str:
    """``kind``, provided that there is such a one.

    Raises:
        InvalidInput: there is not.
    """
    if kind not in KIND_WORDS:
        raise InvalidInput(f"kind: must be one of {', '.join(KIND_WORDS)}.")
    return kind


def places_of(answers: Answers, each: ArmAnswers) -> dict[str, list[int]]:
    """Kind → which of an arm's debates are of it; protocols with one opinion change no minds."""
    gold = answers.gold[each.rows]
    right = each.said == gold
    found = {
        "right": right,
        "wrong": ~right,
        "unparsed": each.said == NOTHING,
    }
    if "first" in each.told:
        began = answers.codes.all_of(each.told["first"]) == gold
        found |= {
            "wrong-right": ~began & right,
            "right-wrong": began & ~right,
            "wrong-wrong": ~began & ~right,
            "right-right": began & right,
        }
    places = {kind: [int(place) for place in mask.nonzero()[0]] for kind, mask in found.items()}
    if "flips" in each.told:
        places["overruled"] = [at for at, told in enumerate(each.told["flips"]) if _against(told)]
    return places


def readings_at(answers: Answers, each: ArmAnswers, places: Sequence[int]) -> Iterator[Reading]:
    """Those debates of an arm."""
    first = each.told.get("first")
    for at in places:
        row = int(each.rows[at])
        yield Reading(
            debate_id=each.debates[at],
            run_id=each.arm.run.pk,
            item_id=answers.items[row],
            first=first[at] if first else None,
            last=each.values[at],
            gold=answers.decided[row],
        )


def _against(flips: Any) -> bool:
    """Whether the judge did not take what the critic said."""
    return isinstance(flips, dict) and bool(flips.get("critic"))
