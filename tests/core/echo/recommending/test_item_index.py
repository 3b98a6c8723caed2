"""A catalogue made ready: what items say of whom they suit."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from labelhub.core.echo.recommending.item_index import (
    ItemIndex,
    Postings,
    denied,
    normalise_value,
    terms,
)
from tests.cases import all_cases
from tests.core.echo.recommending.wares import says, ware

INDEX = ItemIndex(
    [
        ware("beginner", attributes="level=first_time;some"),
        ware("pro", attributes="level=expert;!first_time"),
        ware("silent"),
        ware("avoiding", attributes="level=!expert"),
    ]
)


@all_cases(
    ("value", "is_open", "verdicts"),
    [
        ("first_time", False, [1, -1, 0, 0]),
        ("First Time", False, [1, -1, 0, 0]),
        ("expert", False, [-1, 1, 0, -1]),
        ("some", False, [1, -1, 0, 0]),
        ("some", True, [1, 0, 0, 0]),
        ("never heard of", False, [0, 0, 0, 0]),
        ("not expert", False, [0, -1, 0, 1]),
        ("not_first_time", True, [-1, 1, 0, 0]),
    ],
)
def test_whom_items_suit(value: str, is_open: bool, verdicts: list[int]) -> None:
    assert INDEX.suited(says("level", value), is_open=is_open).tolist() == verdicts


def test_an_empty_catalogue_can_be_asked() -> None:
    index = ItemIndex([])
    assert (len(index), index.suited(says("a", "b"), is_open=False).tolist()) == (0, [])


@all_cases(
    ("value", "rest"),
    [
        ("no plastic", "plastic"),
        ("not_heavy", "heavy"),
        ("ohne Leder", "leder"),
        ("sans sucre", "sucre"),
        ("non-slip", "slip"),
        ("no", ""),
        ("notebook", ""),
        ("heavy, not light", ""),
    ],
)
def test_what_a_value_says_no_to(value: str, rest: str) -> None:
    assert denied(value) == rest


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert all(terms(text))
    assert (
        normalise_value(text)
        == normalise_value(f" {text}_")
        == normalise_value(text.replace(" ", "_"))
    )
    assert denied(text) == denied(text.replace(" ", "_"))


BAGS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=6)


def build(bags: list[list[str]]) -> Postings:
    return Postings([Counter(bag) for bag in bags])


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
