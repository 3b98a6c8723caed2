"""Scores of a confusion matrix: a published table, hand-made ones, and their properties."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, spearmanr

from labelhub.core.agreement.evaluation import Confusion
from labelhub.core.agreement.scores import (
    ConfusionMatrix,
    cohen_kappa,
    f1,
    macro,
    matthews,
    ordinal,
    overall,
    per_class,
    position_bias,
    quadratic_kappa,
    rank_correlation,
    set_scores,
    tabulate,
)
from labelhub.core.errors import InvalidInput

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference"
CODES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)
NAMES = ["a", "b", "c"]


def case(name: str) -> Any:
    path = REFERENCE / "reference_values_dev.json"
    if not path.exists():
        pytest.skip(f"the reference values are not here: {path}")
    return next(each for each in json.loads(path.read_text())["cases"] if each["id"] == name)


def matrix(counts: Any, labels: Any = None) -> ConfusionMatrix:
    table = np.array(counts)
    return ConfusionMatrix(table, labels or [str(at) for at in range(len(table))])


def table_of(pairs: list[tuple[int, int]]) -> ConfusionMatrix:
    predicted, gold = np.transpose(pairs)
    return tabulate(predicted, gold, NAMES)


def values(figures: Any) -> dict[str, float | None]:
    return {name: told["value"] for name, told in figures.items()}


def test_the_published_two_by_two_table() -> None:
    known = case("ecj_binary")
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
    known = case("agresti_pathologists")
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


@given(CODES)
def test_every_value_lies_within_its_interval_and_bounds(pairs: list[tuple[int, int]]) -> None:
    for name, told in overall(table_of(pairs)).items():
        value, low, high = told["value"], told.get("low"), told.get("high")
        assert value is None or (-1 if name in ("matthews", "cohen_kappa") else 0) <= value <= 1
        assert low is None or high is None or -1 <= low <= high <= 1


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


def test_sets_by_exact_match_and_wrong_decisions() -> None:
    predicted = [[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]]
    gold = [[1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 0, 0]]
    found = set_scores(predicted, gold)
    assert found["exact_match"]["value"] == 0.5
    assert found["hamming_loss"]["value"] == pytest.approx(4 / 12)
    assert found["hamming_loss"]["n"] == 4
    assert values(set_scores(np.empty((0, 3)), np.empty((0, 3)))) == dict.fromkeys(found, None)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_with_as_many_options_everywhere_position_bias_is_the_plain_chi_square(
    chosen: list[int],
) -> None:
    found = position_bias(chosen, [4] * len(chosen))
    theirs = chisquare(np.bincount(chosen, minlength=4))
    assert found.test.statistic == pytest.approx(theirs.statistic)
    assert found.test.p == pytest.approx(theirs.pvalue)


def test_items_with_fewer_options_expect_less_at_the_last_places() -> None:
    found = position_bias([0, 0, 1, 3, 2, 0, -1], [2, 2, 4, 4, 4, 1, 4])
    assert found.expected == pytest.approx([1.75, 1.75, 0.75, 0.75])
    assert found.chosen == [2, 1, 1, 1]
    assert (found.items, found.dropped, found.test.df) == (5, 2, 3)
    statistic = (0.25**2 + 0.75**2) / 1.75 + 2 * 0.25**2 / 0.75
    assert found.test.statistic == pytest.approx(statistic)


def test_without_choices_there_is_nothing_to_test() -> None:
    assert position_bias([], []).test == (None, 0, None)
    assert position_bias([0, -1], [1, 3]).dropped == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: matrix([[1, 2, 3], [1, 2, 3]]),
        lambda: matrix([[1, -1], [0, 1]]),
        lambda: matrix([[1, 1], [0, 1]], ["a", "a"]),
        lambda: tabulate([0, 2], [0, 1], ["a", "b"]),
        lambda: tabulate([0], [0, 1], ["a", "b"]),
        lambda: ordinal(matrix([[1, 1], [0, 1]]), [2, 1]),
        lambda: ordinal(matrix([[1, 1], [0, 1]]), [1]),
        lambda: set_scores([[1, 0]], [[1]]),
        lambda: position_bias([4], [4]),
        lambda: position_bias([0, 1], [4]),
    ],
)
def test_impossible_input_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()
