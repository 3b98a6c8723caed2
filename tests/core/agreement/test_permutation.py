"""Permutation of whole clusters: kinship with the tests of items, by hand, and errors held."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from labelhub.core.agreement import significance
from labelhub.core.agreement.significance import cochran, column_shuffle, mcnemar, sign_flip, summed
from labelhub.core.errors import InvalidInput

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


@given(st.integers(0, 300), st.integers(0, 300))
def test_of_single_items_it_is_the_exact_mcnemar_test(b: int, c: int) -> None:
    assert sign_flip([1] * b + [-1] * c).p == mcnemar(b, c)
    assert sign_flip([3] * b + [-3] * c).p == pytest.approx(mcnemar(b, c), rel=1e-9, abs=1e-300)


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
        orders = [tuple(np.array(row)[list(at)]) for at in ORDERS]
        sums = _convolved(sums, orders)
    seen = sum(total**2 for total in np.sum(table, axis=0))
    expected = sum(chance for key, chance in sums.items() if sum(x**2 for x in key) >= seen)
    assert column_shuffle(table).p == pytest.approx(expected, abs=0.03)


ORDERS = [at for at in product(range(3), repeat=3) if len(set(at)) == 3]


def _convolved(
    sums: dict[tuple[int, ...], float], rows: list[tuple[int, ...]]
) -> dict[tuple[int, ...], float]:
    found: dict[tuple[int, ...], float] = {}
    for key, chance in sums.items():
        for row in rows:
            total = tuple(int(one + more) for one, more in zip(key, row, strict=True))
            found[total] = found.get(total, 0.0) + chance / len(rows)
    return found


@pytest.mark.parametrize("items", [300, 3000])
def test_of_single_items_the_shuffle_is_cochrans_q(items: int) -> None:
    generator = np.random.default_rng(items)
    chances = 0.6 + np.array([0, 0.5, 1]) / np.sqrt(items)
    right = (generator.random((items, 3)) < chances).astype(int)
    found, asymptotic = column_shuffle(right), cochran(right).q.p
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
        by_cluster.append(sign_flip(summed(leads, clusters)).p < 0.05)
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
        summed([1, 2], [1])


def test_many_clusters_that_all_lean_one_way_are_drawn() -> None:
    # A pass for each of them would take seconds, and the exact p is too small for a number.
    leads = np.repeat([1, 2], [200_000, 100_000])
    found = sign_flip(leads)
    assert found.p == 1 / (1 + significance.FLIPS)
    assert "draws" in found.how
