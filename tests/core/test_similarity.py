"""What is like what: by words, by vectors; the same on every machine."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.similarity import (
    READ,
    TfIdfIndex,
    UnusableVectors,
    VectorIndex,
    closest,
    same_text_key,
    words,
)
from tests.cases import all_cases
from tests.growth import assert_linear_time

REVIEWS = (
    "The food was good and the soup was hot.",
    "The waiter was rude to us.",
    "Good food, rude waiter.",
    "Parking is easy.",
)


def test_the_text_with_the_same_words_comes_first() -> None:
    index = TfIdfIndex(REVIEWS)
    (first, likeness), (second, less) = index.nearest("the waiter was very rude", range(4), 2)
    assert (first, second) == (1, 2)
    assert 0 < less < likeness < 1


def test_a_text_is_wholly_like_itself_and_not_like_one_without_a_common_word() -> None:
    index = TfIdfIndex(REVIEWS)
    assert index.nearest(REVIEWS[0], range(4), 1) == [(0, 1.0)]
    assert dict(index.nearest(REVIEWS[3], range(4), 4)) == {3: 1.0, 0: 0.0, 1: 0.0, 2: 0.0}


def test_only_those_asked_about_are_told_and_only_as_many_as_wanted() -> None:
    index = TfIdfIndex(REVIEWS)
    assert [at for at, _ in index.nearest(REVIEWS[0], [3, 2], 5)] == [2, 3]
    assert index.nearest(REVIEWS[0], [], 3) == []
    assert index.nearest(REVIEWS[0], range(4), 0) == []


def test_of_equally_near_texts_the_earlier_comes_first() -> None:
    index = TfIdfIndex(["good soup", "bad soup", "good soup", "soup good soup", "good soup"])
    assert [at for at, _ in index.nearest("good soup", [4, 3, 2, 0], 3)] == [0, 2, 4]
    # In another order the sums are taken in another order too.
    shuffled = [f"{a} {b} {c}" for a, b, c in (("x", "y", "z"), ("x", "y", "z"))]
    assert TfIdfIndex(shuffled).nearest("z y x", [1, 0], 2)[0][0] == 0


def test_rare_words_weigh_more_than_common_ones() -> None:
    index = TfIdfIndex(["the soup", "the rice", "the bread", "a tureen"])
    assert index.nearest("the tureen", range(4), 1)[0][0] == 3


def test_words_that_stand_together_count_more_than_the_same_words_apart() -> None:
    index = TfIdfIndex(["good was not the food bad", "the food was not good bad"])
    assert index.nearest("not good", range(2), 1)[0][0] == 1


def test_a_text_of_nothing_but_common_words_is_still_found() -> None:
    index = TfIdfIndex(["it was the", "the it", "and or"])
    assert index.nearest("it was the", range(3), 1) == [(0, 1.0)]


@pytest.mark.parametrize("nothing", ["", "  \n", "!?… 🙂", "\u200b"])
def test_texts_without_words_are_like_nothing_and_trouble_nobody(nothing: str) -> None:
    index = TfIdfIndex(["", "soup", nothing])
    assert index.nearest(nothing, range(3), 3) == [(0, 0.0), (1, 0.0), (2, 0.0)]
    assert index.nearest("soup", range(3), 1) == [(1, 1.0)]


def test_an_index_of_nothing_finds_nothing() -> None:
    index = TfIdfIndex([])
    assert (len(index), index.nearest("soup", [], 3)) == (0, [])
    assert len(TfIdfIndex(["", ""]).similarities("soup")) == 2


def test_case_width_and_what_is_invisible_make_no_other_word() -> None:
    assert words("Straße, ＦＵＬＬ na\u00ad\u200bïve") == ["strasse", "full", "naïve"]


@all_cases(
    ("text", "expected"),
    [
        ("今天天气", ["今天", "天天", "天气"]),
        ("好 food很好", ["好", "food", "很好"]),
        ("カレーを", ["カレ", "レー", "ーを"]),
        ("ดีมาก", ["ดี", "ีม", "มา", "าก"]),
        ("खाना अच्छा था।", ["खाना", "अच्छा", "था"]),
        ("음식이 좋았다", ["음식이", "좋았다"]),
        ("الطَّعام جيّد", ["الطَّعام", "جيّد"]),
    ],
)
def test_words_of_other_scripts(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_texts_without_blanks_are_compared_by_their_characters() -> None:
    index = TfIdfIndex(["服务员很粗鲁", "今天天气很好"])
    assert index.nearest("那个服务员太粗鲁了", range(2), 1)[0][0] == 0


def test_the_likeness_is_that_of_the_textbook() -> None:
    """Two texts, one of the words in common; counted by hand."""
    idf_common, idf_rare = 1.0, np.log(3 / 2) + 1
    index = TfIdfIndex(["soup", "soup soup rice"])
    # "soup soup rice" has soup twice, rice, and the pairs soup-soup and soup-rice.
    own = np.array([(1 + np.log(2)) * idf_common, idf_rare, idf_rare, idf_rare])
    expected = own[0] / np.linalg.norm(own)
    assert index.similarities("soup") == pytest.approx([1.0, expected], abs=1e-6)


@pytest.mark.thorough
def test_another_process_finds_the_same() -> None:
    """Hashes of strings differ from process to process; nothing here may depend on them."""
    told = "from labelhub.core.similarity import TfIdfIndex as I; "
    told += f"print(I({REVIEWS!r}).nearest('good rude food', range(4), 4))"
    outs = {
        subprocess.run(
            [sys.executable, "-c", told],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outs) == 1


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=30))
def test_whatever_is_written_likeness_is_between_nothing_and_all(
    texts: list[str], asked: str
) -> None:
    found = TfIdfIndex(texts).nearest(asked, range(len(texts)), 10)
    assert len(found) == len(texts)
    assert all(0.0 <= likeness <= 1.0 for _, likeness in found)
    assert found == sorted(found, key=lambda each: (-each[1], each[0]))


@all_cases("seed", ["a", "a\u0301\u0316", "a ", "\ufdfa", "\ud800 half"])
def test_hostile_texts_take_little_time(seed: str) -> None:
    def compare(text: str) -> None:
        TfIdfIndex([text, "soup"]).nearest(text, range(2), 2)
        same_text_key(text)

    assert_linear_time(compare, seed, 100_000)


def test_of_long_texts_the_beginning_is_compared() -> None:
    begin = ("soup " * READ)[:READ]
    assert TfIdfIndex([begin + "rice"]).nearest(begin + "bread", [0], 1) == [(0, 1.0)]


@pytest.mark.parametrize(
    "other",
    ["good FOOD", "  Good\n\tfood ", "Ｇood\u00a0food", "Go\u00adod\u200b food\ufeff"],
)
def test_texts_that_read_the_same_have_the_same_key(other: str) -> None:
    assert same_text_key(other) == same_text_key("Good food")


@pytest.mark.parametrize("other", ["Good food!", "Goodfood", "Good foods", ""])
def test_other_texts_have_another_key(other: str) -> None:
    assert same_text_key(other) != same_text_key("Good food")


@pytest.mark.thorough
def test_twenty_thousand_texts_take_bounded_memory() -> None:
    drawn = (20_000 * np.random.default_rng(1).random((20_000, 25)) ** 3).astype(int)
    texts = [" ".join(f"word{number}" for number in row) for row in drawn]
    tracemalloc.start()
    try:
        index = TfIdfIndex(texts)
        size, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 30_000_000, size
    assert most < 120_000_000, most
    assert index.nearest(texts[777], range(20_000), 1) == [(777, 1.0)]


def test_vectors_are_compared_by_their_direction() -> None:
    index = VectorIndex([[1, 0], [0, 5], [3, 3], [-1, 0]])
    assert index.nearest([0.1, 0], range(4), 4) == [(0, 1.0), (2, 0.70711), (1, 0.0), (3, 0.0)]
    assert index.nearest([2, 2], [0, 1], 1) == [(0, 0.70711)]


def test_vectors_of_nothing_and_of_the_largest_numbers() -> None:
    index = VectorIndex([[0, 0], [1e300, 1e300]])
    assert index.nearest([1e-300, 1e-300], range(2), 2) == [(1, 1.0), (0, 0.0)]
    assert VectorIndex([]).nearest([1.0, 2.0], [], 3) == []


@all_cases(
    "vectors",
    [
        [[1.0, 2.0], [1.0]],
        [[1.0, float("nan")]],
        [[float("inf")]],
        [["a"]],
        [[None]],
        [1.0, 2.0],
        [[], []],
        [[[1.0]]],
    ],
)
def test_vectors_that_are_none_are_refused(vectors: list[list[float]]) -> None:
    with pytest.raises(UnusableVectors):
        VectorIndex(vectors)


def test_a_vector_of_another_length_is_refused() -> None:
    with pytest.raises(UnusableVectors, match="not as long"):
        VectorIndex([[1.0, 2.0]]).similarities([1.0])
    many = [[1.0]] * 500 + [[1.0, 2.0]]
    with pytest.raises(UnusableVectors):
        VectorIndex(many)


def test_the_closest_differ_by_more_than_rounding() -> None:
    assert closest(np.array([0.3, 0.1 + 0.2, 0.5]), [1, 0, 2], 3) == [(2, 0.5), (0, 0.3), (1, 0.3)]
