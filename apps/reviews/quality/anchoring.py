"""Anchoring: how people answer with and without the suggestion.

For each person a share of the items, drawn by hash, comes without suggestion. The arms differ in
nothing else, so their difference is the effect of the suggestion. The first answer of each person
and item counts that was not undone; later ones may have further influences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import sqrt
from typing import Any

import numpy as np
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext, gettext_noop, ngettext

from apps.accounts.models import User
from apps.common.figures import count_words, range_words
from apps.projects.models import Project
from apps.reviews.models import Decision
from apps.reviews.quality.comparison import SharedLabels, read_shared_labels, stored_value_key
from apps.reviews.quality.requeue import SETTLED
from apps.reviews.quality.work import Bools, Floats, Ints
from labelhub.core.agreement.figures import (
    Figure,
    clustered_share,
    figure,
    percentile_ends,
    resample,
    share,
    undefined,
)
from labelhub.core.agreement.intervals import DRAWS, SEED
from labelhub.core.agreement.pace import known_times
from labelhub.core.agreement.ratings import divide
from labelhub.core.agreement.significance import NEWCOMBE, median, newcombe
from labelhub.core.agreement.with_others import count_comparisons

SHOWN, WITHHELD = Decision.Arm.SHOWN, Decision.Arm.WITHHELD
ARMS = (SHOWN, WITHHELD)
ARM_WORDS = {
    SHOWN: gettext_noop("%(number)s with the suggestion"),
    WITHHELD: gettext_noop("%(number)s without it"),
}
#: The newest answers that are read.
MOST_ANSWERS = 200_000
#: Answers that each arm needs.
FEWEST = 20
#: With fewer people the bootstrap draws answers.
FEWEST_PEOPLE = 10
DRAWN = {
    "people": gettext_noop("percentile bootstrap over people, %(draws)s draws, seed %(seed)s"),
    "answers": gettext_noop("percentile bootstrap over answers, %(draws)s draws, seed %(seed)s"),
}
SQUARED = gettext_noop("difference of medians, from both intervals (square and add)")
FEW_PEOPLE = f"the bootstrap draws answers, because fewer than {FEWEST_PEOPLE} people gave them"
MEASURES = ("taken_over", "agreement", "accuracy", "seconds")
#: Answers of one person that each arm needs.
FEWEST_OF_ONE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The first answer of each person to each item; all of shape (answers,).

    ``rejected``: a mere rejection, which does not take the suggestion over. ``right`` is -1 if
    nobody else decided or there is no label; ``others`` is 0 if nobody else labelled; ``seconds``
    of labels and abstentions.
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
        return Answers(*(getattr(self, column.name)[kept] for column in fields(self)))

    def arms(self) -> "dict[Decision.Arm, Answers]":
        """The answers with and without the suggestion."""
        return {SHOWN: self.where(~self.withheld), WITHHELD: self.where(self.withheld)}

    def counts(self, measure: str) -> tuple[Ints, Ints]:
        """Part and whole of each answer, shapes (answers,)."""
        if measure == "taken_over":
            return self.same, np.ones_like(self.same)
        if measure == "agreement":
            return self.agreeing, self.others
        return (self.right == 1).astype(np.int64), (self.right >= 0).astype(np.int64)


def read_answers(project: Project, shared: SharedLabels | None = None) -> tuple[Answers, bool]:
    """The first answers, and whether there are more than were read. Three queries; one with
    ``shared``."""
    rows = list(_answer_rows(project)[: MOST_ANSWERS + 1])
    cut = len(rows) > MOST_ANSWERS
    first: dict[tuple[int, int], tuple[Any, ...]] = {}
    for row in rows[:MOST_ANSWERS]:
        first[row[0], row[1]] = row  # the newest come first, so the oldest stays
    key = stored_value_key()
    kept = list(first.values())
    values = [(key(row[3]), key(row[4]), key(row[5])) for row in kept]
    agreeing = _agreement_with_others(shared or read_shared_labels(project)) if kept else {}
    others = [agreeing.get((row[0], row[1]), (0, 0)) for row in kept]
    return Answers(
        user=np.array([row[0] for row in kept], dtype=np.int64),
        withheld=np.array([row[2] == WITHHELD for row in kept], dtype=np.bool_),
        same=np.array(
            [own is not None and own == suggested for own, suggested, _ in values], dtype=np.int64
        ),
        rejected=np.array([row[9] for row in kept], dtype=np.bool_),
        right=np.array(
            [_is_right(own, gold, row) for (own, _, gold), row in zip(values, kept, strict=True)],
            dtype=np.int64,
        ),
        agreeing=np.array([agreeing for agreeing, _ in others], dtype=np.int64),
        others=np.array([count for _, count in others], dtype=np.int64),
        seconds=np.array([None if row[9] else row[8] for row in kept], dtype=np.float64),
    ), cut


def _answer_rows(project: Project) -> QuerySet[Decision, tuple[Any, ...]]:
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


def _is_right(own: str | None, gold: str | None, row: Sequence[Any]) -> int:
    """By others' final decisions; reviewers' decisions rest on these very answers."""
    if own is None or gold is None or row[6] not in SETTLED or row[7] == row[0]:
        return -1
    return int(own == gold)


def _agreement_with_others(found: SharedLabels) -> dict[tuple[int, int], tuple[int, int]]:
    """How many others agree with each person on each item, and how many others there are."""
    ratings = found.ratings
    agreeing, others = count_comparisons(ratings)
    return {
        (found.raters[rater], found.items[item]): (agrees, count)
        for rater, item, agrees, count in zip(
            ratings.raters.tolist(), ratings.items.tolist(), agreeing.tolist(), others.tolist(),
            strict=True,
        )
    }  # fmt: skip


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
    n, sample = len(answers.user), resample(len(answers.user))
    shares = {
        measure: clustered_share(sample, *answers.counts(measure), reason=reason)
        for measure, reason in (
            ("taken_over", gettext("no answer yet")),
            ("agreement", gettext("nobody else labelled these items")),
            ("accuracy", gettext("none of these items has a final decision by others")),
        )
    }
    return Arm(
        n=n,
        rejected=int(answers.rejected.sum()),
        people=len(np.unique(answers.user)),
        seconds=median(known_times(answers.seconds)),
        **shares,
    )


def difference_of(answers: Answers, arms: Mapping[Any, Answers], measure: str) -> Figure:
    """``shown`` less ``withheld``."""
    if measure == "seconds":
        return _difference_of_medians(*(median(known_times(arms[arm].seconds)) for arm in ARMS))
    sizes = {arm: int((arms[arm].counts(measure)[1] > 0).sum()) for arm in ARMS}
    if reason := too_few(sizes, FEWEST):
        return undefined(reason)
    part, whole = answers.counts(measure)
    people = np.unique(answers.user[whole > 0], return_inverse=True)
    if len(people[0]) >= FEWEST_PEOPLE:
        return _bootstrap_difference(answers, part, whole, "people")
    if whole.max() <= 1:
        found = newcombe_of(arms, measure)
    else:
        found = _bootstrap_difference(answers, part, whole, "answers")
    return {**found, "doubt": FEW_PEOPLE}


def too_few(sizes: Mapping[Any, int], fewest: int) -> str:
    """Why there is no result; empty if each arm has enough answers."""
    few = [
        gettext(ARM_WORDS[arm]) % {"number": count_words(sizes[arm])}
        for arm in ARMS
        if sizes[arm] < fewest
    ]
    if not few:
        return ""
    words = gettext("too few answers: %(answers)s; %(needed)s are needed")
    return words % {"answers": ", ".join(few), "needed": fewest}


def newcombe_of(arms: Mapping[Any, Answers], measure: str) -> Figure:
    """The same by Newcombe's interval, of whole answers."""
    (part, whole), (other, other_whole) = (
        tuple(int(counts.sum()) for counts in arms[arm].counts(measure)) for arm in ARMS
    )
    low, high = newcombe(part, whole, other, other_whole)
    value = part / whole - other / other_whole
    return figure(value, low=low, high=high, n=whole + other_whole, method=NEWCOMBE)


