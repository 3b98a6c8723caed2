"""Scales by hand: the median of an item's labels against a truth, and ICC(2,k) of a kind."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from labelhub.core.agreement.aggregation.majority import middle
from labelhub.core.agreement.icc import icc
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.reports import against, reasons
from labelhub.core.agreement.reports.report import report
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.agreement.reports.within import within
from labelhub.core.schema import TASKS
from tests.core.agreement.sheets import NOTHING, sheet
from tests.core.agreement.test_reports_hostile import check

#: Medians 1; 2; 0 or 2; 3 (one label): points 2, 3, 1 or 3, 5.
SAID = {
    "crowd:a": [0, 2, 0, NOTHING],
    "crowd:b": [1, 2, 2, 3],
    "crowd:c": [3, 0, NOTHING, NOTHING],
}
GOLD = [1, 1, 0, 3]
SCALE: dict[str, Any] = {"task": TASKS["ordinal"], "scores": [1.0, 2.0, 3.0, 5.0], "categories": 4}


def against_gold(given: Sheet) -> dict[str, Any]:
    found: dict[str, Any] = report(given).to_json()["against_gold"]["crowd"]
    return found


def test_the_median_against_gold_by_hand() -> None:
    found = against_gold(sheet(SAID, gold=GOLD, **SCALE))
    # Truth 2, 2, 1, 5: off by 0, 1, 0 or 2, 0.
    assert found["median_accuracy"]["value"] == pytest.approx((1 + 0 + 1 / 2 + 1) / 4)
    assert found["median_mean_absolute_error"]["value"] == pytest.approx((1 + 2 / 2) / 4)
    assert found["median_root_mean_squared_error"]["value"] == pytest.approx(
        ((1 + 2**2 / 2) / 4) ** 0.5
    )
    assert found["median_accuracy"]["n"] == 4
    assert "counts half" in found["median_accuracy"]["method"]


def test_kappa_and_rank_correlation_of_medians_weigh_halves() -> None:
    found = against_gold(sheet(SAID, gold=GOLD, **SCALE))
    # Each item twice: both of its medians, which differ on the third item alone.
    said, true = [2, 2, 3, 3, 1, 3, 5, 5], [2, 2, 2, 2, 1, 1, 5, 5]
    assert found["median_spearman"]["value"] == pytest.approx(spearmanr(said, true).statistic)
    squares = sum((one - other) ** 2 for one, other in zip(said, true, strict=True)) / 8
    by_chance = sum((one - other) ** 2 for one in said for other in true) / 64
    assert found["median_quadratic_kappa"]["value"] == pytest.approx(1 - squares / by_chance)


@pytest.mark.thorough
@pytest.mark.parametrize("items", [30, 300])
def test_medians_of_many_items_are_those_of_each(items: int) -> None:
    generator = np.random.default_rng(items)
    gold = generator.integers(4, size=items)
    said = np.clip(gold + generator.integers(-1, 2, size=(4, items)), 0, 3)
    rows = {f"crowd:{at}": row.tolist() for at, row in enumerate(said)}
    given = sheet(rows, gold=gold.tolist(), **SCALE)
    low, high = middle(given.of_kind("crowd").counts())
    points = np.array(SCALE["scores"])
    off = (np.abs(points[low] - points[gold]) + np.abs(points[high] - points[gold])) / 2
    found = against_gold(given)["median_mean_absolute_error"]
    assert found["value"] == pytest.approx(off.mean())
    clustered = sheet(
        rows, gold=gold.tolist(), clusters=np.arange(items) // 2, unit="texts", **SCALE
    )
    together = against_gold(clustered)["median_mean_absolute_error"]
    assert together["value"] == pytest.approx(off.mean())
    assert 0 <= found["low"] < found["value"] < found["high"]
    assert "over texts" in together["method"]
    assert "over items" in found["method"]


def test_a_table_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(against, "MOST_CELLS", 3)
    given = sheet(SAID, gold=GOLD, **SCALE)
    assert against_gold(given)["median_accuracy"]["reason"] == reasons.MANY_ANSWERS
    check(given)


def test_icc_of_one_rating_and_of_the_mean_of_all() -> None:
    # Shrout and Fleiss 1979, table 2, with ratings from 1 to 10.
    table = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    )
    rows = {f"crowd:{at}": (row - 1).tolist() for at, row in enumerate(table.T)}
    scale: dict[str, Any] = {"task": TASKS["ordinal"], "scores": [*map(float, range(1, 11))]}
    found = within(sheet(rows, categories=10, **scale), "crowd")
    assert found["icc_2_1"]["value"] == pytest.approx(0.29, abs=0.005)
    assert found["icc_2_k"]["value"] == pytest.approx(0.62, abs=0.005)
    assert found["icc_2_k"]["low"] == pytest.approx(icc(table).icc_2_k.low)


def test_icc_takes_no_more_room_than_the_ratings() -> None:
    # As a table of all items and raters it would be 3 TB.
    generator = np.random.default_rng(0)
    items, raters = 600_000, 600_000
    ratings = Ratings(
        np.arange(items), np.arange(raters), generator.integers(3, size=items), items, raters, 4
    )
    given = sheet({"crowd:a": [0]}, **SCALE)
    found = within(
        Sheet(
            **{
                **{name: getattr(given, name) for name in Sheet.__dataclass_fields__},
                "ratings": ratings,
                "raters": [given.raters[0]] * raters,
            }
        ),
        "crowd",
    )
    assert found["icc_2_1"]["reason"] == found["icc_2_k"]["reason"] == reasons.MISSING_RATINGS


@pytest.mark.thorough
def test_a_long_scale_needs_no_table_of_every_draw_at_once() -> None:
    q, n = 200, 300
    said = np.random.default_rng(1).integers(q, size=n).tolist()
    points = [float(at) for at in range(q)]
    long = sheet({"crowd:a": said}, gold=said, task=TASKS["ordinal"], scores=points, categories=q)
    tracemalloc.start()
    found = against.medians(long, "crowd", long.gold, np.arange(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found["median_quadratic_kappa"]["value"] == pytest.approx(1)
    # All 2,000 draws of 200 times 200 cells would take 640 MB.
    assert peak < 250e6
