"""Can this LLM replace my annotators? The alternative annotator test of every machine.

Where items belong together the test of every human is one over whole clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement import alt_test
from labelhub.core.agreement.coefficients.alpha import masi_distance, quadratic_weights
from labelhub.core.agreement.estimation import FEW_CLUSTERS, FEW_UNITS, add_doubts
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.ratings import Floats, Ints, keep_latest
from labelhub.core.agreement.reports.label_matrix import UNKNOWN, LabelMatrix, Rater
from labelhub.core.agreement.reports.reasons import widen_to_value

MACHINES = ("llm", "model")
HUMANS = ("crowd", "expert")
#: Where the verdict is looked at: what a human costs more, from nothing to half of all items.
EPSILONS = tuple(round(0.025 * step, 3) for step in range(21))
#: A similarity between every two answers: only of so many different ones.
MOST_CATEGORIES = 400
TESTED = "one-sided t-test over {unit}; Benjamini-Yekutieli"
#: Of fewer clusters a t-test hardly knows the spread between them.
FEW_TESTED = 10
FEW_TESTED_WORDS = "few_clusters: the test is over fewer than 10 different {unit}"


@dataclass(frozen=True, slots=True)
class Replacement:
    """One machine against the humans, or (``against_author``) both against the author."""

    machine: Rater
    test: alt_test.AltTest
    humans: Sequence[Rater]
    epsilon_for: str
    curve: Sequence[float | None]
    against_author: bool = False
    unit: str = "items"

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        test = self.test
        return {
            "annotator_id": self.machine.id,
            "kind": self.machine.kind,
            "winning_rate": test.winning_rate,
            "advantage": test.advantage["value"],
            "advantage_figure": test.advantage,
            "passes": test.passes,
            "epsilon": test.epsilon,
            "epsilon_for": self.epsilon_for,
            "tested": test.tested,
            "lacking_annotators": test.lacking,
            "method": TESTED.format(unit=self.unit),
            "humans": [
                self._told(human, row)
                for human, row in zip(self.humans, test.humans, strict=True)
                if row.items
            ],
            "curve": [
                {"epsilon": epsilon, "winning_rate": rate}
                for epsilon, rate in zip(EPSILONS, self.curve, strict=True)
            ],
        }

    def _told(self, human: Rater, row: alt_test.Human) -> dict[str, Any]:
        fields = {
            "annotator": human.name,
            "annotator_id": human.id,
            "kind": human.kind,
            "items": row.items,
            "advantage": row.advantage,
            "difference": row.difference,
            "p": row.p,
            "adjusted_p": row.adjusted_p,
            "rejected": row.rejected,
            "lacking": row.lacking,
            "reason": row.reason,
        }
        if row.clusters is not None:
            fields["clusters"] = row.clusters
            if not row.lacking and row.clusters < FEW_TESTED:
                fields["doubt"] = FEW_TESTED_WORDS.format(unit=self.unit)
        return fields

    @property
    def advantage(self) -> Figure:
        """How often the machine is at least as near as a human, with its interval."""
        return self.test.advantage


def run_alt_tests(matrix: LabelMatrix, *, by_author: bool = False) -> list[Replacement]:
    """Of every machine that labelled; ``by_author``: measured by the author's own answer.

    None of free texts: they are hardly ever the same, and then everybody is as far from everybody.
    """
    if matrix.task.written:
        return []
    people = np.isin([rater.kind for rater in matrix.raters], HUMANS)
    humans = keep_latest(matrix.ratings.of_raters(people))
    if not len(humans):
        return []
    epsilon_for = _epsilon_for(matrix, people)
    similarity = _similarity(matrix)
    found = []
    for number, rater in enumerate(matrix.raters):
        if rater.kind not in MACHINES or not matrix.labels_of[number]:
            continue
        codes = _codes_of(matrix, number)
        contest = (
            alt_test.contest_with_author(
                humans, codes, matrix.author, similarity=similarity, repeated=False
            )
            if by_author
            else alt_test.contest_with_humans(humans, codes, similarity=similarity, repeated=False)
        )
        test = _run_test(matrix, contest, alt_test.EPSILON[epsilon_for])
        curve = alt_test.curve(contest, EPSILONS, matrix.clusters)
        unit = "items" if matrix.clusters is None else matrix.unit
        found.append(Replacement(rater, test, matrix.raters, epsilon_for, curve, by_author, unit))
    return found


def _run_test(matrix: LabelMatrix, contest: alt_test.Contest, epsilon: float) -> alt_test.AltTest:
    """The test with what makes it doubtful that few clusters were compared."""
    test = alt_test.alt_test(contest, epsilon, matrix.clusters)
    if matrix.clusters is None or test.advantage["value"] is None:
        return replace(test, advantage=widen_to_value(test.advantage))
    compared = len(np.unique(matrix.clusters[contest.items]))
    doubt = FEW_CLUSTERS.format(unit=matrix.unit) if compared < FEW_UNITS else None
    return replace(test, advantage=add_doubts(widen_to_value(test.advantage), doubt))


def _epsilon_for(matrix: LabelMatrix, people: NDArray[np.bool_]) -> str:
    """By the humans that labelled: experts, crowd, or both (taken as skilled)."""
    kinds = {
        rater.kind
        for rater, human, labels in zip(matrix.raters, people, matrix.labels_of, strict=True)
        if human and labels
    }
    return "skilled" if len(kinds) > 1 else kinds.pop()


def _similarity(matrix: LabelMatrix) -> Floats | None:
    """Of answers that can be nearly right; None where only the same answer is."""
    if len(matrix.categories) > MOST_CATEGORIES:
        return None
    if matrix.task.several and matrix.sets is not None:
        return 1 - masi_distance(matrix.sets)
    if matrix.task.ordered and matrix.scores is not None:
        return quadratic_weights(matrix.scores)
    return None


def _codes_of(matrix: LabelMatrix, rater: int) -> Ints:
    codes = np.full(matrix.ratings.n_items, UNKNOWN)
    own = np.flatnonzero(matrix.ratings.raters == rater)
    codes[matrix.ratings.items[own]] = matrix.ratings.codes[own]
    return codes
