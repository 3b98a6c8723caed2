"""Scores of a confusion matrix: a published table, hand-made ones, and an oracle by brute force."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn import metrics

from labelhub.core.agreement.reports.accuracy import answer_confusion
from labelhub.core.agreement.reports.kind_tests import label_leads
from labelhub.core.agreement.scores import (
    Confusion,
    ConfusionMatrix,
    accuracy,
    indicate,
    label_scores,
    ordinal_scores,
    overall_scores,
    tabulate,
)
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement.matrices import matrix
from tests.core.agreement.published import reference

NAMES = ["a", "b", "c"]
#: The tied answers to each item, and its gold.
TIED = st.lists(
    st.tuples(st.sets(st.integers(0, 2), min_size=1), st.integers(0, 2)), min_size=1, max_size=40
)


def counted(counts: Any, labels: Any = None) -> ConfusionMatrix:
    """A table of whole counts: rows predicted, columns gold."""
    table = np.array(counts)
    rows, columns = np.indices(table.shape).reshape(2, -1)
    k = len(table)
    names = labels or [str(number) for number in range(k)]
    return tabulate(indicate(rows, k), indicate(columns, k), names, often=table.ravel())


def tied_table(items: Any, **others: Any) -> ConfusionMatrix:
    shares = [[(code in answers) / len(answers) for code in range(3)] for answers, _ in items]
    return tabulate(np.array(shares), indicate([gold for _, gold in items], 3), NAMES, **others)


def expanded(items: Any) -> tuple[Any, Any, Any]:
    """Every tied item as t rows of weight 1 / t: predictions, gold and weights."""
    rows = [(code, gold, 1 / len(answers)) for answers, gold in items for code in answers]
    predicted, gold, weights = zip(*rows, strict=True)
    return np.array(predicted), np.array(gold), np.array(weights)


def values(figures: Any) -> dict[str, float | None]:
    return {name: figure["value"] for name, figure in figures.items()}


def near(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


def test_the_published_two_by_two_table() -> None:
    known = reference("ecj_binary")
    tp, fp, fn, tn = (known["input"][name] for name in ("tp", "fp", "fn", "tn"))
    table = counted([[tp, fp], [fn, tn]], ["yes", "no"])
    yes, all_labels = label_scores(table)[0], overall_scores(table)
    figures = [
        accuracy(table),
        yes.precision,
        yes.recall,
        yes.f1,
        all_labels["matthews"],
        all_labels["cohen_kappa"],
    ]
    found = [figure["value"] for figure in figures]
    assert found == pytest.approx(known["expected"], abs=known["tolerance"])
    assert yes.counts == Confusion(tp, fp, fn, tn)


def test_gorodkins_correlation_and_macro_scores_by_hand() -> None:
    # 10 of 15 right; predicted 5, 4, 6; in gold 6, 4, 5.
    table = counted([[4, 1, 0], [1, 2, 1], [1, 1, 4]])
    found = values(overall_scores(table))
    together, spread = 10 * 15 - (30 + 16 + 30), np.sqrt((225 - 77) * (225 - 77))
    assert found["matthews"] == pytest.approx(together / spread)
    assert found["cohen_kappa"] == pytest.approx((10 / 15 - 76 / 225) / (1 - 76 / 225))
    assert accuracy(table)["value"] == pytest.approx(10 / 15)
    assert found["macro_precision"] == pytest.approx((4 / 5 + 2 / 4 + 4 / 6) / 3)
    assert found["balanced_accuracy"] == pytest.approx((4 / 6 + 2 / 4 + 4 / 5) / 3)
    assert found["macro_recall"] == found["balanced_accuracy"]
    assert found["macro_f1"] == pytest.approx((8 / 11 + 4 / 8 + 8 / 11) / 3)


def by_scikit_learn(items: Any) -> dict[str, float]:
    """Of the rows that tied items are expanded to; labels that never occur do not count."""
    predicted, gold, weights = expanded(items)
    used, true = np.unique([*predicted, *gold]), np.unique(gold)
    given = {"y_true": gold, "y_pred": predicted, "sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        macro = {"average": "macro", "zero_division": 0.0}
        return {
            "macro_precision": metrics.precision_score(**given, **macro, labels=used),
            "macro_recall": metrics.recall_score(**given, **macro, labels=true),
            "balanced_accuracy": metrics.balanced_accuracy_score(**given),
            "macro_f1": metrics.f1_score(**given, **macro, labels=used),
            "matthews": metrics.matthews_corrcoef(**given),
            "cohen_kappa": metrics.cohen_kappa_score(gold, predicted, sample_weight=weights),
        }


@settings(deadline=None)
@given(TIED)
def test_ties_count_as_rows_of_their_shares(items: Any) -> None:
    table, (predicted, gold, weights) = tied_table(items), expanded(items)
    assert table.n == len(items)
    cells = metrics.confusion_matrix(gold, predicted, labels=[0, 1, 2], sample_weight=weights)
    assert table.counts == near(cells.T)
    assert accuracy(table)["value"] == near(float(weights @ (predicted == gold)) / len(items))
    found, wanted = values(overall_scores(table)), by_scikit_learn(items)
    for name, value in found.items():
        # Without variation scikit-learn gives 0 or NaN, where nothing can be said.
        if value is not None:
            assert value == near(wanted[name]), name
    by_label = metrics.precision_recall_fscore_support(
        gold, predicted, labels=[0, 1, 2], sample_weight=weights, zero_division=np.nan
    )
    for place, score in enumerate(label_scores(table)):
        known = (score.precision["value"], score.recall["value"], score.f1["value"])
        for ours, theirs in zip(known, by_label, strict=False):
            # Its F1 is 0 where its precision or recall is undefined.
            assert (
                theirs[place] in (0, pytest.approx(np.nan, nan_ok=True))
                if ours is None
                else (ours == near(theirs[place]))
            )
        right = (predicted == place) == (gold == place)
        assert score.accuracy["value"] == near(float(weights @ right) / len(items))


@settings(deadline=None)
@given(TIED)
def test_ordinal_scores_are_those_of_the_rows(items: Any) -> None:
    scale = np.array([1.0, 2.0, 5.0])
    predicted, gold, weights = expanded(items)
    found = values(ordinal_scores(tied_table(items), scale.tolist()))
    off = np.abs(scale[predicted] - scale[gold])
    assert found["mean_absolute_error"] == near(float(weights @ off) / len(items))
    assert found["root_mean_squared_error"] == near(float((weights @ off**2) / len(items)) ** 0.5)
    # Six rows of an item are whole numbers of its shares.
    times = np.rint(weights * 6).astype(int)
    first, second = np.repeat(predicted, times), np.repeat(gold, times)
    if first.std() == 0 or second.std() == 0:
        assert found["spearman"] is None
    else:
        assert found["spearman"] == near(spearmanr(first, second).statistic)
        margins = [np.bincount(side, minlength=3) / len(side) for side in (first, second)]
        costs = (scale[:, None] - scale) ** 2
        expected = float(margins[0] @ costs @ margins[1])
        assert found["quadratic_kappa"] == near(1 - float(off**2 @ weights) / len(items) / expected)


@pytest.mark.thorough
@settings(deadline=None)
@given(TIED, st.booleans())
def test_every_value_lies_within_its_interval_and_bounds(items: Any, together: bool) -> None:
    clusters = np.arange(len(items)) // 2 if together else None
    table = tied_table(items, clusters=clusters, unit="texts")
    by_label = [figure for score in label_scores(table) for figure in (score.f1, score.recall)]
    found = overall_scores(table) | {str(place): shown for place, shown in enumerate(by_label)}
    for name, figure in found.items():
        value, low, high = figure["value"], figure.get("low"), figure.get("high")
        assert value is None or (-1 if name in ("matthews", "cohen_kappa") else 0) <= value <= 1
        assert value is None or low is None or high is None or -1 <= low <= value <= high <= 1


@settings(deadline=None)
@given(st.permutations(range(30)))
def test_the_order_of_items_changes_no_interval(order: list[int]) -> None:
    """A project that is exported and imported again has its items in another order."""
    draws = np.random.default_rng(0)
    answers, gold = (draws.integers(0, 3, 30) for _ in range(2))

    def scores(places: list[int]) -> list[Any]:
        found = tabulate(indicate(answers[places], 3), indicate(gold[places], 3), NAMES)
        return [overall_scores(found), [score.to_json() for score in label_scores(found)]]

    assert scores(order) == scores(list(range(30)))


def test_a_crowd_that_ties_loses_nothing_to_a_machine_of_the_same_answers() -> None:
    """Half of its items are tied between gold and another label: it is right by a half on them."""
    gold = [0, 1] * 100
    crowd = {"crowd:a": gold, "crowd:b": [0, 1, 1, 0] * 50}
    machine = {"llm:m": [0, 1, 0, 1, 0, 1, 1, 0] * 25}
    given = matrix(crowd | machine, gold=gold)
    found = [
        overall_scores(table)["macro_f1"]
        for kind in ("crowd", "llm")
        if (table := answer_confusion(given, kind, given.gold, np.arange(200)))
    ]
    # The machine gives either answer of a tie as often: both are right on 150 of 200.
    assert [figure["value"] for figure in found] == [near(0.75), near(0.75)]
    assert [figure["n"] for figure in found] == [200, 200]


def test_a_label_that_never_occurs_is_undefined_and_left_out_of_the_mean() -> None:
    table = counted([[4, 1, 0], [1, 2, 0], [0, 0, 0]])
    never = label_scores(table)[2]
    assert never.precision["value"] is never.recall["value"] is never.f1["value"] is None
    assert overall_scores(table)["macro_f1"]["value"] == pytest.approx((8 / 10 + 4 / 6) / 2)


@all_cases(
    "wrong",
    [
        lambda: tabulate(np.eye(2), np.eye(3), NAMES),
        lambda: tabulate(np.eye(2), np.eye(2), ["a", "a"]),
        lambda: indicate([0, 2], 2),
        lambda: indicate([-1], 2),
        lambda: tabulate(np.eye(2), np.eye(2), ["a", "b"], clusters=np.array([1, 1, 1])),
        lambda: tabulate(np.eye(2), np.eye(2), ["a", "b"], often=np.array([1])),
        lambda: ordinal_scores(counted([[1, 1], [0, 1]]), [2, 1]),
        lambda: ordinal_scores(counted([[1, 1], [0, 1]]), [1]),
    ],
)
def test_impossible_input_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong()


def drawn_items(items: int, k: int, seed: int = 1) -> tuple[Any, Any]:
    """Shares of predictions, a fifth of which are tied, and gold."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(k, size=items)
    answers = np.where(generator.random(items) < 0.7, gold, generator.integers(k, size=items))
    other = np.where(generator.random(items) < 0.2, generator.integers(k, size=items), answers)
    return (indicate(answers, k) + indicate(other, k)) / 2, gold


