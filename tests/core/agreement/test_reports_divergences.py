"""Jensen-Shannon between kinds and against a truth: its interval, and that it is too large."""

from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.estimation import Units, units
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports.between import between_kinds
from labelhub.core.agreement.reports.divergences import divergence, js_divergence
from tests.core.agreement.sheets import sheet

EVEN = [0.2] * 5
TILTED = [0.6, 0.1, 0.1, 0.1, 0.1]


def drawn(first: Any, second: Any, items: int, seed: int) -> Units:
    """One answer a side for each item."""
    generator = np.random.default_rng(seed)
    sides = [generator.choice(len(first), size=items, p=each) for each in (first, second)]
    columns = np.hstack([np.eye(len(first))[side] for side in sides])
    return units(*np.unique(columns, axis=0, return_counts=True))


def measured(found: Units) -> Figure:
    return divergence(found, slice(0, 5), slice(5, 10), n=int(found.often.sum()))


def between(**others: Any) -> Figure:
    generator = np.random.default_rng(1)
    said = {"llm:m": generator.integers(3, size=200), "crowd:a": generator.integers(2, size=200)}
    names = {name: row.tolist() for name, row in said.items()}
    (pair,) = between_kinds(sheet(names, categories=3, **others))
    return pair.figures["js_divergence"]


def test_between_kinds_it_is_that_of_their_answers_on_shared_items() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.integers(3, size=200), generator.integers(2, size=200)
    shares = [np.bincount(side, minlength=3) / 200 for side in (one, other)]
    found = between()
    assert found["value"] == pytest.approx(float(js_divergence(shares[0], shares[1])))
    assert found["method"] == (
        "percentile bootstrap over items, 1000 draws, seed 7 (moved down by twice the bias of its "
        "draws: of few items the value is too large)"
    )
    assert found["low"] is not None
    assert found["high"] is not None
    assert 0 < found["low"] < found["value"] < found["high"] < 1  # type: ignore[operator]


@pytest.mark.thorough
@pytest.mark.parametrize("other", [EVEN, TILTED])
@pytest.mark.parametrize("items", [30, 150])
def test_the_interval_holds_what_is_true(other: list[float], items: int) -> None:
    """The plain percentiles hold no divergence of 0 at all: every draw lies above it."""
    true = float(js_divergence(EVEN, other))
    found = [measured(drawn(EVEN, other, items, seed)) for seed in range(60)]
    held = [each["low"] <= true <= each["high"] for each in found]  # type: ignore[operator]
    assert np.mean(held) >= 0.88
    assert np.mean([each["value"] for each in found]) > true


def test_of_many_units_the_error_is_linearised_and_as_wide() -> None:
    few = drawn(EVEN, TILTED, 1500, 1)
    many = Units(few.parts, few.often, few.unit, None)
    one, other = measured(few), measured(many)
    assert other["method"].startswith("linearised standard error over items, Student's t (of few")
    for end in ("low", "high"):
        assert other[end] == pytest.approx(one[end], abs=0.01)
