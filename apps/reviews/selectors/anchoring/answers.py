"""What people said of items in either arm, as arrays."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.selectors.quality.comparing import Compared, compared
from apps.reviews.selectors.quality.reading import Bools, Floats, Ints
from apps.reviews.selectors.requeueing import SETTLED
from labelhub.core.agreement.with_others import comparisons
from labelhub.core.schema import value_key

SHOWN, WITHHELD = Decision.Arm.SHOWN, Decision.Arm.WITHHELD
ARMS = (SHOWN, WITHHELD)
ARM_WORDS = {SHOWN: "with the suggestion", WITHHELD: "without it"}
#: The newest answers that are looked at.
MOST_ANSWERS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The first answer of each person to each item; all of shape (answers,).

    ``rejected``: only that the suggestion is wrong, which is not to take it over. ``right`` -1
    where nobody else decided, or they gave no label; ``others`` 0 where nobody else labelled;
    ``seconds`` of labels and abstentions.
    """

    user: Ints
    withheld: Bools
    same: Ints
    rejected: Bools
    right: Ints
    agreeing: Ints
    others: Ints
    seconds: Floats

    def where(self, kept: Bools) -> "Answers":
        """Only those."""
        return Answers(*(getattr(self, one.name)[kept] for one in fields(self)))

    def counts(self, measure: str) -> tuple[Ints, Ints]:
        """Part and whole of each answer."""
        if measure == "taken_over":
            return self.same, np.ones_like(self.same)
        if measure == "agreement":
            return self.agreeing, self.others
        return (self.right == 1).astype(np.int64), (self.right >= 0).astype(np.int64)


def read_answers(project: Project) -> tuple[Answers, bool]:
    """The first answers, and whether there are more than were looked at. Three queries."""
    rows = list(_rows(project)[: MOST_ANSWERS + 1])
    cut = len(rows) > MOST_ANSWERS
    first: dict[tuple[int, int], tuple[Any, ...]] = {}
    for row in rows[:MOST_ANSWERS]:
        first[row[0], row[1]] = row  # the newest come first, so the oldest stays
    key = _keys()
    kept = list(first.values())
    said = [(key(row[3]), key(row[4]), key(row[5])) for row in kept]
    shared = _shared(compared(project) if kept else None)
    others = [shared.get((row[0], row[1]), (0, 0)) for row in kept]
    return Answers(
        user=np.array([row[0] for row in kept], dtype=np.int64),
        withheld=np.array([row[2] == WITHHELD for row in kept], dtype=np.bool_),
        same=np.array([own is not None and own == told for own, told, _ in said], dtype=np.int64),
        rejected=np.array([row[9] for row in kept], dtype=np.bool_),
        right=np.array(
            [_right(own, gold, row) for (own, _, gold), row in zip(said, kept, strict=True)],
            dtype=np.int64,
        ),
        agreeing=np.array([agreeing for agreeing, _ in others], dtype=np.int64),
        others=np.array([count for _, count in others], dtype=np.int64),
        seconds=np.array([None if row[9] else row[8] for row in kept], dtype=np.float64),
    ), cut


def _rows(project: Project) -> QuerySet[Decision, tuple[Any, ...]]:
    drawn = Decision.objects.filter(
        project=project,
        arm__in=ARMS,
        label__isnull=False,
        suggestion__isnull=False,
        reviewer__isnull=False,
        undone_at__isnull=True,
    )
    return (
        drawn.annotate(
            said=Cast("label__value", TextField()),
            suggested=Cast("suggestion__value", TextField()),
            decided=Cast("item__state__gold__value", TextField()),
        )
        .order_by("-pk")
        .values_list(
            "reviewer", "item", "arm", "said", "suggested", "decided",
            "item__state__gold__basis", "item__state__gold__decided_by__user", "label__seconds",
            "label__rejected",
        )
    )  # fmt: skip


def _keys() -> Callable[[str | None], str | None]:
    """Values as the database spells them to the one spelling that compares; None stays None."""
    known: dict[str, str] = {}

    def key(text: str | None) -> str | None:
        if text is None or text == "null":
            return None
        if text not in known:
            known[text] = value_key(json.loads(text))
        return known[text]

    return key


def _right(own: str | None, gold: str | None, row: Sequence[Any]) -> int:
    """By what others decided for good; what reviewers decide rests on these very answers."""
    if own is None or gold is None or row[6] not in SETTLED or row[7] == row[0]:
        return -1
    return int(own == gold)


def _shared(found: Compared | None) -> dict[tuple[int, int], tuple[int, int]]:
    """How many others agree with each person on each item, and how many others there are."""
    if found is None:
        return {}
    ratings = found.ratings
    agreeing, others = comparisons(ratings)
    return {
        (found.raters[rater], found.items[item]): (agrees, count)
        for rater, item, agrees, count in zip(
            ratings.raters.tolist(), ratings.items.tolist(), agreeing.tolist(), others.tolist(),
            strict=True,
        )
    }  # fmt: skip
