"""McNemar's test in its forms and the tests of square tables: published values, properties."""

from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import chi_square, mcnemar, mcnemar_mid_p
from tests.cases import all_cases
from tests.core.agreement.published import paper_tables, reference

COUNTS = st.integers(0, 400)


def approx(value: Any) -> Any:
    return None if value is None else pytest.approx(value, rel=1e-8, abs=1e-8)


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


def test_the_p_values_of_the_expert_paper_are_reproduced() -> None:
    tests = paper_tables()["p001"]["mcnemar_inversion"]
    reached = [case for case in tests if case["discordant_pairs_reproducing"]["exact"]]
    assert len(reached) == 18
    for case in reached:
        for b, c in case["discordant_pairs_reproducing"]["exact"]:
            assert mcnemar(b, c) == pytest.approx(case["stated_p"], abs=0.0006)


def test_after_holm_none_of_that_papers_differences_is_left() -> None:
    tests = paper_tables()["p001"]["mcnemar_inversion"]
    adjusted = holm([case["stated_p"] for case in tests])
    assert min(adjusted) > 0.05
    assert min(adjusted) == pytest.approx(0.26, abs=0.005)


def test_exact_and_asymptotic_are_close_on_many_items() -> None:
    case = reference("mcnemar_agresti")
    (_, b), (c, _) = case["input"]["table"]
    assert mcnemar(b, c) == pytest.approx(case["expected"][2], rel=0.15)


@given(COUNTS, COUNTS)
def test_it_is_the_binomial_with_one_half(b: int, c: int) -> None:
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    assert mcnemar(b, c) == pytest.approx(min(1.0, 2 * tail / 2 ** (b + c)), rel=1e-9)


@given(COUNTS, COUNTS)
def test_the_order_of_the_two_does_not_matter(b: int, c: int) -> None:
    assert mcnemar(b, c) == mcnemar(c, b)
    assert 0 <= mcnemar_mid_p(b, c) <= mcnemar(b, c) <= 1


@given(COUNTS, COUNTS)
def test_a_less_even_split_is_never_less_significant(b: int, c: int) -> None:
    more, fewer = max(b, c), min(b, c)
    if fewer:
        assert mcnemar(more + 1, fewer - 1) <= mcnemar(more, fewer)


@given(COUNTS, COUNTS)
def test_the_mid_p_counts_the_split_itself_half(b: int, c: int) -> None:
    n = b + c
    chances = [comb(n, k) / 2**n for k in range(n + 1)]
    as_far = sum(p for k, p in enumerate(chances) if abs(2 * k - n) == abs(b - c))
    farther = sum(p for k, p in enumerate(chances) if abs(2 * k - n) > abs(b - c))
    wanted = farther + as_far / 2 if n else 1.0
    assert mcnemar_mid_p(b, c) == pytest.approx(wanted, rel=1e-9)


def test_fagerlands_example_of_the_mid_p() -> None:
    assert mcnemar(1, 7) == pytest.approx(0.0703125, abs=1e-12)
    assert mcnemar_mid_p(1, 7) == pytest.approx(0.0390625, abs=1e-12)


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


def test_the_p_value_is_the_upper_tail_of_chi_square() -> None:
    for df in (1, 3, 10):
        assert chi_square(7.5, df).p == pytest.approx(chi2.sf(7.5, df), rel=1e-12)
