"""Differences of texts: complete, numbered, with the words that changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.textdiff import Line, counts, diff

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