@pytest.mark.thorough
@pytest.mark.parametrize("clusters", [None, np.arange(6000) // 2])
def test_what_is_not_drawn_has_the_same_interval_as_what_is(clusters: Any) -> None:
    """Many rows are linearised; drawn as fewer of them the interval is nearly the same."""
    shares, gold = drawn_items(6000, 4)
    labels = ["a", "b", "c", "d"]
    table = tabulate(shares, indicate(gold, 4), labels, clusters=clusters, unit="texts")
    assert table.units.draws is None
    counts = np.rint(table.counts).astype(np.int64)
    drawn = counted(counts, labels)
    assert drawn.units.draws is not None
    for name, figure in overall_scores(table).items():
        other = overall_scores(drawn)[name]
        assert figure["value"] == pytest.approx(other["value"], abs=1e-3)
        width = [shown["high"] - shown["low"] for shown in (figure, other)]  # type: ignore[operator]
        # A tie is known to be right by a half: it varies less than a draw of one of the two.
        assert 0.85 < width[0] / width[1] < 1.1
        assert ("over texts" if clusters is not None else "over items") in figure["method"]


@pytest.mark.thorough
def test_two_hundred_labels_keep_all_scores_and_write_out_the_most_frequent() -> None:
    shares, gold = drawn_items(5000, 200)
    table = tabulate(shares, indicate(gold, 200), [f"l{number}" for number in range(200)])
    assert overall_scores(table)["macro_f1"]["value"] is not None
    assert len(label_scores(table)) == 200
    chosen = table.most_frequent(60)
    assert len(table.to_json(60)) == 3600
    times = table.counts.sum(axis=0) + table.counts.sum(axis=1)
    assert times[chosen].min() >= np.delete(times, chosen).max()


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.sets(st.integers(0, 1), min_size=1)] * 2, st.integers(0, 1))))
def test_kinds_are_tested_on_a_label_by_leads_of_the_sign_of_their_f1(items: Any) -> None:
    if not items:
        return
    first, second = (
        tied_table([(answers[side], answers[2]) for answers in items]) for side in (0, 1)
    )
    for place, (lead, p) in enumerate(label_leads(first, second, None)):
        scores = [label_scores(table)[place].f1["value"] for table in (first, second)]
        # F1 is undefined only where the label does not occur at all.
        apart = (scores[0] or 0) - (scores[1] or 0)
        assert np.sign(round(apart, 9)) == np.sign(round(lead, 9))
        assert 0 < p <= 1


