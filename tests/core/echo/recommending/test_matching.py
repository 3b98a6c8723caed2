"""What fits a message: features push and pull by their weight, and every score can be explained."""

import math
from collections.abc import Sequence
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending import matching
from labelhub.core.echo.recommending.matching import (
    MOST,
    ItemIndex,
    Match,
    OfferContext,
    Selected,
    match,
)
from tests.cases import all_cases
from tests.core.echo.recommending.wares import demo_index, ids, says, ware

#: All equally like a lamp: each has two words of its own.
LAMPS = ItemIndex(
    [
        ware("plain", "Solid wood.", title="Lamp"),
        ware("beginner", "Blue glass.", title="Lamp", attributes="level=first_time"),
        ware("pro", "Bent steel.", title="Lamp", attributes="level=expert"),
        ware("plastic", "Cheap plastic.", title="Lamp"),
    ]
)


def matches(
    index: ItemIndex, text: str, selected: Sequence[Selected] = (), context: Sequence[str] = ()
) -> list[Match]:
    return match(index, OfferContext(message_text=text, context=context, selected=selected))


def test_what_suits_goes_up_and_what_contradicts_goes_down() -> None:
    found = matches(LAMPS, "a lamp", [says("level", "expert")])
    assert ids(found)[0] == "pro"
    assert ids(found)[-1] == "beginner"
    ((feature, part),) = found[0].reasons
    assert (feature.key, feature.value) == ("level", "expert")
    assert part > 0 > found[-1].reasons[0][1]


def test_meanings_stand_for_values() -> None:
    found = matches(LAMPS, "a lamp", [says("budget", "lowest", meaning="cheap, affordable")])
    assert ids(found)[0] == "plastic"


@pytest.mark.parametrize(
    ("probability", "relevance"), [(0.0, 1.0), (1.0, -2.0), (1.0, math.nan), (math.inf, 1.0)]
)
def test_a_feature_that_is_improbable_or_harmful_says_nothing(
    probability: float, relevance: float
) -> None:
    feature = says("level", "expert", probability, relevance)
    assert matches(LAMPS, "lamp", [feature]) == matches(LAMPS, "lamp")


@all_cases(
    ("text", "expected", "best"),
    [
        ("a backpack for college, my laptop must fit", {"budget": "middle"}, "day-backpack"),
        ("I need a tent for a winter crossing", {"experience_level": "expert"}, "winter-tent"),
        ("a tent for our first camping holiday", {"recipient": "family"}, "family-tent"),
        ("which kettle for good coffee?", {"budget": "upper"}, "pour-kettle"),
        ("I want to read in bed without waking my wife", {}, "reading-lamp"),
        ("Ich suche einen Rucksack", {"experience_level": "expert"}, "ultralight-backpack"),
    ],
)
def test_in_the_demos_shop(text: str, expected: dict[str, str], best: str) -> None:
    selected = [says(key, value, 0.8, 0.4) for key, value in expected.items()]
    assert ids(matches(demo_index(), text, selected))[0] == best


WORDS = st.lists(
    st.sampled_from(["tent", "lamp", "warm", "kettle", "gift", "no", "soft", "für", "x"]),
    max_size=6,
).map(" ".join)
FEATURES = st.lists(
    st.builds(
        says,
        st.sampled_from(["budget", "recipient", "main_attribute", "other"]),
        st.sampled_from(["lowest", "upper", "family", "warm", "not warm", "no", "yes", ""]),
        st.floats(0, 1),
        st.floats(-3, 3),
    ),
    max_size=5,
)


@given(WORDS, st.lists(WORDS, max_size=2), FEATURES)
def test_a_score_is_the_sum_of_what_is_told_of_it(
    text: str, context: list[str], selected: list[Selected]
) -> None:
    with mock.patch.object(matching, "MOST", 100):
        found = matches(demo_index(), text, selected, context)
        assert found == matches(demo_index(), text, selected, context)
    assert [match_.score for match_ in found] == sorted(
        (match_.score for match_ in found), reverse=True
    )
    assert found[:MOST] == matches(demo_index(), text, selected, context)
    for match_ in found:
        parts = match_.from_message + match_.from_context + sum(part for _, part in match_.reasons)
        assert 0 < match_.score <= 1
        assert math.isclose(match_.score, parts, abs_tol=1e-8)


@given(FEATURES, st.randoms(use_true_random=False))
def test_the_order_of_features_changes_nothing(selected: list[Selected], order: object) -> None:
    other = sorted(selected, key=lambda _: order.random())  # type: ignore[attr-defined]
    first, two = (matches(demo_index(), "warm gift", features) for features in (selected, other))
    assert ids(first) == ids(two)


@pytest.mark.thorough
def test_fifty_thousand_items_give_the_right_one() -> None:
    items = [
        ware(f"lamp {number}", f"Number {number} of shelf {number % 97}.")
        for number in range(50_000)
    ]
    index = ItemIndex(items)
    assert ids(matches(index, "lamp 31337", [says("level", "expert")]))[0] == "lamp 31337"
