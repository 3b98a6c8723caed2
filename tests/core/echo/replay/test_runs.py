"""One arm on one order: at most the share is asked, and no label is seen before its prediction."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.echo.replay.labelled_texts import Labelled
from labelhub.core.echo.replay.report import (
    ARMS,
    ECHO,
    MARGIN,
    RANDOM,
    WINDOW,
    Order,
    Replayed,
    ReplayTrace,
    parts_of,
    play,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.echo.replay.plants import texts_with

EASY = texts_with(90, telling=True)
arms = pytest.mark.parametrize("arm", ARMS)


def relabelled(data: Labelled, changed: set[int]) -> Labelled:
    """The same texts, some with another label."""
    count = len(data.values)
    labels = [(each + (at in changed)) % count for at, each in enumerate(data.labels)]
    return replace(data, labels=tuple(labels))


def same(one: ReplayTrace, other: ReplayTrace) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
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
    held, streamed = parts_of(EASY, order)
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
    _, streamed = parts_of(EASY, order)
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
    said = [learner.predict(text) for text in range(20, 40)]
    most_doubtful = set(np.argsort([-each.sigma for each in said], kind="stable")[:4].tolist())
    chosen = [set(learner.choose(said, 4).tolist()) for _ in range(200)]
    explored = sum(each != most_doubtful for each in chosen)
    assert 5 <= explored <= 40
    assert all(len(each) == 4 for each in chosen)


@all_cases("share", [0.0, 0.049, 0.91, 1.0, -1.0, float("nan"), float("inf")])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match=r"^share: must be from 0\.05 to 0\.9\.$"):
        Order(0, share)
