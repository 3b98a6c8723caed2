"""Arguments of like length, cut at the ends of sentences."""

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.debate.courtroom import TOLERANCE, equalised, within
from tests.cases import all_cases
from tests.growth import assert_linear_time


@all_cases(
    ("text", "longest", "left"),
    [
        ("One. Two. Three.", 100, "One. Two. Three."),
        ("One. Two. Three.", 10, "One. Two."),
        ("One. Two. Three.", 9, "One. Two."),
        ("One. Two. Three.", 8, "One."),
        ("Onetwothree.", 5, "Onetw"),
        ("It costs 3.50 a piece. Fine.", 24, "It costs 3.50 a piece."),
        ('He said "no." She left. Then', 24, 'He said "no." She left.'),
        ("一。二。三。", 4, "一。二。"),
        ("First line\nsecond line", 15, "First line"),
        ("Really?! Yes… no", 14, "Really?! Yes…"),
        ("  spaced. ", 8, "spaced."),
        ("", 5, ""),
    ],
)
def test_whole_sentences_are_kept(text: str, longest: int, left: str) -> None:
    assert within(text, longest) == left


@all_cases(
    ("one", "other", "left"),
    [
        ("Same.", "Alike", ("Same.", "Alike")),
        ("A first. A second. A third.", "Just one.", ("A first.", "Just one.")),
        ("Just one.", "A first. A second. A third.", ("Just one.", "A first.")),
        # Without its second sentence it would be shorter by more than it is longer with it.
        ("No. " + "a" * 50 + ".", "b" * 40, ("No. " + "a" * 50 + ".", "b" * 40)),
        ("One sentence without a stop", "Short.", ("One sentence without a stop", "Short.")),
        ("", "Something. More.", ("", "Something. More.")),
    ],
)  # fmt: skip
def test_the_longer_one_loses_whole_sentences(one: str, other: str, left: tuple[str, str]) -> None:
    assert equalised(one, other, 600) == left


TEXTS = st.lists(
    st.text(st.sampled_from('ab .!?。\n"'), max_size=12).map(lambda text: f"{text}. "), max_size=12
).map("".join)


@given(TEXTS, TEXTS, st.integers(1, 60))
def test_never_longer_than_allowed_nor_further_apart_than_before(
    one: str, other: str, longest: int
) -> None:
    left, right = equalised(one, other, longest)
    before = [len(within(text, longest)) for text in (one, other)]
    assert max(len(left), len(right)) <= longest
    assert one.strip().startswith(left)
    assert other.strip().startswith(right)
    assert (right, left) == equalised(other, one, longest)
    assert abs(len(left) - len(right)) <= max(abs(before[0] - before[1]), 0) + 2
    if max(before) <= TOLERANCE * min(before):
        assert [len(left), len(right)] == before


@all_cases("seed", [".", "a", ". ", "。", "\n", '."'])
def test_a_long_text_is_cut_in_time(seed: str) -> None:
    assert_linear_time(lambda text: equalised(text, "Short.", 5000), seed, 12_500)
