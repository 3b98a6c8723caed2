"""The figures of a replay on traces made by hand, where each can be reckoned on paper."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.echo.replay.labelled_texts import Columns, Labelled, read_labelled
from labelhub.core.echo.replay.report import (
    AHEAD,
    ARMS,
    ECHO,
    LEVEL,
    MARGIN,
    MOST_ORDERS,
    RANDOM,
    UNTOLD,
    WINDOW,
    Order,
    Replayed,
    ReplayTrace,
    curves,
    figures,
    play,
    replay,
    split_texts,
)
from labelhub.core.echo.uncertainty import new_bins
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.echo.replay.plants import texts_with


def trace(heights: Sequence[float], *, right: str = "1010", commonest: float = 0.3) -> ReplayTrace:
    """A curve with a point at every second answer; of four streamed texts the last was asked."""
    bins = new_bins()
    bins[:, 3] = 100, 35, 30
    return ReplayTrace(
        asked=2 * np.arange(1, len(heights) + 1),
        held_out=np.array(heights),
        log_loss=1 - np.array(heights),
        right=np.array([digit == "1" for digit in right]),
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
    found = replay(data, 5, report=lambda done, whole: steps.append((done, whole)))
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
    assert easy["steps"] == [(done, 15) for done in range(1, 16)]


@pytest.mark.thorough
def test_where_labels_are_noise_the_curves_stay_flat() -> None:
    found = replay(texts_with(240, telling=False), 8)
    assert found["findings"]["learnt"] == LEVEL
    assert found["findings"]["over_commonest"] != AHEAD
    assert all(found["accuracy"][arm]["value"] < 0.45 for arm in ARMS)


EASY = texts_with(90, telling=True)
arms = pytest.mark.parametrize("arm", ARMS)


def relabelled(data: Labelled, changed: set[int]) -> Labelled:
    """The same texts, some with another label."""
    count = len(data.values)
    labels = [(label + (place in changed)) % count for place, label in enumerate(data.labels)]
    return replace(data, labels=tuple(labels))


def same(trace: ReplayTrace, other: ReplayTrace) -> bool:
    return all(
        np.array_equal(getattr(trace, name), getattr(other, name))
        for name in ReplayTrace.__dataclass_fields__
    )


@arms
def test_the_same_order_is_played_the_same_to_the_last_bit(arm: str) -> None:
    assert same(play(EASY, Order(3), arm), play(EASY, Order(3), arm))


@pytest.mark.thorough
@settings(max_examples=15, deadline=None)
@given(st.integers(60, 75), st.floats(0.05, 0.9), st.sampled_from(ARMS), st.integers(0, 5))
def test_at_most_the_share_is_asked_at_any_time(
    count: int, share: float, arm: str, seed: int
) -> None:
    trace = play(texts_with(count, telling=False), Order(seed, share), arm)
    ends = [*range(WINDOW, len(trace.put), WINDOW), len(trace.put)]
    for end in ends:
        assert trace.put[:end].sum() <= share * end
    assert trace.put.sum() == trace.asked[-1] == int(share * len(trace.put))


@arms
def test_labels_that_were_not_asked_for_change_nothing_that_is_learnt(arm: str) -> None:
    order = Order(2)
    held, streamed = split_texts(EASY, order)
    before = play(EASY, order, arm)
    unasked = {int(text) for text, put in zip(streamed, before.put, strict=True) if not put}
    after = play(relabelled(EASY, unasked | set(held.tolist())), order, arm)
    assert after.put.tolist() == before.put.tolist()
    assert after.bins[:2].tolist() == before.bins[:2].tolist()
    assert after.right[after.put].tolist() == before.right[before.put].tolist()


@arms
@pytest.mark.parametrize("window", [0, 2, 5])
def test_no_label_is_seen_before_its_prediction(arm: str, window: int) -> None:
    """Other labels from some window on: up to its end all is chosen and expected as before."""
    order = Order(4)
    _, streamed = split_texts(EASY, order)
    later = {int(text) for text in streamed[window * WINDOW :]}
    before, after = play(EASY, order, arm), play(relabelled(EASY, later), order, arm)
    start, end = window * WINDOW, (window + 1) * WINDOW
    assert after.put[:end].tolist() == before.put[:end].tolist()
    assert after.right[:start].tolist() == before.right[:start].tolist()
    # What was expected is the same, what is so has changed: both cannot be right.
    assert not (after.right & before.right)[start:end].any()


@pytest.mark.thorough
@pytest.mark.parametrize("arm", [ECHO, MARGIN, RANDOM])
def test_a_word_that_tells_is_learnt_by_every_arm(arm: str) -> None:
    easy = texts_with(240, telling=True)
    traces = [play(easy, Order(seed), arm) for seed in range(3)]
    assert np.mean([trace.held_out[-1] - trace.commonest for trace in traces]) > 0.35
    assert np.mean([trace.log_loss[-1] - trace.log_loss[0] for trace in traces]) < -0.2


def test_echo_asks_where_sigma_is_high_and_explores_now_and_then() -> None:
    learner = Replayed(EASY, ECHO, np.random.default_rng(0))
    for text in range(12):
        learner.answered(text, learner.predict(text))
    predicted = [learner.predict(text) for text in range(20, 40)]
    most_doubtful = set(np.argsort([-text.sigma for text in predicted], kind="stable")[:4].tolist())
    chosen = [set(learner.choose(predicted, 4).tolist()) for _ in range(200)]
    explored = sum(asked != most_doubtful for asked in chosen)
    assert 5 <= explored <= 40
    assert all(len(asked) == 4 for asked in chosen)


@all_cases("share", [0.0, 0.049, 0.91, 1.0, -1.0, float("nan"), float("inf")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match=r"^share: must be from 0\.05 to 0\.9\.$"):
        Order(0, share)


DATA = Path(__file__).resolve().parents[5] / "shared" / "data"
VALENCE = Columns(label="writer_perspective_ratings_VAD.*.0", bands=3)
AROUSAL = Columns(label="writer_perspective_ratings_VAD.*.1", bands=3)
SETS = [
    ("enisear_author", Columns(label="author_emotion"), 299, 7),
    ("isarcasm_author", Columns(label="author_label"), 600, 2),
    ("emobank_writer_reader", VALENCE, 386, 3),
    ("emobank_writer_reader", AROUSAL, 386, 3),
]


def real(name: str, columns: Columns) -> Labelled:
    """The texts of a data set; skips the test without it."""
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}.jsonl, which is not here")
    return read_labelled(path.read_bytes(), columns)


@pytest.mark.parametrize(("name", "columns", "texts", "values"), SETS)
def test_real_sets_are_read_whole(name: str, columns: Columns, texts: int, values: int) -> None:
    found = real(name, columns)
    assert (len(found.texts), len(found.values)) == (texts, values)
    assert min(found.shares.values()) > 0.1


@pytest.mark.thorough
@all_cases("arm", ARMS)
@all_cases(("name", "columns", "texts", "values"), SETS)
def test_real_texts_are_replayed_within_the_share(
    name: str, columns: Columns, texts: int, values: int, arm: str
) -> None:
    trace = play(real(name, columns), Order(0), arm)
    assert 0 < trace.put.sum() <= (texts - texts // 5) / 3
    assert np.isfinite(trace.log_loss).all()
    # Never far worse than knowing nothing but how many values there are.
    assert trace.log_loss.max() < np.log(values) + 0.5
