"""What people did, as arrays: a million decisions are read in a few seconds, in one query."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Case, F, IntegerField, QuerySet, Value, When
from django.db.models.functions import Least, Length
from numpy.typing import NDArray

from apps.projects.models import Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Decision, Purpose
from labelhub.core.agreement.pace import MOST_CHARACTERS, least_seconds

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: In this order they are numbered in ``Work.action``; those with a label come first.
ACTIONS = (
    Decision.Action.ACCEPT,
    Decision.Action.FIX,
    Decision.Action.REJECT,
    Decision.Action.LABEL,
    Decision.Action.SKIP,
    Decision.Action.POSTPONE,
)
ACCEPTED, FIXED, REJECTED, LABELLED, SKIPPED, POSTPONED = range(6)
#: One number for all that is told by a few signs: a row of six columns reads twice as fast as one
#: of eleven.
CORRECT, KNOWN, ABSTAINED, LATE, UNDONE, ONLY_REJECTED = 8, 32, 64, 128, 256, 512
CHARACTERS = 1024
ROWS = 20_000
#: So many answers tell what is usual.
MOST_TIMES = 50_000


@dataclass(frozen=True, slots=False, eq=False)
class Work:
    """Decisions, by person and in their order; all of shape (decisions,).

    ``correct``: 1 right, 0 wrong, -1 not to be told; only of items whose answer was ``known``.
    ``seconds``: NaN where not measured; ``within``: no more than these, where they were not; NaN
    where nobody knows. ``least``: in fewer nobody can have looked and chosen.
    """

    user: Ints
    item: Ints
    action: Ints
    seconds: Floats
    within: Floats
    least: Floats
    correct: Ints
    known: Bools
    abstained: Bools
    late: Bools
    undone: Bools
    only_rejected: Bools

    def __len__(self) -> int:
        return len(self.user)

    def where(self, kept: Any) -> "Work":
        """Only those decisions, given as anything that picks from an array."""
        return Work(*(getattr(self, one.name)[kept] for one in fields(self)))

    def of(self, user_id: int) -> "Work":
        """One person's."""
        first, after = np.searchsorted(self.user, [user_id, user_id + 1])
        return self.where(slice(first, after))

    @cached_property
    def answered(self) -> Bools:
        """Of one person's: what they say of each item now, a mere rejection too; neither what they
        took back nor what they have answered anew."""
        given = np.flatnonzero((self.action <= LABELLED) & ~self.undone)
        _, last = np.unique(self.item[given][::-1], return_index=True)
        picked = np.zeros(len(self), dtype=np.bool_)
        picked[given[::-1][last]] = True
        return picked

    @property
    def labelled(self) -> Bools:
        """Of these those that give a label."""
        return self.answered & ~self.only_rejected

    @cached_property
    def first_known(self) -> Bools:
        """Of one person's: the first answer to each item of known answer, taken back or not.

        Who answers again knows more by then: that the first answer was a known one, for instance.
        """
        given = (self.action <= LABELLED) & ~self.only_rejected
        answers = np.flatnonzero(self.known & given)
        _, first = np.unique(self.item[answers], return_index=True)
        picked = np.zeros(len(self), dtype=np.bool_)
        picked[answers[first]] = True
        return picked & (self.correct >= 0)

    @property
    def times(self) -> Floats:
        """Seconds of the labels that stand, where measured."""
        return self.seconds[self.timed]

    @property
    def timed(self) -> Bools:
        """Labels that stand and whose seconds were measured."""
        return self.labelled & ~np.isnan(self.seconds)

    @property
    def bounded(self) -> Bools:
        """Labels that stand and whose seconds have a bound instead."""
        return self.labelled & np.isnan(self.seconds) & ~np.isnan(self.within)

    def too_fast(self, usual: float) -> Bools:
        """Labels that took less than ``least``, or than ``usual`` seconds where measured."""
        soon = self.timed & (self.seconds < np.maximum(self.least, usual))
        return soon | (self.bounded & (self.within < self.least))


