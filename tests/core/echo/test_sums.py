"""What is learnt is the same to the last bit whatever processor it is learnt on."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.sums import dot

#: A log that many weights come of: long texts, many values, rewards in between.
LEARNT = """
from random import Random
from labelhub.core.echo.events import Answered, Rewarded
from labelhub.core.echo.packing import digest
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
