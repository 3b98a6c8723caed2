"""Likeness of texts: against scikit-learn's arithmetic, and its bounds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from labelhub.core.echo.recommending.postings import Postings

BAGS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=6)
ASKED = st.lists(st.sampled_from("abcdefxyz"), max_size=8)


def build(bags: list[list[str]]) -> Postings:
    return Postings([Counter(bag) for bag in bags])


@given(BAGS, ASKED)
def test_likeness_is_from_0_to_1(bags: list[list[str]], asked: list[str]) -> None:
    found = build(bags).likeness(asked)
    assert found.shape == (len(bags),)
    assert ((found >= 0) & (found <= 1)).all()
    for bag, value in zip(bags, found, strict=True):
        assert (value > 0) == bool(set(bag) & set(asked))


@pytest.mark.thorough
@given(BAGS.filter(any), st.lists(st.sampled_from("abcdef"), max_size=8))
def test_it_is_scikit_learns_where_all_terms_are_known(
    bags: list[list[str]], asked: list[str]
) -> None:
    asked = [term for term in asked if any(term in bag for bag in bags)]
    other = TfidfVectorizer(analyzer=list, sublinear_tf=True, smooth_idf=True)
    rows = other.fit_transform(bags)
    wanted = (rows @ other.transform([asked]).T).toarray().ravel()
    np.testing.assert_allclose(build(bags).likeness(asked), wanted, atol=1e-9)


def test_a_text_is_wholly_like_itself_and_less_like_one_that_says_more() -> None:
    texts = build([["a", "b"], ["c"]])
    assert np.isclose(texts.likeness(["a", "b"])[0], 1.0)
    assert texts.likeness(["a", "b", "unheard"])[0] < texts.likeness(["a", "b"])[0]


def test_nothing_is_like_nothing() -> None:
    assert len(build([]).likeness(["a"])) == 0
    assert build([[]]).likeness([]).tolist() == [0.0]