def read_work(project: Project, user_id: int | None = None) -> tuple[Work, int]:
    """What everybody did in ``project``, or one person; and how many labels are by people whose
    accounts are gone. One query."""
    decisions = Decision.objects.filter(project=project)
    if user_id is not None:
        decisions = decisions.filter(reviewer=user_id)
    rows = _columns(decisions.order_by().values_list("reviewer", "pk", "item", *_SIGNS))
    gone, signs = np.isnan(rows[0]), rows[3].astype(np.int64)
    labels = (signs % CORRECT <= LABELLED) & (signs & ONLY_REJECTED == 0)
    orphans = int((gone & labels).sum())
    rows = rows[:, ~gone]
    rows = rows[:, np.lexsort((rows[1], rows[0]))]
    signs = rows[3].astype(np.int64)
    action = signs % CORRECT
    choices = np.where(action == ACCEPTED, 1, _choices(project))
    return (
        Work(
            user=rows[0].astype(np.int64),
            item=rows[2].astype(np.int64),
            action=action,
            seconds=rows[4],
            within=rows[5],
            least=least_seconds(signs // CHARACTERS, choices),
            correct=signs // CORRECT % 4 - 1,
            known=(signs & KNOWN) > 0,
            abstained=(signs & ABSTAINED) > 0,
            late=(signs & LATE) > 0,
            undone=(signs & UNDONE) > 0,
            only_rejected=(signs & ONLY_REJECTED) > 0,
        ),
        orphans,
    )


def _choices(project: Project) -> int:
    """Among how many answers to choose, at least; free text is one, items' own options are two."""
    schema = current_schema(project).parsed
    return 2 if schema.task.item_options else max(1, len(schema.names))


def days_of(project: Project, user_id: int) -> Floats:
    """When one person's decisions were made, as seconds since 1970, in the order of their work."""
    decisions = Decision.objects.filter(project=project, reviewer=user_id).order_by("pk")
    moments = decisions.values_list("created_at", flat=True)
    return np.array([moment.timestamp() for moment in moments], dtype=np.float64)


def usual_times(project: Project) -> Floats:
    """Seconds of the newest answers here, whoever gave them. One query."""
    answers = Decision.objects.filter(
        project=project,
        undone_at__isnull=True,
        label__seconds__isnull=False,
        label__rejected=False,
    )
    newest = answers.order_by("-pk").values_list("label__seconds", flat=True)[:MOST_TIMES]
    return np.array(list(newest), dtype=np.float64)


def _columns(rows: "QuerySet[Decision, tuple[Any, ...]]") -> Floats:
    """Of numbers; NULL is NaN. Shape (6, rows)."""
    read: list[Floats] = []
    chunk: list[Sequence[Any]] = []
    for row in rows.iterator(chunk_size=ROWS):
        chunk.append(row)
        if len(chunk) == ROWS:
            read.append(np.array(chunk, dtype=np.float64))
            chunk = []
    read.append(np.array(chunk, dtype=np.float64).reshape(-1, 6))
    return np.concatenate(read).T


def _sign(number: int, **condition: Any) -> Case:
    return Case(When(**condition, then=Value(number)), default=Value(0), output_field=_NUMBER)


_NUMBER: IntegerField[int, int] = IntegerField()
_ACTION = Case(
    *(When(action=action, then=Value(at)) for at, action in enumerate(ACTIONS)),
    default=Value(POSTPONED),
    output_field=_NUMBER,
)
_SIGNS = (
    _ACTION
    + Case(
        When(correct=True, then=Value(2 * CORRECT)),
        When(correct=False, then=Value(CORRECT)),
        default=Value(0),
        output_field=_NUMBER,
    )
    + Case(When(purpose=Purpose.WORK, then=Value(0)), default=Value(KNOWN), output_field=_NUMBER)
    + _sign(ABSTAINED, label__abstained=True)
    + _sign(LATE, late=True)
    + _sign(UNDONE, undone_at__isnull=False)
    + _sign(ONLY_REJECTED, label__rejected=True)
    + CHARACTERS * Least(Length("item__text"), Value(MOST_CHARACTERS)),
    F("label__seconds"),
    F("within"),
)
