"""Scores of a confusion matrix: a published table, hand-made ones, and their properties."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from labelhub.core.agreement.evaluation import Confusion
from labelhub.core.agreement.grouped import MOST_GROUPS, grouped
from labelhub.core.agreement.scores import (
    ConfusionMatrix,
    accuracy,
    cohen_kappa,
    f1,
    macro,
    matthews,
    ordinal,
    overall,
    per_class,
    quadratic_kappa,
    rank_correlation,
    tabulate,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement.published import reference

CODES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)
NAMES = ["a", "b", "c"]


def matrix(counts: Any, labels: Any = None) -> ConfusionMatrix:
    table = np.array(counts)
    return ConfusionMatrix(table, labels or [str(at) for at in range(len(table))])


def table_of(pairs: Any) -> ConfusionMatrix:
    predicted, gold = np.transpose(pairs)
    return tabulate(predicted, gold, NAMES)


def values(figures: Any) -> dict[str, float | None]:
    return {name: told["value"] for name, told in figures.items()}


def test_the_published_two_by_two_table() -> None:
    known = reference("ecj_binary")
    tp, fp, fn, tn = (known["input"][name] for name in ("tp", "fp", "fn", "tn"))
    table = matrix([[tp, fp], [fn, tn]], ["yes", "no"])
    yes, all_labels = per_class(table)[0], overall(table)
    told = [
        all_labels["accuracy"],
        yes.precision,
        yes.recall,
        yes.f1,
        all_labels["matthews"],
        all_labels["cohen_kappa"],
    ]
    found = [each["value"] for each in told]
    assert found == pytest.approx(known["expected"], abs=known["tolerance"])
    assert yes.confusion == Confusion(tp, fp, fn, tn)


def test_weighted_and_plain_kappa_of_the_pathologists() -> None:
    known = reference("agresti_pathologists")
    table = np.array(known["input"]["contingency"], dtype=float)
    found = [cohen_kappa(table), quadratic_kappa(table, np.arange(4.0))]
    assert found == pytest.approx([known["expected"][0], known["expected"][3]], abs=0.0006)


def test_gorodkins_correlation_and_macro_scores_by_hand() -> None:
    # 10 of 15 right; predicted 5, 4, 6; in gold 6, 4, 5.
    found = values(overall(matrix([[4, 1, 0], [1, 2, 1], [1, 1, 4]])))
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
    one, other = np.minimum(np.transpose(pairs), 1)
    found = float(matthews(tabulate(one, other, ["a", "b"]).counts.astype(float)))
    if one.std() == 0 or other.std() == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(np.corrcoef(one, other)[0, 1])


def test_rows_are_predicted_and_say_so() -> None:
    table = tabulate([0, 0, 1, -1, 1], [0, 1, 1, 0, -1], ["yes", "no"])
    assert table.to_json() == {
        "predicted yes, gold yes": 1,
        "predicted yes, gold no": 1,
        "predicted no, gold yes": 0,
        "predicted no, gold no": 1,
    }
    assert (table.n, table.dropped) == (3, 2)
    assert per_class(table)[0].recall["value"] == 1
    assert per_class(table)[0].precision["value"] == 0.5


@given(CODES, st.permutations(range(3)))
def test_order_and_names_of_labels_do_not_matter(
    pairs: list[tuple[int, int]], order: list[int]
) -> None:
    table = table_of(pairs).counts.astype(float)
    moved = table[np.ix_(order, order)]
    for metric in (cohen_kappa, matthews, lambda each: macro(f1(each))):
        np.testing.assert_allclose(metric(moved), metric(table), atol=1e-12)


@pytest.mark.thorough
@given(CODES)
def test_every_value_lies_within_its_interval_and_bounds(pairs: list[tuple[int, int]]) -> None:
    for name, told in overall(table_of(pairs)).items():
        value, low, high = told["value"], told.get("low"), told.get("high")
        assert value is None or (-1 if name in ("matthews", "cohen_kappa") else 0) <= value <= 1
        assert low is None or high is None or -1 <= low <= high <= 1


@pytest.mark.thorough
@given(st.lists(st.integers(0, 2), min_size=2, max_size=30).filter(lambda codes: len({*codes}) > 1))
def test_perfect_predictions_score_one_and_err_by_nothing(codes: list[int]) -> None:
    table = tabulate(codes, codes, NAMES)
    assert set(values(overall(table)).values()) == {1.0}
    assert list(values(ordinal(table)).values()) == pytest.approx([0, 0, 1, 1])


@given(CODES)
def test_ordinal_scores_are_those_of_the_items(pairs: list[tuple[int, int]]) -> None:
    scale = np.array([1.0, 2.0, 5.0])
    found = values(ordinal(table_of(pairs), scale.tolist()))
    one, other = scale[np.transpose(pairs)]
    assert found["mean_absolute_error"] == pytest.approx(np.abs(one - other).mean())
    assert found["root_mean_squared_error"] == pytest.approx(np.sqrt(((one - other) ** 2).mean()))
    if one.std() == 0 or other.std() == 0:
        assert found["spearman"] is None
    else:
        assert found["spearman"] == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)


def test_the_bootstrap_of_cells_is_that_of_items() -> None:
    # Mean absolute error over 0/1 differences is a share: Wilson's ends are close at this size.
    told = ordinal(matrix([[300, 60], [40, 200]]))["mean_absolute_error"]
    assert told["value"] == pytest.approx(1 / 6)
    assert told["low"] == pytest.approx(1 / 6 - 1.96 * np.sqrt(5 / 36 / 600), abs=0.005)
    assert told["high"] == pytest.approx(1 / 6 + 1.96 * np.sqrt(5 / 36 / 600), abs=0.005)
    assert told["n"] == 600


def test_without_items_everything_is_undefined_with_the_reason() -> None:
    empty = tabulate([-1], [0], ["a", "b"])
    figures = [*overall(empty).values(), *ordinal(empty).values()]
    assert all(each == {"value": None, "reason": figures[0]["reason"]} for each in figures)
    assert per_class(empty)[0].f1["value"] is None


def test_a_label_that_never_occurs_is_undefined_and_left_out_of_the_mean() -> None:
    table = matrix([[4, 1, 0], [1, 2, 0], [0, 0, 0]])
    never = per_class(table)[2]
    assert never.precision["value"] is never.recall["value"] is never.f1["value"] is None
    assert overall(table)["macro_f1"]["value"] == pytest.approx((8 / 10 + 4 / 6) / 2)


def test_a_label_in_gold_that_is_never_predicted_counts_as_precision_0() -> None:
    # Predicted rows; "c" is 3 times in gold and never predicted.
    found = values(overall(matrix([[4, 1, 2], [1, 2, 1], [0, 0, 0]])))
    assert found["macro_precision"] == pytest.approx((4 / 7 + 2 / 4 + 0) / 3)
    assert found["macro_recall"] == pytest.approx((4 / 5 + 2 / 3 + 0) / 3)
    assert found["macro_f1"] == pytest.approx((8 / 12 + 4 / 7 + 0) / 3)


def test_a_label_predicted_but_not_in_gold_counts_for_precision_and_not_for_recall() -> None:
    found = values(overall(matrix([[4, 1, 0], [1, 2, 0], [1, 1, 0]])))
    assert found["macro_precision"] == pytest.approx((4 / 5 + 2 / 3 + 0) / 3)
    assert found["balanced_accuracy"] == pytest.approx((4 / 6 + 2 / 4) / 2)
    assert found["macro_f1"] == pytest.approx((8 / 11 + 4 / 7 + 0) / 3)


def test_draws_divide_by_the_labels_of_all_the_data() -> None:
    # The one item of "c" is missing from a third of the draws: its 0 stays in the mean.
    told = overall(matrix([[30, 0, 1], [0, 30, 0], [0, 0, 0]]))["macro_f1"]
    assert told["high"] is not None
    assert told["high"] <= 2 / 3
    np.testing.assert_allclose(macro(np.array([[1, np.nan], [1, 1]])), [1, 1])
    among = np.array([True, True])
    np.testing.assert_allclose(macro(np.array([[1, np.nan], [1, 1]]), among), [0.5, 1])


def test_one_label_throughout_has_an_accuracy_but_no_chance_correction() -> None:
    found = values(overall(matrix([[7, 0], [0, 0]])))
    assert found["accuracy"] == 1
    assert found["cohen_kappa"] is found["matthews"] is None
    assert np.isnan(rank_correlation(np.array([[7.0, 0], [0, 0]])))


@all_cases(
    "wrong",
    [
        lambda: matrix([[1, 2, 3], [1, 2, 3]]),
        lambda: matrix([[1, -1], [0, 1]]),
        lambda: matrix([[1, 1], [0, 1]], ["a", "a"]),
        lambda: tabulate([0, 2], [0, 1], ["a", "b"]),
        lambda: tabulate([0], [0, 1], ["a", "b"]),
        lambda: ordinal(matrix([[1, 1], [0, 1]]), [2, 1]),
        lambda: ordinal(matrix([[1, 1], [0, 1]]), [1]),
    ],
)
def test_impossible_input_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()


def clustered(pairs: Any, clusters: Any) -> ConfusionMatrix:
    predicted, gold = np.array(pairs).T
    return tabulate(predicted, gold, NAMES, grouped(clusters, "authors"))


def scored(table: ConfusionMatrix) -> dict[str, Any]:
    """All figures by name, of each label too."""
    found = {**overall(table), **ordinal(table)}
    for label in per_class(table):
        told = [label.precision, label.recall, label.f1, label.accuracy]
        found |= {f"{label.label} {at}": each for at, each in enumerate(told)}
    return found


def drawn_pairs(items: int, seed: int = 1) -> Any:
    generator = np.random.default_rng(seed)
    gold = generator.integers(3, size=items)
    said = np.where(generator.random(items) < 0.7, gold, generator.integers(3, size=items))
    return np.column_stack([said, gold])


def width(figure: Any) -> float:
    return float(figure["high"] - figure["low"])


def test_values_are_the_same_and_widths_nearly_with_clusters_of_one_item() -> None:
    pairs = drawn_pairs(400)
    alone, each = scored(table_of(pairs)), scored(clustered(pairs, np.arange(400)))
    for name, figure in each.items():
        assert figure["value"] == pytest.approx(alone[name]["value"])
        assert figure["n"] == alone[name]["n"]
        assert figure["method"] == "percentile bootstrap over authors, 1000 draws, seed 7"
        assert width(figure) == pytest.approx(width(alone[name]), rel=0.15)


def test_copies_of_items_make_no_score_surer() -> None:
    pairs = drawn_pairs(100)
    once = scored(clustered(pairs, np.arange(100)))
    copied = np.repeat(pairs, 9, axis=0)
    together = scored(clustered(copied, np.repeat(np.arange(100), 9)))
    ignored = scored(table_of(copied))
    for name, figure in together.items():
        assert width(figure) == pytest.approx(width(once[name]), rel=0.02)
        assert width(figure) == pytest.approx(3 * width(ignored[name]), rel=0.25)


def test_many_clusters_are_drawn_in_groups_as_wide() -> None:
    pairs = drawn_pairs(3 * MOST_GROUPS)
    alone = scored(table_of(pairs))
    for name, figure in scored(clustered(pairs, np.arange(len(pairs)))).items():
        assert width(figure) == pytest.approx(width(alone[name]), rel=0.2)


def test_dropped_items_belong_to_no_cell_of_their_cluster() -> None:
    pairs = drawn_pairs(120)
    clusters = np.arange(120) // 4
    pairs[::5, 0] = -1
    kept = pairs[:, 0] >= 0
    whole, some = clustered(pairs, clusters), clustered(pairs[kept], clusters[kept])
    assert (whole.counts == some.counts).all()
    assert whole.dropped == 24
    assert overall(whole) == overall(some)


@pytest.mark.parametrize(("clusters", "doubted"), [(19, True), (20, False)])
def test_few_clusters_are_doubted(clusters: int, doubted: bool) -> None:
    pairs = drawn_pairs(120)
    pairs[-30:, 1] = -1  # their clusters do not count
    numbers = np.where(np.arange(120) < 90, np.arange(120) % clusters, np.arange(120))
    for figure in scored(clustered(pairs, numbers)).values():
        assert ("few_clusters" in figure.get("doubt", "")) == doubted


def test_clusters_of_other_items_are_refused() -> None:
    with pytest.raises(InvalidInput):
        tabulate([0, 1], [0, 1], NAMES, grouped([1, 1, 1], "authors"))
    with pytest.raises(InvalidInput):
        grouped([[1]], "authors")
    assert grouped(None, "authors") is None


def test_a_label_that_is_in_gold_only_once_counts_as_much_as_any_other() -> None:
    found = values(overall(matrix([[5, 1], [0, 0]])))
    assert found["balanced_accuracy"] == found["macro_recall"] == pytest.approx((1 + 0) / 2)


def test_accuracy_is_the_share_on_the_diagonal_of_each_table() -> None:
    found = accuracy(np.array([[[3.0, 1.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]]))
    assert found == pytest.approx([7 / 8, np.nan], nan_ok=True)
