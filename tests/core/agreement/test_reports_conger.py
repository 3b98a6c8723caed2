"""Conger's kappa and ratio alpha in the report of a kind."""

import numpy as np
import pytest

from labelhub.core.agreement.coefficients.conger import conger_kappa, conger_parts
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.conger import MOST_CELLS, conger
from labelhub.core.agreement.reports.within import within
from labelhub.core.schema import TASKS
from tests.core.agreement.sheets import NOTHING, sheet

SAID = {
    "crowd:a": [0, 0, 1, 1, 0, 1, NOTHING],
    "crowd:b": [0, 1, 1, 1, 0, 0, NOTHING],
    "expert:x": [1, 1, 1, 0, 0, 0, 0],
}


def test_of_two_annotators_it_is_cohens_kappa() -> None:
    found = conger(sheet(SAID), "crowd")
    # Four of six agree; a says 0 in 3 of 6, b in 3 of 6.
    assert found["value"] == pytest.approx((4 / 6 - 0.5) / 0.5)
    assert found["n"] == 6


def test_annotators_of_other_kinds_do_not_count() -> None:
    alone = sheet({name: said for name, said in SAID.items() if name.startswith("crowd")})

    assert conger(sheet(SAID), "crowd") == conger(alone, "crowd")


def test_missing_ratings_are_allowed() -> None:
    said = SAID | {"crowd:c": [0, 0, NOTHING, 1, 0, 1, 1]}
    given = sheet(said)
    ratings = given.of_kind("crowd")
    value = conger_kappa(ratings.n_raters, 2)(conger_parts(ratings).sum(axis=0)[None])[0]

    assert conger(given, "crowd")["value"] == pytest.approx(float(value))


def test_clusters_are_drawn_together() -> None:
    given = sheet(SAID, clusters=np.array([0, 0, 1, 1, 2, 2, 3]), unit="users")

    assert "users" in conger(given, "crowd")["method"]


def test_it_is_null_where_it_means_nothing() -> None:
    same = {"crowd:a": [0, 0], "crowd:b": [0, 0]}
    apart = {"crowd:a": [0, NOTHING], "crowd:b": [NOTHING, 0]}

    assert conger(sheet(same), "crowd")["reason"] == reasons.NO_VARIATION
    assert conger(sheet(apart), "crowd")["reason"] == reasons.NO_PAIR


def test_a_table_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_CELLS > 6 * 2 * 2
    monkeypatch.setattr("labelhub.core.agreement.reports.conger.MOST_CELLS", 6 * 2 * 2 - 1)

    assert conger(sheet(SAID), "crowd")["reason"] == reasons.TOO_MANY_LABELS


@pytest.mark.parametrize(("points", "reason"), [([0, 2], None), ([-1, 1], reasons.BELOW_ZERO)])
def test_ratios_need_points_from_zero_on(points: list[float], reason: str | None) -> None:
    given = sheet(SAID, task=TASKS["ordinal"], scores=points)

    assert within(given, "crowd")["alpha_ratio"].get("reason") == reason
