"""The alternative annotator test of every machine: can it replace the annotators?

Where items belong together the test of every human is one over whole clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement import alt_test
from labelhub.core.agreement.coefficients.alpha import quadratic_weights, set_distances
from labelhub.core.agreement.estimation import add_doubts, few_clusters_doubt
from labelhub.core.agreement.figures import Record, undefined
from labelhub.core.agreement.ratings import Floats, Ratings, keep_latest
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import UNKNOWN, LabelMatrix, Rater

MACHINES = ("llm", "model")
HUMANS = ("crowd", "expert")
#: The epsilons of the curve: the price of a human, from nothing to half of all items.
EPSILONS = tuple(round(0.025 * step, 3) for step in range(21))
#: Of whom the price is taken where there are none.
UNKNOWN_HUMANS = "skilled"
LEAST_HUMANS = 3
NO_CURVE = (None,) * len(EPSILONS)
#: Reasons for which the test is of no use to the project.
INAPPLICABLE = (reasons.FREE_TEXT, reasons.NO_AUTHOR, reasons.NO_PEOPLE)
#: A similarity between every two answers: only of so many different ones.
MOST_CATEGORIES = 400
TESTED = "one-sided t-test over {unit}; Benjamini-Yekutieli"
#: Of fewer clusters a t-test hardly knows the spread between them.
FEW_TESTED = 10
FEW_TESTED_WORDS = "few_clusters: the test is over fewer than 10 different {unit}"


@dataclass(frozen=True, slots=True)
class Replacement(Record):
    """One machine against the humans, or both against the author."""

    machine: Rater
    test: alt_test.AltTest
    humans: Sequence[Rater]
    epsilon_for: str
    curve: Sequence[float | None]
    unit: str = "items"

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        test = self.test
        return {
            "annotator_id": self.machine.id,
            "kind": self.machine.kind,
            "winning_rate": test.winning_rate,
            "reason": test.advantage.get("reason"),
            "advantage": test.advantage["value"],
            "advantage_figure": test.advantage,
            "passes": test.passes,
            "epsilon": test.epsilon,
            "epsilon_for": self.epsilon_for,
            "tested": test.tested,
            "lacking_annotators": test.lacking,
            "method": TESTED.format(unit=self.unit),
            "humans": [
                self._human_to_json(human, row)
                for human, row in zip(self.humans, test.humans, strict=True)
                if row.items
            ],
            "curve": [
                {"epsilon": epsilon, "winning_rate": rate}
                for epsilon, rate in zip(EPSILONS, self.curve, strict=True)
            ],
        }

    def _human_to_json(self, human: Rater, row: alt_test.Human) -> dict[str, Any]:
        fields = {"annotator": human.name, "annotator_id": human.id, "kind": human.kind}
        fields |= row.to_json()
        del fields["rater"]
        if row.clusters is None:
            del fields["clusters"]
        elif not row.lacking and row.clusters < FEW_TESTED:
            fields["doubt"] = FEW_TESTED_WORDS.format(unit=self.unit)
        return fields


def run_alt_tests(matrix: LabelMatrix, *, by_author: bool = False) -> list[Replacement]:
    """The test of every machine that labelled; ``by_author``: by the author's own answer.

    Null for a reason where it does not apply. Free texts have none: they are hardly ever the same,
    so all are equally far from each other.
    """
    people = np.isin([rater.kind for rater in matrix.raters], HUMANS)
    humans = keep_latest(matrix.ratings.where(people[matrix.ratings.raters]))
    reason = _refusal(matrix, humans, by_author=by_author)
    if reason:
        return [
            Replacement(rater, _no_test(reason), (), UNKNOWN_HUMANS, NO_CURVE)
            for number, rater in enumerate(matrix.raters)
            if rater.kind in MACHINES and matrix.labels_of[number]
        ]
    epsilon_for = _epsilon_for(matrix, people)
    similarity = _similarity(matrix)
    found = []
    for number, rater in enumerate(matrix.raters):
        if rater.kind not in MACHINES or not matrix.labels_of[number]:
            continue
        codes = np.full(matrix.ratings.n_items, UNKNOWN)
        own = np.flatnonzero(matrix.ratings.raters == number)
        codes[matrix.ratings.items[own]] = matrix.ratings.codes[own]
        contest = (
            alt_test.contest_with_author(humans, codes, matrix.author, similarity=similarity)
            if by_author
            else alt_test.contest_with_humans(humans, codes, similarity=similarity)
        )
        test = alt_test.alt_test(contest, alt_test.EPSILON[epsilon_for], matrix.clusters)
        advantage = test.advantage
        if matrix.clusters is not None:
            compared = len(np.unique(matrix.clusters[contest.items]))
            advantage = add_doubts(advantage, few_clusters_doubt(matrix.unit, compared))
        test = replace(test, advantage=advantage)
        curve = alt_test.curve(contest, EPSILONS, matrix.clusters)
        unit = "items" if matrix.clusters is None else matrix.unit
        found.append(Replacement(rater, test, matrix.raters, epsilon_for, curve, unit))
    return found


def _refusal(matrix: LabelMatrix, humans: Ratings, *, by_author: bool) -> str | None:
    """The reason why no machine can be tested; None where some can."""
    if matrix.task.written:
        return reasons.FREE_TEXT
    if by_author and not (matrix.author >= 0).any():
        return reasons.NO_AUTHOR
    return None if len(humans) else reasons.NO_PEOPLE


def _no_test(reason: str) -> alt_test.AltTest:
    epsilon = alt_test.EPSILON[UNKNOWN_HUMANS]
    return alt_test.AltTest(epsilon, (), 0, None, undefined(reason), None, LEAST_HUMANS)


def _epsilon_for(matrix: LabelMatrix, people: NDArray[np.bool_]) -> str:
    """The epsilon for the humans that labelled: experts, crowd, or both (taken as skilled)."""
    kinds = {
        rater.kind
        for rater, human, labels in zip(matrix.raters, people, matrix.labels_of, strict=True)
        if human and labels
    }
    return "skilled" if len(kinds) > 1 else kinds.pop()


def _similarity(matrix: LabelMatrix) -> Floats | None:
    """Similarities of answers that can be nearly right; None where only the same one is right."""
    if len(matrix.categories) > MOST_CATEGORIES:
        return None
    if matrix.sets is not None:
        return 1 - set_distances(matrix.sets, masi=True)
    if matrix.scores is not None:
        return quadratic_weights(matrix.scores)
    return None
