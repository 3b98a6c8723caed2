"""People's decisions as arrays: one query reads a million in a few seconds.

Changes of somebody's work: every stretch but the first is tested against all before it, by Fisher's
exact test of right answers and the Mann-Whitney test of times; p-values are adjusted (Holm). People
get faster as they learn, so speed has to change by half as much again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Least, Length
from django.utils.translation import gettext, gettext_noop
from numpy.typing import NDArray

from apps.common.figures import count_words
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Decision, Purpose
from labelhub.core.agreement.figures import Figure, share
from labelhub.core.agreement.pace import MOST_CHARACTERS, PaceLimits, known_times, least_seconds
from labelhub.core.agreement.significance import LEVEL, fisher_exact, holm, mann_whitney, median

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
#: Several columns in one number: a row of six columns reads twice as fast as one of eleven.
CORRECT, KNOWN, ABSTAINED, LATE, UNDONE, ONLY_REJECTED = 8, 32, 64, 128, 256, 512
CHARACTERS = 1024
ROWS = 20_000
#: Answers that the usual times rest on.
MOST_TIMES = 50_000
HUNDRED = 100
#: More stretches make tests weaker and charts wider.
MOST_STRETCHES = 24
#: A smaller change of speed is learning, or an irrelevant effect of many answers.
MATTERS = 1.5
NONE_KNOWN = gettext_noop("no answer to a gold question in this stretch")


@dataclass(frozen=True, slots=False, eq=False)
class Work:
    """Decisions, by person and in their order; all of shape (decisions,).

    ``correct``: 1 right, 0 wrong, -1 unknown; only of gold questions (``known``). ``seconds``: NaN
    if not measured; then ``within`` is an upper bound, NaN without one. ``least``: fewer seconds
    are too few to look and choose.
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
        """Only these decisions, given as a mask, a slice or indexes."""
        return Work(*(getattr(self, column.name)[kept] for column in fields(self)))

    def of(self, user_id: int) -> "Work":
        first, after = np.searchsorted(self.user, [user_id, user_id + 1])
        return self.where(slice(first, after))

    @cached_property
    def answered(self) -> Bools:
        """For one person: their current answer to each item, including mere rejections; no undone
        or revised answers."""
        given = np.flatnonzero((self.action <= LABELLED) & ~self.undone)
        _, last = np.unique(self.item[given][::-1], return_index=True)
        picked = np.zeros(len(self), dtype=np.bool_)
        picked[given[::-1][last]] = True
        return picked

    @property
    def labelled(self) -> Bools:
        return self.answered & ~self.only_rejected

    @cached_property
    def first_known(self) -> Bools:
        """For one person: the first answer to each gold question, undone or not.

        A person who answers again may know more: for example, that it is a gold question.
        """
        given = (self.action <= LABELLED) & ~self.only_rejected
        answers = np.flatnonzero(self.known & given)
        _, first = np.unique(self.item[answers], return_index=True)
        picked = np.zeros(len(self), dtype=np.bool_)
        picked[answers[first]] = True
        return picked & (self.correct >= 0)

    @property
    def times(self) -> Floats:
        return self.seconds[self.timed]

    @property
    def timed(self) -> Bools:
        return self.labelled & ~np.isnan(self.seconds)

    @property
    def bounded(self) -> Bools:
        """Current labels that have an upper bound of seconds instead."""
        return self.labelled & np.isnan(self.seconds) & ~np.isnan(self.within)

    def too_fast(self, usual: PaceLimits | None) -> Bools:
        """Labels that took less than ``least`` seconds or, if measured, less than is ``usual``."""
        least = np.maximum(self.least, usual.low) if usual else self.least
        soon = self.timed & (self.seconds < least)
        return soon | (self.bounded & (self.within < self.least))


def read_work(project: Project, user_id: int | None = None) -> tuple[Work, int]:
    """The decisions in ``project`` of all people or of one, and the number of labels of deleted
    accounts. One query."""
    decisions = Decision.objects.filter(project=project)
    if user_id is not None:
        decisions = decisions.filter(reviewer=user_id)
    # Of numbers; NULL is NaN. Shape (6, rows).
    read: list[Floats] = []
    chunk: list[Sequence[Any]] = []
    for row in (
        decisions.order_by()
        .values_list("reviewer", "pk", "item", *_SIGNS)
        .iterator(chunk_size=ROWS)
    ):
        chunk.append(row)
        if len(chunk) == ROWS:
            read.append(np.array(chunk, dtype=np.float64))
            chunk = []
    read.append(np.array(chunk, dtype=np.float64).reshape(-1, 6))
    rows = np.concatenate(read).T
    gone, signs = np.isnan(rows[0]), rows[3].astype(np.int64)
    labels = (signs % CORRECT <= LABELLED) & (signs & ONLY_REJECTED == 0)
    orphans = int((gone & labels).sum())
    rows = rows[:, ~gone]
    rows = rows[:, np.lexsort((rows[1], rows[0]))]
    signs = rows[3].astype(np.int64)
    action = signs % CORRECT
    # The least number of choices: one for free text, two for items' own options.
    schema = current_schema(project).parsed
    choices = np.where(
        action == ACCEPTED, 1, (2 if schema.task.item_options else max(1, len(schema.names)))
    )
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