def _bootstrap_difference(answers: Answers, part: Ints, whole: Ints, unit: str) -> Figure:
    """By a bootstrap over people, with all their answers, or over single answers."""
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
    low, high = percentile_ends(divide(drawn[:, 0], drawn[:, 1]) - divide(drawn[:, 2], drawn[:, 3]))
    a, n, b, m = (float(total) for total in columns.sum(axis=0))
    method = gettext(DRAWN[unit]) % {"draws": DRAWS, "seed": SEED}
    return figure(a / n - b / m, low=low, high=high, n=int((whole > 0).sum()), method=method)


def _difference_of_medians(shown: Figure, withheld: Figure) -> Figure:
    """From the intervals of both, as Newcombe does with two shares (Zou and Donner 2008)."""
    value, low, high = _interval(shown)
    other_value, other_low, other_high = _interval(withheld)
    if value is None or other_value is None:
        return undefined(gettext("too few measured times in one of the groups"))
    difference = value - other_value
    return figure(
        difference,
        low=difference - sqrt((value - low) ** 2 + (other_high - other_value) ** 2),
        high=difference + sqrt((high - value) ** 2 + (other_value - other_low) ** 2),
        n=shown.get("n", 0) + withheld.get("n", 0),
        method=gettext(SQUARED),
    )


def _interval(estimate: Figure) -> tuple[float | None, float, float]:
    value = estimate.get("value")
    low, high = estimate.get("low"), estimate.get("high")
    return value, low or 0.0, high or 0.0


