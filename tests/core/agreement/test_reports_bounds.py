"""What would take too long or too much memory is refused by name; the rest stands."""

from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.accuracy import KindAccuracy, measure_accuracy
from labelhub.core.agreement.reports.aggregated_labels import AggregatedLabels
from labelhub.core.agreement.reports.report import label_agreement
from tests.core.agreement.matrices import NOTHING, matrix

SAID = {"crowd:a": [0, 1, 0, 1], "crowd:b": [0, 1, 1, 1]}


def measured() -> KindAccuracy:
    given = matrix(SAID, gold=[0, 1, 0, 0])
    return measure_accuracy(given, "crowd", given.gold, AggregatedLabels(given))


@pytest.mark.parametrize(
    ("bound", "refused", "reason"),
    [
        ("MOST_STEPS", ("mace",), reasons.TOO_MANY_LABELS),
        ("MOST_CELLS", ("mace", "dawid_skene", "weighted"), reasons.MANY_ANSWERS),
    ],
)
def test_aggregates_that_take_too_long_or_too_much_memory_are_refused(
    monkeypatch: pytest.MonkeyPatch, bound: str, refused: tuple[str, ...], reason: str
) -> None:
    monkeypatch.setattr(f"labelhub.core.agreement.reports.aggregated_labels.{bound}", 7)

    figures = measured().figures

    for way in ("mace", "dawid_skene", "weighted", "majority"):
        found = figures[f"{way}_accuracy"].get("reason")
        assert found == (reason if way in refused else None), way


def test_a_shrunken_dawid_skene_of_too_many_pairs_of_answers_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("labelhub.core.agreement.reports.aggregated_labels.MOST_PAIRS", 9)
    assert measured().figures["dawid_skene_accuracy"]["value"] is not None
    monkeypatch.setattr("labelhub.core.agreement.aggregation.dawid_skene.MOST_CELLS", 1)
    # Three items with two labels of one answer, and one with two of two.
    assert measured().figures["dawid_skene_accuracy"].get("reason") == reasons.TOO_MANY_LABELS
    monkeypatch.setattr("labelhub.core.agreement.reports.aggregated_labels.MOST_PAIRS", 10)
    assert measured().figures["dawid_skene_accuracy"]["value"] is not None


def test_two_hundred_labels_of_two_hundred_annotators_are_put_together() -> None:
    """With a few labels of each by an annotator; never worse than the vote."""
    q, n = 200, 3000
    generator = np.random.default_rng(1)
    truth = generator.integers(q, size=n)
    near = generator.integers(q, size=(q, 3))[truth, generator.integers(3, size=(200, n))]
    knows = generator.random((200, n)) < generator.beta(3, 1.5, size=(200, 1))
    answers = np.where(knows, truth, near)
    answers[np.argsort(np.argsort(generator.random((200, n)), axis=0), axis=0) >= 3] = NOTHING
    rows = {f"crowd:{number}": row.tolist() for number, row in enumerate(answers)}
    given = matrix(rows, categories=q, gold=truth.tolist())

    found: Any = measure_accuracy(given, "crowd", given.gold, AggregatedLabels(given)).figures

    vote = found["majority_accuracy"]["value"]
    for way in ("dawid_skene", "mace", "weighted"):
        assert found[f"{way}_accuracy"]["value"] > vote, way
    assert found["dawid_skene_accuracy"]["value"] > vote + 0.1
    assert len(label_agreement(given, "crowd")) == q


def test_margins_of_very_many_answers_are_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse tables serve first."""
    whole = measured().figures
    monkeypatch.setattr("labelhub.core.agreement.reports.accuracy.MOST_TABLE_CELLS", 3)
    figures = measured().figures
    for name in ("cohen_kappa", "js_divergence"):
        assert figures[name]["value"] == pytest.approx(whole[name]["value"])
    monkeypatch.setattr("labelhub.core.agreement.reports.reasons.MOST_MARGINS", 1)

    figures = measured().figures

    assert figures["cohen_kappa"].get("reason") == reasons.MANY_ANSWERS
    assert figures["js_divergence"].get("reason") == reasons.MANY_ANSWERS
    assert figures["accuracy"]["value"] is not None
