"""Costs are exact integers; what is unknown is not free."""

from decimal import Decimal

import pytest

from labelhub.core.llm.prices import cost_nanousd, estimate_tokens
from labelhub.core.llm.types import Usage
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
