"""Scores of a confusion matrix: a published table, hand-made ones, and their properties."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from labelhub.core.agreement.evaluation import Confusion
from labelhub.core.agreement.scores import (
    ConfusionMatrix,
    label_scores,
    matthews,
    number_clusters,
    ordinal_scores,
    overall_scores,
    tabulate,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement.published import reference

CODES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)
NAMES = ["a", "b", "c"]


def matrix(counts: Any, labels: Any = None) -> ConfusionMatrix:
    table = np.array(counts)
    return ConfusionMatrix(table, labels or [str(number) for number in range(len(table))])


def table_of(pairs: Any) -> ConfusionMatrix:
    predicted, gold = np.transpose(pairs)
    return tabulate(predicted, gold, NAMES)


def values(figures: Any) -> dict[str, float | None]:
    return {name: figure["value"] for name, figure in figures.items()}


def test_the_published_two_by_two_table() -> None:
    known = reference("ecj_binary")
    tp, fp, fn, tn = (known["input"][name] for name in ("tp", "fp", "fn", "tn"))
    table = matrix([[tp, fp], [fn, tn]], ["yes", "no"])
    yes, all_labels = label_scores(table)[0], overall_scores(table)
    figures = [
        all_labels["accuracy"],
        yes.precision,
        yes.recall,
        yes.f1,
        all_labels["matthews"],
        all_labels["cohen_kappa"],
    ]
    found = [figure["value"] for figure in figures]
    assert found == pytest.approx(known["expected"], abs=known["tolerance"])
    assert yes.confusion == Confusion(tp, fp, fn, tn)


def test_gorodkins_correlation_and_macro_scores_by_hand() -> None:
    # 10 of 15 right; predicted 5, 4, 6; in gold 6, 4, 5.
    found = values(overall_scores(matrix([[4, 1, 0], [1, 2, 1], [1, 1, 4]])))
    together, spread = 10 * 15 - (30 + 16 + 30), np.sqrt((225 - 77) * (225 - 77))
    assert found["matthews"] == pytest.approx(together / spread)
    assert found["cohen_kappa"] == pytest.approx((10 / 15 - 76 / 225) / (1 - 76 / 225))
    assert found["accuracy"] == found["micro_f1"] == pytest.approx(10 / 15)
    assert found["macro_precision"] == pytest.approx((4 / 5 + 2 / 4 + 4 / 6) / 3)
    assert found["balanced_accuracy"] == pytest.approx((4 / 6 + 2 / 4 + 4 / 5) / 3)
    assert found["macro_recall"] == found["balanced_accuracy"]
    assert found["macro_f1"] == pytest.approx((8 / 11 + 4 / 8 + 8 / 11) / 3)


@given(CODES)
def test_for_two_labels_matthews_is_pearsons_correlation(pairs: list[tuple[int, int]]) -> None:
    first, second = np.minimum(np.transpose(pairs), 1)
    found = float(matthews(tabulate(first, second, ["a", "b"]).counts.astype(float)))
    if first.std() == 0 or second.std() == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(np.corrcoef(first, second)[0, 1])


@pytest.mark.thorough
@given(CODES)
def test_every_value_lies_within_its_interval_and_bounds(pairs: list[tuple[int, int]]) -> None:
    for name, figure in overall_scores(table_of(pairs)).items():
        value, low, high = figure["value"], figure.get("low"), figure.get("high")
        assert value is None or (-1 if name in ("matthews", "cohen_kappa") else 0) <= value <= 1
        assert low is None or high is None or -1 <= low <= high <= 1


@given(CODES)
def test_ordinal_scores_are_those_of_the_items(pairs: list[tuple[int, int]]) -> None:
    scale = np.array([1.0, 2.0, 5.0])
    found = values(ordinal_scores(table_of(pairs), scale.tolist()))
    first, second = scale[np.transpose(pairs)]
    assert found["mean_absolute_error"] == pytest.approx(np.abs(first - second).mean())
    assert found["root_mean_squared_error"] == pytest.approx(
        np.sqrt(((first - second) ** 2).mean())
    )
    if first.std() == 0 or second.std() == 0:
        assert found["spearman"] is None
    else:
        assert found["spearman"] == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)


def test_a_label_that_never_occurs_is_undefined_and_left_out_of_the_mean() -> None:
    table = matrix([[4, 1, 0], [1, 2, 0], [0, 0, 0]])
    never = label_scores(table)[2]
    assert never.precision["value"] is never.recall["value"] is never.f1["value"] is None
    assert overall_scores(table)["macro_f1"]["value"] == pytest.approx((8 / 10 + 4 / 6) / 2)


@all_cases(
    "wrong",
    [
        lambda: matrix([[1, 2, 3], [1, 2, 3]]),
        lambda: matrix([[1, -1], [0, 1]]),
        lambda: matrix([[1, 1], [0, 1]], ["a", "a"]),
        lambda: tabulate([0, 2], [0, 1], ["a", "b"]),
        lambda: tabulate([0], [0, 1], ["a", "b"]),
        lambda: ordinal_scores(matrix([[1, 1], [0, 1]]), [2, 1]),
        lambda: ordinal_scores(matrix([[1, 1], [0, 1]]), [1]),
    ],
)
def test_impossible_input_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()


def clustered(pairs: Any, clusters: Any) -> ConfusionMatrix:
    predicted, gold = np.array(pairs).T
    return tabulate(predicted, gold, NAMES, number_clusters(clusters, "authors"))


def drawn_pairs(items: int, seed: int = 1) -> Any:
    generator = np.random.default_rng(seed)
    gold = generator.integers(3, size=items)
    predicted = np.where(generator.random(items) < 0.7, gold, generator.integers(3, size=items))
    return np.column_stack([predicted, gold])


def test_dropped_items_belong_to_no_cell_of_their_cluster() -> None:
    pairs = drawn_pairs(120)
    clusters = np.arange(120) // 4
    pairs[::5, 0] = -1
    kept = pairs[:, 0] >= 0
    whole, some = clustered(pairs, clusters), clustered(pairs[kept], clusters[kept])
    assert (whole.counts == some.counts).all()
    assert whole.dropped == 24
    assert overall_scores(whole) == overall_scores(some)


def test_clusters_of_other_items_are_refused() -> None:
    with pytest.raises(InvalidInput):
        tabulate([0, 1], [0, 1], NAMES, number_clusters([1, 1, 1], "authors"))
    with pytest.raises(InvalidInput):
        number_clusters([[1]], "authors")
    assert number_clusters(None, "authors") is None
