"""Conger's kappa and ratio alpha in the report of a kind."""

import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.kind_agreement import (
    MOST_CELLS,
    estimate_conger,
    kind_agreement,
)
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import NOTHING, matrix

SAID = {
    "crowd:a": [0, 0, 1, 1, 0, 1, NOTHING],
    "crowd:b": [0, 1, 1, 1, 0, 0, NOTHING],
    "expert:x": [1, 1, 1, 0, 0, 0, 0],
}


def test_a_table_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_CELLS > 6 * 2 * 2
    monkeypatch.setattr("labelhub.core.agreement.reports.kind_agreement.MOST_CELLS", 6 * 2 * 2 - 1)

    assert estimate_conger(matrix(SAID), "crowd")["reason"] == reasons.TOO_MANY_LABELS


@pytest.mark.parametrize(("points", "reason"), [([0, 2], None), ([-1, 1], reasons.BELOW_ZERO)])
def test_ratios_need_points_from_zero_on(points: list[float], reason: str | None) -> None:
    given = matrix(SAID, task=TASKS["ordinal"], scores=points)

    assert kind_agreement(given, "crowd")["alpha_ratio"].get("reason") == reason
