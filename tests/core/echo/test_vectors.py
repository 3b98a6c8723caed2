"""Texts as vectors: the same for ever, of length one, with nothing in them to be read."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.vectors import (
    _RUNS,
    _WORDS,
    PLACES,
    _hashers,
    _readable,
    distance,
    vector_of,
)

texts = st.text(max_size=60)


@given(texts)
def test_any_text_has_a_vector_of_length_one_in_ascending_places(text: str) -> None:
    vector = vector_of(text)
    assert np.square(vector.values).sum() == pytest.approx(1)
    assert (np.diff(vector.places) > 0).all()
    assert vector.places[0] >= 0
    assert vector.places[-1] < PLACES
    assert [str(part.dtype) for part in vector] == ["int32", "float64"]


@given(texts)
def test_a_vector_is_that_of_scikit_learn(text: str) -> None:
    parts = [
        share * hasher.transform([_readable(text)])
        for share, hasher in zip((_WORDS, _RUNS), _hashers(), strict=True)
    ]
    dense = sum(parts).toarray()[0]
    length = np.sqrt(np.square(dense).sum())
    vector = vector_of(text)
    if length:
        assert (vector.places == np.flatnonzero(dense)).all()
        assert vector.values == pytest.approx(dense[vector.places] / length)
    else:
        assert vector.values.tolist() == [1.0]


@given(texts, texts)
def test_a_distance_is_from_nothing_to_one_and_the_same_from_both_sides(
    text: str, other: str
) -> None:
    assert 0 <= distance(text, other) <= 1
    assert distance(text, other) == pytest.approx(distance(other, text))


@given(texts)
def test_a_text_is_no_way_from_itself_however_it_is_spaced_or_cased(text: str) -> None:
    assert distance(text, text) == 0
    assert distance(text, f"  {text} ") == 0


def test_vectors_load_no_pandas_and_leave_it_to_others() -> None:
    program = (
        "import sys; from labelhub.core.echo.vectors import vector_of; vector_of('warm lamps')\n"
        "print('sklearn' in sys.modules, 'pandas' in sys.modules)\n"
        "import pandas; print(pandas.DataFrame({'n': [1]}).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("True False\n(1, 1)\n", 0), done.stderr
