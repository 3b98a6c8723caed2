"""A catalogue made ready: what items say of whom they suit."""

from labelhub.core.echo.recommending.item_index import ItemIndex
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


def test_of_another_feature_nothing_is_said() -> None:
    assert not INDEX.suited(says("mood", "expert"), is_open=False).any()


def test_words_in_title_and_tags_are_counted_once_each() -> None:
    index = ItemIndex([ware("red lamp", tags="lamp,light"), ware("tent", "A lamp hangs in it.")])
    assert index.named(["lamp", "red", "tent"]) == {0: 2, 1: 1}
    assert index.shared(1, ["lamp", "tent", "lamp", "red"]) == ("lamp", "tent")


def test_an_empty_catalogue_can_be_asked() -> None:
    index = ItemIndex([])
    assert (len(index), index.suited(says("a", "b"), is_open=False).tolist()) == (0, [])
