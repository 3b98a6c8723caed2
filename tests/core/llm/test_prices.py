"""Costs are exact integers; what is unknown is not free."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.prices import cost_nanousd, estimate_tokens, estimate_usage
from labelhub.core.llm.types import Message, Usage
from tests.cases import all_cases


@all_cases(
    ("tokens_in", "tokens_out", "price_in", "price_out", "cost"),
    [
        (1_000_000, 0, "2.5", "10", 2_500_000_000),
        (0, 1_000_000, "2.5", "10", 10_000_000_000),
        (1, 1, "0.15", "0.6", 750),
        (3, 0, "0.0005", "0", 2),  # 1.5 nano-USD, rounded half up
        (1000, 1000, "0", "0", 0),
    ],
)
def test_a_call_costs_its_tokens(
    tokens_in: int, tokens_out: int, price_in: str, price_out: str, cost: int
) -> None:
    usage = Usage(tokens_in, tokens_out)
    found = cost_nanousd(usage, price_in=Decimal(price_in), price_out=Decimal(price_out))
    assert found == cost
    assert isinstance(found, int)


@pytest.mark.parametrize(
    ("cached", "reasoning", "cost"),
    [
        (None, None, 1000 * (1000 * 2 + 100 * 8)),
        ("0.5", None, 1000 * (600 * 2 + 100 * 8) + 1000 * 400 // 2),
        (None, "4", 1000 * (1000 * 2 + 40 * 8 + 60 * 4)),
        ("0", "0", 1000 * (600 * 2 + 40 * 8)),
    ],
)
def test_cached_input_and_hidden_reasoning_may_have_their_own_price(
    cached: str | None, reasoning: str | None, cost: int
) -> None:
    usage = Usage(1000, 100, tokens_cached=400, tokens_reasoning=60)
    found = cost_nanousd(
        usage,
        price_in=Decimal(2),
        price_out=Decimal(8),
        price_cached_in=None if cached is None else Decimal(cached),
        price_reasoning=None if reasoning is None else Decimal(reasoning),
    )
    assert found == cost


def test_a_part_that_is_larger_than_the_whole_is_never_a_refund() -> None:
    usage = Usage(10, 10, tokens_cached=1000, tokens_reasoning=1000)
    free = {"price_cached_in": Decimal(0), "price_reasoning": Decimal(0)}
    assert cost_nanousd(usage, price_in=Decimal(1), price_out=Decimal(1), **free) == 0


@pytest.mark.parametrize(("price_in", "price_out"), [(None, Decimal(1)), (Decimal(1), None)])
def test_an_unknown_price_gives_an_unknown_cost(
    price_in: Decimal | None, price_out: Decimal | None
) -> None:
    assert cost_nanousd(Usage(1, 1), price_in=price_in, price_out=price_out) is None


def test_tokens_are_estimated_on_the_high_side() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("The soup was cold.") == 6
    assert estimate_tokens("とても清潔") == 5
    assert estimate_tokens("Это") == 3
    assert estimate_tokens("ክፍሉ") == 6
    assert estimate_tokens("አ👍") == 5
    assert estimate_tokens("👍") == 3
    assert estimate_tokens("Café") == 2


@given(st.text(), st.text())
def test_a_longer_text_never_has_fewer_tokens(one: str, two: str) -> None:
    assert estimate_tokens(one + two) >= max(estimate_tokens(one), estimate_tokens(two))


def test_estimated_usage_says_so() -> None:
    usage = estimate_usage([Message("system", "abc"), Message("user", "def")], "ghij")
    assert usage == Usage(tokens_in=10, tokens_out=2, estimated=True)
