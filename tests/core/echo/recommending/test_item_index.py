"""A catalogue made ready: what items say of whom they suit."""

from math import hypot, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.matching import (
    ItemIndex,
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
    assert INDEX.suited(says("level", value, is_open=is_open)).tolist() == verdicts


def test_an_empty_catalogue_can_be_asked() -> None:
    index = ItemIndex([])
    assert index.suited(says("a", "b")).tolist() == []


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


def test_likeness_is_the_cosine_of_tf_idf_and_unknown_words_lower_it() -> None:
    """A title counts three times; a word that no item has counts as the rarest."""
    index = ItemIndex([ware("tent", "Dry."), ware("lamp", "Dry, warm.")])
    rare, common = log(3 / 2) + 1, 1.0
    tent = [rare * (1 + log(3)), common]
    assert index.likeness(["tent"]) == pytest.approx([tent[0] / hypot(*tent), 0])
    unknown = log(3) + 1
    lowered = index.likeness(["tent"]) * rare / hypot(rare, unknown)
    assert index.likeness(["tent", "boat"]) == pytest.approx(lowered)
    assert ItemIndex([]).likeness(["tent"]).tolist() == []
    assert ItemIndex([ware("!", "?")]).likeness(["tent"]).tolist() == [0]
