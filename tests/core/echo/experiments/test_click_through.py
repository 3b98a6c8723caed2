"""Click-through by arm and between arms: what is counted, what it is called, what is not known."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from labelhub.core.echo.experiments.click_through import (
    Occasion,
    Per,
    Totals,
    arm_figures,
    compare,
    impressions_of,
    parts_by,
    percent_change,
)
from tests.core.echo.experiments.trials import AGAIN, Planted, likings

PERS: tuple[Per, ...] = get_args(Per)


def named(*columns: NDArray[np.int64]) -> Totals:
    """Totals of these columns."""
    return dict(zip(("eligible", "impressions", "clicks", "clicked"), columns, strict=True))


def table(eligible: list[int], shown: list[int], clicks: list[int], clicked: list[int]) -> Totals:
    """Totals by unit."""
    return named(*map(np.array, (eligible, shown, clicks, clicked)))


def test_a_ratio_is_never_called_a_change() -> None:
    """The paper calls 7.52 / 1.40 an increase of 537 %."""
    assert percent_change(7.52 / 1.40) == pytest.approx(437.14, abs=0.01)
    assert (percent_change(1), percent_change(0.5)) == (0, -50)


def test_no_clicks_in_the_arm_have_a_ratio_of_zero_with_an_upper_bound() -> None:
    some = table([3] * 50, [2] * 50, [1, 0] * 25, [1, 0] * 25)
    silent = table([3] * 50, [2] * 50, [0] * 50, [0] * 50)
    found = compare(silent, some, "impressions")["ratio"]
    high = found["high"]
    assert (found["value"], found["low"]) == (0, 0)
    assert high is not None
    assert 0 < high < 1


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
    for figure in (found["ratio"], found["difference"]):
        if figure["value"] is None:
            assert figure["reason"]
        else:
            low, high = figure["low"], figure["high"]
            assert low is None or low <= figure["value"] + 1e-9
            assert high is None or figure["value"] <= high + 1e-9


@pytest.mark.thorough
def test_planted_ratios_by_intention_to_treat() -> None:
    """The arm shows on 60 % of messages, the control on 30 %: clicks by what was assigned."""
    rng, runs, inside = np.random.default_rng(83), 1000, 0
    truth = 3 * 0.6 / 0.3

    def one(arm: Planted, often: float) -> Totals:
        scale = (arm.messages - 1) / 0.7
        eligible = 1 + rng.poisson(rng.gamma(0.7, scale, arm.authors))
        shown = rng.binomial(eligible, often)
        clicked = rng.binomial(shown, likings(rng, arm))
        return named(eligible, shown, clicked + rng.poisson(AGAIN * clicked), clicked)

    for _ in range(runs):
        arm = one(Planted(1000, 5, 0.06, 0.05), 0.6)
        control = one(Planted(1000, 5, 0.02, 0.05), 0.3)
        ratio = compare(arm, control, "eligible")["ratio"]
        low, high = ratio["low"], ratio["high"]
        assert low is not None
        assert high is not None
        inside += low <= truth <= high
    print(f"{inside / runs:.3f}")
    assert 0.93 <= inside / runs <= 0.97


MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)


def shown(hours: float, author: str = "ann", clicks: int = 0, vertical: str = "tea") -> Occasion:
    """An impression so many hours after Monday noon."""
    time = MONDAY + timedelta(hours=hours)
    return Occasion(author, time, vertical, (time,) * clicks)


SHOWN = st.builds(
    shown,
    st.sampled_from([seconds / 3600 for seconds in (0, 3, 4.9, 5, 9, 60)]),
    st.sampled_from(["ann", "bo"]),
    st.integers(0, 2),
    st.sampled_from(["tea", "hats"]),
)


@given(st.lists(SHOWN, max_size=12), st.randoms())
def test_order_changes_no_impressions_and_no_click_is_lost(
    displays: list[Occasion], order: Random
) -> None:
    found = impressions_of(displays)
    mixed = list(displays)
    order.shuffle(mixed)
    assert Counter(impressions_of(mixed)) == Counter(found)
    assert sum(len(i.clicks) for i in found) == sum(len(i.clicks) for i in displays)
    assert impressions_of(found) == found or len(found) < len(displays)


def test_a_row_of_quick_messages_is_one_impression() -> None:
    quick = [shown(seconds / 3600, clicks=1) for seconds in (0, 4, 8, 12, 17)]
    found = impressions_of([*quick, shown(1 / 3600, "bo")])
    assert [(i.unit, (i.at - MONDAY).seconds, len(i.clicks)) for i in found] == [
        ("ann", 0, 4),
        ("bo", 1, 0),
        ("ann", 17, 1),
    ]


def test_an_arm_that_shows_nothing_has_its_figures_by_message() -> None:
    none = arm_figures(table([4] * 30, [0] * 30, [0] * 30, [0] * 30))
    assert none["click_through"] == {"value": None, "reason": "nothing was shown"}
    assert none["clicked_share"]["value"] is None
    assert none["clicks_per_eligible"]["value"] == 0
    assert (none["clicks_per_eligible"]["high"] or 0) > 0


def test_parts_have_their_impressions_and_clicks_the_most_frequent_first() -> None:
    found = parts_by(
        [shown(48, "bo", 1), shown(0, clicks=2), shown(1), shown(24, "cy", 0, "hats")],
        lambda impression: impression.vertical,
    )
    assert [(name, part["impressions"], part["clicks"]) for name, part in found.items()] == [
        ("tea", 3, 3),
        ("hats", 1, 0),
    ]
    assert found["tea"]["click_through"]["value"] == 1
