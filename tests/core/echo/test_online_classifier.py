"""A feature's head starts knowing nothing, learns from each answer, grows sure and stays sane."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.echo.online_classifier import Floats, OnlineClassifier, dot, learn, probabilities

PLACES = 4
numbers = st.floats(-3, 3)
vectors = arrays(np.float64, PLACES, elements=numbers)


def new_head(values: int, places: int, *, variance: float) -> OnlineClassifier:
    """A head that has learnt nothing."""
    return OnlineClassifier(np.zeros((values, places)), np.full((values, places), variance))


@st.composite
def taught(draw: st.DrawFn, values: int = 3) -> OnlineClassifier:
    """A head with some answers behind it."""
    head = new_head(values, PLACES, variance=draw(st.floats(0.01, 20)))
    answers = st.lists(st.tuples(vectors, st.integers(0, values - 1)), max_size=8)
    for vector, value in draw(answers):
        learn(head, vector, value)
    return head


def copy(head: OnlineClassifier) -> OnlineClassifier:
    return OnlineClassifier(head.mean.copy(), head.var.copy())


@given(vectors, st.integers(1, 6))
def test_what_has_learnt_nothing_holds_every_value_equally_likely(
    vector: Floats, values: int
) -> None:
    likely = probabilities(new_head(values, PLACES, variance=20.0), vector)
    assert likely == pytest.approx(np.full(values, 1 / values))


@given(taught(), vectors)
def test_probabilities_sum_to_one_and_none_is_negative(
    head: OnlineClassifier, vector: Floats
) -> None:
    likely = probabilities(head, vector)
    assert likely.sum() == pytest.approx(1)
    assert (likely >= 0).all()


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_scores_beyond_what_the_exponential_holds_are_probabilities_still(scale: float) -> None:
    head = OnlineClassifier(scale * np.array([[1.0], [-1.0], [1.0]]), np.zeros((3, 1)))
    assert probabilities(head, np.ones(1)).tolist() == [0.5, 0.0, 0.5]


@given(taught(), vectors, st.integers(0, 2))
def test_doubt_is_only_ever_taken_away_and_never_all_of_it(
    head: OnlineClassifier, vector: Floats, value: int
) -> None:
    before = copy(head)
    learn(head, vector, value)
    assert (head.var <= before.var).all()
    assert (head.var > 0).all()


@given(taught(), vectors, st.integers(0, 2))
def test_an_answer_raises_its_own_score_and_lowers_the_others(
    head: OnlineClassifier, vector: Floats, value: int
) -> None:
    before = head.mean @ vector
    learn(head, vector, value)
    moved = head.mean @ vector - before
    assert moved[value] >= -1e-9
    assert (np.delete(moved, value) <= 1e-9).all()


@given(taught(), vectors, st.integers(0, 2))
def test_places_that_a_message_does_not_have_keep_what_they_knew(
    head: OnlineClassifier, vector: Floats, value: int
) -> None:
    vector = vector.copy()
    vector[1] = 0.0
    before = copy(head)
    learn(head, vector, value)
    assert head.mean[:, 1].tolist() == before.mean[:, 1].tolist()
    assert head.var[:, 1].tolist() == before.var[:, 1].tolist()


@given(taught(), vectors, st.integers(0, 2))
def test_an_answer_that_counts_nothing_teaches_nothing(
    head: OnlineClassifier, vector: Floats, value: int
) -> None:
    before = copy(head)
    learn(head, vector, value, weight=0.0)
    assert (head.mean == before.mean).all()
    assert (head.var == before.var).all()


@given(vectors, st.integers(0, 2), st.floats(0, 1))
def test_an_answer_that_counts_less_teaches_less(vector: Floats, value: int, weight: float) -> None:
    full, part = (new_head(3, PLACES, variance=1.0) for _ in range(2))
    learn(full, vector, value)
    learn(part, vector, value, weight=weight)
    assert (np.abs(part.mean) <= np.abs(full.mean) + 1e-12).all()
    assert (part.var >= full.var - 1e-12).all()


@given(st.lists(taught(), min_size=1, max_size=4), vectors)
def test_models_side_by_side_say_what_each_says_alone(
    heads: list[OnlineClassifier], vector: Floats
) -> None:
    stacked = OnlineClassifier(np.stack([h.mean for h in heads]), np.stack([h.var for h in heads]))
    alone = np.stack([probabilities(head, vector) for head in heads])
    assert probabilities(stacked, vector) == pytest.approx(alone)


def test_a_view_of_one_of_many_is_taught_in_place() -> None:
    many = OnlineClassifier(np.zeros((5, 3, PLACES)), np.ones((5, 3, PLACES)))
    learn(OnlineClassifier(many.mean[2], many.var[2]), np.ones(PLACES), 0)
    assert np.flatnonzero(np.abs(many.mean).sum(axis=(1, 2))).tolist() == [2]


def test_what_is_unsure_is_nearer_to_equal_shares() -> None:
    mean = np.array([[2.0], [0.0]])
    sure, unsure = (
        probabilities(OnlineClassifier(mean, np.full((2, 1), var)), np.ones(1)) for var in (0, 9)
    )
    assert sure[0] == pytest.approx(1 / (1 + np.exp(-2)))
    assert 0.5 < unsure[0] < sure[0]


def test_what_it_has_seen_often_it_changes_little() -> None:
    head = new_head(2, 1, variance=20.0)
    moves = []
    for at in range(60):
        before = float(head.mean[0, 0])
        learn(head, np.ones(1), at % 2)
        moves.append(abs(float(head.mean[0, 0]) - before))
    assert max(moves[-10:]) < 0.1 * max(moves[:10])


def test_an_answer_held_all_but_impossible_is_taken_for_a_slip() -> None:
    sure, open_ = new_head(2, 1, variance=1.0), new_head(2, 1, variance=1.0)
    sure.mean[...] = [[12.0], [-12.0]]
    for head in (sure, open_):
        before = head.mean.copy()
        learn(head, np.ones(1), 1)
        head.mean[...] -= before
    assert np.abs(sure.mean).max() < 0.01 * np.abs(open_.mean).max()


def test_of_one_value_only_there_is_nothing_to_learn() -> None:
    head = new_head(1, PLACES, variance=20.0)
    learn(head, np.ones(PLACES), 0)
    assert not head.mean.any()
    assert probabilities(head, np.ones(PLACES)).tolist() == [1.0]


def test_a_planted_rule_is_learnt_through_slips() -> None:
    draws = np.random.default_rng(1)
    rule = draws.normal(size=(3, 12))
    head = new_head(3, 12, variance=20.0)
    right = []
    for at in range(1_200):
        vector = draws.normal(size=12) / np.sqrt(12)
        value = int((rule @ vector).argmax())
        if at >= 900:
            right.append(int(probabilities(head, vector).argmax()) == value)
        slipped = draws.random() < 0.05
        learn(head, vector, int(draws.integers(3)) if slipped else value)
    assert np.mean(right) > 0.88


def test_thousands_of_answers_leave_numbers_one_can_use() -> None:
    draws, head = np.random.default_rng(2), new_head(3, 1, variance=20.0)
    for _ in range(5_000):
        learn(head, np.array([draws.choice([1.0, 1e-8])]), int(draws.integers(3)))
    assert np.isfinite(head.mean).all()
    assert (head.var > 0).all()


#: A log that many weights come of: long texts, many values, rewards in between.
LEARNT = """
from random import Random
from labelhub.core.echo.events import Answered, Rewarded
from labelhub.core.echo.snapshot import digest
from labelhub.core.echo.state import EchoState, learn
from labelhub.core.echo.vectors import vector_of

