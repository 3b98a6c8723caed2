"""McNemar's test in its forms and the tests of square tables: published values, properties."""

from collections.abc import Callable, Sequence
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement import significance
from labelhub.core.agreement.significance import (
    benjamini_yekutieli,
    cochran_q,
    column_shuffle,
    fisher_exact,
    holm,
    mann_whitney,
    mcnemar,
    mcnemar_mid_p,
    median,
    newcombe,
    sign_flip,
    sum_by_cluster,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement.published import reference

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


#: Three sources, twelve items: 10, 7 and 4 right.
RIGHT = [[1, 1, 1]] * 3 + [[1, 1, 0]] * 3 + [[1, 0, 0]] * 3 + [[0, 1, 0], [1, 0, 1], [0, 0, 0]]


def test_cochrans_q_by_hand() -> None:
    # Items tell apart where 1 or 2 of 3 are right: 3 x 2 + 3 x 2 + 2 + 2 = 16 = 3 N - sum R^2.
    found = cochran_q(np.array(RIGHT, dtype=float))
    q = 2 * (3 * (100 + 49 + 16) - 21**2) / 16
    assert found.statistic == pytest.approx(q)
    assert found.df == 2
    assert found.p == pytest.approx(np.exp(-q / 2))


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
Adjustment = Callable[[Sequence[float | None]], list[float | None]]
ALL = (holm, benjamini_yekutieli)


def test_fifteen_published_p_values() -> None:
    known = reference("bh1995_holm")
    assert holm(known["input"]["p"]) == pytest.approx(known["expected"], abs=known["tolerance"])


def test_benjamini_and_yekutieli_is_stricter_by_the_harmonic_sum() -> None:
    known = reference("bh1995_fdr_bh")
    harmonic = sum(1 / i for i in range(1, 16))
    wanted = [min(1.0, p * harmonic) for p in known["expected"]]
    assert benjamini_yekutieli(known["input"]["p"]) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("adjust", ALL)
def test_undefined_p_values_stay_undefined_and_do_not_count(adjust: Adjustment) -> None:
    with_gaps = adjust([0.01, None, 0.04, float("nan")])
    assert [with_gaps[0], with_gaps[2]] == adjust([0.01, 0.04])
    assert with_gaps[1] is None
    assert np.isnan(with_gaps[3] or 0)
    assert adjust([None]) == [None]


@pytest.mark.parametrize("wrong", [-0.01, 1.01, float("inf")])
def test_what_is_no_probability_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        holm([0.5, wrong])


Ints = NDArray[np.int64]

LEADS = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
#: Right answers by cluster of three sources.
TABLES = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=6)


def test_an_example_by_hand() -> None:
    # +-3 +-2 +-1: sums of 6, 4, 2, 0, 0, -2, -4, -6. Four of eight lie at 4 or further.
    assert sign_flip([3, 2, -1]).p == 4 / 8
    assert sign_flip([3, 2, 1, 0, 0]).p == 2 / 8
    assert sign_flip([3, -3]).p == sign_flip([0, 0]).p == sign_flip([]).p == 1
    assert sign_flip([3, 2, -1]).how == "exact"


@given(LEADS)
def test_all_signs_are_counted(leads: list[int]) -> None:
    sums = [abs(sum(np.array(leads) * signs)) for signs in product((1, -1), repeat=len(leads))]
    assert sign_flip(leads).p == pytest.approx(np.mean(np.array(sums) >= abs(sum(leads))))


def test_too_many_to_count_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    leads = np.random.default_rng(2).integers(-3, 5, size=200)
    exact = sign_flip(leads)
    monkeypatch.setattr(significance, "MOST_STEPS", 0)
    drawn = sign_flip(leads)
    assert (exact.how, drawn.how) == ("exact", "19999 draws, seed 7")
    assert drawn.p == pytest.approx(exact.p, abs=4 * np.sqrt(exact.p / 20000) + 1 / 20000)
    assert sign_flip([5] * 400).p == 1 / 20000