def days_of(project: Project, user_id: int) -> Floats:
    """The times of one person's decisions, as seconds since 1970, in the order of their work."""
    decisions = Decision.objects.filter(project=project, reviewer=user_id).order_by("pk")
    moments = decisions.values_list("created_at", flat=True)
    return np.array([moment.timestamp() for moment in moments], dtype=np.float64)


def usual_times(project: Project) -> Floats:
    """Seconds of the newest answers in the project. One query."""
    answers = Decision.objects.filter(
        project=project, undone_at__isnull=True, label__seconds__isnull=False, label__rejected=False
    )
    newest = answers.order_by("-pk").values_list("label__seconds", flat=True)[:MOST_TIMES]
    return np.array(list(newest), dtype=np.float64)


def _sign(number: int, **condition: Any) -> Case:
    return Case(When(**condition, then=Value(number)), default=Value(0), output_field=_NUMBER)


_NUMBER: IntegerField[int, int] = IntegerField()
_ACTION = Case(
    *(When(action=action, then=Value(number)) for number, action in enumerate(ACTIONS)),
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


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """A part of a person's work: name, labels, right answers to ``known`` gold questions, times."""

    words: str
    labels: int
    right: int
    known: int
    times: Floats

    @property
    def accuracy(self) -> Figure:
        return share(self.right, self.known, reason=gettext(NONE_KNOWN))

    @property
    def seconds(self) -> Figure:
        """The median."""
        return median(self.times)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a measure from ``since`` on; ``p`` is adjusted for multiple tests."""

    measure: str
    since: str
    before: float
    now: float
    p: float

    @property
    def worse(self) -> bool:
        """Less accurate, or faster, which is rarely good."""
        return self.now < self.before


def by_hundreds(work: Work) -> list[Stretch]:
    """One person's work in stretches of a hundred labels, or of several hundred if there are many;
    the last stretch takes the rest."""
    answers = _answers(work)
    count = int(answers.sum())
    size = HUNDRED * max(1, -(-count // (HUNDRED * MOST_STRETCHES)))
    number = np.minimum(np.arange(count) // size, max(count // size - 1, 0))
    ends = np.append(np.searchsorted(number, np.arange(1, number.max(initial=0) + 1)), count)
    starts = np.append(0, ends[:-1])
    names = [
        f"{count_words(start + 1)}–{count_words(end)}"
        for start, end in zip(starts, ends, strict=True)
    ]
    return _stretches(work.where(answers), number, names)


def by_weeks(work: Work, moments: Floats) -> list[Stretch]:
    """The same by calendar weeks (UTC), named by their Mondays; only the latest if there are many.

    ``moments``: when each decision was made, shape (decisions,).
    """
    answers = _answers(work)
    days = (moments[answers] // 86_400).astype(np.int64)
    weeks, number = np.unique((days + 3) // 7, return_inverse=True)  # 1970 began on a Thursday
    names = [
        (datetime(1969, 12, 29, tzinfo=UTC) + timedelta(weeks=int(week))).date().isoformat()
        for week in weeks
    ]
    return _stretches(work.where(answers), number, names)[-MOST_STRETCHES:]


def changes(stretches: Sequence[Stretch]) -> list[Change]:
    """The first change of each measure."""
    tests = [
        test
        for start in range(1, len(stretches))
        for test in (_accuracy_test(stretches, start), _speed_test(stretches, start))
        if test is not None
    ]
    adjusted = holm([test.p for test in tests])
    found: dict[str, Change] = {}
    for test, p in zip(tests, adjusted, strict=True):
        low, high = sorted((test.before, test.now))
        if p < LEVEL and (test.measure == "accuracy" or high >= MATTERS * low):
            first = Change(test.measure, test.since, test.before, test.now, p)
            found.setdefault(test.measure, first)
    return list(found.values())


def _answers(work: Work) -> Bools:
    """Current labels, and first answers to gold questions even if they were undone."""
    return work.labelled | work.first_known


def _stretches(answers: Work, number: Ints, names: Sequence[str]) -> list[Stretch]:
    first = answers.first_known
    found = []
    for index, words in enumerate(names):
        here = number == index
        known = here & first
        found.append(
            Stretch(
                words=words,
                labels=int(here.sum()),
                right=int((answers.correct[known] == 1).sum()),
                known=int(known.sum()),
                times=known_times(answers.seconds[here]),
            )
        )
    return [stretch for stretch in found if stretch.labels]


def _accuracy_test(stretches: Sequence[Stretch], start: int) -> Change | None:
    now, before = stretches[start], stretches[:start]
    right = sum(stretch.right for stretch in before)
    known = sum(stretch.known for stretch in before)
    if not (known and now.known):
        return None
    p = fisher_exact(now.right, now.known, right, known)
    return Change("accuracy", now.words, right / known, now.right / now.known, p)


def _speed_test(stretches: Sequence[Stretch], start: int) -> Change | None:
    now = stretches[start].times
    before = np.concatenate([stretch.times for stretch in stretches[:start]])
    p = mann_whitney(now, before)
    if p is None:
        return None
    middles = float(np.median(before)), float(np.median(now))
    return Change("seconds", stretches[start].words, *middles, p)
