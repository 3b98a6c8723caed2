"""The worlds are those that echo.md fixes, and every arm of a seed lives in the same one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.simulation.world import (
    ANSWERED,
    AUTHORS,
    BASE,
    MATTER,
    MOVED,
    NOISE,
    PLACES,
    SURVEY_SIZE,
    VALUES,
    Seen,
    Settings,
    World,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

SMALL = Settings(features=40, k=5, messages=400)


def messages(settings: Settings, count: int, seed: int = 0) -> list[Seen]:
    world = World(settings, seed)
    return [world.next_message() for _ in range(count)]


def bits(seen: Sequence[Seen]) -> list[object]:
    return [
        (m.vector.tobytes(), m.values.tobytes(), m.answers.tobytes(), m.heard.tobytes(),
         m.author, m.random_author, m.luck)
        for m in seen
    ]  # fmt: skip


def test_the_numbers_are_those_that_are_fixed() -> None:
    assert (VALUES, PLACES, MATTER, MOVED, SURVEY_SIZE) == (3, 32, 15, 5, 4)
    assert (ANSWERED, BASE, NOISE) == (0.84, -3.5, 0.5)
    assert Settings() == Settings(features=200, k=10, messages=20_000)


@all_cases(
    ("field", "value", "told"),
    [
        ("features", 19, "features: must be from 20 to 5000."),
        ("features", 5_001, "features: must be from 20 to 5000."),
        ("k", 3, "k: must be from 4 to half of the features."),
        ("k", 101, "k: must be from 4 to half of the features."),
        ("messages", 99, "messages: must be from 100 to 1000000."),
        ("messages", 1_000_001, "messages: must be from 100 to 1000000."),
    ],
)
def test_what_is_out_of_range_is_refused(field: str, value: int, told: str) -> None:
    changed: dict[str, Any] = {field: value}
    with pytest.raises(InvalidInput) as refused:
        Settings(**changed)
    assert str(refused.value) == told


@pytest.mark.parametrize("settings", [Settings(20, 10, 100), Settings(5_000, 4, 100)])
def test_what_is_at_the_edge_of_the_range_is_a_world(settings: Settings) -> None:
    world = World(settings, 0)
    assert len(world.best) == settings.k
    assert world.next_message().values.shape == (settings.features,)


def test_fifteen_features_matter_by_as_much_as_is_fixed() -> None:
    weights = np.concatenate([World(Settings(), seed).weights for seed in range(20)])
    mattering = weights[weights > 0]
    assert len(mattering) == 20 * MATTER
    assert 0.2 <= mattering.min() < 0.22
    assert 0.58 < mattering.max() <= 0.6


def test_what_models_begin_with_is_the_truth_and_noise_of_uneven_size() -> None:
    world = World(Settings(features=1_000), 0)
    assert world.truth.std() == pytest.approx(3 / np.sqrt(PLACES), rel=0.02)
    scales = (world.begun - world.truth).std(axis=(1, 2))
    assert 0.05 < scales.min() < 0.15
    assert 1.1 < scales.max() < 1.5
    assert scales.mean() == pytest.approx(0.65, abs=0.03)


def test_messages_are_what_they_are_said_to_be() -> None:
    seen = messages(Settings(features=20, k=4), 3_000)
    vectors = np.stack([m.vector for m in seen])
    assert vectors.mean(axis=0) == pytest.approx(np.zeros(PLACES), abs=0.1)
    assert np.cov(vectors.T) == pytest.approx(np.eye(PLACES), abs=0.12)
    assert np.mean([m.heard for m in seen]) == pytest.approx(ANSWERED, abs=0.015)
    assert np.mean([m.luck for m in seen]) == pytest.approx(0.5, abs=0.025)
    authors = {m.author for m in seen}
    assert len(authors) > 0.98 * AUTHORS
    assert authors <= set(range(AUTHORS))
    assert {int(v) for m in seen for v in m.values} == {0, 1, 2}


def test_true_values_are_those_of_the_true_scores_but_for_noise() -> None:
    world = World(SMALL, 0)
    agreed = [
        ((world.truth @ m.vector).argmax(axis=1) == m.values).mean()
        for m in (world.next_message() for _ in range(200))
    ]
    assert 0.85 < np.mean(agreed) < 1


def test_a_click_is_as_likely_as_the_weights_of_what_was_shown_and_right() -> None:
    world = World(SMALL, 0)
    shown = world.best[:3]
    some = world.success(shown, np.array([True, False, True]))
    score = BASE + world.weights[shown[0]] + world.weights[shown[2]]
    assert some == pytest.approx(1 / (1 + np.exp(-score)))
    assert world.success(shown, np.zeros(3, bool)) == pytest.approx(1 / (1 + np.exp(-BASE)))


@pytest.mark.thorough
@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_nothing_is_better_than_the_optimum(seed: int, chance: "np.random.Generator") -> None:
    world = World(SMALL, seed)
    shown = np.array(chance.sample(range(40), 5))  # type: ignore[attr-defined]  # hypothesis' own
    assert world.success(shown, np.ones(5, bool)) <= world.optimum()
    best = np.sort(world.weights)[::-1][:5]
    assert world.weights[world.best].tolist() == best.tolist()


def test_a_seed_is_a_world_and_another_seed_another() -> None:
    assert bits(messages(SMALL, 30)) == bits(messages(SMALL, 30))
    one, other = World(SMALL, 0), World(SMALL, 1)
    assert one.truth.tobytes() != other.truth.tobytes()
    assert bits(messages(SMALL, 30)) != bits(messages(SMALL, 30, seed=1))


def test_spam_and_drift_leave_the_messages_as_they_were() -> None:
    """So that what they cost is told from the same messages."""
    plain = messages(SMALL, 400)
    spam = messages(Settings(40, 5, 400, spam=True), 400)
    drift = messages(Settings(40, 5, 400, drift=True), 400)
    assert bits(drift) == bits(plain)
    assert [m.values.tolist() for m in spam] == [m.values.tolist() for m in plain]
    assert [m.luck for m in spam] == [m.luck for m in plain]


@pytest.mark.thorough
def test_with_spam_a_fifth_of_the_authors_answer_at_random_and_always_the_same_ones() -> None:
    shares = []
    for seed in range(5):
        seen = messages(Settings(20, 4, 20_000, spam=True), 3_000, seed)
        kinds: dict[int, set[bool]] = {}
        for m in seen:
            kinds.setdefault(m.author, set()).add(m.random_author)
        assert all(len(each) == 1 for each in kinds.values())
        shares.append(np.mean([each == {True} for each in kinds.values()]))
    assert np.mean(shares) == pytest.approx(0.2, abs=0.03)
    assert not any(m.random_author for m in messages(SMALL, 300))


def test_what_a_spammer_answers_has_nothing_to_do_with_the_message() -> None:
    seen = messages(Settings(40, 5, 20_000, spam=True), 500)
    assert np.mean([m.answers == m.values for m in seen]) == pytest.approx(1 / VALUES, abs=0.02)


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
        by_author: dict[int, list[np.ndarray]] = {}
        seen = messages(settings, 4_000)
        for m in seen:
            by_author.setdefault(m.author, []).append(m.vector)
        pairs = [float(v[0] @ v[1]) / PLACES for v in by_author.values() if len(v) > 1]
        return float(np.mean(pairs)), float(np.var([m.vector for m in seen]))

    assert alike(Settings(20, 4, per_author=True)) == pytest.approx((0.3, 1), abs=0.06)
    assert alike(Settings(20, 4)) == pytest.approx((0, 1), abs=0.06)
