"""What a report has for a task, and why it lacks the rest."""

import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.pair_agreement import annotator_pairs, kind_pairs
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.schema import TASKS, LabelType
from tests.core.agreement.matrices import matrix

SAID = {"llm:m": [0, 1, 1, 0], "crowd:a": [0, 1, 0, 0]}
ERRORS = {"mean_absolute_error", "quadratic_kappa"}


@pytest.mark.parametrize(
    ("task", "reason"),
    [(TASKS["per_item"], reasons.OWN_OPTIONS), (TASKS["text"], reasons.FREE_TEXT)],
)
def test_without_shared_categories_two_sides_have_no_kappa_for_their_reason(
    task: LabelType, reason: str
) -> None:
    given = matrix(SAID, task=task)
    for (pair,) in (kind_pairs(given), annotator_pairs(given)):
        assert pair.figures["cohen_kappa"] == {"value": None, "reason": reason}
        assert pair.figures["percent"]["value"] == 0.75


def test_only_points_of_a_scale_are_more_or_less_wrong() -> None:
    gold = [0, 1, 1, 1]
    single = build_report(matrix(SAID, gold=gold)).against_gold.values()
    scale = build_report(
        matrix(SAID, gold=gold, task=TASKS["ordinal"], scores=[1, 3])
    ).against_gold.values()
    for plain, ordered in zip(single, scale, strict=True):
        assert not ERRORS & set(plain.figures)
        assert set(ordered.figures) >= ERRORS
    errors = [score.figures["mean_absolute_error"]["value"] or 0 for score in scale]
    assert sorted(errors) == [pytest.approx(2 / 4), pytest.approx(4 / 4)]