def test_the_observed_signs_count_among_all_signs_of_leads() -> None:
    """Where all ten leads are 4/3, which no number of digits holds."""
    first = tied_table([({0}, 0)] * 10 + [({1}, 1)] * 5)
    second = tied_table([({1}, 0)] * 10 + [({1}, 1)] * 5)
    f1 = [label_scores(table)[0].f1["value"] for table in (first, second)]
    (lead, p), *_ = label_leads(first, second, None)
    assert f1 == [1.0, 0.0]
    assert lead == pytest.approx(40 / 3)
    assert p == pytest.approx(2 / 2**10)


@pytest.mark.thorough
@pytest.mark.parametrize("together", [False, True])
def test_equal_kinds_are_called_different_on_a_label_as_rarely_as_promised(together: bool) -> None:
    generator, found = np.random.default_rng(1), []
    clusters = np.arange(120) // 3 if together else None
    for _ in range(80):
        gold = generator.integers(3, size=120)
        tables = []
        for _ in range(2):
            right = generator.random(120) < 0.7
            answers = np.where(right, gold, generator.integers(3, size=120))
            other = np.where(generator.random(120) < 0.3, generator.integers(3, size=120), answers)
            shares = (indicate(answers, 3) + indicate(other, 3)) / 2
            tables.append(tabulate(shares, indicate(gold, 3), NAMES))
        found += [p for _, p in label_leads(tables[0], tables[1], clusters)]
    assert np.mean(np.array(found) < 0.05) < 0.05 + 1.65 * (0.05 * 0.95 / len(found)) ** 0.5