@settings(max_examples=15, deadline=None)
@given(TABLES)
def test_all_exchanges_are_as_likely(table: list[list[int]]) -> None:
    """Against going through all ways to exchange the columns of up to six clusters."""
    sums: dict[tuple[int, ...], float] = {(0, 0, 0): 1.0}
    for row in table:
        orders = [tuple(np.array(row)[list(order)]) for order in ORDERS]
        sums = _convolved(sums, orders)
    seen = sum(total**2 for total in np.sum(table, axis=0))
    expected = sum(chance for key, chance in sums.items() if sum(x**2 for x in key) >= seen)
    assert column_shuffle(table).p == pytest.approx(expected, abs=0.03)


ORDERS = [order for order in product(range(3), repeat=3) if len(set(order)) == 3]


def _convolved(
    sums: dict[tuple[int, ...], float], rows: list[tuple[int, ...]]
) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {}
    for key, chance in sums.items():
        for row in rows:
            total = tuple(int(count + more) for count, more in zip(key, row, strict=True))
            found[total] = found.get(total, 0.0) + chance / len(rows)
    return found


@pytest.mark.parametrize("items", [300, 3000])
def test_of_single_items_the_shuffle_is_cochrans_q(items: int) -> None:
    generator = np.random.default_rng(items)
    chances = 0.6 + np.array([0, 0.5, 1]) / np.sqrt(items)
    right = (generator.random((items, 3)) < chances).astype(int)
    found, asymptotic = column_shuffle(right), cochran_q(right.astype(float)).p
    assert asymptotic is not None
    assert found.p == pytest.approx(asymptotic, abs=0.015 if items == 300 else 1e-12)
    assert found.how == ("9999 draws, seed 7" if items == 300 else "chi-square of many")


def null(seed: int, authors: int = 30, messages: int = 8) -> tuple[Ints, Ints]:
    """Three sources, each right on nearly all messages of an author or on nearly none: alike."""
    generator = np.random.default_rng(seed)
    likes = generator.choice([0.1, 0.9], size=(authors, 3))
    right = generator.random((authors, messages, 3)) < likes[:, None]
    return right.reshape(-1, 3).astype(int), np.repeat(np.arange(authors), messages)


def test_alike_sources_are_told_apart_in_one_of_twenty_where_items_alone_fail() -> None:
    by_item, by_cluster = [], []
    for seed in range(300):
        right, clusters = null(seed)
        leads = right[:, 0] - right[:, 1]
        by_item.append(mcnemar(int((leads > 0).sum()), int((leads < 0).sum())) < 0.05)
        by_cluster.append(sign_flip(sum_by_cluster(leads, clusters)).p < 0.05)
    assert np.mean(by_item) > 0.3
    assert np.mean(by_cluster) < 0.05 + 1.65 * np.sqrt(0.05 * 0.95 / 300)


def test_what_is_no_count_is_refused() -> None:
    for wrong in ([0.5], [[1]]):
        with pytest.raises(InvalidInput):
            sign_flip(wrong)
    for table in ([1, 0], [[1], [0]]):
        with pytest.raises(InvalidInput):
            column_shuffle(table)
    with pytest.raises(InvalidInput):
        sum_by_cluster([1, 2], [1])


PARTS = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("counts", "interval"),
    [
        # Newcombe 1998, table II, method 10.
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((10, 10, 0, 20), (0.6791, 1.0000)),
    ],
)
def test_newcombe_is_as_published(
    counts: tuple[int, int, int, int], interval: tuple[float, float]
) -> None:
    assert newcombe(*counts) == pytest.approx(interval, abs=6e-5)


@pytest.mark.parametrize("counts", [(3, 2, 1, 4), (-1, 2, 1, 4), (1, 2, 5, 4)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(InvalidInput):
        fisher_exact(*counts)
    with pytest.raises(InvalidInput):
        newcombe(*counts)


def test_mann_whitney_of_nothing_is_undefined() -> None:
    assert mann_whitney([], [1.0]) is None
    assert mann_whitney([1.0], []) is None


@all_cases("n", [6, 8, 9, 20, 50, 101])
def test_a_medians_interval_covers_what_it_says_and_hardly_more(n: int) -> None:
    found = median(list(range(n)))

    outside = found["low"]
    assert outside is not None
    assert found["high"] == n - 1 - outside
    assert stats.binom.cdf(outside, n, 0.5) <= 0.025 < stats.binom.cdf(outside + 1, n, 0.5)
