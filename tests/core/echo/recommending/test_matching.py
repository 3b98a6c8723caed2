"""What fits a message: features push and pull by their weight, and every score can be explained."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.item_index import ItemIndex, Selected
from labelhub.core.echo.recommending.matching import Fit, Meanings, Weights, match
from labelhub.core.errors import InvalidInput
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


def test_what_suits_goes_up_and_what_contradicts_goes_down() -> None:
    found = match(LAMPS, "a lamp", (), [says("level", "expert")])
    assert ids(found)[0] == "pro"
    assert ids(found)[-1] == "beginner"
    (reason,) = found[0].reasons
    assert (reason.key, reason.value, reason.fit) == ("level", "expert", Fit.SUITS)
    assert found[-1].reasons[0].fit is Fit.CONTRADICTS


def test_the_words_of_a_value_count_where_items_say_nothing() -> None:
    found = match(LAMPS, "a lamp", (), [says("matters", "plastic")])
    assert ids(found)[0] == "plastic"
    assert found[0].reasons[0].fit is Fit.SOUNDS_ALIKE


@pytest.mark.parametrize(
    "feature", [says("matters", "no plastic"), Selected("plastic", "Plastic", "no", 1.0, 1.0)]
)
def test_what_is_denied_goes_down(feature: Selected) -> None:
    found = match(LAMPS, "a lamp", (), [feature])
    assert ids(found)[-1] == "plastic"
    assert found[-1].reasons[0].fit is Fit.SOUNDS_DENIED


def test_a_yes_speaks_for_the_features_name() -> None:
    found = match(LAMPS, "lamp", (), [Selected("p", "Plastic", "yes", 1.0, 1.0)])
    assert ids(found)[0] == "plastic"


def test_meanings_stand_for_values() -> None:
    meanings = Meanings(words={"budget": {"lowest": "cheap, affordable"}})
    found = match(LAMPS, "a lamp", (), [says("budget", "lowest")], meanings=meanings)
    assert ids(found)[0] == "plastic"


def test_an_open_feature_contradicts_nothing() -> None:
    meanings = Meanings(open_keys=["level"])
    found = match(LAMPS, "lamp", (), [says("level", "expert")], meanings=meanings)
    assert Fit.CONTRADICTS not in [reason.fit for each in found for reason in each.reasons]


@pytest.mark.parametrize(
    ("probability", "relevance"), [(0.0, 1.0), (1.0, -2.0), (1.0, math.nan), (math.inf, 1.0)]
)
def test_a_feature_that_is_improbable_or_harmful_says_nothing(
    probability: float, relevance: float
) -> None:
    feature = says("level", "expert", probability, relevance)
    assert match(LAMPS, "lamp", (), [feature]) == match(LAMPS, "lamp", (), [])


def test_the_more_probable_and_relevant_a_feature_the_more_it_counts() -> None:
    parts = [
        match(LAMPS, "lamp", (), [says("level", "expert", p, r)])[0].reasons[0].part
        for p, r in ((0.2, 0.5), (0.9, 0.5), (0.9, 2.0))
    ]
    assert parts == sorted(parts)
    assert len(set(parts)) == 3


def test_what_was_said_before_counts_less_than_the_message() -> None:
    index = ItemIndex([ware("kettle"), ware("tent")])
    assert ids(match(index, "that one", ["a tent maybe"], ())) == ["tent"]
    assert ids(match(index, "a kettle", ["a tent maybe"], ())) == ["kettle", "tent"]


def test_equal_scores_keep_the_catalogues_order_and_count_and_exclude_hold() -> None:
    index = ItemIndex([ware(f"lamp {at:02}x") for at in range(20)])
    assert ids(match(index, "lamp", (), (), count=3)) == ["lamp 00x", "lamp 01x", "lamp 02x"]
    left = match(index, "lamp", (), (), count=2, exclude=["lamp 00x", "unknown"])
    assert ids(left) == ["lamp 01x", "lamp 02x"]
    assert match(index, "lamp", (), (), count=0) == []


def test_where_nothing_speaks_for_an_item_it_is_not_named() -> None:
    assert match(LAMPS, "capital of France", (), ()) == []
    assert match(ItemIndex([]), "lamp", (), [says("a", "b")]) == []
    assert match(LAMPS, "", (), [says("level", "unknown")]) == []


def test_weights_are_checked() -> None:
    for wrong in ({"message": 0}, {"context": -1}, {"attribute": 2}, {"message": math.nan}):
        with pytest.raises(InvalidInput):
            Weights(**wrong)


@all_cases(
    ("text", "told", "best"),
    [
        ("a backpack for college, my laptop must fit", {"budget": "middle"}, "day-backpack"),
        ("I need a tent for a winter crossing", {"experience_level": "expert"}, "winter-tent"),
        ("a tent for our first camping holiday", {"recipient": "family"}, "family-tent"),
        ("which kettle for good coffee?", {"budget": "upper"}, "pour-kettle"),
        ("I want to read in bed without waking my wife", {}, "reading-lamp"),
        ("Ich suche einen Rucksack", {"experience_level": "expert"}, "ultralight-backpack"),
    ],
)
def test_in_the_demos_shop(text: str, told: dict[str, str], best: str) -> None:
    selected = [says(key, value, 0.8, 0.4) for key, value in told.items()]
    assert ids(match(demo_index(), text, (), selected))[0] == best


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
    found = match(demo_index(), text, context, selected, count=100)
    assert found == match(demo_index(), text, context, selected, count=100)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert found[:3] == match(demo_index(), text, context, selected, count=3)
    for each in found:
        parts = each.from_message + each.from_context + sum(r.part for r in each.reasons)
        assert 0 < each.score <= 1
        assert math.isclose(each.score, parts, abs_tol=1e-8)


@given(FEATURES, st.randoms(use_true_random=False))
def test_the_order_of_features_changes_nothing(selected: list[Selected], order: object) -> None:
    other = sorted(selected, key=lambda _: order.random())  # type: ignore[attr-defined]
    one, two = (match(demo_index(), "warm gift", (), each, count=9) for each in (selected, other))
    assert ids(one) == ids(two)


@pytest.mark.thorough
def test_fifty_thousand_items_give_the_right_one() -> None:
    items = [ware(f"lamp {at}", f"Number {at} of shelf {at % 97}.") for at in range(50_000)]
    index = ItemIndex(items)
    assert ids(match(index, "lamp 31337", (), [says("level", "expert")]))[0] == "lamp 31337"
