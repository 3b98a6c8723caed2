"""The figures of a replay on traces made by hand, where each can be reckoned on paper."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from labelhub.core.echo.replay.report import (
    AHEAD,
    ARMS,
    ECHO,
    LEVEL,
    MARGIN,
    MOST_ORDERS,
    RANDOM,
    UNTOLD,
    ReplayTrace,
    curves,
    figures,
    replay,
)
from labelhub.core.echo.uncertainty import new_bins
from labelhub.core.errors import InvalidInput
from tests.core.echo.replay.plants import texts_with


def trace(heights: Sequence[float], *, right: str = "1010", commonest: float = 0.3) -> ReplayTrace:
    """A curve with a point at every second answer; of four streamed texts the last was asked."""
    bins = new_bins()
    bins[:, 3] = 100, 35, 30
    return ReplayTrace(
        asked=2 * np.arange(1, len(heights) + 1),
        held_out=np.array(heights),
        log_loss=1 - np.array(heights),
        right=np.array([each == "1" for each in right]),
        put=np.array([False, False, False, True]),
        bins=bins,
        commonest=commonest,
    )


def all_arms(echo: list[ReplayTrace]) -> dict[str, list[ReplayTrace]]:
    others = [trace([0.2, 0.3, 0.3, 0.4]), trace([0.2, 0.2, 0.3, 0.3])][: len(echo)]
    return {ECHO: echo, RANDOM: others, MARGIN: echo}


TWO = all_arms([trace([0.2, 0.4, 0.6, 0.8]), trace([0.4, 0.4, 0.4, 0.5], right="1000")])


def test_of_one_order_nothing_can_be_told() -> None:
    found = figures(all_arms([trace([0.2, 0.4, 0.6, 0.8])]))
    assert found["findings"]["learnt"] == UNTOLD
    assert found["findings"]["area_gain"] == {RANDOM: UNTOLD, MARGIN: UNTOLD}


def test_a_curve_of_one_point_has_that_height() -> None:
    found = figures({arm: [trace([0.4])] * 2 for arm in (ECHO, RANDOM, MARGIN)})
    assert found["area"][ECHO]["value"] == pytest.approx(0.4)
    assert found["learnt"]["value"] == 0


def test_curves_have_a_point_of_each_arm_and_figure_with_its_interval() -> None:
    points = curves(TWO)
    assert len(points) == 3 * 2 * 4
    first = points[0]
    assert (first["arm"], first["figure"], first["asked"]) == (ECHO, "accuracy", 2)
    assert first["low"] < first["value"] < first["high"]
    assert json.loads(json.dumps(points, allow_nan=False)) == points


@pytest.mark.parametrize("orders", [0, -1, MOST_ORDERS + 1])
def test_a_number_of_orders_out_of_range_is_refused(orders: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        replay(texts_with(60, telling=True), orders)
    assert str(refused.value) == "orders: must be from 1 to 1000."


@pytest.fixture(scope="module")
def easy() -> dict[str, Any]:
    """A replay of texts whose labels a word gives away, with what was said on the way."""
    steps: list[tuple[int, int]] = []
    data = texts_with(240, telling=True)
    found = replay(data, 5, told=lambda done, whole: steps.append((done, whole)))
    return {**found, "steps": steps}


@pytest.mark.thorough
def test_where_a_word_tells_echo_and_margin_sampling_beat_the_commonest_label(
    easy: dict[str, Any],
) -> None:
    assert easy["over_commonest"]["low"] > 0.3
    margin = easy["accuracy"][MARGIN]["low"]
    assert margin > easy["commonest"]["high"] + 0.3
    assert easy["findings"]["learnt"] == easy["findings"]["over_commonest"] == AHEAD


@pytest.mark.thorough
def test_figures_are_finite_and_the_counts_add_up(easy: dict[str, Any]) -> None:
    assert json.loads(json.dumps(easy["curves"], allow_nan=False)) == easy["curves"]
    assert all(math.isfinite(easy["accuracy"][arm]["value"]) for arm in ARMS)
    assert easy["counts"] == {
        "texts": 240, "repeated": 0, "streamed": 192, "held_out": 48, "asked": 63,
    }  # fmt: skip
    assert max(point["asked"] for point in easy["curves"]) == 63
    assert easy["accuracy"][ECHO]["n"] == 5
    assert easy["steps"] == [(at, 15) for at in range(1, 16)]


@pytest.mark.thorough
def test_where_labels_are_noise_the_curves_stay_flat() -> None:
    found = replay(texts_with(240, telling=False), 8)
    assert found["findings"]["learnt"] == LEVEL
    assert found["findings"]["over_commonest"] != AHEAD
    assert all(found["accuracy"][arm]["value"] < 0.45 for arm in ARMS)
