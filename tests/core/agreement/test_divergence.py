"""Answers as distributions: known values in both units, bounds, directions, missing answers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy

from labelhub.core.agreement.divergence import (
    Unit,
    cross_entropy,
    distribution,
    entropy,
    js_distance,
    js_divergence,
    kl_divergence,
    over_items,
    overlap,
    soft_accuracy,
)
from labelhub.core.errors import InvalidInput

BASES = {Unit.BITS: 2.0, Unit.NATS: float(np.e)}
COUNTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)
ORDERS = st.permutations(range(4))
FULL = st.lists(st.integers(1, 9), min_size=4, max_size=4)


def test_shares_of_counts_with_and_without_prior() -> None:
    np.testing.assert_allclose(distribution([3, 1, 0]), [0.75, 0.25, 0])
    np.testing.assert_allclose(distribution([3, 1, 0], prior=1), [4 / 7, 2 / 7, 1 / 7])
    np.testing.assert_allclose(distribution([[0, 2], [0, 0]], prior=0.5)[1], [0.5, 0.5])


def test_an_item_without_answers_is_undefined_and_left_out_of_the_mean() -> None:
    shares = distribution([[2, 2], [0, 0], [4, 0]])
    by_item = entropy(shares)
    np.testing.assert_allclose(by_item, [1, np.nan, 0])
    assert over_items(by_item) == (0.5, 2, 1)
    others = distribution([[1, 1], [1, 1], [1, 1]])
    for numbers in (
        kl_divergence(truth=shares, model=others),
        js_divergence(shares, others),
        cross_entropy(human=shares, source=others),
        cross_entropy(human=others, source=shares),
        soft_accuracy(human=shares, source=others),
        overlap(shares, others),
    ):
        assert np.isnan(numbers).tolist() == [False, True, False]


def test_the_mean_is_undefined_without_items_and_where_one_is_infinite() -> None:
    assert over_items([np.nan]) == (None, 0, 1)
    assert over_items([1.0, np.inf]) == (None, 2, 0)


@pytest.mark.parametrize("unit", list(Unit))
@given(one=COUNTS, other=FULL)
def test_all_are_those_of_scipy_in_both_units(unit: Unit, one: Any, other: Any) -> None:
    p, q, base = distribution(one), distribution(other), BASES[unit]
    assert entropy(p, unit) == pytest.approx(scipy_entropy(p, base=base), abs=1e-12)
    kl = scipy_entropy(p, q, base=base)
    assert kl_divergence(truth=p, model=q, unit=unit) == pytest.approx(kl, abs=1e-12)
    assert js_distance(p, q, unit) == pytest.approx(jensenshannon(p, q, base=base), abs=1e-7)
    crossed = scipy_entropy(p, base=base) + kl
    assert cross_entropy(human=p, source=q, unit=unit) == pytest.approx(crossed, abs=1e-12)


def test_known_values_by_hand() -> None:
    p, q = [0.5, 0.5], [0.75, 0.25]
    assert kl_divergence(truth=p, model=q) == pytest.approx(1 - np.log2(3) / 2)
    assert kl_divergence(truth=q, model=p) == pytest.approx(0.75 * np.log2(3) - 1)
    assert js_divergence([1, 0], [0, 1]) == 1
    assert js_divergence([1, 0], [0, 1], Unit.NATS) == pytest.approx(np.log(2))
    assert soft_accuracy(human=[0.7, 0.2, 0.1], source=[0, 1, 0]) == pytest.approx(0.2)


@given(COUNTS, COUNTS)
def test_jensen_shannon_is_finite_symmetric_and_at_most_one_bit(one: Any, other: Any) -> None:
    p, q = distribution(one), distribution(other)
    both = js_divergence(p, q)
    assert both == js_divergence(q, p)
    assert 0 <= both <= 1 + 1e-12
    assert js_divergence(p, p) == pytest.approx(0, abs=1e-12)


@given(COUNTS, COUNTS, COUNTS)
def test_the_jensen_shannon_distance_knows_no_detours(one: Any, other: Any, third: Any) -> None:
    p, q, r = (distribution(each) for each in (one, other, third))
    assert js_distance(p, r) <= js_distance(p, q) + js_distance(q, r) + 1e-7


@given(COUNTS, COUNTS, ORDERS)
def test_names_of_the_categories_do_not_matter(one: Any, other: Any, order: list[int]) -> None:
    p, q = distribution(one, prior=1), distribution(other, prior=1)
    for measure in (js_divergence, overlap, lambda a, b: kl_divergence(truth=a, model=b)):
        assert measure(p[order], q[order]) == pytest.approx(measure(p, q), abs=1e-12)


@given(COUNTS)
def test_entropy_is_between_none_and_that_of_equal_shares(counts: Any) -> None:
    assert 0 <= entropy(distribution(counts)) <= 2 + 1e-12


def test_kl_is_infinite_where_the_model_excludes_what_is_true_and_smoothing_mends_it() -> None:
    truth, model = [0.5, 0.5], [1, 0]
    assert kl_divergence(truth=truth, model=model) == np.inf
    assert kl_divergence(truth=model, model=truth) == pytest.approx(1)
    assert cross_entropy(human=truth, source=model) == np.inf
    smoothed = kl_divergence(truth=truth, model=model, smoothing=0.5)
    assert smoothed == pytest.approx(kl_divergence(truth=truth, model=[0.75, 0.25]))
    assert kl_divergence(truth=truth, model=truth, smoothing=0.1) == 0
    crossed = cross_entropy(human=truth, source=model, smoothing=0.5)
    assert crossed == pytest.approx(cross_entropy(human=truth, source=[0.75, 0.25]))


@given(COUNTS, COUNTS)
def test_soft_accuracy_is_at_most_the_largest_human_share(one: Any, other: Any) -> None:
    human, source = distribution(one), distribution(other)
    assert soft_accuracy(human=human, source=source) <= human.max() + 1e-12


@given(COUNTS, st.integers(0, 3))
def test_for_hard_answers_soft_accuracy_and_overlap_are_the_human_share(
    counts: Any, answer: int
) -> None:
    human, source = distribution(counts), np.eye(4)[answer]
    assert soft_accuracy(human=human, source=source) == human[answer]
    assert overlap(human, source) == human[answer]


@given(COUNTS, COUNTS)
def test_overlap_is_one_less_the_total_variation(one: Any, other: Any) -> None:
    p, q = distribution(one), distribution(other)
    assert overlap(p, q) == pytest.approx(1 - np.abs(p - q).sum() / 2)


def test_the_data_set_as_one_is_the_distribution_of_the_sums() -> None:
    counts = np.array([[4, 0], [0, 4]])
    assert over_items(entropy(distribution(counts))).mean == 0
    assert entropy(distribution(counts.sum(axis=0))) == 1


@pytest.mark.parametrize("wrong", [[0.5, 0.6], [1.5, -0.5], 1.0])
def test_what_is_no_distribution_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        entropy(wrong)


def test_other_impossible_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="same categories"):
        js_divergence([1, 0], [1, 0, 0])
    with pytest.raises(InvalidInput, match="never negative"):
        distribution([1, -1])
    with pytest.raises(InvalidInput, match="never negative"):
        distribution([1, 1], prior=-1)
    with pytest.raises(InvalidInput, match="Smoothing"):
        kl_divergence(truth=[1, 0], model=[1, 0], smoothing=-1)
