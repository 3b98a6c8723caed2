"""What would take too long or too much memory is refused by name; the rest stands."""

import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.accuracy import KindAccuracy, measure_accuracy
from labelhub.core.agreement.reports.aggregated_labels import AggregatedLabels
from tests.core.agreement.matrices import matrix

SAID = {"crowd:a": [0, 1, 0, 1], "crowd:b": [0, 1, 1, 1]}


def measured() -> KindAccuracy:
    given = matrix(SAID, gold=[0, 1, 0, 0])
    return measure_accuracy(given, "crowd", given.gold, AggregatedLabels(given))


def test_models_of_very_many_raters_are_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelhub.core.agreement.reports.aggregated_labels.MOST_CELLS", 7)

    figures = measured().figures

    assert figures["dawid_skene_accuracy"].get("reason") == reasons.TOO_MANY_LABELS
    assert figures["mace_accuracy"].get("reason") == reasons.TOO_MANY_LABELS
    assert figures["majority_accuracy"]["value"] is not None
    assert figures["weighted_accuracy"]["value"] is not None


def test_margins_of_very_many_answers_are_not_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelhub.core.agreement.reports.accuracy.MOST_TABLE_CELLS", 3)

    figures = measured().figures

    assert figures["cohen_kappa"].get("reason") == reasons.MANY_ANSWERS
    assert figures["js_divergence"].get("reason") == reasons.MANY_ANSWERS
    assert figures["accuracy"]["value"] is not None