def sentence(difference: Figure) -> str:
    """The effect of the suggestion in words, with its uncertainty."""
    value, low, high = (difference.get(name) for name in ("value", "low", "high"))
    if not isinstance(value, float):
        words = gettext("The effect of the suggestion is not known yet: %(reason)s.")
        return words % {"reason": difference.get("reason")}
    if not isinstance(low, float) or not isinstance(high, float):
        return gettext(
            "The effect of the suggestion is not known, because the answers do not vary."
        )
    size = abs(value)
    if low <= 0 <= high:
        words = gettext(
            "The effect of the suggestion on how often reviewers give the same label is not "
            "significant (%(low)s to %(high)s points)."
        )
    elif value > 0:
        words = ngettext(
            "Reviewers give the suggested label %(points)s point more often when they see the "
            "suggestion (%(low)s to %(high)s).",
            "Reviewers give the suggested label %(points)s points more often when they see the "
            "suggestion (%(low)s to %(high)s).",
            round(100 * size),
        )
    else:
        low, high = -high, -low
        words = ngettext(
            "Reviewers give the suggested label %(points)s point less often when they see the "
            "suggestion (%(low)s to %(high)s).",
            "Reviewers give the suggested label %(points)s points less often when they see the "
            "suggestion (%(low)s to %(high)s).",
            round(100 * size),
        )
    return words % {"points": _points(size), "low": _points(low), "high": _points(high)}


def in_points(difference: Figure) -> dict[str, object]:
    """A difference of shares as people read it: ``{"words": "6 points", "range": "3 to 10"}``, or
    with a ``reason``."""
    value, low, high = difference.get("value"), difference.get("low"), difference.get("high")
    if value is None:
        return {"value": None, "reason": difference.get("reason")}
    return {
        "value": value,
        "words": ngettext("%(number)s point", "%(number)s points", round(100 * abs(value)))
        % {"number": _points(value)},
        "range": "" if low is None or high is None else range_words(_points(low), _points(high)),
        "method": gettext(str(difference.get("method"))),
    }


def _points(difference: float) -> str:
    return count_words(round(100 * difference))


def warning(project: Project, *, any_withheld: bool) -> str:
    """Why no new answers are measured, and how to change that; empty if they are."""
    if project.blind_share:
        return ""
    words = gettext(
        "Every suggestion is shown, so its effect cannot be measured. Set the share of items "
        "without a suggestion in the review plan; 0.1 is a good start."
    )
    return (
        f"{words} {gettext('The figures below are from earlier answers.')}"
        if any_withheld
        else words
    )


@dataclass(frozen=True, slots=True)
class PersonArms:
    """One person: how often they give the suggested value, in both arms."""

    user: User
    shown: Figure
    withheld: Figure
    difference: Figure

    @property
    def points(self) -> dict[str, object]:
        """The difference as people read it."""
        return in_points(self.difference)


@dataclass(frozen=True, slots=True)
class AnchoringReport:
    """Both arms, ``shown`` less ``withheld`` for each measure, and in words.

    ``warning``: why no new answers are measured. ``cut``: only the newest answers were read.
    """

    arms: Mapping[str, Arm]
    differences: Mapping[str, Figure]
    people: Sequence[PersonArms]
    sentence: str
    warning: str
    cut: bool


@dataclass(frozen=True, slots=True)
class AnchoringFigures:
    """What takes long of the report; ``people``: both arms and the difference, by user ids."""

    arms: Mapping[str, Arm]
    differences: Mapping[str, Figure]
    people: Mapping[int, tuple[Figure, Figure, Figure]]
    any_withheld: bool
    cut: bool


def anchoring_figures(project: Project, shared: SharedLabels | None = None) -> AnchoringFigures:
    """The effect of the suggestion on people's answers. Four queries; two with ``shared``."""
    answers, cut = read_answers(project, shared)
    arms = answers.arms()
    return AnchoringFigures(
        arms={str(arm): arm_of_answers(arm_answers) for arm, arm_answers in arms.items()},
        differences={measure: difference_of(answers, arms, measure) for measure in MEASURES},
        people={
            user_id: _one_person(answers.where(answers.user == user_id))
            for user_id in np.unique(answers.user).tolist()
        },
        any_withheld=bool(answers.withheld.any()),
        cut=cut,
    )


def anchoring_report(project: Project, figures: AnchoringFigures | None = None) -> AnchoringReport:
    """The figures, with people's names and in words. Five queries; one with ``figures``."""
    figures = figures or anchoring_figures(project)
    users = User.objects.in_bulk(figures.people.keys()) if figures.people else {}
    rows = [PersonArms(user, *figures.people[user_id]) for user_id, user in users.items()]
    return AnchoringReport(
        arms=figures.arms,
        differences=figures.differences,
        people=sorted(rows, key=lambda row: row.user.display_name.casefold()),
        sentence=sentence(figures.differences["taken_over"]),
        warning=warning(project, any_withheld=figures.any_withheld),
        cut=figures.cut,
    )


def _one_person(own: Answers) -> tuple[Figure, Figure, Figure]:
    arms = own.arms()
    shares = {
        arm: share(int(answers.same.sum()), len(answers.same), reason=gettext("no answer yet"))
        for arm, answers in arms.items()
    }
    reason = too_few({arm: len(answers.same) for arm, answers in arms.items()}, FEWEST_OF_ONE)
    difference = undefined(reason) if reason else newcombe_of(arms, "taken_over")
    return shares[SHOWN], shares[WITHHELD], difference