chance, state = Random(1), EchoState()
words = [f"w{at}x{at * 7}" for at in range(900)]
for at in range(60):
    said = dict(id=f"a{at}", author=f"u{at % 5}", trusted=True, feature="f", predicted="v1",
                value=f"v{chance.randrange(50)}", loss=float(chance.random() < 0.3),
                signs=(1.0, chance.gauss(0, 1), 0.1, 0.0, -0.4, 1.0),
                vector=vector_of(" ".join(chance.choices(words, k=250))))
    shown = tuple((key, chance.random()) for key in "fghi")
    learn(state, Answered(**said))
    learn(state, Rewarded(f"r{at}", "u", True, shown, float(chance.random() < 0.2)))
print(digest(state))
"""


def learnt_on(kind: str) -> str:
    """The digest where sums are made as the linear algebra library does on that processor."""
    env = {**os.environ, "OPENBLAS_CORETYPE": kind}
    done = subprocess.run(
        [sys.executable, "-c", LEARNT], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.thorough
def test_every_kind_of_processor_comes_to_the_same_bits() -> None:
    assert len({learnt_on(kind) for kind in ("Nehalem", "Sandybridge", "Haswell", "")}) == 1


@given(st.integers(1, 40), st.integers(0, 300), st.integers(0, 2**32 - 1))
def test_it_is_the_product_with_every_row(rows: int, places: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    matrix, vector = draws.normal(size=(rows, places)), draws.normal(size=places)
    assert dot(matrix, vector) == pytest.approx(matrix @ vector, abs=1e-9)


@given(st.integers(1, 20), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_how_the_rows_lie_in_memory_is_nothing(rows: int, places: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    matrix, vector = draws.normal(size=(rows, places)), draws.normal(size=places)
    assert dot(np.asfortranarray(matrix), vector).tolist() == dot(matrix, vector).tolist()
