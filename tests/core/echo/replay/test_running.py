"""All arms on all orders: easy texts are learnt, noise stays flat, and both are said."""

import json
import math
from typing import Any

import pytest

from labelhub.core.echo.replay.figures import AHEAD, LEVEL
from labelhub.core.echo.replay.playing import ARMS, ECHO, MARGIN
from labelhub.core.echo.replay.running import MOST_ORDERS, replay
from labelhub.core.errors import InvalidInput
from tests.core.echo.replay.plants import texts_with


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
