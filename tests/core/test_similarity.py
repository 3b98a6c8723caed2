"""What is like what: by words, by vectors; the same on every machine."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.similarity import (
    TfIdfIndex,
    UnusableVectors,
    VectorIndex,
    same_text_key,
    stem,
    words,
)
from labelhub.core.textdiff import Line, counts, diff
from tests.cases import all_cases
from tests.growth import assert_linear_time

REVIEWS = (
    "The food was good and the soup was hot.",
    "The waiter was rude to us.",
    "Good food, rude waiter.",
    "Parking is easy.",
)


def test_an_index_of_nothing_finds_nothing() -> None:
    index = TfIdfIndex([])
    assert (len(index), index.nearest("soup", [], 3)) == (0, [])
    assert len(TfIdfIndex(["", ""]).similarities("soup")) == 2


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
    program = "from labelhub.core.similarity import TfIdfIndex as I; "
    program += f"print(I({REVIEWS!r}).nearest('good rude food', range(4), 4))"
    outs = {
        subprocess.run(
            [sys.executable, "-c", program],
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
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


@all_cases("seed", ["a", "a\u0301\u0316", "a ", "\ufdfa", "\ud800 half"])
def test_hostile_texts_take_little_time(seed: str) -> None:
    def compare(text: str) -> None:
        TfIdfIndex([text, "soup"]).nearest(text, range(2), 2)
        same_text_key(text)

    assert_linear_time(compare, seed, 100_000)


@pytest.mark.parametrize(
    "other",
    ["good FOOD", "  Good\n\tfood ", "Ｇood\u00a0food", "Go\u00adod\u200b food\ufeff"],
)
def test_texts_that_read_the_same_have_the_same_key(other: str) -> None:
    assert same_text_key(other) == same_text_key("Good food")


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


@all_cases(
    ("words", "expected"),
    [
        (("serve", "Served", "serving", "serves"), "serv"),
        (("price", "prices", "priced", "pricing"), "pric"),
        (("try", "tried", "tries"), "try"),
        (("bus",), "bus"),
        (("phòng",), "phòng"),
        (("x" * 5000,), "x" * 40),
    ],
)
def test_forms_of_a_word_share_a_stem(words: tuple[str, ...], expected: str) -> None:
    assert {stem(word) for word in words} == {expected}


LINES = st.lists(st.sampled_from(["a b", "a c", "", "d", "a b c"]), max_size=12).map("\n".join)


def text(line: Line) -> str:
    return "".join(piece for piece, _ in line.pieces)


def test_equal_texts_differ_in_nothing() -> None:
    assert diff("a\nb", "a\nb") == []


def test_far_lines_that_stayed_are_counted_instead_of_shown() -> None:
    before = "\n".join(f"line {n}" for n in range(20))
    lines = diff(before, before.replace("line 10", "changed"), context=2)
    assert [line.kind for line in lines] == [
        *("gap", "same", "same", "removed", "added", "same", "same", "gap"),
    ]
    assert (lines[0].skipped, lines[-1].skipped) == (8, 7)
    assert (lines[3].before, lines[4].after) == (11, 11)
    assert counts(lines) == (1, 1)


@pytest.mark.thorough
def test_texts_too_long_to_compare_differ_as_a_whole() -> None:
    lines = diff("a\nb\n" * 15_000, "b\na\n" * 15_000)
    assert [line.kind for line in lines] == ["removed"] * 30_000 + ["added"] * 30_000 + ["same"]


@given(LINES, LINES)
def test_a_whole_difference_gives_both_texts_back(before: str, after: str) -> None:
    if before == after:
        return
    lines = diff(before, after, context=100)
    assert "\n".join(text(line) for line in lines if line.kind != "added") == before
    assert "\n".join(text(line) for line in lines if line.kind != "removed") == after
    numbered = [line.before for line in lines if line.before]
    assert numbered == list(range(1, len(before.split("\n")) + 1))


def test_the_text_with_the_same_words_comes_first() -> None:
    index = TfIdfIndex(REVIEWS)
    (first, likeness), (second, less) = index.nearest("the waiter was very rude", range(4), 2)
    assert (first, second) == (1, 2)
    assert 0 < less < likeness < 1


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
