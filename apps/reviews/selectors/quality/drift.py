"""Whether somebody's work changes: accuracy and speed in stretches of it, each against all before.

Every stretch but the first is tested twice, by Fisher's exact test of right answers and Mann and
Whitney's of times; the p-values are adjusted for their number (Holm). People get faster as they
learn, so of speed only what changes by half as much again is called a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np

from apps.reviews.selectors.quality.reading import Bools, Floats, Ints, Work
from labelhub.core.agreement.figures import Figure, share
from labelhub.core.agreement.pace import known_times
from labelhub.core.agreement.significance import LEVEL, fisher, holm, mann_whitney, median

HUNDRED = 100
#: More stretches make tests weaker and pictures wider.
MOST_STRETCHES = 24
#: A change of speed by less is learning, or chance that a large number of answers makes certain.
MATTERS = 1.5
NONE_KNOWN = "no answer to an item of known answer in this stretch"


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """A part of somebody's work: its name, answers, right ones among those known, and times."""

    words: str
    labels: int
    right: int
    known: int
    times: Floats

    @property
    def accuracy(self) -> Figure:
        """Of the first answers to items of known answer."""
        return share(self.right, self.known, reason=NONE_KNOWN)

    @property
    def seconds(self) -> Figure:
        """The median."""
        return median(self.times)


@dataclass(frozen=True, slots=True)
class Change:
    """From ``since`` on something is not as before; ``p`` is adjusted for all that was tested."""

    measure: str
    since: str
    before: float
    now: float
    p: float

    @property
    def worse(self) -> bool:
        """Less accurate, or faster, which seldom goes well."""
        return self.now < self.before


def by_hundreds(work: Work) -> list[Stretch]:
    """One person's work in stretches of a hundred labels, or of a few hundred where there are many;
    what is left over goes with the last."""
    answers = _answers(work)
    count = int(answers.sum())
    size = HUNDRED * max(1, -(-count // (HUNDRED * MOST_STRETCHES)))
    number = np.minimum(np.arange(count) // size, max(count // size - 1, 0))
    ends = np.append(np.searchsorted(number, np.arange(1, number.max(initial=0) + 1)), count)
    starts = np.append(0, ends[:-1])
    names = [f"{start + 1:,}–{end:,}" for start, end in zip(starts, ends, strict=True)]
    return _stretches(work.where(answers), number, names)


def by_weeks(work: Work, moments: Floats) -> list[Stretch]:
    """The same by calendar weeks (of UTC), named by their Mondays; the latest where there are many.

    ``moments``: when each decision was made, shape (decisions,).
    """
    answers = _answers(work)
    days = (moments[answers] // 86_400).astype(np.int64)
    weeks, number = np.unique((days + 3) // 7, return_inverse=True)  # 1970 began on a Thursday
    names = [_monday(int(week)).isoformat() for week in weeks]
    return _stretches(work.where(answers), number, names)[-MOST_STRETCHES:]


def changes(stretches: Sequence[Stretch]) -> list[Change]:
    """What is not as before, of each measure where it is first seen."""
    tests = [
        test
        for at in range(1, len(stretches))
        for test in (_accuracy_test(stretches, at), _speed_test(stretches, at))
        if test is not None
    ]
    adjusted = holm([test.p for test in tests])
    found: dict[str, Change] = {}
    for test, p in zip(tests, adjusted, strict=True):
        if p < LEVEL and (test.measure == "accuracy" or _matters(test)):
            first = Change(test.measure, test.since, test.before, test.now, p)
            found.setdefault(test.measure, first)
    return list(found.values())


def _answers(work: Work) -> Bools:
    """Labels that stand, and what counts as an answer to a known item even where it does not."""
    return work.labelled | work.first_known


def _stretches(answers: Work, number: Ints, names: Sequence[str]) -> list[Stretch]:
    first = answers.first_known
    found = []
    for at, words in enumerate(names):
        here = number == at
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
    return [one for one in found if one.labels]


def _accuracy_test(stretches: Sequence[Stretch], at: int) -> Change | None:
    now, before = stretches[at], stretches[:at]
    right, known = sum(one.right for one in before), sum(one.known for one in before)
    if not (known and now.known):
        return None
    p = fisher(now.right, now.known, right, known)
    return Change("accuracy", now.words, right / known, now.right / now.known, p)


def _speed_test(stretches: Sequence[Stretch], at: int) -> Change | None:
    now = stretches[at].times
    before = np.concatenate([one.times for one in stretches[:at]])
    p = mann_whitney(now, before)
    if p is None:
        return None
    return Change("seconds", stretches[at].words, _middle(before), _middle(now), p)


def _matters(change: Change) -> bool:
    low, high = sorted((change.before, change.now))
    return high >= MATTERS * low


def _middle(times: Floats) -> float:
    return float(np.median(times))


def _monday(week: int) -> date:
    return (datetime(1969, 12, 29, tzinfo=UTC) + timedelta(weeks=week)).date()
