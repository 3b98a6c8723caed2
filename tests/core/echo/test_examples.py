"""Which answered messages are shown: near ones, of some spread, never the message itself."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.examples import (
    MOST_TEXT_TOKENS,
    NEAR_DUPLICATE,
    REPEATED,
    Example,
    ExampleIndex,
    Wanted,
    shortened,
    tokens_of,
)
from labelhub.core.llm.prices import estimate_tokens
from labelhub.core.similarity import TfIdfIndex, same_text_key

LAPTOP = "I need a cheap laptop for college"
KNOWN = (
    Example("a cheap laptop for my son at college", "lowest"),
    Example("which cheap laptop is good for students", "lowest"),
    Example("a laptop, money does not matter", "open"),
    Example("what is the capital of France", "none"),
    Example("I NEED a cheap  laptop for college", "lowest"),
)

WORDS = ("cheap", "laptop", "phone", "urgent", "gift", "red", "why", "now", "手机", "दाम", "🙂")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=0, max_size=12).map(" ".join) | st.text(
    max_size=40
)
EXAMPLES = st.builds(
    Example,
    text=TEXTS,
    value=st.sampled_from(["yes", "no", "perhaps"]),
    conversation=st.sampled_from(["", "c1", "c2"]),
    author=st.sampled_from(["", "a1", "a2"]),
)


def nearest_examples(
    text: str, examples: Iterable[Example], *, most: int, tokens: int, **message: str
) -> tuple[Example, ...]:
    """Of these examples those to show beside a message; ``message`` is what else is known of it."""
    return ExampleIndex(examples).nearest(Wanted(text, most, tokens, **message))


def values(examples: tuple[Example, ...]) -> list[str]:
    return [each.value for each in examples]


def test_the_nearest_come_first_and_never_the_message_itself() -> None:
    shown = nearest_examples(LAPTOP, KNOWN, most=2, tokens=1_000)
    assert [each.text for each in shown] == [KNOWN[0].text, KNOWN[1].text]


def test_one_value_does_not_fill_all_places_where_another_is_near() -> None:
    alike = [Example(f"a cheap laptop number{at} please", "lowest") for at in range(6)]
    other = Example("a cheap laptop or a better one", "open")
    shown = nearest_examples("a cheap laptop", [*alike, other], most=4, tokens=1_000)
    assert set(values(shown)) == {"lowest", "open"}


def test_a_value_that_is_nowhere_near_takes_no_place_of_a_near_one() -> None:
    shown = nearest_examples(LAPTOP, KNOWN, most=2, tokens=1_000)
    assert "none" not in values(shown)


def test_the_same_conversation_comes_first_among_about_equally_near_ones() -> None:
    elsewhere = Example("a cheap tablet for school", "a", conversation="c2", author="x")
    same = Example("a cheap phone for travel", "b", conversation="c1", author="x")
    shown = nearest_examples(
        "a cheap laptop for school", [elsewhere, same], most=2, tokens=500, conversation="c1"
    )
    assert values(shown) == ["b", "a"]


def test_the_same_author_counts_less_than_the_same_conversation() -> None:
    own = Example("one two three", "a", conversation="c2", author="x")
    same = Example("four five six", "b", conversation="c1", author="x")
    shown = nearest_examples(
        "seven", [own, same], most=2, tokens=500, conversation="c1", author="x"
    )
    assert values(shown) == ["b", "a"]


def test_a_much_nearer_message_beats_the_same_conversation() -> None:
    near = Example("my blue bike lamp flickers at night and by day", "a")
    same = Example("thanks a lot", "b", conversation="c1")
    shown = nearest_examples(
        "the blue bike lamp flickers at night", [near, same], most=1, tokens=500, conversation="c1"
    )
    assert values(shown) == ["a"]


def test_unknown_names_are_nobody() -> None:
    shown = [Example("one", "a"), Example("two", "b", conversation="c", author="x")]
    assert ExampleIndex(shown)._bonus(Wanted("three", 2, 500)).tolist() == [0.0, 0.0]


def test_long_texts_are_cut_at_their_end_less_than_in_their_middle() -> None:
    text = "start " + "word " * 400 + "finish"
    (shown,) = nearest_examples("a word", [Example(text, "a")], most=1, tokens=500)
    assert estimate_tokens(shown.text) <= MOST_TEXT_TOKENS
    assert shown.text.startswith("start")
    assert shown.text.endswith("finish")
    assert " … " in shown.text


def test_one_that_is_too_long_leaves_room_for_a_shorter_one() -> None:
    long = Example("cheap laptop " + "with many words " * 20, "a")
    short = Example("a cheap phone", "b")
    budget = tokens_of(short)
    assert values(nearest_examples("cheap laptop", [long, short], most=2, tokens=budget)) == ["b"]


@pytest.mark.parametrize(("most", "tokens"), [(0, 500), (-1, 500), (3, 0), (3, 20)])
def test_without_room_nothing_is_shown(most: int, tokens: int) -> None:
    assert nearest_examples(LAPTOP, KNOWN, most=most, tokens=tokens) == ()


def test_without_examples_nothing_is_shown() -> None:
    assert nearest_examples(LAPTOP, [], most=3, tokens=500) == ()
    assert nearest_examples(LAPTOP, [Example(" ", "a")], most=3, tokens=500) == ()


@pytest.mark.thorough
@given(text=TEXTS, examples=st.lists(EXAMPLES, max_size=12), seed=st.integers(0, 99))
def test_whatever_is_given_the_rules_hold(text: str, examples: list[Example], seed: int) -> None:
    def chosen(given: list[Example]) -> tuple[Example, ...]:
        return nearest_examples(text, given, most=4, tokens=300, conversation="c1", author="a1")

    shown = chosen(examples)
    order = np.random.default_rng(seed).permutation(2 * len(examples))
    mixed = [examples[at // 2] for at in order]
    assert chosen(mixed) == shown
    assert len(shown) <= 4
    assert sum(map(tokens_of, shown)) <= 300
    assert same_text_key(text) not in {same_text_key(each.text) for each in shown}
    told = [(same_text_key(each.text), each.value) for each in shown]
    assert len(set(told)) == len(told)


@pytest.mark.thorough
@given(text=TEXTS, examples=st.lists(EXAMPLES, min_size=1, max_size=12, unique_by=lambda e: e.text))
def test_four_of_one_value_only_where_no_other_is_near(text: str, examples: list[Example]) -> None:
    plain = [replace(each, conversation="", author="") for each in examples if each.text.strip()]
    shown = nearest_examples(text, plain, most=4, tokens=5_000)
    if len(shown) < 4 or len(set(values(shown))) > 1:
        return
    likeness = TfIdfIndex([each.text for each in plain]).similarities(text)
    worth = {each: float(alike) for each, alike in zip(plain, likeness, strict=True)}
    others = [worth[each] for each in plain if each.value != shown[0].value]
    usable = [each for each in others if each < NEAR_DUPLICATE]
    assert max(usable, default=0.0) <= max(worth[shown[3]], 0.01) * REPEATED**3 + 0.011


@given(text=st.text(max_size=400), tokens=st.integers(2, 60))
def test_a_shortened_text_fits(text: str, tokens: int) -> None:
    short = shortened(text, tokens)
    assert estimate_tokens(short) <= max(tokens, 2)
    assert len(short) <= max(len(text), 3)
