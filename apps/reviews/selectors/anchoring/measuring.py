"""Both arms in figures, and what is between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from apps.reviews.selectors.anchoring.answers import ARM_WORDS, ARMS, Answers
from apps.reviews.selectors.quality.reading import Ints
from labelhub.core.agreement.figures import (
    Figure,
    clustered_share,
    divided,
    ends,
    figure,
    resample,
    undefined,
)
from labelhub.core.agreement.intervals import DRAWS, SEED
from labelhub.core.agreement.pace import known_times
from labelhub.core.agreement.significance import NEWCOMBE, median, newcombe

#: Fewer answers in an arm say next to nothing.
FEWEST = 20
#: With fewer people they cannot be drawn: their spread is hardly known.
FEWEST_PEOPLE = 10
DRAWN = "percentile bootstrap over {unit}, {draws} draws, seed {seed}"
SQUARED = "difference of medians, from both intervals (square and add)"
FEW_PEOPLE = f"answers are drawn, not people: fewer than {FEWEST_PEOPLE} people gave them"


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm. ``n`` answers, of which ``rejected`` only reject the suggestion; ``taken_over``: the
    label is what was suggested; ``agreement`` with other people on the same items; ``accuracy`` by
    what others decided for good; ``seconds``."""

    n: int
    rejected: int
    people: int
    taken_over: Figure
    agreement: Figure
    accuracy: Figure
    seconds: Figure


def arm_of_answers(answers: Answers) -> Arm:
    """What is told of one arm."""
    n, sample = len(answers.user), resample(len(answers.user))
    told = {
        measure: clustered_share(sample, *answers.counts(measure), reason=reason)
        for measure, reason in (
            ("taken_over", "no answer yet"),
            ("agreement", "nobody else labelled these items"),
            ("accuracy", "of none of these items is the answer known"),
        )
    }
    return Arm(
        n=n,
        rejected=int(answers.rejected.sum()),
        people=len(np.unique(answers.user)),
        seconds=median(known_times(answers.seconds)),
        **told,
    )


def difference_of(answers: Answers, arms: Mapping[Any, Answers], measure: str) -> Figure:
    """``shown`` less ``withheld``."""
    if measure == "seconds":
        return _of_medians(*(median(known_times(arms[arm].seconds)) for arm in ARMS))
    sizes = {arm: int((arms[arm].counts(measure)[1] > 0).sum()) for arm in ARMS}
    if reason := too_few(sizes, FEWEST):
        return undefined(reason)
    part, whole = answers.counts(measure)
    people = np.unique(answers.user[whole > 0], return_inverse=True)
    if len(people[0]) >= FEWEST_PEOPLE:
        return _drawn(answers, part, whole, "people")
    if whole.max() <= 1:
        found = newcombe_of(arms, measure)
    else:
        found = _drawn(answers, part, whole, "answers")
    return {**found, "doubt": FEW_PEOPLE}


def too_few(sizes: Mapping[Any, int], fewest: int) -> str:
    """Why nothing is told; empty where there are enough in each arm."""
    few = [f"{sizes[arm]} {ARM_WORDS[arm]}" for arm in ARMS if sizes[arm] < fewest]
    return f"too few answers: {' and '.join(few)}; {fewest} are needed" if few else ""


def newcombe_of(arms: Mapping[Any, Answers], measure: str) -> Figure:
    """The same by Newcombe's interval, of whole answers."""
    (part, whole), (other, other_whole) = (
        tuple(int(each.sum()) for each in arms[arm].counts(measure)) for arm in ARMS
    )
    low, high = newcombe(part, whole, other, other_whole)
    value = part / whole - other / other_whole
    return figure(value, low=low, high=high, n=whole + other_whole, method=NEWCOMBE)


def _drawn(answers: Answers, part: Ints, whole: Ints, unit: str) -> Figure:
    """By drawing people, with all that they said, or single answers."""
    shown = ~answers.withheld
    columns = np.stack(
        [part * shown, whole * shown, part * answers.withheld, whole * answers.withheld], axis=1
    )
    if unit == "people":
        ids, number = np.unique(answers.user, return_inverse=True)
        sums = np.zeros((len(ids), 4), dtype=np.int64)
        np.add.at(sums, number, columns)
        columns = sums
    drawn = resample(len(columns)).sums(columns)
    low, high = ends(divided(drawn[:, 0], drawn[:, 1]) - divided(drawn[:, 2], drawn[:, 3]))
    a, n, b, m = (float(each) for each in columns.sum(axis=0))
    method = DRAWN.format(unit=unit, draws=DRAWS, seed=SEED)
    return figure(a / n - b / m, low=low, high=high, n=int((whole > 0).sum()), method=method)


def _of_medians(one: Figure, other: Figure) -> Figure:
    """From the intervals of both, as Newcombe does with two shares (Zou and Donner 2008)."""
    value, low, high = _ends(one)
    other_value, other_low, other_high = _ends(other)
    if value is None or other_value is None:
        return undefined("too few measured times in one of the arms")
    difference = value - other_value
    return figure(
        difference,
        low=difference - sqrt((value - low) ** 2 + (other_high - other_value) ** 2),
        high=difference + sqrt((high - value) ** 2 + (other_value - other_low) ** 2),
        n=one.get("n", 0) + other.get("n", 0),
        method=SQUARED,
    )


def _ends(told: Figure) -> tuple[float | None, float, float]:
    value = told.get("value")
    low, high = told.get("low"), told.get("high")
    return value, low or 0.0, high or 0.0
