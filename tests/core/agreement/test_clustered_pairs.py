"""Two annotators whose items belong together: errors of percent and kappa over whole clusters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import pairwise
from labelhub.core.agreement.coefficients.pairwise import (
    clustered_codes,
    kappa_parts,
    percent_parts,
)
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.reports.pair_agreement import annotator_pairs
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import NOTHING, from_matrix, matrix


def world(seed: int, items: int = 200, clusters: int = 25) -> tuple[Any, Any]:
    """Three raters of three categories who err on whole clusters together; some say nothing."""
    generator = np.random.default_rng(seed)
    of_item = generator.integers(clusters, size=items)
    truth = generator.integers(3, size=clusters)[of_item]
    table = np.where(generator.random((items, 3)) < 0.6, truth[:, None], 0)
    table[generator.random((items, 3)) < 0.2] = NOTHING
    return table, of_item


def errors(table: Any, clusters: Any, weights: Any = None) -> tuple[Any, Any]:
    ratings = from_matrix(table, 3)
    codes = clustered_codes(ratings, clusters)
    assert codes is not None
    tables = pairwise.all_pairs(ratings)[0, 1:]
    percent, _ = codes.spread(0, percent_parts(tables))
    kappa, _ = codes.spread(0, kappa_parts(tables, weights))
    return percent, kappa


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_clusters_of_one_item_have_the_errors_of_items(seed: int) -> None:
    table, _ = world(seed)
    percent, kappa = errors(table, np.arange(len(table)))
    tables = pairwise.all_pairs(from_matrix(table, 3))[0, 1:]
    n = tables.sum(axis=(1, 2))
    share = pairwise.percent(tables)
    assert percent == pytest.approx(np.sqrt(share * (1 - share) / (n - 1)))
    assert kappa == pytest.approx(pairwise.kappa_error(tables) * np.sqrt(n / (n - 1)))


def test_two_labels_of_one_item_by_one_rater_have_no_table() -> None:
    twice = Ratings(np.array([0, 0]), np.array([0, 0]), np.array([1, 0]), 1, 1, 2)
    assert clustered_codes(twice, np.array([0])) is None


def pairs(table: Any, **others: Any) -> Any:
    answers = {f"crowd:{number}": row for number, row in enumerate(table.T.tolist())}
    return annotator_pairs(matrix(answers, categories=3, **others))


def test_the_report_says_over_what_annotators_are_compared() -> None:
    table, clusters = world(8)
    given = {"task": TASKS["ordinal"], "scores": [0.0, 1.0, 2.0]}
    plain = pairs(table, **given)
    found = pairs(table, clusters=clusters, unit="authors", **given)
    for before, pair in zip(plain, found, strict=True):
        assert set(pair.figures) == {"percent", "cohen_kappa", "weighted_kappa"}
        for name, figure in pair.figures.items():
            assert figure["value"] == before.figures[name]["value"]
            assert figure["method"] == (
                "Wilson over authors, effective number"
                if name == "percent"
                else "linearised standard error over authors, Student's t"
            )
            assert "doubt" not in figure
            assert figure["low"] < figure["value"] < figure["high"]
    (_, kappa) = errors(table, clusters)
    figure = found[0].figures["cohen_kappa"]
    assert figure["high"] - figure["value"] == pytest.approx(2.0639 * kappa[0], rel=1e-4)


def test_a_table_that_is_too_large_leaves_the_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise, "MOST_CODES", 10)
    table, clusters = world(9)
    for pair in pairs(table, clusters=clusters, unit="authors"):
        for figure in pair.figures.values():
            assert "clusters_ignored: " in figure["doubt"]
