"""Predicted against gold: counts, metrics, intervals, and what cannot be computed."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.evaluation import LabelledPair, evaluate, is_right
from labelhub.core.agreement.scores import Confusion
from labelhub.core.schema import Value, parse_schema, schema_from_names

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "paper_tables.json"

MULTI = schema_from_names("multi", ["Food", "Price"])
SINGLE = schema_from_names("single", ["yes", "no", "maybe"])


def pairs(*values: tuple[Value, Value]) -> list[LabelledPair]:
    """Pairs of (predicted, gold), numbered."""
    return [LabelledPair(item, predicted, gold) for item, (predicted, gold) in enumerate(values)]


def paired_from_counts(
    yes: int, only_predicted: int, only_gold: int, neither: int
) -> list[LabelledPair]:
    """Single-aspect pairs with exactly these counts."""
    return pairs(
        *[(["Food"], ["Food"])] * yes,
        *[(["Food"], [])] * only_predicted,
        *[([], ["Food"])] * only_gold,
        *[([], [])] * neither,
    )


def test_counts_are_named_by_both_sides() -> None:
    food = evaluate(MULTI, paired_from_counts(3, 2, 1, 4)).labels[0]
    assert food.counts == Confusion(
        predicted_yes_gold_yes=3,
        predicted_yes_gold_no=2,
        predicted_no_gold_yes=1,
        predicted_no_gold_no=4,
    )
    assert food.precision["value"] == pytest.approx(3 / 5)
    assert food.recall["value"] == pytest.approx(3 / 4)
    assert food.f1["value"] == pytest.approx(6 / 9)
    assert food.accuracy["value"] == pytest.approx(7 / 10)


@pytest.mark.skipif(not REFERENCE.exists(), reason="needs ../shared/reference, which is not here")
def test_every_published_run_gives_the_metrics_that_follow_from_its_counts() -> None:
    """Papers print FP and FN swapped; the reference file holds the metrics put right."""
    tables = json.loads(REFERENCE.read_text())["tables"]
    rows = [row for name in ("000.T9", "000.T10", "000.T11") for row in tables[name]]
    for row in rows:
        printed, expected = row["printed_counts"], row["recomputed_fp_fn_swapped"]
        counts = (printed["TP"], printed["FN"], printed["FP"], printed["TN"])
        score = evaluate(MULTI, paired_from_counts(*(int(count) for count in counts))).labels[0]
        for name in ("precision", "recall", "f1", "accuracy"):
            got: Any = getattr(score, name)["value"]
            assert got == pytest.approx(expected[name] / 100, abs=1e-4), (row["ids"], name)
    assert len(rows) > 30


def test_an_ordinal_scale_has_a_mean_absolute_error() -> None:
    schema = schema_from_names("ordinal", ["1", "2", "3"])
    result = evaluate(schema, pairs((1, 3), (2, 2), (3, 2)))
    assert result.overall["mean_absolute_error"]["value"] == pytest.approx(1.0)
    assert result.matrix is not None
    assert result.matrix["1"]["3"] == 1


def test_text_is_compared_folded_and_options_by_name() -> None:
    text = parse_schema({"task": "text"})
    assert (
        evaluate(text, pairs(("Paris ", "paris"), ("Rome", "Paris"))).overall["accuracy"]["value"]
        == 0.5
    )


def test_nothing_to_compare_is_said_in_words() -> None:
    assert (
        evaluate(MULTI, []).overall["accuracy"]["reason"]
        == "no item has both a prediction and gold"
    )


VALUES = st.lists(st.sampled_from(["Food", "Price"]), unique=True).map(sorted)


@pytest.mark.thorough
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40))
def test_counts_add_up_and_figures_stay_in_range(values: list[tuple[list[str], list[str]]]) -> None:
    result = evaluate(MULTI, pairs(*values))
    json.dumps(result.to_json(), allow_nan=False)
    for score in result.labels:
        assert sum(score.counts.to_json().values()) == len(values)
        for shown in (score.precision, score.recall, score.f1, score.accuracy):
            value = shown["value"]
            if value is not None and shown["low"] is not None and shown["high"] is not None:
                assert 0 <= shown["low"] <= shown["high"] <= 1
                assert 0 <= value <= 1


def test_a_gone_label_makes_a_single_answer_wrong_unless_both_sides_lost_it() -> None:
    assert not is_right(SINGLE, "gone", "yes")
    assert is_right(SINGLE, "yes", "yes")
    assert is_right(parse_schema({"task": "text"}), "Paris ", "paris")
