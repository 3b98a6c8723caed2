"""What a catalogue says of features in vain is named, with the number of rows that say it."""

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.recommending.matching import ItemIndex, unused_attributes
from tests.core.echo.recommending.wares import says, ware

FEATURES = {"budget": ("lowest", "upper_end"), "material": ("no plastic", "any"), "brand": ()}


def test_features_and_values_that_it_has_not_are_named_the_commonest_first() -> None:
    items = [
        ware("a", attributes={"budget": ["huge", "lowest"], "colour": ["red", "!green"]}),
        ware("b", attributes={"colour": "blue", "size": "!xl"}),
    ]
    assert unused_attributes(items, FEATURES) == [
        ("colour", "", 2),
        ("budget", "huge", 1),
        ("size", "", 1),
    ]


VALUES = st.sampled_from(["lowest", "Upper_End", "plastic", "no plastic", "any", "huge"])


@given(st.sampled_from(["budget", "material"]), VALUES)
def test_a_value_is_of_use_where_an_item_that_names_it_may_suit_or_contradict(
    key: str, value: str
) -> None:
    item = ware("a", attributes={key: value})
    index = ItemIndex([item])
    bears = any(index.suited(says(key, value)).any() for value in FEATURES[key])
    assert (unused_attributes([item], FEATURES) == []) is bears
