"""The worlds are those that echo.md fixes, and every arm of a seed lives in the same one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.simulator import MATTER, MOVED, PLACES, Seen, Settings, World
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

SMALL = Settings(features=40, k=5, messages=400)


def messages(settings: Settings, count: int, seed: int = 0) -> list[Seen]:
    world = World(settings, seed)
    return [world.next_message() for _ in range(count)]


@all_cases(
    ("field", "value", "message"),
    [
        ("features", 19, "features: must be from 20 to 5000."),
        ("features", 5_001, "features: must be from 20 to 5000."),
        ("k", 3, "k: must be from 4 to half of the features."),
        ("k", 101, "k: must be from 4 to half of the features."),
        ("messages", 99, "messages: must be from 100 to 1000000."),
        ("messages", 1_000_001, "messages: must be from 100 to 1000000."),
        ("click_rate", 0.0, "click_rate: must be from 0.001 to 0.9."),
        ("helpfulness", 1.1, "helpfulness: must be from 0 to 1."),
    ],
)
def test_what_is_out_of_range_is_refused(field: str, value: int, message: str) -> None:
    changed: dict[str, Any] = {field: value}
    with pytest.raises(InvalidInput) as refused:
        Settings(**changed)
    assert str(refused.value) == message


@pytest.mark.thorough
@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_nothing_is_better_than_the_optimum(seed: int, chance: "np.random.Generator") -> None:
    world = World(SMALL, seed)
    shown = np.array(chance.sample(range(40), 5))  # type: ignore[attr-defined]  # hypothesis' own
    assert world.success(shown, np.ones(5, bool)) <= world.optimum()
    best = np.sort(world.weights)[::-1][:5]
    assert world.weights[world.best].tolist() == best.tolist()


@pytest.mark.thorough
def test_with_spam_a_fifth_of_the_authors_answer_at_random_and_always_the_same_ones() -> None:
    shares = []
    for seed in range(5):
        seen = messages(Settings(20, 4, 20_000, spam=True), 3_000, seed)
        kinds: dict[str, set[bool]] = {}
        for m in seen:
            kinds.setdefault(m.author, set()).add(m.random_author)
        assert all(len(kind) == 1 for kind in kinds.values())
        shares.append(np.mean([kind == {True} for kind in kinds.values()]))
    assert np.mean(shares) == pytest.approx(0.2, abs=0.03)
    assert not any(m.random_author for m in messages(SMALL, 300))


def test_half_way_five_that_matter_change_places_with_five_that_do_not() -> None:
    world = World(Settings(40, 5, 100, drift=True), 0)
    before = world.weights.copy()
    for _ in range(50):
        world.next_message()
    assert world.weights.tolist() == before.tolist()
    world.next_message()
    gone = np.flatnonzero((before > 0) & (world.weights == 0))
    came = np.flatnonzero((before == 0) & (world.weights > 0))
    assert len(gone) == len(came) == MOVED
    assert sorted(world.weights[came]) == sorted(before[gone])
    assert (world.weights > 0).sum() == MATTER
    later = world.weights.copy()
    for _ in range(49):
        world.next_message()
    assert world.weights.tolist() == later.tolist()


@pytest.mark.thorough
def test_authors_may_differ_in_what_they_write_without_messages_growing() -> None:
    def alike(settings: Settings) -> tuple[float, float]:
        by_author: dict[str, list[np.ndarray]] = {}
        seen = messages(settings, 4_000)
        for m in seen:
            by_author.setdefault(m.author, []).append(m.vector)
        pairs = [float(v[0] @ v[1]) / PLACES for v in by_author.values() if len(v) > 1]
        return float(np.mean(pairs)), float(np.var([m.vector for m in seen]))

    assert alike(Settings(20, 4, per_author=True)) == pytest.approx((0.3, 1), abs=0.06)
    assert alike(Settings(20, 4)) == pytest.approx((0, 1), abs=0.06)
