"""McNemar's test in its forms and the tests of square tables: published values, properties."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.significance import mcnemar, mcnemar_mid_p
from tests.cases import all_cases

COUNTS = st.integers(0, 400)


@all_cases(
    ("b", "c", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (10, 2, 0.03857421875),
        (21, 9, 0.04277394525706768),
        (7, 7, 1.0),
    ],
)
def test_exact_p_values(b: int, c: int, p: float) -> None:
    assert mcnemar(b, c) == pytest.approx(p, rel=1e-12)


@given(COUNTS, COUNTS)
def test_it_is_the_binomial_with_one_half(b: int, c: int) -> None:
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    assert mcnemar(b, c) == pytest.approx(min(1.0, 2 * tail / 2 ** (b + c)), rel=1e-9)


@given(COUNTS, COUNTS)
def test_the_mid_p_counts_the_split_itself_half(b: int, c: int) -> None:
    n = b + c
    chances = [comb(n, k) / 2**n for k in range(n + 1)]
    as_far = sum(p for k, p in enumerate(chances) if abs(2 * k - n) == abs(b - c))
    farther = sum(p for k, p in enumerate(chances) if abs(2 * k - n) > abs(b - c))
    wanted = farther + as_far / 2 if n else 1.0
    assert mcnemar_mid_p(b, c) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("fewer", "tail"),
    [
        # By whole numbers of any length, which takes seconds for each.
        (499_900, 0.4211313785258044),
        (499_000, 0.02280414993269104),
        (495_000, 7.690777521953676e-24),
        (485_000, 4.726203126285792e-198),
    ],
)
def test_a_million_discordant_items_are_still_exact(fewer: int, tail: float) -> None:
    assert mcnemar(fewer, 1_000_000 - fewer) == pytest.approx(2 * tail, rel=1e-11)
