"""Conger's kappa and ratio alpha in the report of a kind."""

from typing import Any

import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.kind_agreement import (
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


def test_a_large_table_has_the_same_value_and_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = {rater: answers * 2 for rater, answers in SAID.items()}
    plain: Any = estimate_conger(matrix(twice), "crowd")
    monkeypatch.setattr("labelhub.core.agreement.reports.kind_agreement.MOST_CELLS", 12 * 2 * 2 - 1)
    large: Any = estimate_conger(matrix(twice), "crowd")

    assert large["value"] == pytest.approx(plain["value"])
    assert large["low"] < large["value"] < large["high"]


@pytest.mark.parametrize(("points", "reason"), [([0, 2], None), ([-1, 1], reasons.BELOW_ZERO)])
def test_ratios_need_points_from_zero_on(points: list[float], reason: str | None) -> None:
    given = matrix(SAID, task=TASKS["ordinal"], scores=points)

    assert kind_agreement(given, "crowd")["alpha_ratio"].get("reason") == reason
