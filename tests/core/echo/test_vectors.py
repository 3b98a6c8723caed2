"""Texts as vectors: the same for ever, of length one, with nothing in them to be read."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.vectors import PLACES, READ, Sparse, distance, vector_of

texts = st.text(max_size=60)


def likeness(one: Sparse, other: Sparse) -> float:
    dense = np.zeros((2, PLACES))
    dense[0, one.places], dense[1, other.places] = one.values, other.values
    return float(dense[0] @ dense[1])


@given(texts)
def test_any_text_has_a_vector_of_length_one_in_ascending_places(text: str) -> None:
    vector = vector_of(text)
    assert np.square(vector.values).sum() == pytest.approx(1)
    assert (np.diff(vector.places) > 0).all()
    assert vector.places[0] >= 0
    assert vector.places[-1] < PLACES
    assert [str(part.dtype) for part in vector] == ["int32", "float64"]


def test_a_text_has_the_same_vector_for_ever() -> None:
    """States are made anew from vectors in a log: what changes this raises the log's version."""
    vector = vector_of("I need a warm tent by Friday, テント")
    digest = hashlib.sha256(vector.places.tobytes() + vector.values.round(9).tobytes())
    assert len(vector.places) == 81
    assert digest.hexdigest()[:16] == "fdac53f08de5ac68"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_where_there_is_nothing_to_read_one_place_says_so(text: str) -> None:
    assert vector_of(text).places.tolist() == [0]
    assert vector_of(text).values.tolist() == [1.0]


def test_case_says_nothing() -> None:
    assert vector_of("Big TENT").places.tolist() == vector_of("big tent").places.tolist()


def test_half_a_surrogate_pair_is_a_character_like_others() -> None:
    assert len(vector_of("a tent \ud83d").places) > 1
    assert 0 < distance("tent \ud83d", "tent") < 1


def test_of_a_long_text_the_beginning_is_read() -> None:
    begun = "tent " * (READ // 5)
    assert vector_of(begun + "boots and lamps").values.tolist() == vector_of(begun).values.tolist()


def test_texts_with_words_in_common_are_more_alike() -> None:
    about = vector_of("a warm tent for winter")
    assert likeness(about, vector_of("is this tent warm?")) > 0.2
    assert abs(likeness(about, vector_of("Zugverspätung nach Köln"))) < 0.1


def test_what_one_caller_was_given_no_other_can_change() -> None:
    vector = vector_of("kept between calls")
    for part in vector:
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 7


@given(texts, texts)
def test_a_distance_is_from_nothing_to_one_and_the_same_from_both_sides(
    one: str, other: str
) -> None:
    assert 0 <= distance(one, other) <= 1
    assert distance(one, other) == pytest.approx(distance(other, one))


@given(texts)
def test_a_text_is_no_way_from_itself_however_it_is_spaced_or_cased(text: str) -> None:
    assert distance(text, text) == 0
    assert distance(text, f"  {text} ") == 0


def test_words_alike_are_nearer_than_words_unlike() -> None:
    assert distance("warmth", "WARMTH") == 0
    assert distance("Straße", "STRASSE") == 0
    assert distance("warm", "warmth") < distance("warm", "cheap")
    assert distance("warm", "") == 1
