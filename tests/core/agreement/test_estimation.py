"""A coefficient's interval: how it is made, and that it covers the truth as often as it says."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement import estimation
from labelhub.core.agreement.calibration import Calibration, measure_calibration
from labelhub.core.agreement.coefficients import chance, sums
from labelhub.core.agreement.estimation import (
    Units,
    cluster_units,
    estimate,
    estimate_share,
    item_units,
)
from labelhub.core.agreement.intervals import BOOTSTRAP, WILSON, wilson
from labelhub.core.agreement.ratings import Ints, Ratings, keep_latest
from labelhub.core.errors import InvalidInput
from tests.core.agreement.by_pairs import Table, tables
from tests.core.agreement.matrices import from_matrix, value_of_counts

Q = 3
ALPHA = chance.alpha_nominal(Q)


def ones(counts: Ints) -> Ints:
    return np.ones(len(counts), dtype=np.int64)


def simulated(seed: int, items: int, knows: float, priors: list[float]) -> Ints:
    """Counts of three raters; each knows the truth by chance ``knows`` and else draws from the
    priors. Two agree by chance alone unless both know: the true alpha is ``knows`` squared."""
    generator = np.random.default_rng(seed)
    truth = generator.choice(len(priors), p=priors, size=(items, 1))
    guesses = generator.choice(len(priors), p=priors, size=(items, 3))
    codes = np.where(generator.random((items, 3)) < knows, truth, guesses)
    return from_matrix(codes, len(priors)).counts()


SAMPLE = simulated(1, 200, 0.6, [1 / 3, 1 / 3, 1 / 3])


def coverage(repeats: int, knows: float, priors: list[float]) -> float:
    """How often the bootstrap interval over 100 items holds the true alpha."""
    value = chance.alpha_nominal(len(priors))
    held = 0
    for seed in range(repeats):
        rows = sums.find_patterns(simulated(seed, 100, knows, priors))
        found = item_units(sums.agreement_parts(rows.counts), rows.items)
        low, high = estimation.estimate_interval(found, value, 0.0)
        held += low <= knows**2 <= high
    return held / repeats


SETTINGS = pytest.mark.parametrize(
    ("knows", "priors"),
    [
        pytest.param(0.6, [1 / 3, 1 / 3, 1 / 3], id="three even categories, alpha .36"),
        pytest.param(0.7, [0.9, 0.1], id="two uneven categories, alpha .49"),
    ],
)


@pytest.mark.thorough
@SETTINGS
def test_the_interval_covers_the_true_alpha_in_92_to_97_of_100_samples(
    knows: float, priors: list[float]
) -> None:
    assert 0.92 <= coverage(800, knows, priors) <= 0.97


@pytest.mark.parametrize("family", [chance.alpha_nominal, chance.gwet_ac, chance.fleiss_kappa])
def test_the_linearised_error_is_near_that_of_the_draws_and_of_leaving_one_out(
    family: Callable[[int], sums.Value],
) -> None:
    columns, value = sums.agreement_parts(SAMPLE), family(Q)
    found = item_units(columns, ones(SAMPLE))
    error = estimation.linearised_error(found, value)
    assert found.draws is not None
    assert error == pytest.approx(value(found.draws @ columns).std(), rel=0.1)
    n = len(SAMPLE)
    without = value(columns.sum(axis=0) - columns)
    jackknife = sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    assert error == pytest.approx(jackknife, rel=0.02)


def test_many_sums_are_moved_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Units(sums.agreement_parts(SAMPLE), ones(SAMPLE), "items", None)
    at_once = estimation.linearised_error(found, ALPHA)
    monkeypatch.setattr(estimation, "MOST_MOVED", 3 * found.parts.shape[1])
    assert estimation.linearised_error(found, ALPHA) == at_once


def test_the_figure_has_value_interval_n_and_method() -> None:
    found = estimate(item_units(sums.agreement_parts(SAMPLE), ones(SAMPLE)), ALPHA, n=200)
    value = found["value"]
    low, high = found["low"], found["high"]
    assert value == value_of_counts(SAMPLE, ALPHA)
    assert low is not None
    assert high is not None
    assert value is not None
    assert low < value < high
    assert (found["n"], found["method"]) == (200, BOOTSTRAP)


@given(tables(items=20), st.data())
def test_a_cluster_is_the_sum_of_its_items(table: Table, data: st.DataObject) -> None:
    columns = sums.agreement_parts(from_matrix(table, Q).counts())
    some = st.lists(st.integers(0, 2), min_size=len(table), max_size=len(table))
    clusters = np.unique(data.draw(some), return_inverse=True)[1].astype(np.int64)
    found = cluster_units(columns, clusters, "authors")
    assert len(found.parts) == len(set(clusters.tolist()))
    assert found.sums == pytest.approx(columns.sum(axis=0, keepdims=True))


@given(tables(items=6))
def test_an_interval_lies_within_what_the_coefficient_can_be(table: Table) -> None:
    counts = from_matrix(table, Q).counts()
    pairable = int((counts.sum(axis=1) >= 2).sum())
    found = estimate(item_units(sums.agreement_parts(counts), ones(counts)), ALPHA, n=pairable)
    if found["value"] is None:
        assert found["reason"] in {estimation.NO_VARIATION, estimation.TOO_FEW}
    elif found["low"] is not None:
        assert found["low"] <= (found["high"] or 0) <= 1 + 1e-12


def test_one_item_has_a_value_but_no_interval() -> None:
    counts = np.array([[2, 1, 0]])
    found = estimate(item_units(sums.agreement_parts(counts), ones(counts)), ALPHA, n=1)
    assert found["value"] == pytest.approx(0)
    assert found["low"] is found["high"] is None
    alone = Units(sums.agreement_parts(counts), ones(counts), "items", draws=None)
    assert np.isnan(estimation.estimate_interval(alone, ALPHA, 0.0)).all()
    assert np.isnan(estimation.linearised_error(alone, ALPHA))


def halves(items: int, right: int) -> Units:
    """Two columns: what each item counts, and one."""
    part = np.arange(items) < right
    return item_units(
        np.column_stack([part, np.ones(items)]).astype(np.float64), np.ones(items, int)
    )


@pytest.mark.parametrize("right", [0, 13, 40])
def test_a_share_of_items_that_count_0_or_1_has_wilsons_interval(right: int) -> None:
    found = estimate_share(halves(40, right), n=40)
    assert (found["value"], found["n"], found["method"]) == (right / 40, 40, WILSON)
    assert (found["low"], found["high"]) == wilson(right, 40)


def test_where_nothing_varies_a_linearised_interval_is_null() -> None:
    columns = np.resize(sums.agreement_parts(np.array([[3, 0, 0]])), (50, 4 + 2 * Q))
    found = estimate(Units(columns, np.ones(50, int), "authors", None), chance.percent(Q), n=50)
    assert (found["value"], found["low"], found["high"]) == (1.0, None, None)


def test_few_items_and_few_clusters_are_doubted() -> None:
    columns = sums.agreement_parts(SAMPLE)
    assert "doubt" not in estimate(item_units(columns, ones(SAMPLE)), ALPHA, n=200)
    few = estimate(item_units(columns[:9], ones(SAMPLE[:9])), ALPHA, n=9)
    assert few["doubt"] == estimation.FEW_ITEMS
    labels = estimate(item_units(columns[:9], ones(SAMPLE[:9])), ALPHA, n=27, items=9)
    assert labels["doubt"] == estimation.FEW_ITEMS
    for size, doubted in ((19, True), (20, False)):
        together = cluster_units(columns, np.arange(len(columns)) % size, "authors")
        doubt = estimate(together, ALPHA, n=200).get("doubt", "")
        assert doubt == ("few_clusters: fewer than 20 different authors are drawn" * doubted)


#: Item, rater, category: any rater may have rated any item again and again.
SAID = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, Q - 1)), max_size=30)


def ratings_of(triples: list[tuple[int, int, int]]) -> Ratings:
    items, raters, codes = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    return Ratings(items, raters, codes, n_items=5, n_raters=3, n_categories=Q)


def rows(ratings: Ratings) -> list[tuple[int, int, int]]:
    triples = zip(ratings.items, ratings.raters, ratings.codes, strict=True)
    return [(int(item), int(rater), int(code)) for item, rater, code in triples]


@given(SAID)
def test_every_repetition_is_counted(triples: list[tuple[int, int, int]]) -> None:
    counts = ratings_of(triples).counts()
    assert counts.shape == (5, Q)
    assert counts.sum() == len(triples)
    for item, _, code in triples:
        assert counts[item, code] == sum((place, c) == (item, code) for place, _, c in triples)


@given(SAID, st.booleans())
def test_the_latest_is_what_a_reader_of_the_list_would_keep(
    triples: list[tuple[int, int, int]],
    few: bool,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not few:
            patch.setattr("labelhub.core.agreement.ratings.FEW_CELLS", 0)
        found = rows(keep_latest(ratings_of(triples)))
    last = {(item, rater): place for place, (item, rater, _) in enumerate(triples)}
    assert found == [triples[place] for place in sorted(last.values())]
    assert rows(keep_latest(ratings_of(found))) == found


def calibration(sure: list[float], right: list[int]) -> Calibration:
    found = measure_calibration(sure, right)
    assert found is not None
    return found


def test_a_bin_tells_mean_confidence_and_share_right_with_its_interval() -> None:
    (only,) = calibration([0.95] * 4, [1, 1, 0, 1]).bins
    assert only.confidence == pytest.approx(0.95)
    assert only.right["value"] == 0.75
    assert only.right["n"] == 4
    assert only.right["low"] == pytest.approx(0.3006, abs=1e-4)
    assert only.right["high"] == pytest.approx(0.9544, abs=1e-4)


def test_bins_of_equal_mass_hold_about_as_many_items() -> None:
    bins = calibration((np.linspace(0.9, 1, 100) ** 2).tolist(), [1] * 100).bins
    assert [group.right["n"] for group in bins] == [10] * 10


def test_equal_confidences_are_never_parted() -> None:
    bins = calibration([0.5] * 9 + [0.9], [1, 0] * 5).bins
    assert [group.right["n"] for group in bins] == [9, 1]


def test_expected_calibration_error_by_hand() -> None:
    sure, right = [0.95, 0.95, 0.95, 0.95, 0.55, 0.55], [1, 1, 1, 0, 1, 0]
    expected = (4 * abs(0.95 - 0.75) + 2 * abs(0.55 - 0.5)) / 6
    assert calibration(sure, right).expected_calibration_error == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [[1.2], [-0.1], [float("inf")], [float("nan")]])
def test_a_confidence_outside_0_to_1_is_refused(wrong: list[float]) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        measure_calibration(wrong, [1])


def test_impossible_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="one outcome"):
        measure_calibration([0.5, 0.5], [1])
    with pytest.raises(InvalidInput, match="right or wrong"):
        measure_calibration([0.5], [2])
