"""Click-through by arm and between arms: what is counted, what it is called, what is not known."""

from datetime import UTC, date, datetime, timedelta
from typing import get_args
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.click_through import (
    Per,
    Totals,
    Unit,
    arm_figures,
    by_day,
    by_exposure,
    by_vertical,
    by_weekday,
    compare,
    in_words,
    percent_change,
    totals,
)
from labelhub.core.echo.experiments.impressions import Impression
from labelhub.core.errors import InvalidInput
from tests.core.echo.experiments.trials import AGAIN, Planted, likings

AT = datetime(2026, 3, 2, tzinfo=UTC)
PERS: tuple[Per, ...] = get_args(Per)


def impression(content: str, author: str, clicks: int = 0) -> Impression:
    """One that was counted."""
    return Impression((content,), author, author, "tea", AT, clicks)


def table(eligible: list[int], shown: list[int], clicks: list[int], clicked: list[int]) -> Totals:
    """Totals by unit."""
    return Totals(
        *(np.array(column, dtype=np.int64) for column in (eligible, shown, clicks, clicked))
    )


def test_a_ratio_is_never_called_a_change() -> None:
    """The paper calls 7.52 / 1.40 an increase of 537 %."""
    ratio = 7.52 / 1.40

    assert in_words(ratio) == "5.37 times (+437 %)"
    assert percent_change(ratio) == pytest.approx(437.14, abs=0.01)
    assert in_words(1) == "1.00 times (+0 %)"
    assert in_words(0.5) == "0.50 times (-50 %)"


def test_no_clicks_in_the_arm_have_a_ratio_of_zero_with_an_upper_bound() -> None:
    some = table([3] * 50, [2] * 50, [1, 0] * 25, [1, 0] * 25)
    silent = table([3] * 50, [2] * 50, [0] * 50, [0] * 50)
    found = compare(silent, some, "impressions").ratio
    high = found["high"]
    assert (found["value"], found["low"]) == (0, 0)
    assert high is not None
    assert 0 < high < 1


def test_more_shown_than_eligible_is_told_as_missing_reports() -> None:
    assert "missing" in arm_figures(table([1, 1], [2, 1], [0, 0], [0, 0])).shown_share["reason"]


@pytest.mark.parametrize(
    "units",
    [
        [Unit("ann", "echo", 1), Unit("ann", "none", 1)],
        [Unit("ann", "unknown", 1)],
        [Unit("ann", "echo", -1)],
        [],
    ],
)
def test_unusable_units_are_refused(units: list[Unit]) -> None:
    with pytest.raises(InvalidInput):
        totals(units, [impression("a", "ann")], ["echo", "none"])


ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=15
)


@given(ROWS, ROWS, st.sampled_from(PERS))
def test_any_counts_give_finite_numbers_or_reasons(
    treated: list[tuple[int, int, int]], other: list[tuple[int, int, int]], per: Per
) -> None:
    arm, control = (
        table([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], [0] * len(rows))
        for rows in (treated, other)
    )
    found = compare(arm, control, per)
    for figure in (found.ratio, found.percent_change, found.difference):
        if figure["value"] is None:
            assert figure["reason"]
        else:
            low, high = figure["low"], figure["high"]
            assert low is None or low <= figure["value"] + 1e-9
            assert high is None or figure["value"] <= high + 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize("per", ["eligible", "units"])
def test_planted_ratios_by_intention_to_treat(per: Per) -> None:
    """The arm shows on 60 % of messages, the control on 30 %: clicks by what was assigned."""
    rng, runs, inside = np.random.default_rng(83), 1000, 0
    truth = 3 * 0.6 / 0.3

    def one(arm: Planted, often: float) -> Totals:
        scale = (arm.messages - 1) / 0.7
        eligible = 1 + rng.poisson(rng.gamma(0.7, scale, arm.authors))
        shown = rng.binomial(eligible, often)
        clicked = rng.binomial(shown, likings(rng, arm))
        return Totals(eligible, shown, clicked + rng.poisson(AGAIN * clicked), clicked)

    for _ in range(runs):
        arm = one(Planted(1000, 5, 0.06, 0.05), 0.6)
        control = one(Planted(1000, 5, 0.02, 0.05), 0.3)
        ratio = compare(arm, control, per).ratio
        low, high = ratio["low"], ratio["high"]
        assert low is not None
        assert high is not None
        inside += low <= truth <= high
    print(f"per {per}: {inside / runs:.3f}")
    assert 0.93 <= inside / runs <= 0.97


MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)


def shown(hours: float, author: str = "ann", clicks: int = 0, vertical: str = "tea") -> Impression:
    """An impression so many hours after Monday noon."""
    time = MONDAY + timedelta(hours=hours)
    return Impression((f"{author} {hours}",), author, author, vertical, time, clicks)


def test_verticals_below_the_minimum_are_listed_without_a_rate() -> None:
    many = [shown(i, f"a{i}", vertical="tea", clicks=i % 10 == 0) for i in range(180)]
    few = [shown(i, f"b{i}", vertical="hats", clicks=1) for i in range(179)]
    found = by_vertical(many + few)

    assert [(name, part.impressions, part.clicks) for name, part in found.told] == [
        ("tea", 180, 18)
    ]
    assert found.too_few == (("hats", 179),)
    assert found.least == 180


def test_exposure_counts_from_each_authors_first_impression() -> None:
    found = by_exposure(
        [shown(30, clicks=1), shown(0), shown(23.9), shown(100, "bo", 3), shown(124, "bo")]
    )

    assert {day: (part.impressions, part.clicks) for day, part in found.items()} == {
        0: (3, 3),
        1: (2, 1),
    }


def test_an_arm_that_shows_nothing_has_its_figures_by_author_and_message() -> None:
    none = arm_figures(table([4] * 30, [0] * 30, [0] * 30, [0] * 30))

    assert none.click_through == {"value": None, "reason": "nothing was shown"}
    assert none.clicked_share["value"] is None
    assert none.clicks_per_eligible["value"] == 0
    assert none.clicks_per_unit["value"] == 0
    assert none.shown_share["value"] == 0
    high = none.clicks_per_unit["high"]
    assert high is not None
    assert high > 0


def test_days_alone_and_cumulated() -> None:
    found = by_day([shown(48, "bo", 1), shown(0, clicks=2), shown(1), shown(24, "cy")], UTC)

    assert [day.day for day in found] == [date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)]
    assert [(day.alone.impressions, day.alone.clicks) for day in found] == [(2, 2), (1, 0), (1, 1)]
    assert [(d.cumulated.impressions, d.cumulated.clicks) for d in found] == [
        (2, 2),
        (3, 2),
        (4, 3),
    ]
    assert found[2].cumulated.click_through["value"] == pytest.approx(3 / 4)


def test_weekdays_are_those_of_the_time_zone() -> None:
    late = [shown(11.5), shown(11.6, "bo", 1)]

    assert [part.impressions for part in by_weekday(late, UTC)] == [2, 0, 0, 0, 0, 0, 0]
    tokyo = by_weekday(late, ZoneInfo("Asia/Tokyo"))
    assert [part.impressions for part in tokyo] == [0, 2, 0, 0, 0, 0, 0]
    assert tokyo[0].click_through == {"value": None, "reason": "nothing was shown"}
