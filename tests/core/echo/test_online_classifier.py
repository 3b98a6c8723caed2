"""A feature's head starts knowing nothing, learns from each answer, grows sure and stays sane."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelhub.core.echo.models import Floats, OnlineClassifier, learn, probabilities

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
def test_an_answer_that_counts_nothing_teaches_nothing(
    head: OnlineClassifier, vector: Floats, value: int
) -> None:
    before = copy(head)
    learn(head, vector, value, weight=0.0)
    assert (head.mean == before.mean).all()
    assert (head.var == before.var).all()


def test_a_planted_rule_is_learnt_through_slips() -> None:
    draws = np.random.default_rng(1)
    rule = draws.normal(size=(3, 12))
    head = new_head(3, 12, variance=20.0)
    right = []
    for number in range(1_200):
        vector = draws.normal(size=12) / np.sqrt(12)
        value = int((rule @ vector).argmax())
        if number >= 900:
            right.append(int(probabilities(head, vector).argmax()) == value)
        slipped = draws.random() < 0.05
        learn(head, vector, int(draws.integers(3)) if slipped else value)
    assert np.mean(right) > 0.88


#: A log that many weights come of: long texts, many values, rewards in between.
LEARNT = """
from random import Random
from labelhub.core.echo.events import Answered, Rewarded
from labelhub.core.echo.state import digest
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
