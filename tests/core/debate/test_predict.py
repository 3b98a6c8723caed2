"""Which answers of an author a prediction shows, and what each source says of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.debate.outcome import DebateItem, Precedent
from labelhub.core.debate.predict import (
    AUTHOR,
    LABELS_BY,
    AuthorAnswer,
    example_pools,
    select_examples,
    shown_label,
)
from labelhub.core.schema import schema_from_names
from tests.core.debate.canned import fenced, played

OPTIONS = ("calm", "cross", "glad", "sad")


def answer(item: int, **fields: Any) -> AuthorAnswer:
    labels: dict[str, tuple[str, ...]] = fields.pop("labels", {})
    usual: dict[str, Any] = {
        "key": f"i{item}", "author": "ann", "conversation": "t", "text": f"Text {item}.",
        "question": "How?", "asked": f"q{item}", "options": OPTIONS,
    }  # fmt: skip
    return AuthorAnswer(item=item, labels={AUTHOR: ("calm",)} | labels, **(usual | fields))


def answers(count: int, **fields: Any) -> list[AuthorAnswer]:
    return [answer(item, **fields) for item in range(1, count + 1)]


def selected(asked: AuthorAnswer, rows: list[AuthorAnswer], count: int = 5, *more: str) -> set[int]:
    pool = example_pools(rows, {AUTHOR, *more}).get((asked.author, asked.conversation), [])
    return {found.item for found in select_examples(asked, pool, count)}


def test_examples_are_the_authors_other_answers_in_their_order() -> None:
    rows = [*answers(4), answer(5, author="bob")]
    assert selected(rows[0], rows) == {2, 3, 4}
    found = select_examples(rows[0], reversed(rows), 5)
    assert [row.item for row in found] == [2, 3, 4, 5]


def test_the_same_question_reveals_nothing_and_is_shown_once() -> None:
    rows = [answer(1, asked="same"), answer(2, asked="same"), *answers(5)[2:4]]
    assert selected(rows[0], rows) == {3, 4}
    assert len(selected(rows[2], rows)) == 2


@given(st.permutations(answers(7)), st.integers(0, 5))
def test_the_order_of_the_answers_changes_nothing(rows: list[AuthorAnswer], count: int) -> None:
    asked = answer(3)
    assert selected(asked, rows, count) == selected(asked, answers(7), count)
    assert asked.item not in selected(asked, rows, count)


def test_of_several_annotators_the_most_frequent_label_is_shown_and_a_tie_is_drawn() -> None:
    assert shown_label(answer(1, labels={"crowd": ("sad", "glad", "sad")}), "crowd") == "sad"
    tied = [
        shown_label(answer(item, labels={"crowd": ("sad", "glad")}), "crowd") for item in range(99)
    ]
    assert 30 < tied.count("sad") < 69
    assert set(tied) == {"sad", "glad"}
    assert shown_label(answer(1), "expert") is None


@pytest.mark.parametrize("source", LABELS_BY.choices)
def test_a_source_says_the_same_each_time(source: str) -> None:
    row = answer(1, labels=dict.fromkeys(("llm", "crowd", "expert"), ("sad", "glad")))
    assert shown_label(row, source) == shown_label(row, source)


def test_one_call_shows_the_text_and_then_the_examples() -> None:
    example = Precedent("a", "calm", "It was me.", question="When?")
    debate = played(
        "predict",
        {"predictor": "Final Decision: cross"},
        asked=schema_from_names("single", OPTIONS),
        item=DebateItem("1", "Who took it?", precedents=(example,)),
    )
    assert debate.outcome.value == "cross"
    assert debate.steps == [["predictor"]]
    assert fenced(debate.read("predictor")) == ["Who took it?", "It was me.", "When?", "calm"]
