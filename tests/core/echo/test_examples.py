"""Which answered messages are shown: near ones, of some spread, never the message itself."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.examples import (
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


def test_the_same_conversation_comes_first_among_about_equally_near_ones() -> None:
    elsewhere = Example("a cheap tablet for school", "a", conversation="c2", author="x")
    same = Example("a cheap phone for travel", "b", conversation="c1", author="x")
    shown = nearest_examples(
        "a cheap laptop for school", [elsewhere, same], most=2, tokens=500, conversation="c1"
    )
    assert values(shown) == ["b", "a"]


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
